// SPDX-License-Identifier: Apache-2.0
// Random transforms of every kind, with any nesting, and the points at which they are discontinuous, where rounding decides about a voxel.
#ifndef RandomTransform_h
#define RandomTransform_h

#include "RandomGrid.h"
#include "ResampleCase.h"

#include "itkBSplineDeformableTransform.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace gpuregtest
{

/** A transform of a class that the engine does not know: a wave. */
template <unsigned int VDimension>
class WaveTransform : public itk::Transform<double, VDimension, VDimension>
{
public:
  using Self = WaveTransform;
  using Superclass = itk::Transform<double, VDimension, VDimension>;
  using Pointer = itk::SmartPointer<Self>;
  using PointType = typename Superclass::InputPointType;
  itkNewMacro(Self);
  itkTypeMacro(WaveTransform, Transform);

  void
  SetWave(const PointType & centre, const itk::Vector<double, VDimension> & amplitude, double wavelength)
  {
    m_Centre = centre;
    m_Amplitude = amplitude;
    m_Wavelength = wavelength;
  }

  PointType
  TransformPoint(const PointType & point) const override
  {
    PointType moved = point;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      const unsigned int across = (d + 1) % VDimension;
      moved[d] += m_Amplitude[d] * std::sin(2.0 * Pi * (point[across] - m_Centre[across]) / m_Wavelength);
    }
    return moved;
  }

  void
  SetParameters(const typename Superclass::ParametersType &) override
  {}
  void
  SetFixedParameters(const typename Superclass::FixedParametersType &) override
  {}
  void
  ComputeJacobianWithRespectToParameters(const PointType &, typename Superclass::JacobianType &) const override
  {}

protected:
  WaveTransform()
    : Superclass(0)
  {}

private:
  PointType                       m_Centre{};
  itk::Vector<double, VDimension> m_Amplitude{};
  double                          m_Wavelength = 1.0;
};

/** A transform, and its parts. */
template <unsigned int VDimension>
struct RandomTransform
{
  using PointType = itk::Point<double, VDimension>;

  struct Part
  {
    TransformPointer<VDimension> transform;
    /** Returns true if a point is so near to a discontinuity of the part that rounding decides. Null for a continuous part. */
    std::function<bool(const PointType &)> jumpsNear;
  };

  TransformPointer<VDimension> transform;
  /** The parts in the order in which they are applied. */
  std::vector<Part> parts;
  std::string       words;
  /** True if there is a part that no device has. */
  bool isSampled = false;

  bool
  JumpsNear(PointType point) const
  {
    for (const Part & part : parts)
    {
      if (part.jumpsNear && part.jumpsNear(point))
      {
        return true;
      }
      point = part.transform->TransformPoint(point);
    }
    return false;
  }
};

/** Draws transforms that move the voxels of a grid by up to a tenth of its extent. */
template <unsigned int VDimension>
class TransformDrawer
{
public:
  using PointType = itk::Point<double, VDimension>;
  using VectorType = itk::Vector<double, VDimension>;
  using ResultType = RandomTransform<VDimension>;
  static constexpr double Near = 1e-4; // voxels

  TransformDrawer(const Grid<VDimension> & grid, Random & random)
    : m_Grid(grid)
    , m_Random(random)
  {}

  /** Returns a random transform. \param depth how deep composites may be nested. */
  ResultType
  Draw(unsigned int depth)
  {
    switch (gpuregtest::Draw(m_Random, depth > 0 ? 14 : 9))
    {
      case 0:
        return this->DrawOneOf({ "identity", "translation", "rigid", "similarity" });
      case 1:
      case 2:
        return this->DrawAffine();
      case 3:
      case 4:
        return this->DrawOfOrder([this](auto order) { return this->template DrawSpline<order.value>(); });
      case 5:
        return this->DrawOfOrder([this](auto order) { return this->template DrawDeformable<order.value>(); });
      case 6:
      case 7:
        return this->DrawField();
      case 8:
        return this->DrawUnknown();
      default:
        return this->DrawComposite(depth);
    }
  }

private:
  /** Returns a random vector of up to this share of the grid's extents, along its axes. */
  VectorType
  DrawMove(double share)
  {
    VectorType move;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      move[d] = Uniform(m_Random, -share, share) * m_Grid.GetExtent(d);
    }
    return m_Grid.direction * move;
  }

  static ResultType
  Single(TransformPointer<VDimension>           transform,
         std::string                            words,
         std::function<bool(const PointType &)> jumpsNear = nullptr)
  {
    return { transform, { { transform, std::move(jumpsNear) } }, std::move(words) };
  }

  static ResultType
  Sampled(ResultType result)
  {
    result.isSampled = true;
    return result;
  }

  ResultType
  DrawOneOf(const std::vector<std::string> & names)
  {
    const std::string name = names[gpuregtest::Draw(m_Random, static_cast<unsigned int>(names.size()))];
    return Single(MakeTransform<VDimension>(name, m_Grid, m_Random), name);
  }

  /** Returns a random affine transform about the grid's centre, with any rotation, and slight shears and scales. */
  ResultType
  DrawAffine()
  {
    auto   transform = itk::AffineTransform<double, VDimension>::New();
    double turn = Uniform(m_Random, -0.3, 0.3);
    if (Chance(m_Random, 4))
    {
      turn = Uniform(m_Random, -Pi, Pi);
    }
    auto matrix = MakeRotation<VDimension>(turn);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      for (unsigned int c = 0; c < VDimension; ++c)
      {
        matrix[d][c] += Uniform(m_Random, -0.1, 0.1);
      }
    }
    transform->SetCenter(m_Grid.GetCentre());
    transform->SetMatrix(matrix);
    transform->SetTranslation(this->DrawMove(0.1));
    return Single(transform.GetPointer(), "affine");
  }

  template <typename TDraw>
  ResultType
  DrawOfOrder(const TDraw & draw)
  {
    switch (gpuregtest::Draw(m_Random, 6))
    {
      case 0:
        return draw(std::integral_constant<unsigned int, 0>{});
      case 1:
        return draw(std::integral_constant<unsigned int, 1>{});
      case 2:
        return draw(std::integral_constant<unsigned int, 2>{});
      default:
        return draw(std::integral_constant<unsigned int, 3>{});
    }
  }

  /** Returns a grid in space for a mesh or a field of `cells` cells, which covers the grid or a part of it. */
  Grid<VDimension>
  DrawCover(const itk::Size<VDimension> & cells)
  {
    Grid<VDimension> cover = m_Grid;
    cover.size = cells;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      cover.spacing[d] = m_Grid.GetExtent(d) * Uniform(m_Random, 0.3, 1.6) / static_cast<double>(cells[d]);
    }
    if (Chance(m_Random, 3))
    {
      cover.direction = DrawDirection<VDimension>(m_Random);
    }
    cover.SetCentre(m_Grid.GetCentre() + this->DrawMove(0.3));
    return cover;
  }

  itk::Size<VDimension>
  DrawMesh()
  {
    itk::Size<VDimension> mesh;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      // Sometimes as fine as the voxels.
      mesh[d] = 1 + gpuregtest::Draw(m_Random, Chance(m_Random, 4) ? 30 : 6);
    }
    return mesh;
  }

  /** Returns the share of the extent by which vectors of `cells` cells may move: the more cells, the smaller the share, so that
   *  neighbours' vectors do not differ so much that rounding errors grow along a chain of transforms. */
  static double
  GetShare(const itk::Size<VDimension> & cells)
  {
    return 0.08 * std::min(1.0, 8.0 / static_cast<double>(*std::max_element(cells.begin(), cells.end())));
  }

  itk::OptimizerParameters<double>
  DrawParameters(const itk::Size<VDimension> & controlPoints)
  {
    const auto                       count = itk::ImageRegion<VDimension>(controlPoints).GetNumberOfPixels();
    itk::OptimizerParameters<double> parameters(VDimension * count);
    for (itk::SizeValueType n = 0; n < count; ++n)
    {
      const VectorType move = this->DrawMove(GetShare(controlPoints));
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        parameters[d * count + n] = move[d];
      }
    }
    return parameters;
  }

  /** Returns true if an index is near an end of [low, high] along one axis, and inside or near an end along the others. */
  static bool
  IsNearTheEdge(const VectorType & index, const VectorType & low, const VectorType & high)
  {
    bool isNear = false;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      if (index[d] < low[d] - Near || index[d] > high[d] + Near)
      {
        return false;
      }
      isNear = isNear || std::min(std::abs(index[d] - low[d]), std::abs(index[d] - high[d])) < Near;
    }
    return isNear;
  }

  /** Returns the continuous index in an image, relative to its first voxel. */
  template <typename TImage>
  static VectorType
  FindIndex(const TImage & image, const PointType & point)
  {
    const auto index = image.template TransformPhysicalPointToContinuousIndex<double>(point);
    VectorType relative;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      relative[d] = index[d] - static_cast<double>(image.GetBufferedRegion().GetIndex(d));
    }
    return relative;
  }

  /** Returns a test for discontinuities of a B-spline: it moves nothing outside of its valid region, and for order 0 it jumps from cell
   *  to cell. */
  template <unsigned int VOrder, typename TSpline>
  static std::function<bool(const PointType &)>
  ComputeSplineJumps(const TSpline & transform)
  {
    return [image = transform.GetCoefficientImages()[0]](const PointType & point) {
      const VectorType index = FindIndex(*image, point);
      VectorType       low, high;
      bool             isTie = false;
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        low[d] = 0.5 * (static_cast<double>(VOrder) - 1.0);
        high[d] = static_cast<double>(image->GetBufferedRegion().GetSize(d)) - 1.0 - low[d];
        isTie = isTie || std::abs(index[d] + 0.5 - std::round(index[d] + 0.5)) < Near;
      }
      return IsNearTheEdge(index, low, high) || (VOrder == 0 && isTie);
    };
  }

  template <unsigned int VOrder>
  ResultType
  DrawSpline()
  {
    using TransformType = itk::BSplineTransform<double, VDimension, VOrder>;
    const auto                                     mesh = this->DrawMesh();
    const auto                                     cover = this->DrawCover(mesh);
    auto                                           transform = TransformType::New();
    typename TransformType::PhysicalDimensionsType dimensions;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      dimensions[d] = cover.GetExtent(d);
    }
    VectorType first;
    first.Fill(0.0);
    transform->SetTransformDomainOrigin(cover.GetPoint(first));
    transform->SetTransformDomainDirection(cover.direction);
    transform->SetTransformDomainPhysicalDimensions(dimensions);
    transform->SetTransformDomainMeshSize(mesh);
    transform->SetParametersByValue(
      this->DrawParameters(transform->GetCoefficientImages()[0]->GetBufferedRegion().GetSize()));
    auto result = Single(transform.GetPointer(),
                         "B-spline of order " + std::to_string(VOrder) + " " + Describe(cover),
                         ComputeSplineJumps<VOrder>(*transform));
    // No device has ITK's spline of order 0.
    result.isSampled = VOrder == 0;
    return result;
  }

  template <unsigned int VOrder>
  ResultType
  DrawDeformable()
  {
    using TransformType = itk::BSplineDeformableTransform<double, VDimension, VOrder>;
    auto controlPoints = this->DrawMesh();
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      controlPoints[d] += VOrder;
    }
    auto cover = this->DrawCover(controlPoints);
    if (VOrder % 2 == 0)
    {
      // For an even order ITK takes every point to be in the valid region, and would read beyond the grid: this grid contains all points
      // that may occur.
      cover.spacing.Fill(6.0 * GetReach(m_Grid));
      cover.SetCentre(m_Grid.GetCentre());
    }
    auto                               transform = TransformType::New();
    typename TransformType::RegionType region(cover.start, controlPoints);
    VectorType                         first;
    first.Fill(0.0);
    transform->SetGridOrigin(cover.origin);
    transform->SetGridSpacing(cover.spacing);
    transform->SetGridDirection(cover.direction);
    transform->SetGridRegion(region);
    transform->SetParametersByValue(this->DrawParameters(controlPoints));
    std::string words = "deformable B-spline of order " + std::to_string(VOrder) + " " + Describe(cover);
    if (Chance(m_Random, 3))
    {
      transform->SetBulkTransform(this->DrawAffine().transform);
      words += " and bulk";
    }
    return Single(transform.GetPointer(), words, ComputeSplineJumps<VOrder>(*transform));
  }

  ResultType
  DrawField()
  {
    using TransformType = itk::DisplacementFieldTransform<double, VDimension>;
    using FieldType = typename TransformType::DisplacementFieldType;
    // One vector for each voxel, as in a registration's result, or a grid of its own.
    const auto cover = Chance(m_Random, 3) ? m_Grid : this->DrawCover(this->DrawMesh());
    const auto field =
      MakeImage<FieldType>(cover, [&](const PointType &) { return this->DrawMove(GetShare(cover.size)); });
    auto transform = TransformType::New();
    transform->SetDisplacementField(field);
    return Single(transform.GetPointer(), "field " + Describe(cover), [field](const PointType & point) {
      VectorType low, high;
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        low[d] = -0.5;
        high[d] = static_cast<double>(field->GetBufferedRegion().GetSize(d)) - 0.5;
      }
      return IsNearTheEdge(FindIndex(*field, point), low, high);
    });
  }

  ResultType
  DrawUnknown()
  {
    if (Chance(m_Random, 3))
    {
      return Sampled(this->DrawOneOf({ "thinPlate" }));
    }
    auto transform = WaveTransform<VDimension>::New();
    transform->SetWave(m_Grid.GetCentre(), this->DrawMove(0.1), Uniform(m_Random, 0.5, 2.0) * GetReach(m_Grid));
    return Sampled(Single(transform.GetPointer(), "wave"));
  }

  ResultType
  DrawComposite(unsigned int depth)
  {
    auto               composite = itk::CompositeTransform<double, VDimension>::New();
    ResultType         result{ composite.GetPointer(), {}, "composite(" };
    const unsigned int count = gpuregtest::Draw(m_Random, 4);
    for (unsigned int n = 0; n < count; ++n)
    {
      auto next = this->Draw(depth - 1);
      composite->AddTransform(next.transform);
      // The transform that is added last is applied first.
      result.parts.insert(result.parts.begin(), next.parts.begin(), next.parts.end());
      result.words += (n > 0 ? ", " : "") + next.words;
      result.isSampled = result.isSampled || next.isSampled;
    }
    result.words += ")";
    return result;
  }

  const Grid<VDimension> & m_Grid;
  Random &                 m_Random;
};

} // namespace gpuregtest

#endif
