// SPDX-License-Identifier: Apache-2.0
#include "gpureg/penalty/ControlPenalty.h"

#include "engine/runtime/Backend.h"
#include "engine/runtime/Operation.h"
#include "engine/penalty/ControlPenaltyTerm.h"
#include "engine/transform/ControlVectors.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace gpureg
{

namespace
{
using kernels::float4;

/** \throws BadInputError unless each control point has a displacement that fits into a float */
void
CheckPoints(const ControlGrid & grid, const std::vector<std::array<double, 3>> & points)
{
  const std::int64_t count = CountOf(grid.size);
  if (static_cast<std::int64_t>(points.size()) != count)
  {
    throw BadInputError("a grid of " + std::to_string(grid.size[0]) + " x " + std::to_string(grid.size[1]) + " x " +
                        std::to_string(grid.size[2]) + " control points was given " + std::to_string(points.size()) +
                        " displacements; give it " + std::to_string(count));
  }
  for (std::int64_t n = 0; n < count; ++n)
  {
    for (int d = 0; d < grid.dimension; ++d)
    {
      if (!std::isfinite(static_cast<float>(points[static_cast<std::size_t>(n)][static_cast<std::size_t>(d)])))
      {
        throw BadInputError("control point (" + std::to_string(n % grid.size[0]) + ", " +
                            std::to_string(n / grid.size[0] % grid.size[1]) + ", " +
                            std::to_string(n / grid.size[0] / grid.size[1]) +
                            ") has a displacement that is not a finite float; look at the steps that led to it");
      }
    }
  }
}
} // namespace

class ControlPenalty::Implementation
{
public:
  explicit Implementation(const std::string & deviceName)
    : m_Backend(gpureg::GetBackend(deviceName))
    , m_Queue(m_Backend->CreateQueue())
    , m_Term(*m_Queue)
  {}

  const Backend &
  GetBackend() const
  {
    return *m_Backend;
  }

  PenaltyResult
  Evaluate(const ControlGrid &                        grid,
           const std::vector<WeightedPenalty> &       penalties,
           const std::vector<std::array<double, 3>> & points,
           bool                                       findsGradient,
           const ParallelFor &                        parallelFor)
  {
    if (penalties.empty())
    {
      throw BadInputError("there is no penalty to evaluate; name one");
    }
    return Operate(*m_Queue, parallelFor, [&] {
      PenaltyResult result;
      m_Term.SetGrid(grid);
      CheckPoints(grid, points);
      this->UploadPoints(grid, points);
      this->EnqueueAll(penalties, findsGradient, points.size());
      result.values = this->DownloadValues(penalties.size());
      if (findsGradient)
      {
        result.gradient = this->DownloadGradient(grid, points.size());
      }
      m_Queue->SetHeldBytes(SizeOf(m_Points) + SizeOf(m_Values) + SizeOf(m_Gradient) + m_Term.GetSize());
      return result;
    });
  }

  void
  SetTiming(bool on)
  {
    m_IsTiming = on;
  }

  EvaluationStatistics
  GetStatistics() const
  {
    return m_Queue->GetStatistics();
  }

private:
  void
  UploadPoints(const ControlGrid & grid, const std::vector<std::array<double, 3>> & points)
  {
    const bool isFlat = grid.dimension == 2;
    Reserve(*m_Queue, m_Points, points.size() * sizeof(float4));
    UploadArray(*m_Queue,
                *m_Points,
                0,
                sizeof(float4),
                static_cast<std::int64_t>(points.size()),
                [&points, isFlat](std::int64_t first, std::int64_t count, void * out) {
                  for (std::int64_t n = 0; n < count; ++n)
                  {
                    const std::array<double, 3> & p = points[static_cast<std::size_t>(first + n)];
                    static_cast<float4 *>(out)[n] = kernels::MakeFloat4(static_cast<float>(p[0]),
                                                                        static_cast<float>(p[1]),
                                                                        isFlat ? 0.0f : static_cast<float>(p[2]),
                                                                        0.0f);
                  }
                });
  }

  void
  EnqueueAll(const std::vector<WeightedPenalty> & penalties, bool findsGradient, std::size_t count)
  {
    using GradientUse = ControlPenaltyTerm::GradientUse;
    Reserve(*m_Queue, m_Values, penalties.size() * m_Term.GetValueBytes());
    if (findsGradient)
    {
      Reserve(*m_Queue, m_Gradient, count * sizeof(float4));
    }
    for (std::size_t n = 0; n < penalties.size(); ++n)
    {
      const auto        slot = static_cast<std::int64_t>(n);
      const PenaltyKind kind = penalties[n].kind;
      Enqueue(*m_Queue, m_IsTiming, [&] {
        if (findsGradient)
        {
          m_Term.ComputeValueAndGradient(kind,
                                         *m_Points,
                                         *m_Values,
                                         slot,
                                         penalties[n].weight,
                                         n == 0 ? GradientUse::Replaces : GradientUse::Adds,
                                         *m_Gradient);
        }
        else
        {
          m_Term.ComputeValue(kind, *m_Points, *m_Values, slot);
        }
      });
    }
  }

  std::vector<PenaltyValue>
  DownloadValues(std::size_t count)
  {
    const std::size_t         bytes = m_Term.GetValueBytes();
    char * const              slots = static_cast<char *>(m_Queue->GetStaging(Direction::Down, 0, count * bytes));
    std::vector<PenaltyValue> values;
    m_Queue->Download(slots, *m_Values, count * bytes);
    for (std::size_t n = 0; n < count; ++n)
    {
      values.push_back(m_Term.ReadValue(slots + n * bytes));
    }
    return values;
  }

  std::vector<std::array<double, 3>>
  DownloadGradient(const ControlGrid & grid, std::size_t count)
  {
    auto gradient = DownloadControlVectors<double>(*m_Queue, *m_Gradient, static_cast<std::int64_t>(count));
    if (grid.dimension == 2)
    {
      std::for_each(gradient.begin(), gradient.end(), [](auto & g) { g[2] = 0.0; });
    }
    return gradient;
  }

  std::shared_ptr<Backend> m_Backend;
  std::unique_ptr<Queue>   m_Queue;
  ControlPenaltyTerm       m_Term;
  MemoryPointer            m_Points;
  MemoryPointer            m_Gradient;
  MemoryPointer            m_Values;
  bool                     m_IsTiming = false;
};

ControlPenalty::ControlPenalty(const std::string & deviceName)
  : m_Implementation(std::make_unique<Implementation>(deviceName))
{}

ControlPenalty::~ControlPenalty()
{
  FreeUnlessForked(m_Implementation);
}

const std::string &
ControlPenalty::GetDeviceName() const
{
  return m_Implementation->GetBackend().GetDescription().name;
}

PenaltyResult
ControlPenalty::Evaluate(const ControlGrid &                        grid,
                         const std::vector<WeightedPenalty> &       penalties,
                         const std::vector<std::array<double, 3>> & points,
                         const ParallelFor &                        parallelFor)
{
  return m_Implementation->Evaluate(grid, penalties, points, true, parallelFor);
}

PenaltyResult
ControlPenalty::ComputeValues(const ControlGrid &                        grid,
                              const std::vector<WeightedPenalty> &       penalties,
                              const std::vector<std::array<double, 3>> & points,
                              const ParallelFor &                        parallelFor)
{
  return m_Implementation->Evaluate(grid, penalties, points, false, parallelFor);
}

void
ControlPenalty::SetTiming(bool on)
{
  m_Implementation->SetTiming(on);
}

EvaluationStatistics
ControlPenalty::GetStatistics() const
{
  return m_Implementation->GetStatistics();
}

} // namespace gpureg
