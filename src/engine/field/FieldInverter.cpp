// SPDX-License-Identifier: Apache-2.0
#include "gpureg/field/FieldInverter.h"

#include "engine/field/FieldGeometry.h"
#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"
#include "engine/field/InverseMeasure.h"
#include "engine/field/JacobianMeasure.h"
#include "engine/field/NewtonInverter.h"
#include "engine/field/StartTransform.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Fork.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/Transfer.h"
#include "engine/transform/InitialChain.h"

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

constexpr kernels::NewtonRule Rule{ Readings, SmallError, 0, 0 };
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
    , m_Transform(*m_Queue)
  {}

  const Backend &
  GetBackend() const
  {
    return *m_Backend;
  }

  InverseErrors
  Invert(const FieldToInvert & field, const ParallelFor & parallelFor)
  {
    this->SetGrid(field.dimension, field.size, field.indexToPoint);
    return Operate(*m_Queue, parallelFor, [&] {
      this->Reserve();
      UploadArray(*m_Queue, *m_Field, 0, 3 * sizeof(float), m_Voxels, field.displacements);
      this->Solve();
      const InverseErrors errors = this->Judge(*m_Field);
      this->Pass(field.take);
      return errors;
    });
  }

  InverseErrors
  Invert(const TransformToInvert & request, const ParallelFor & parallelFor)
  {
    CheckMapsPoints(request.transform);
    this->SetGrid(request.transform.dimension, request.size, request.indexToPoint);
    return Operate(*m_Queue, parallelFor, [&] {
      m_Transform.Set(request.transform, m_Grid, request.indexToPoint);
      const IndexMap & affine = m_Transform.GetMap().ofPoints;
      if (m_Transform.IsLinear() || affine.matrix != IndexMap{}.matrix || affine.offset != IndexMap{}.offset)
      {
        throw BadInputError("a transform to invert needs a deformation, and no affine maps but such whose product is "
                            "the identity: invert "
                            "linear maps by themselves");
      }
      this->Reserve();
      ForEachItem<kernels::ClearElementKernel>(*m_Queue, 3 * m_Voxels, Output<float>(*m_Inverse));
      m_Transform.Move(*m_Inverse, m_Field.get());
      this->Solve();
      m_Transform.RefineInverse(Rule, *m_Field, *m_Inverse);
      const InverseErrors errors = this->Judge(m_Transform);
      this->Pass(request.take);
      return errors;
    });
  }

  EvaluationStatistics
  GetStatistics() const
  {
    EvaluationStatistics statistics = m_Queue->GetStatistics();
    std::size_t bytes = m_Reducer.GetDeviceBytes() + m_Jacobian.GetDeviceBytes() + m_Inverter.GetDeviceBytes() +
                        m_Measure.GetDeviceBytes() + m_Transform.GetDeviceBytes();
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
  SetGrid(int dimension, const Size & size, const IndexMap & toPoint)
  {
    for (const int length : size)
    {
      if (length < 1)
      {
        throw BadInputError("a field to invert has no voxels");
      }
    }
    m_Grid = MakeFieldGrid(dimension, size, toPoint);
    m_Voxels = kernels::CountFieldVoxels(&m_Grid);
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
    ForEachItem<kernels::ClearElementKernel>(*m_Queue, 3 * m_Voxels, Output<float>(*m_Inverse));
    CheckIsFinite(m_Inverter.Improve(m_Grid, Rule, *m_Field, *m_Inverse, *m_Errors, m_Reducer).sum);
  }

  /** Measures how well the inverse undoes a field or a transform, and counts the field's folds. */
  template <typename TUndone>
  InverseErrors
  Judge(TUndone & undone)
  {
    const std::int64_t folded = m_Jacobian.Measure(m_Grid, *m_Field, m_Reducer, m_Scratch).foldedVoxels;
    InverseErrors      errors = m_Measure.Measure(m_Grid, undone, *m_Inverse, m_Reducer, m_Scratch);
    errors.foldedVoxels = folded;
    return errors;
  }

  /** Passes the inverse to take, in chunks. */
  void
  Pass(const std::function<void(std::int64_t, std::int64_t, const float *)> & take)
  {
    DownloadArray(*m_Queue,
                  *m_Inverse,
                  3 * sizeof(float),
                  m_Voxels,
                  [&take](std::int64_t first, std::int64_t count, const void * in) {
                    take(first, count, static_cast<const float *>(in));
                  });
  }

  std::shared_ptr<Backend> m_Backend;
  std::unique_ptr<Queue>   m_Queue;
  FieldReducer             m_Reducer;
  JacobianMeasure          m_Jacobian;
  NewtonInverter           m_Inverter;
  InverseMeasure           m_Measure;
  StartTransform           m_Transform;
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

InverseErrors
FieldInverter::Invert(const TransformToInvert & transform, const ParallelFor & parallelFor)
{
  return m_Implementation->Invert(transform, parallelFor);
}

EvaluationStatistics
FieldInverter::GetStatistics() const
{
  return m_Implementation->GetStatistics();
}

} // namespace gpureg
