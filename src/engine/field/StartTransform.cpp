// SPDX-License-Identifier: Apache-2.0
#include "engine/field/StartTransform.h"

#include "engine/runtime/ForEachItem.h"

#include <algorithm>

namespace gpureg
{

namespace
{
/** Returns the point of the middle of a grid. */
Vector3
ComputeCentre(const kernels::FieldGrid & grid, const IndexMap & toPoint)
{
  Vector3 centre = toPoint.offset;
  for (std::size_t r = 0; r < 3; ++r)
  {
    for (std::size_t c = 0; c < 3; ++c)
    {
      centre[r] += toPoint.matrix[3 * r + c] * 0.5 * (grid.size[c] - 1);
    }
  }
  return centre;
}
} // namespace

DisplacedMap
Compose(const IndexMap & outer, const DisplacedMap & inner)
{
  return { Compose(outer, inner.ofPoints), Multiply(outer.matrix, inner.ofDisplacements) };
}

StartTransform::StartTransform(Queue & queue)
  : m_Queue(queue)
  , m_Chain(queue, m_Arrays)
{}

void
StartTransform::Set(const TransformChain & chain, const kernels::FieldGrid & grid, const IndexMap & toPoint)
{
  m_Affine = chain.first;
  for (const ChainStep & step : chain.steps)
  {
    m_Affine = Compose(step.map, m_Affine);
  }
  m_Start.grid = grid;
  m_Start.partCount = static_cast<int>(chain.steps.size());
  if (this->IsLinear())
  {
    m_Chain.Release();
    return;
  }
  ChainedGrid chained;
  chained.size = { grid.size[0], grid.size[1], grid.size[2] };
  chained.outputToPoint = toPoint;
  chained.transform = chain;
  // Displacements alone are read, in mm. Places are counted from the middle on, since fixed point does not reach far.
  const Vector3 middle = Multiply(m_Affine.matrix, ComputeCentre(grid, toPoint));
  for (std::size_t r = 0; r < 3; ++r)
  {
    chained.pointToInput.offset[r] = -(middle[r] + m_Affine.offset[r]);
  }
  m_Chain.SetChain(chained);
  m_Chain.SetPlanes(m_Chain.CountPlanes(), false);
  m_Chain.Load({});
  const Matrix3 toFirst = Multiply(chain.steps.front().grid.toGrid.matrix, chain.first.matrix);
  std::copy(toFirst.begin(), toFirst.end(), m_Start.toFirst);
}

DisplacedMap
StartTransform::GetMap() const
{
  return this->IsLinear() ? MakeDisplacedMap(m_Affine) : DisplacedMap{ m_Affine, DisplacedMap{}.ofDisplacements };
}

FieldPart
StartTransform::Move(const FieldPart & field, Memory * moved)
{
  if (this->IsLinear())
  {
    return field;
  }
  ForEachItem<kernels::MoveByStartKernel>(m_Queue,
                                          kernels::CountFieldVoxels(&m_Start.grid),
                                          m_Start,
                                          Input<float>(field),
                                          Input<kernels::ChainPart>(*m_Arrays.parts),
                                          Input<kernels::float4>(*m_Arrays.vectors),
                                          Output<float>(*moved));
  return *moved;
}

void
StartTransform::PullForces(const Memory & field, Memory & forces)
{
  if (!this->IsLinear())
  {
    ForEachItem<kernels::PullForceThroughStartKernel>(m_Queue,
                                                      kernels::CountFieldVoxels(&m_Start.grid),
                                                      m_Start,
                                                      Input<float>(field),
                                                      Input<kernels::ChainPart>(*m_Arrays.parts),
                                                      Input<kernels::float4>(*m_Arrays.vectors),
                                                      Output<float>(forces));
  }
}

void
StartTransform::RefineInverse(const kernels::NewtonRule & rule, const Memory & field, Memory & inverse)
{
  ForEachItem<kernels::RefineInverseOfStartKernel>(m_Queue,
                                                   kernels::CountFieldVoxels(&m_Start.grid),
                                                   m_Start,
                                                   rule,
                                                   Input<float>(field),
                                                   Output<float>(inverse),
                                                   Input<kernels::ChainPart>(*m_Arrays.parts),
                                                   Input<kernels::float4>(*m_Arrays.vectors));
}

void
StartTransform::DescribeInverse(
  float smallError, float tolerance, std::int64_t first, std::int64_t voxels, const Memory & inverse, Memory & numbers)
{
  ForEachItem<kernels::DescribeInverseOfStartKernel>(m_Queue,
                                                     voxels,
                                                     m_Start,
                                                     smallError,
                                                     tolerance,
                                                     first,
                                                     voxels,
                                                     Input<float>(inverse),
                                                     Input<kernels::ChainPart>(*m_Arrays.parts),
                                                     Input<kernels::float4>(*m_Arrays.vectors),
                                                     Output<float>(numbers));
}

} // namespace gpureg
