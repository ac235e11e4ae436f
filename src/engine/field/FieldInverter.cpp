// SPDX-License-Identifier: Apache-2.0
#include "gpureg/field/FieldInverter.h"

#include "engine/field/FieldGeometry.h"
#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"
#include "engine/field/InverseMeasure.h"
#include "engine/field/JacobianMeasure.h"
#include "engine/field/NewtonInverter.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Fork.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Transfer.h"

#include "gpureg/core/Error.h"

#include <cmath>

namespace gpureg
{

namespace
{
// Voxels: an inverse that is this good needs no further step.
constexpr float SmallError = 1e-4F;

// A voxel converges in 4 to 6 readings of the field, unless steps must be halved.
constexpr int Readings = 32;
} // namespace

class FieldInverter::Implementation
{
public:
  explicit Implementation(const std::string & deviceName)
    : m_Backend(gpureg::GetBackend(deviceName))
    , m_Queue(m_Backend->CreateQueue())
    , m_Reducer(*m_Queue)
    , m_Jacobian(*m_Queue)
    , m_Inverter(*m_Queue)
    , m_Measure(*m_Queue)
  {}

  const Backend &
  GetBackend() const
  {
    return *m_Backend;
  }

  InverseErrors
  Invert(const FieldToInvert & field, const ParallelFor & parallelFor)
  {
    for (const int length : field.size)
    {
      if (length < 1)
      {
        throw BadInputError("a field to invert has no voxels");
      }
    }
    m_Grid = MakeFieldGrid(field.dimension, field.size, field.indexToPoint);
    m_Voxels = kernels::CountFieldVoxels(&m_Grid);
    return Operate(*m_Queue, parallelFor, [&] {
      this->Reserve();
      UploadArray(*m_Queue, *m_Field, 0, 3 * sizeof(float), m_Voxels, field.displacements);
      this->Solve();
      const InverseErrors errors = this->Judge();
      DownloadArray(*m_Queue,
                    *m_Inverse,
                    3 * sizeof(float),
                    m_Voxels,
                    [&field](std::int64_t first, std::int64_t count, const void * in) {
                      field.take(first, count, static_cast<const float *>(in));
                    });
      return errors;
    });
  }

  EvaluationStatistics
  GetStatistics() const
  {
    EvaluationStatistics statistics = m_Queue->GetStatistics();
    std::size_t bytes = m_Reducer.GetDeviceBytes() + m_Jacobian.GetDeviceBytes() + m_Inverter.GetDeviceBytes() +
                        m_Measure.GetDeviceBytes();
    for (const MemoryPointer * array : { &m_Field, &m_Inverse, &m_Errors, &m_Scratch })
    {
      bytes += SizeOf(*array);
    }
    statistics.deviceBytes = static_cast<std::int64_t>(bytes);
    return statistics;
  }

private:
  static void
  CheckIsFinite(float number)
  {
    if (!std::isfinite(number))
    {
      throw BadInputError("a field to invert has a number that is not finite");
    }
  }

  void
  Reserve()
  {
    const auto voxels = static_cast<std::size_t>(m_Voxels);
    for (MemoryPointer * vectors : { &m_Field, &m_Inverse })
    {
      gpureg::Reserve(*m_Queue, *vectors, 3 * sizeof(float) * voxels);
    }
    gpureg::Reserve(*m_Queue, m_Errors, 2 * sizeof(float) * voxels);
  }

  /** Finds the inverse, as good as it becomes. */
  void
  Solve()
  {
    const kernels::NewtonRule rule{ Readings, SmallError, 0, 0 };
    ForEachItem<kernels::ClearElementKernel>(*m_Queue, 3 * m_Voxels, Output<float>(*m_Inverse));
    CheckIsFinite(m_Inverter.Improve(m_Grid, rule, *m_Field, *m_Inverse, *m_Errors, m_Reducer).sum);
  }

  /** Measures the inverse, and counts folds. */
  InverseErrors
  Judge()
  {
    const std::int64_t folded = m_Jacobian.Measure(m_Grid, *m_Field, m_Reducer, m_Scratch).foldedVoxels;
    InverseErrors      errors = m_Measure.Measure(m_Grid, *m_Field, *m_Inverse, m_Reducer, m_Scratch);
    errors.foldedVoxels = folded;
    return errors;
  }

  std::shared_ptr<Backend> m_Backend;
  std::unique_ptr<Queue>   m_Queue;
  FieldReducer             m_Reducer;
  JacobianMeasure          m_Jacobian;
  NewtonInverter           m_Inverter;
  InverseMeasure           m_Measure;
  kernels::FieldGrid       m_Grid{};
  std::int64_t             m_Voxels = 0;
  // float[3] a voxel.
  MemoryPointer m_Field;
  MemoryPointer m_Inverse;
  MemoryPointer m_Errors;  // float[2] a voxel: lengths of errors, in voxels
  MemoryPointer m_Scratch; // of measures
};

FieldInverter::FieldInverter(const std::string & deviceName)
  : m_Implementation(std::make_unique<Implementation>(deviceName))
{}

FieldInverter::~FieldInverter()
{
  FreeUnlessForked(m_Implementation);
}

const std::string &
FieldInverter::GetDeviceName() const
{
  return m_Implementation->GetBackend().GetDescription().name;
}

std::size_t
FieldInverter::GetHeldBytes() const
{
  return static_cast<std::size_t>(m_Implementation->GetStatistics().deviceBytes);
}

InverseErrors
FieldInverter::Invert(const FieldToInvert & field, const ParallelFor & parallelFor)
{
  return m_Implementation->Invert(field, parallelFor);
}

EvaluationStatistics
FieldInverter::GetStatistics() const
{
  return m_Implementation->GetStatistics();
}

} // namespace gpureg
