// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PlacesInBox_h
#define gpureg_PlacesInBox_h

#include "gpureg/core/Error.h"
#include "gpureg/resample/Resampler.h"

#include "kernels/core/Prelude.h"
#include "kernels/resample/Displacement.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace gpureg
{

/** An image of two voxels along each axis, at a box's corners, whose values are the voxels' places in the box, from 0 to 1 along each axis.
 *  Resampling it by a transform gives the places to which the transform maps. */
class PlacesInBox
{
public:
  /** \throws BadInputError if the box is empty. */
  explicit PlacesInBox(const DisplacementRequest & request)
    : m_Dimension(static_cast<std::size_t>(request.transform.dimension))
  {
    for (std::size_t d = 0; d < m_Dimension; ++d)
    {
      const double extent = request.high[d] - request.low[d];
      if (!(extent > 0) || !std::isfinite(extent))
      {
        throw BadInputError("a box that holds all points, from " + std::to_string(request.low[d]) + " to " +
                            std::to_string(request.high[d]) + " mm along axis " + std::to_string(d) + ", is empty");
      }
      m_PointToPlace.matrix[4 * d] = 1 / extent;
      m_PointToPlace.offset[d] = -request.low[d] / extent;
      m_Size[d] = 2;
    }
    for (std::size_t voxel = 0; voxel < static_cast<std::size_t>(CountOf(m_Size)); ++voxel)
    {
      for (std::size_t d = 0; d < m_Dimension; ++d)
      {
        m_Places.push_back(static_cast<double>(voxel >> d & 1));
      }
    }
  }

  ResampleInput
  MakeInput() const
  {
    ResampleInput input;
    input.size = m_Size;
    input.components = static_cast<int>(m_Dimension);
    input.precision = Precision::Double;
    input.memory = m_Places.data();
    input.values = [this](std::int64_t first, std::int64_t count, void * out) {
      const auto from = m_Places.begin() + first * static_cast<std::int64_t>(m_Dimension);
      std::copy(from, from + count * static_cast<std::int64_t>(m_Dimension), static_cast<double *>(out));
    };
    return input;
  }

  ResampleRequest
  MakeRequest(const DisplacementRequest & asked) const
  {
    ResampleRequest request;
    static_cast<ChainedGrid &>(request) = asked;
    request.pointToInput = m_PointToPlace;
    request.outside.assign(m_Dimension, 0.0);
    return request;
  }

private:
  std::size_t         m_Dimension;
  Size                m_Size{ 1, 1, 1 };
  IndexMap            m_PointToPlace;
  std::vector<double> m_Places;
};

/** Returns what makes displacements of the places that resampling by PlacesInBox finds. */
inline kernels::DisplacementArguments
MakeDisplacementArguments(const DisplacementRequest & request)
{
  kernels::DisplacementArguments a{};
  const IndexMap &               toPoint = request.outputToPoint;
  std::copy(toPoint.matrix.begin(), toPoint.matrix.end(), a.matrix);
  std::copy(toPoint.offset.begin(), toPoint.offset.end(), a.offset);
  for (std::size_t d = 0; d < 3; ++d)
  {
    a.low[d] = request.low[d];
    a.extent[d] = request.high[d] - request.low[d];
  }
  a.size[0] = request.size[0];
  a.size[1] = request.size[1];
  a.components = request.transform.dimension;
  return a;
}

} // namespace gpureg

#endif
