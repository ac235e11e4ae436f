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

/** Describes the grid of control points of a free-form deformation: coefficients of cubic B-splines, as in itk::BSplineTransform of
 *  order 3. A node is a control point that has all neighbours. */
struct ControlGrid
{
  /** Numbers of control points along x, y, z: at least 3 along each axis, but 1 along z in two dimensions. */
  Size size{ 3, 3, 3 };
  int  dimension = 3;
  /** Maps steps of the grid to mm, stored row by row: its columns are the grid's directions times the spacing. In two dimensions only
   *  the first two rows and columns are used. */
  std::array<double, 9> indexToPhysical{ 1, 0, 0, 0, 1, 0, 0, 0, 1 };
};

/** Penalties, each a sum over nodes divided by their number. u is the displacement at a node in mm; derivatives are with respect to
 *  physical coordinates. src/kernels/penalty/ControlPenalties.h has the equations. */
enum class PenaltyKind
{
  /** Σ u_xx² + u_yy² + u_zz² + 2 u_xy² + 2 u_yz² + 2 u_xz² (Rueckert 1999; Modat 2010, equation 2): 0 for affine maps. */
  BendingEnergy,
  /** Σ ((∂u_r/∂x_c + ∂u_c/∂x_r)/2)²: 0 for a translation, and to first order for a rotation. */
  LinearEnergy,
  /** (ln d)² with the determinant d of I + ∂u/∂x; below d = 0.01 its tangent at 0.01, so that a folded grid has a finite value, and a
   *  gradient that unfolds it. */
  Jacobian
};

/** A penalty with its weight in a sum. */
struct WeightedPenalty
{
  PenaltyKind kind = PenaltyKind::BendingEnergy;
  double      weight = 1;
};

struct PenaltyValue
{
  /** Value of the penalty, without its weight. */
  double value = 0;
  /** Least determinant over the nodes; 1 for penalties other than PenaltyKind::Jacobian. */
  double smallestDeterminant = 1;
};

struct PenaltyResult
{
  /** One value for each penalty. */
  std::vector<PenaltyValue> values;
  /** Derivative of Σ weight·value with respect to each displacement; empty if it was not requested. */
  std::vector<std::array<double, 3>> gradient;
};

/** Computes penalties of a free-form deformation, and their gradient, on one device. Equal input gives equal bits, whatever the number
 *  of threads.
 *
 *  \code
 *  gpureg::ControlPenalty penalty("cuda:0");
 *  const auto result = penalty.Evaluate(grid, { { gpureg::PenaltyKind::BendingEnergy, 0.01 } }, points, parallelFor);
 *  \endcode
 *
 *  Use one object from one thread at a time. Every function throws gpureg::Error if the device has too little memory or fails; the
 *  object can be used after that, unless the device is lost. */
class GPURegistration_EXPORT ControlPenalty
{
public:
  /** Makes an object on one device.
   *  \throws Error if there is no such device; the message lists the devices. */
  explicit ControlPenalty(const std::string & deviceName);
  ~ControlPenalty();
  ControlPenalty(const ControlPenalty &) = delete;
  ControlPenalty &
  operator=(const ControlPenalty &) = delete;

  const std::string &
  GetDeviceName() const;

  /** Returns the penalties' values and the gradient of their weighted sum.
   *  \param grid the control grid.
   *  \param penalties the penalties and their weights.
   *  \param points displacements [z][y][x] in mm along x, y and z, which are rounded to floats. In two dimensions displacements along z
   *  are ignored, and their gradient is 0.
   *  \param parallelFor the threads to use.
   *  \throws BadInputError if the grid has too few control points along an axis, or no such axes, if the number of displacements is not
   *  the grid's, if a displacement is not finite, or if there is no penalty. */
  PenaltyResult
  Evaluate(const ControlGrid &                        grid,
           const std::vector<WeightedPenalty> &       penalties,
           const std::vector<std::array<double, 3>> & points,
           const ParallelFor &                        parallelFor);

  /** Returns the penalties' values without the gradient. Parameters and errors are those of Evaluate(). */
  PenaltyResult
  ComputeValues(const ControlGrid &                        grid,
                const std::vector<WeightedPenalty> &       penalties,
                const std::vector<std::array<double, 3>> & points,
                const ParallelFor &                        parallelFor);

  /** Measures kernel times from now on; an evaluation then waits for each penalty. */
  void
  SetTiming(bool on);

  /** Returns the statistics of the last evaluation. */
  EvaluationStatistics
  GetStatistics() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace gpureg

#endif
