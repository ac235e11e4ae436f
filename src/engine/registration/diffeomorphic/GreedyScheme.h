// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_GreedyScheme_h
#define gpureg_GreedyScheme_h

#include "engine/registration/diffeomorphic/FieldScheme.h"
#include "engine/registration/diffeomorphic/PairForces.h"

namespace gpureg
{

/** One field u, on the fixed image's grid. An iteration smooths the gradient of the similarity, scales it to a step v, composes
 *  u(x) ← v(x) + u(x + v(x)), and smooths u. A level's images are shrunk. */
class GreedyScheme : public FieldScheme
{
public:
  /** workspace must outlive this object. */
  explicit GreedyScheme(SchemeWorkspace & workspace);

  void
  BeginLevel(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number) override;

  std::vector<double>
  DownloadCosts(int count) override
  {
    return m_Forces.DownloadCosts(count);
  }

  const Memory &
  MakeField(DeformationField field) override;

  InvertedDeformation
  MakeInverse() override;

  void
  FreeForces() override;

  std::size_t
  GetDeviceBytes() const override;

  kernels::FieldGrid
  PlanLevel(const DiffeomorphicProblem &  problem,
            const DiffeomorphicSettings & settings,
            int                           number,
            MemoryLedger &                ledger) override;

private:
  void
  Move(const DiffeomorphicSettings & settings, int t) override;

  PairForces    m_Forces;
  MemoryPointer m_Field; // float[3] a voxel
};

} // namespace gpureg

#endif
