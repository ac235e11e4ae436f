// SPDX-License-Identifier: Apache-2.0
// One dimension of the matrix. ResampleMatrix2D.cxx and 3D compile one dimension each.
#ifndef ResampleMatrix_hxx
#define ResampleMatrix_hxx

#include "ResampleCase.h"
#include "ResampleMatrix.h"

#include "itkNearestNeighborInterpolateImageFunction.h"
#include "itkRGBPixel.h"
#include "itkVector.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <typeinfo>

namespace gpuregtest
{

/** The point to which a transform maps a voxel of the output, for all pixel types. */
template <unsigned int VDimension>
struct ResamplePoint
{
  itk::Index<VDimension>         index;
  itk::Point<double, VDimension> there; // in the input
  bool                           isInside;
  /** True if the point is so near to a decision of ITK's that rounding may change it: half-way between two voxels for nearest
   *  neighbours, at the edge of the input for all. */
  bool isNearEdge;
  bool isNearMiddle;
};

/** A geometry: the grids, and every transform of GetTransformNames() there. */
template <unsigned int VDimension>
struct ResampleScene
{
  explicit ResampleScene(const std::string & geometry)
  {
    Random random(20141);
    input = MakeResampleGrid<VDimension>(geometry, random);
    // It covers most of the input, with fewer voxels, since ITK takes the longest for each.
    output = input;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      output.size[d] = std::max<itk::SizeValueType>(1, 3 * input.size[d] / 4);
      output.spacing[d] *= 0.9 * static_cast<double>(input.size[d]) / static_cast<double>(output.size[d]);
    }
    output.SetCentre(input.GetCentre());
    // No voxel is half-way between two of the input, if the transform preserves the axes.
    output.origin += output.direction * (0.037 * output.spacing);
    for (const std::string & name : GetTransformNames())
    {
      transforms.push_back(MakeTransform<VDimension>(name, input, random));
      points.push_back(this->FindPoints(*transforms.back()));
    }
  }

  Grid<VDimension>                          input;
  Grid<VDimension>                          output;
  std::vector<TransformPointer<VDimension>> transforms;
  std::vector<std::vector<ResamplePoint<VDimension>>>
    points; // for each transform, the points of all voxels of the output

private:
  std::vector<ResamplePoint<VDimension>>
  FindPoints(const itk::Transform<double, VDimension, VDimension> & transform) const
  {
    using ImageType = itk::Image<char, VDimension>;
    const auto from = ImageType::New();
    const auto to = ImageType::New();
    output.ApplyTo(*from);
    input.ApplyTo(*to);
    to->Allocate();
    const auto interpolator = itk::NearestNeighborInterpolateImageFunction<ImageType>::New();
    interpolator->SetInputImage(to);
    const auto                             region = from->GetLargestPossibleRegion();
    std::vector<ResamplePoint<VDimension>> found(region.GetNumberOfPixels());
    for (std::size_t n = 0; n < found.size(); ++n)
    {
      ResamplePoint<VDimension> & point = found[n];
      point.index = from->ComputeIndex(static_cast<itk::OffsetValueType>(n));
      itk::Point<double, VDimension> here;
      from->TransformIndexToPhysicalPoint(point.index, here);
      point.there = transform.TransformPoint(here);
      point.isInside = interpolator->IsInsideBuffer(point.there);
      point.isNearEdge = point.isNearMiddle = false;
      const auto index = to->template TransformPhysicalPointToContinuousIndex<double>(point.there);
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        const double relative = index[d] - static_cast<double>(input.start[d]) + 0.5;
        const double fromEnd = std::abs(relative - static_cast<double>(input.size[d]));
        point.isNearEdge = point.isNearEdge || std::min(std::abs(relative), fromEnd) < 1e-4;
        point.isNearMiddle = point.isNearMiddle || std::abs(relative - std::round(relative)) < 1e-4;
      }
    }
    return found;
  }
};

/** Returns the scenes of all geometries of GetGeometryNames(). */
template <unsigned int VDimension>
std::vector<ResampleScene<VDimension>>
MakeResampleScenes()
{
  const auto & names = GetGeometryNames();
  return std::vector<ResampleScene<VDimension>>(names.begin(), names.end());
}

struct ResampleDifference
{
  double nrmse = 0;
  double largest = 0; // relative to the range
};

/** The cases of one image type in the matrix. */
template <typename TImage>
class ResampleMatrix
{
public:
  static constexpr unsigned int Dimension = TImage::ImageDimension;
  using SceneType = ResampleScene<Dimension>;

  /** \param scenes must outlive this object. \param interpolators the number of GetInterpolatorNames() to test. */
  ResampleMatrix(const std::vector<SceneType> &      scenes,
                 const std::vector<itk::GPUDevice> & devices,
                 std::size_t                         interpolators)
    : m_Scenes(scenes)
    , m_Devices(devices)
  {
    Random random(20142);
    for (const SceneType & scene : scenes)
    {
      m_Images.push_back(MakeWaves(scene.input, random));
      m_Interpolators.emplace_back();
      for (std::size_t n = 0; n < interpolators; ++n)
      {
        const std::string & name = GetInterpolatorNames()[n];
        m_Interpolators.back()[name] = MakeInterpolator<TImage>(name);
      }
    }
  }

  void
  Test(std::size_t geometry, std::size_t transform, const std::string & interpolation) const
  {
    SCOPED_TRACE(GetGeometryNames()[geometry] + ", " + GetTransformNames()[transform] + ", " + interpolation);
    const Expectation expectation = this->MakeExpectation(geometry, transform, interpolation);
    EXPECT_GT(expectation.inside, 10);
    EXPECT_GT(10 * expectation.points.size(), 9 * expectation.inside);
    for (const itk::GPUDevice & device : m_Devices)
    {
      SCOPED_TRACE(device.GetName());
      const ResampleDifference difference = this->Compare(expectation, geometry, transform, interpolation, device);
      EXPECT_LE(difference.nrmse, interpolation == "nearest" ? 0.0 : 1e-5);
      EXPECT_LE(difference.largest, interpolation == "nearest" ? 0.0 : 1e-4);
    }
  }

private:
  using PixelType = typename TImage::PixelType;
  using ComponentType = typename itk::NumericTraits<PixelType>::ValueType;
  using FilterType = itk::ResampleImageFilter<TImage, TImage>;
  using InterpolatorType = itk::InterpolateImageFunction<TImage, double>;

  static constexpr unsigned int Components = sizeof(PixelType) / sizeof(ComponentType);

  template <typename TPixel>
  static auto
  GetComponent(const TPixel & pixel, unsigned int component)
  {
    return itk::DefaultConvertPixelTraits<TPixel>::GetNthComponent(static_cast<int>(component), pixel);
  }

  /** Returns an image of smooth waves and noise in the range of the component type, at most ±1000. */
  static typename TImage::Pointer
  MakeWaves(const Grid<Dimension> & grid, Random & random)
  {
    auto image = TImage::New();
    grid.ApplyTo(*image);
    image->Allocate();
    const double low = std::max(-1000.0, static_cast<double>(std::numeric_limits<ComponentType>::lowest()));
    const double high = std::min(1000.0, static_cast<double>(std::numeric_limits<ComponentType>::max()));
    for (itk::ImageRegionIteratorWithIndex<TImage> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      for (unsigned int c = 0; c < Components; ++c)
      {
        double wave = 0.5;
        for (unsigned int d = 0; d < Dimension; ++d)
        {
          wave += 0.13 * std::sin(0.5 * static_cast<double>(it.GetIndex()[d]) + d + 2.0 * c);
        }
        const double value = low + (high - low) * (wave + Uniform(random, -0.05, 0.05));
        itk::DefaultConvertPixelTraits<PixelType>::SetNthComponent(static_cast<int>(c),
                                                                   it.Value(),
                                                                   static_cast<ComponentType>(value));
      }
    }
    return image;
  }

  /** Returns true if the value that ITK interpolates is so near to an integer that rounding decides to which of two neighbours it is
   *  truncated. */
  static bool
  IsAboutToBeNext(double value, double wanted, double got, double range)
  {
    const double further = std::abs(got) > std::abs(wanted) ? got : wanted;
    return std::abs(wanted - got) == 1.0 && std::abs(value - further) < 1e-6 * range;
  }

  typename TImage::Pointer
  Update(FilterType & filter, std::size_t geometry, std::size_t transform, InterpolatorType & interpolator) const
  {
    const SceneType & scene = m_Scenes[geometry];
    PixelType         outside;
    for (unsigned int c = 0; c < Components; ++c)
    {
      itk::DefaultConvertPixelTraits<PixelType>::SetNthComponent(static_cast<int>(c),
                                                                 outside,
                                                                 static_cast<ComponentType>(77 + c));
    }
    filter.SetInput(m_Images[geometry]);
    filter.SetTransform(scene.transforms[transform]);
    filter.SetInterpolator(&interpolator);
    filter.SetSize(scene.output.size);
    filter.SetOutputStartIndex(scene.output.start);
    filter.SetOutputSpacing(scene.output.spacing);
    filter.SetOutputOrigin(scene.output.origin);
    filter.SetOutputDirection(scene.output.direction);
    filter.SetDefaultPixelValue(outside);
    filter.Update();
    return filter.GetOutput();
  }

  /** The output of ITK's filter, and the voxels to compare: those for which rounding does not decide. */
  struct Expectation
  {
    typename TImage::Pointer              image;
    typename InterpolatorType::Pointer    interpolator;
    std::vector<ResamplePoint<Dimension>> points;
    std::size_t                           inside = 0;
    double                                range = 0;
  };

  Expectation
  MakeExpectation(std::size_t geometry, std::size_t transform, const std::string & interpolation) const
  {
    Expectation expectation;
    expectation.interpolator = m_Interpolators[geometry].at(interpolation);
    expectation.image = this->Update(*FilterType::New(), geometry, transform, *expectation.interpolator);
    // The filter has removed the input.
    expectation.interpolator->SetInputImage(m_Images[geometry]);
    const TImage & expected = *expectation.image;
    double         low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
    for (itk::SizeValueType i = 0; i < expected.GetBufferedRegion().GetNumberOfPixels(); ++i)
    {
      for (unsigned int c = 0; c < Components; ++c)
      {
        low = std::min(low, static_cast<double>(GetComponent(expected.GetBufferPointer()[i], c)));
        high = std::max(high, static_cast<double>(GetComponent(expected.GetBufferPointer()[i], c)));
      }
    }
    expectation.range = std::max(high - low, 1e-30);
    for (const ResamplePoint<Dimension> & point : m_Scenes[geometry].points[transform])
    {
      expectation.inside += point.isInside;
      if (!point.isNearEdge && !(point.isNearMiddle && interpolation == "nearest"))
      {
        expectation.points.push_back(point);
      }
    }
    return expectation;
  }

  /** Compares a device's output with the expectation. */
  ResampleDifference
  Compare(const Expectation &    expectation,
          std::size_t            geometry,
          std::size_t            transform,
          const std::string &    interpolation,
          const itk::GPUDevice & device) const
  {
    const auto filter = itk::GPUResampleImageFilter<TImage, TImage>::New();
    filter->SetDevice(device);
    const auto image = this->Update(*filter, geometry, transform, *MakeInterpolator<TImage>(interpolation));
    // For these sampled transforms, the host leaves all but B-spline interpolation to the parent class.
    const std::string & name = GetTransformNames()[transform];
    const bool          isSampled = name == "thinPlate" || name == "bspline0";
    EXPECT_EQ(filter->GetEvaluationStatistics().launches == 0,
              device.IsHost() && isSampled && (interpolation == "nearest" || interpolation == "linear"));
    double             squares = 0;
    ResampleDifference difference;
    for (const ResamplePoint<Dimension> & point : expectation.points)
    {
      for (unsigned int c = 0; c < Components; ++c)
      {
        const double wanted = static_cast<double>(GetComponent(expectation.image->GetPixel(point.index), c));
        const double got = static_cast<double>(GetComponent(image->GetPixel(point.index), c));
        double       apart = std::abs(wanted - got);
        if (std::is_integral<ComponentType>::value && apart > 0 && point.isInside && interpolation != "nearest" &&
            IsAboutToBeNext(
              GetComponent(expectation.interpolator->Evaluate(point.there), c), wanted, got, expectation.range))
        {
          apart = 0;
        }
        squares += apart * apart;
        difference.largest = std::max(difference.largest, apart / expectation.range);
      }
    }
    const double count = std::max<double>(static_cast<double>(expectation.points.size()) * Components, 1);
    difference.nrmse = std::sqrt(squares / count) / expectation.range;
    return difference;
  }

  const std::vector<SceneType> &        m_Scenes;
  const std::vector<itk::GPUDevice>     m_Devices;
  std::vector<typename TImage::Pointer> m_Images;
  /** The interpolators of ITK's filter for each geometry, by name: each stores an image's coefficients for all transforms. */
  std::vector<std::map<std::string, typename InterpolatorType::Pointer>> m_Interpolators;
};

template <unsigned int VDimension>
void
TestResampleMatrix(const std::vector<itk::GPUDevice> & devices)
{
  const auto scenes = MakeResampleScenes<VDimension>();
  const auto test = [&](auto pixel, std::size_t interpolators) {
    SCOPED_TRACE(typeid(pixel).name());
    const ResampleMatrix<itk::Image<decltype(pixel), VDimension>> matrix(scenes, devices, interpolators);
    for (std::size_t geometry = 0; geometry < scenes.size(); ++geometry)
    {
      for (std::size_t transform = 0; transform < GetTransformNames().size(); ++transform)
      {
        for (std::size_t interpolator = 0; interpolator < interpolators; ++interpolator)
        {
          matrix.Test(geometry, transform, GetInterpolatorNames()[interpolator]);
        }
      }
    }
  };
  const std::size_t all = GetInterpolatorNames().size();
  test(float{}, all);
  test(double{}, all);
  test(static_cast<unsigned char>(0), all);
  test(static_cast<signed char>(0), all);
  test(short{}, all);
  test(static_cast<unsigned short>(0), all);
  test(int{}, all);
  test(0u, all);
  test(0l, all);
  test(0ul, all);
  // ITK interpolates these by nearest neighbour and linearly.
  test(itk::Vector<float, 3>(), 2);
  test(itk::RGBPixel<unsigned char>(), 2);
}

} // namespace gpuregtest

#endif
