// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ControlPenalty_h
#define gpureg_ControlPenalty_h

#include "GPURegistrationExport.h"
#include "gpureg/core/Error.h"
#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/core/ParallelFor.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** The control points of a free-form deformation: coefficients of cubic B-splines, as itk::BSplineTransform of order 3 has
 *  them. Its nodes are those control points that have all neighbours. */
struct ControlGrid
{
  /** Control points along x, y, z: at least 3 along each axis, but 1 along z in two dimensions. */
  Size size{ 3, 3, 3 };
  int  dimension = 3;
  /** From steps of the grid to mm, by rows: the grid's direction, with the spacing in its columns. In two dimensions only the
   *  first two rows and columns of it are looked at. */
  std::array<double, 9> indexToPhysical{ 1, 0, 0, 0, 1, 0, 0, 0, 1 };
};

/** What is summed over nodes, and divided by their number. u is the displacement at a node, in mm; derivatives are by physical
 *  coordinates. src/kernels/penalty/ControlPenalties.h has the equations. */
enum class PenaltyKind
{
  /** Σ u_xx² + u_yy² + u_zz² + 2 u_xy² + 2 u_yz² + 2 u_xz² (Rueckert 1999; Modat 2010, equation 2): 0 of what is affine. */
  BendingEnergy,
  /** Σ ((∂u_r/∂x_c + ∂u_c/∂x_r)/2)²: 0 of a translation, and to first order of a rotation. */
  LinearEnergy,
  /** (ln d)² of the determinant d of I + ∂u/∂x; below d = 0.01 its tangent there, so that what has folded has a finite value,
   *  and a gradient that unfolds it. */
  Jacobian
};

/** A penalty as a term of a sum. */
struct WeightedPenalty
{
  PenaltyKind kind = PenaltyKind::BendingEnergy;
  double      weight = 1;
};

struct PenaltyValue
{
  /** Without its weight. */
  double value = 0;
  /** Over the nodes; 1 where the penalty is not PenaltyKind::Jacobian. */
  double smallestDeterminant = 1;
};

struct PenaltyResult
{
  /** One of each penalty. */
  std::vector<PenaltyValue> values;
  /** The derivative of Σ weight·value by each displacement; empty where it was not asked for. */
  std::vector<std::array<double, 3>> gradient;
};

/** Penalties of a free-form deformation, and their gradient, on one device. Two evaluations give the same bits, however many
 *  threads there are.
 *
 *  \code
 *  gpureg::ControlPenalty penalty("cuda:0");
 *  const auto result = penalty.Evaluate(grid, { { gpureg::PenaltyKind::BendingEnergy, 0.01 } }, points, parallelFor);
 *  \endcode
 *
 *  One object serves one thread at a time. Every function throws gpureg::Error where memory is out or the device fails; the
 *  object can be used after that, unless the device is lost. */
class GPURegistration_EXPORT ControlPenalty
{
public:
  /** \throws Error if there is no such device; the message lists those there are. */
  explicit ControlPenalty(const std::string & deviceName);
  ~ControlPenalty();
  ControlPenalty(const ControlPenalty &) = delete;
  ControlPenalty &
  operator=(const ControlPenalty &) = delete;

  const std::string &
  GetDeviceName() const;

  /** \param points [z][y][x], a displacement in mm along x, y and z, which is rounded to floats. In two dimensions z's are not
   *  looked at, and 0 in the gradient.
   *  \throws BadInputError if the grid has too few control points along an axis, or no such axes, if there are not as many
   *  displacements, one is not finite, or there is no penalty. */
  PenaltyResult
  Evaluate(const ControlGrid &                        grid,
           const std::vector<WeightedPenalty> &       penalties,
           const std::vector<std::array<double, 3>> & points,
           const ParallelFor &                        parallelFor);

  /** The same without a gradient. */
  PenaltyResult
  FindValues(const ControlGrid &                        grid,
             const std::vector<WeightedPenalty> &       penalties,
             const std::vector<std::array<double, 3>> & points,
             const ParallelFor &                        parallelFor);

  /** Measures kernel times from now on, and waits for each penalty to do so. */
  void
  SetTiming(bool on);

  /** Of the last evaluation. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
