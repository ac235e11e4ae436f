// SPDX-License-Identifier: Apache-2.0
#include "gpureg/field/FieldInverter.h"

#include "engine/field/FieldGeometry.h"
#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"
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
// Voxels: an inverse that is this good needs no further step; one that is worse than the tolerance is none.
constexpr float SmallError = 1e-4F;
constexpr float Tolerance = 0.1F;

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
    std::size_t          bytes = m_Reducer.GetDeviceBytes() + m_Jacobian.GetDeviceBytes() + m_Inverter.GetDeviceBytes();
    for (const MemoryPointer * array : { &m_Field, &m_Inverse, &m_Errors, &m_JacobianScratch, &m_Number })
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
    gpureg::Reserve(*m_Queue, m_Number, sizeof(float));
  }

  /** Finds the inverse, as good as it becomes. */
  void
  Solve()
  {
    const kernels::NewtonRule rule{ Readings, SmallError, 0, 0 };
    ForEachItem<kernels::ClearElementKernel>(*m_Queue, 3 * m_Voxels, Output<float>(*m_Inverse));
    CheckIsFinite(m_Inverter.Improve(m_Grid, rule, *m_Field, *m_Inverse, *m_Errors, m_Reducer).sum);
  }

  double
  DownloadNumber()
  {
    float number = 0;
    m_Queue->Download(&number, *m_Number, sizeof(number));
    CheckIsFinite(number);
    return number;
  }

  InverseErrors
  Judge()
  {
    InverseErrors errors;
    errors.foldedVoxels = m_Jacobian.Measure(m_Grid, *m_Field, m_Reducer, m_JacobianScratch).foldedVoxels;
    // The field itself is no longer needed.
    ForEachItem<kernels::JudgeInverseKernel>(*m_Queue,
                                             m_Voxels,
                                             Precision::Single,
                                             m_Grid,
                                             10 * SmallError,
                                             Tolerance,
                                             m_Voxels,
                                             Input<RealNumber>(*m_Inverse),
                                             Input<float>(*m_Errors),
                                             Output<float>(*m_Field));
    const auto find = [this](int number, auto reduce) {
      (m_Reducer.*reduce)(*m_Field, number * m_Voxels, m_Voxels, *m_Number, 0);
      return this->DownloadNumber();
    };
    errors.unmappedVoxels = std::llround(find(kernels::InverseUnmapped, &FieldReducer::Sum));
    errors.offVoxels = std::llround(find(kernels::InverseIsOff, &FieldReducer::Sum));
    errors.largest = find(kernels::InverseError, &FieldReducer::ComputeLargest);
    const double mapped = static_cast<double>(m_Voxels - errors.unmappedVoxels);
    errors.mean = mapped > 0 ? find(kernels::InverseError, &FieldReducer::Sum) / mapped : 0.0;
    return errors;
  }

  std::shared_ptr<Backend> m_Backend;
  std::unique_ptr<Queue>   m_Queue;
  FieldReducer             m_Reducer;
  JacobianMeasure          m_Jacobian;
  NewtonInverter           m_Inverter;
  kernels::FieldGrid       m_Grid{};
  std::int64_t             m_Voxels = 0;
  // float[3] a voxel.
  MemoryPointer m_Field;
  MemoryPointer m_Inverse;
  MemoryPointer m_Errors; // float[2] a voxel: lengths of errors, in voxels
  MemoryPointer m_JacobianScratch;
  MemoryPointer m_Number; // float: a result of the reducer
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
