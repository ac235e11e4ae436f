// SPDX-License-Identifier: Apache-2.0
// Builds the engine's transform from arrays.
#ifndef gpureg_python_Chain_h
#define gpureg_python_Chain_h

#include "Arrays.h"
#include "FieldOnDevice.h"

#include "gpureg/transform/TransformChain.h"

namespace gpureg
{
namespace python
{

class Chain
{
public:
  explicit Chain(int dimension);

  void
  AppendMap(const IndexMap & map);

  /** Appends cubic B-splines. \param coefficients [z][y][x][3], mm. \param toGrid from points to indices of the grid. */
  void
  AppendSpline(const DoubleArray & coefficients, const IndexMap & toGrid);

  /** Appends displacements, interpolated linearly. \param vectors [z][y][x][3], mm. \param toGrid as above. */
  void
  AppendField(const DoubleArray & vectors, const IndexMap & toGrid);
  void
  AppendFloatField(const FloatArray & vectors, const IndexMap & toGrid);

  /** Appends the displacements of a field that is on a device. \param toGrid as above. */
  void
  AppendFieldOnDevice(const FieldOnDevice & field, const IndexMap & toGrid);

  const TransformChain &
  Get() const
  {
    return m_Chain;
  }

private:
  template <typename TArray>
  void
  AppendGrid(GridKind kind, const TArray & vectors, const IndexMap & toGrid);

  TransformChain m_Chain;
};

} // namespace python
} // namespace gpureg

#endif
