// SPDX-License-Identifier: Apache-2.0
#include "engine/penalty/ControlPenaltyTerm.h"

#include "engine/core/Matrix3.h"
#include "engine/runtime/MakePasses.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

namespace gpureg
{

namespace
{
// Steps between these limits have inverses whose fourth powers are floats, and penalties of a useful size.
constexpr double ShortestStep = 1e-6;
constexpr double LongestStep = 1e6;
// The least volume of a box of one step along each axis, as a share of the product of the steps. Below it, floats have too few digits.
constexpr double LeastVolume = 1e-4;

int
GetKernelKind(PenaltyKind kind)
{
  switch (kind)
  {
    case PenaltyKind::BendingEnergy:
      return kernels::PenaltyOfBending;
    case PenaltyKind::LinearEnergy:
      return kernels::PenaltyOfStrain;
    default:
      return kernels::PenaltyOfJacobian;
  }
}

/** \throws BadInputError unless each axis has the number of control points that it needs */
void
CheckSize(const ControlGrid & grid)
{
  if (grid.dimension != 2 && grid.dimension != 3)
  {
    throw BadInputError("a grid of control points has 2 or 3 dimensions, not " + std::to_string(grid.dimension));
  }
  for (std::size_t d = 0; d < 3; ++d)
  {
    const std::string axis(1, "xyz"[d]);
    if (d == 2 && grid.dimension == 2)
    {
      if (grid.size[d] != 1)
      {
        throw BadInputError("a grid of control points in two dimensions has " + std::to_string(grid.size[d]) +
                            " control points along z; set 1, or its dimension to 3");
      }
    }
    else if (grid.size[d] < 3)
    {
      throw BadInputError("a grid has " + std::to_string(grid.size[d]) + " control points along " + axis +
                          "; penalties need 3, since a node has a neighbour on each side: make the grid's spacing "
                          "smaller, or leave the penalty out");
    }
  }
}

/** Returns the matrix of the grid; in two dimensions with an axis z of its own.
 *  \throws BadInputError unless the axes span space */
Matrix3
GetIndexToPhysical(const ControlGrid & grid)
{
  Matrix3 m = grid.indexToPhysical;
  if (grid.dimension == 2)
  {
    m = { m[0], m[1], 0, m[3], m[4], 0, 0, 0, 1 };
  }
  double volume = 1;
  for (std::size_t d = 0; d < 3; ++d)
  {
    const double step = std::hypot(m[d], m[3 + d], m[6 + d]);
    if (!(step >= ShortestStep && step <= LongestStep))
    {
      throw BadInputError("a grid of control points has a spacing of " + std::to_string(step) + " mm along " +
                          std::string(1, "xyz"[d]) +
                          "; set one above 0, between 1e-6 and 1e6 mm, and a direction of finite numbers");
    }
    volume *= step;
  }
  const double determinant =
    m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
  if (!(std::abs(determinant) >= LeastVolume * volume))
  {
    throw BadInputError("the axes of a grid of control points nearly lie in a plane; give it a direction matrix whose "
                        "columns are linearly independent, as those of a rotation are");
  }
  return m;
}
} // namespace

ControlPenaltyTerm::ControlPenaltyTerm(Queue & queue, MemoryPointer * scratch)
  : m_Queue(queue)
  , m_Passes(MakePasses<ControlPenaltyPasses>(queue))
  , m_NodeDerivatives(scratch != nullptr ? *scratch : m_OwnNodeDerivatives)
{}

ControlPenaltyTerm::~ControlPenaltyTerm() = default;

void
ControlPenaltyTerm::SetGrid(const ControlGrid & grid)
{
  const std::size_t bytes = this->Plan(grid);
  const auto        a = std::exchange(m_Arguments, {});
  Reserve(m_Queue, m_NodeDerivatives, bytes);
  m_Arguments = a;
}

std::size_t
ControlPenaltyTerm::Plan(const ControlGrid & grid)
{
  m_Arguments = {};
  CheckSize(grid);
  const Matrix3                    toIndex = Invert(GetIndexToPhysical(grid));
  kernels::ControlPenaltyArguments a{};
  for (std::size_t r = 0; r < 3; ++r)
  {
    a.size[r] = grid.size[r];
    a.nodes[r] = grid.size[r] == 1 ? 1 : grid.size[r] - 2;
    for (std::size_t c = 0; c < 3; ++c)
    {
      a.toIndex[3 * r + c] = static_cast<float>(toIndex[3 * r + c]);
      double sum = 0;
      for (std::size_t k = 0; k < 3; ++k)
      {
        sum += toIndex[3 * r + k] * toIndex[3 * c + k];
      }
      a.metric[3 * r + c] = static_cast<float>(sum);
    }
  }
  a.leastDeterminant = static_cast<float>(LeastDeterminant);
  a.logOfLeast = static_cast<float>(std::log(LeastDeterminant));
  m_Arguments = a;
  return kernels::MostNodeDerivatives * sizeof(kernels::float4) * static_cast<std::size_t>(kernels::CountNodes(&a));
}

std::size_t
ControlPenaltyTerm::GetValueBytes() const
{
  return 2 * sizeof(float) * static_cast<std::size_t>(m_Passes->CountPartials(m_Arguments));
}

void
ControlPenaltyTerm::ComputeValue(PenaltyKind kind, const Memory & points, Memory & values, std::int64_t slot)
{
  this->ComputeEnergies(kind, points, values, slot, nullptr);
}

void
ControlPenaltyTerm::ComputeValueAndGradient(PenaltyKind    kind,
                                            const Memory & points,
                                            Memory &       values,
                                            std::int64_t   slot,
                                            double         factor,
                                            GradientUse    use,
                                            Memory &       gradient)
{
  this->ComputeEnergies(kind, points, values, slot, m_NodeDerivatives.get());
  const double ofSum = factor / static_cast<double>(kernels::CountNodes(&m_Arguments));
  m_Passes->CollectGradient(
    m_Arguments, *m_NodeDerivatives, static_cast<float>(ofSum), use == GradientUse::Adds, gradient);
}

PenaltyValue
ControlPenaltyTerm::ReadValue(const void * slot) const
{
  const std::int64_t partials = m_Passes->CountPartials(m_Arguments);
  PenaltyValue       result;
  for (std::int64_t n = 0; n < partials; ++n)
  {
    float pair[2];
    std::memcpy(pair, static_cast<const char *>(slot) + sizeof(pair) * static_cast<std::size_t>(n), sizeof(pair));
    result.value += pair[0];
    result.smallestDeterminant = n == 0 ? pair[1] : std::min<double>(result.smallestDeterminant, pair[1]);
  }
  result.value /= static_cast<double>(kernels::CountNodes(&m_Arguments));
  return result;
}

void
ControlPenaltyTerm::ComputeEnergies(
  PenaltyKind kind, const Memory & points, Memory & values, std::int64_t slot, Memory * nodeDerivatives)
{
  if (kernels::CountNodes(&m_Arguments) == 0)
  {
    throw BadInputError("a penalty of control points has no grid; set one first");
  }
  m_Arguments.kind = GetKernelKind(kind);
  m_Passes->ComputeEnergies(m_Arguments, points, values, slot * m_Passes->CountPartials(m_Arguments), nodeDerivatives);
}

} // namespace gpureg
