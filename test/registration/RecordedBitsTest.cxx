// SPDX-License-Identifier: Apache-2.0
// Results of the host keep their bits: hashes of those of each metric and method, on images without rounding, are recorded here. A change
// that is meant to change results records new ones.
#include "EachMetric.h"
#include "TestAnswer.h"
#include "TestImages.h"
#include "TestParallelFor.h"

#include "gpureg/image/LoadedImage.h"
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"
#include "gpureg/registration/free_form/FreeFormRegistration.h"
#include "gpureg/registration/global/GlobalRegistration.h"
#include "gpureg/resample/Resampler.h"

#include "itkAffineTransform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using Floats = std::vector<float>;

/** Computes a number from bytes (FNV-1a). */
class Hash
{
public:
  template <typename TNumber>
  void
  Add(const TNumber * numbers, std::size_t count)
  {
    const auto * const bytes = reinterpret_cast<const unsigned char *>(numbers);
    std::for_each(bytes, bytes + count * sizeof(TNumber), [this](unsigned char byte) {
      m_Value = (m_Value ^ byte) * 0x100000001b3U;
    });
  }

  std::string
  GetText() const
  {
    char text[17];
    std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(m_Value));
    return text;
  }

private:
  std::uint64_t m_Value = 0xcbf29ce484222325U;
};

template <typename TNumbers>
std::string
ComputeHash(const TNumbers & numbers)
{
  Hash hash;
  hash.Add(numbers.data(), numbers.size());
  return hash.GetText();
}

/** Returns a hash of what the functions of libm that the library calls return: other versions, and other processors, may round
 *  elsewhere. */
std::string
HashMathematicalFunctions()
{
  Hash hash;
  for (int n = 1; n <= 4096; ++n)
  {
    const volatile double x = n / 256.0;
    const volatile float  y = static_cast<float>(x);
    const double          doubles[] = { std::exp(-x),      std::exp2(-x),      std::log(x), std::log1p(x),
                                        std::log2(x),      std::pow(x, 0.75),  std::sin(x), std::cos(x),
                                        std::acos(x / 17), std::hypot(x, 3.0), std::erf(x) };
    const float           floats[] = { std::exp(-y), std::log(y) };
    hash.Add(doubles, std::size(doubles));
    hash.Add(floats, std::size(floats));
  }
  return hash.GetText();
}

constexpr int    Size[] = { 24, 20, 18 };
constexpr double Spacing = 2.0;

/** Returns two blobs in one, where sums, products and quotients alone compute them. shift: of the blobs, in voxels. */
Floats
MakeBlobs(const std::array<double, 3> & shift)
{
  Floats values;
  for (int z = 0; z < Size[2]; ++z)
  {
    for (int y = 0; y < Size[1]; ++y)
    {
      for (int x = 0; x < Size[0]; ++x)
      {
        const double a[] = { x - 9.0 - shift[0], y - 9.0 - shift[1], z - 8.0 - shift[2] };
        const double b[] = { a[0] - 6.0, a[1] - 3.0, a[2] - 1.0 };
        const double large = 1.0 + (a[0] * a[0] + 2.0 * a[1] * a[1] + a[2] * a[2]) / 32.0;
        const double small = 1.0 + (b[0] * b[0] + b[1] * b[1] + 1.5 * b[2] * b[2]) / 8.0;
        values.push_back(static_cast<float>(100.0 / (large * large) + 60.0 / (small * small)));
      }
    }
  }
  return values;
}

/** Gives a pair of images to tests, and compares hashes with those that were recorded. */
class RecordedBitsTest : public ::testing::Test
{
protected:
  void
  SetUp() override
  {
#if !defined(__x86_64__) || defined(__FMA__)
    GTEST_SKIP() << "the compiler joins products and sums here, which are then rounded once";
#endif
    for (const auto & [image, values] :
         { std::pair{ m_Fixed.get(), &m_FixedValues }, { m_Moving.get(), &m_MovingValues } })
    {
      image->Load(
        {}, gpureg::Precision::Single, values->data(), static_cast<std::int64_t>(values->size()), OnThreads(3));
    }
  }

  using Hashes = std::map<std::string, std::string>;

  /** Expects hashes, by names of what they are of, to be those that were recorded. Skips the test if they are others and functions of libm
   *  round otherwise than where they were recorded. */
  static void
  ExpectRecorded(const Hashes & found, const Hashes & recorded)
  {
    const std::string functions = HashMathematicalFunctions();
    if (found != recorded && functions != "49b7a08d86fb8b9e")
    {
      GTEST_SKIP() << "mathematical functions round otherwise here: their hash is " << functions;
    }
    EXPECT_EQ(found, recorded);
  }

  template <typename TProblem>
  TProblem
  MakeProblem() const
  {
    const auto describe = [](const gpureg::LoadedImage & image) {
      gpureg::RegisteredImage registered;
      registered.image = &image;
      registered.size = { Size[0], Size[1], Size[2] };
      registered.indexToPoint.matrix = { Spacing, 0, 0, 0, Spacing, 0, 0, 0, Spacing };
      return registered;
    };
    TProblem problem;
    problem.fixed = describe(*m_Fixed);
    problem.moving = describe(*m_Moving);
    return problem;
  }

  /** Returns the hash of a registration's displacements. */
  template <typename TRegistration>
  static std::string
  HashDisplacements(TRegistration & registration)
  {
    Floats field(3 * Size[0] * Size[1] * Size[2]);
    registration.TakeDisplacements(
      [&field](std::int64_t first, std::int64_t count, const float * in) {
        std::copy_n(in, 3 * count, field.begin() + 3 * first);
      },
      OnThreads(3));
    EXPECT_GT(*std::max_element(field.begin(), field.end()), 0.5);
    return ComputeHash(field);
  }

  static std::string
  HashDeformation(const gpureg::DiffeomorphicProblem & problem, const gpureg::DiffeomorphicSettings & settings)
  {
    gpureg::DiffeomorphicRegistration registration("host");
    registration.Register(problem, settings, OnThreads(3));
    return HashDisplacements(registration);
  }

  Floats                               m_FixedValues = MakeBlobs({ 0, 0, 0 });
  Floats                               m_MovingValues = MakeBlobs({ 1.5, -0.75, 0.5 });
  std::unique_ptr<gpureg::LoadedImage> m_Fixed = std::make_unique<gpureg::LoadedImage>("host");
  std::unique_ptr<gpureg::LoadedImage> m_Moving = std::make_unique<gpureg::LoadedImage>("host");
};

TEST_F(RecordedBitsTest, Metrics)
{
  using ImageType = TestImage<float, 3>;
  const auto makeImage = [](const Floats & values) {
    Grid<3> grid;
    grid.size = { { Size[0], Size[1], Size[2] } };
    grid.spacing.Fill(Spacing);
    const auto image = ImageType::New();
    grid.ApplyTo(*image);
    image->Allocate();
    std::copy(values.begin(), values.end(), image->GetBufferPointer());
    return image;
  };
  const Hashes recorded{ { "CudaMattesNMI", "8c6acd19177cda3e" },
                         { "CudaMattesNMI, not normalised", "fe564646a318cd17" },
                         { "CudaCorrelationRatioMetric", "7ca3348890eec6ad" },
                         { "partial volume", "8fa3657b615629fb" },
                         { "joint histogram", "ccfb6959957b495e" },
                         { "mean squares", "f122327fff46af33" },
                         { "correlation", "0207b96c4f826876" },
                         { "absolute differences", "473ecba8061c764d" },
                         { "neighborhood correlation", "2287b17b21428bbf" } };
  Hashes       found;
  ForEachMetric<ImageType>([&](const auto & metric, const std::string & name) {
    metric->SetDevice(itk::GPUDevice::FromName("host"));
    metric->SetFixedImage(makeImage(m_FixedValues));
    metric->SetMovingImage(makeImage(m_MovingValues));
    const auto transform = itk::AffineTransform<double, 3>::New();
    auto       parameters = transform->GetParameters();
    for (unsigned int p = 0; p < 12; ++p)
    {
      // Numbers that floats have.
      parameters[p] += (p % 5 - 2.0) / (p < 9 ? 64.0 : 2.0);
    }
    transform->SetParameters(parameters);
    metric->SetMovingTransform(transform);
    const Answer answer = InitializeAndAsk(*metric);
    Hash         hash;
    hash.Add(&answer.value, 1);
    hash.Add(&answer.valueAlone, 1);
    hash.Add(answer.derivative.data(), answer.derivative.size());
    EXPECT_GT(answer.validPoints, 4000U) << name;
    found[name] = hash.GetText();
  });
  ExpectRecorded(found, recorded);
}

TEST_F(RecordedBitsTest, GlobalSearch)
{
  gpureg::GlobalRegistration registration("host");
  gpureg::GlobalSettings     settings;
  settings.angles = { { { { 0, 0 } }, { { 0, 0 } }, { { -0.5, 0.5 } } } };
  const auto result = registration.Register(this->MakeProblem<gpureg::GlobalProblem>(), settings, OnThreads(3));
  Hash       hash;
  hash.Add(result.pointMap.matrix.data(), 9);
  hash.Add(result.pointMap.offset.data(), 3);
  hash.Add(&result.cost, 1);
  EXPECT_NEAR(result.pointMap.offset[0], 1.5 * Spacing, 1.0);
  ExpectRecorded({ { "map", hash.GetText() } }, { { "map", "ed57660a52e1381e" } });
}

TEST_F(RecordedBitsTest, FreeForm)
{
  gpureg::FreeFormRegistration registration("host");
  gpureg::FreeFormSettings     settings;
  settings.levels = 2;
  settings.iterations = 20;
  registration.Register(this->MakeProblem<gpureg::FreeFormProblem>(), settings, OnThreads(3));
  ExpectRecorded({ { "field", HashDisplacements(registration) } }, { { "field", "42ccbe365c1dce01" } });
}

TEST_F(RecordedBitsTest, Greedy)
{
  gpureg::DiffeomorphicSettings settings;
  settings.iterations = { 20, 10 };
  ExpectRecorded({ { "field", HashDeformation(this->MakeProblem<gpureg::DiffeomorphicProblem>(), settings) } },
                 { { "field", "67e50c5b8c40cf50" } });
}

TEST_F(RecordedBitsTest, SyN)
{
  gpureg::DiffeomorphicSettings settings;
  settings.scheme = gpureg::DiffeomorphicScheme::SyN;
  settings.iterations = { 20, 10 };
  settings.step = 0.5;
  ExpectRecorded({ { "field", HashDeformation(this->MakeProblem<gpureg::DiffeomorphicProblem>(), settings) } },
                 { { "field", "ae43959f88024f65" } });
}

TEST_F(RecordedBitsTest, Velocity)
{
  gpureg::DiffeomorphicSettings settings;
  settings.scheme = gpureg::DiffeomorphicScheme::Velocity;
  settings.similarity.kind = gpureg::SimilarityKind::MattesMutualInformation;
  settings.iterations = { 20, 10 };
  settings.step = 0.5;
  ExpectRecorded({ { "field", HashDeformation(this->MakeProblem<gpureg::DiffeomorphicProblem>(), settings) } },
                 { { "field", "21c2691e55dde6ba" } });
}

TEST_F(RecordedBitsTest, Resampling)
{
  gpureg::Resampler     resampler("host");
  gpureg::ResampleInput input;
  input.size = { Size[0], Size[1], Size[2] };
  input.image = m_Moving.get();
  input.splineOrder = 3;
  input.values = [this](std::int64_t first, std::int64_t count, void * out) {
    std::copy_n(m_MovingValues.begin() + first, count, static_cast<float *>(out));
  };
  const Hashes recorded{ { "nearest", "7a2ec7a353776bf9" },
                         { "linear", "719c165344c15044" },
                         { "cubic", "62f3274d05901a4e" } };
  Hashes       found;
  for (const auto & [name, interpolation] : { std::pair{ "nearest", gpureg::Interpolation::Nearest },
                                              { "linear", gpureg::Interpolation::Linear },
                                              { "cubic", gpureg::Interpolation::BSpline } })
  {
    Floats                  values(m_MovingValues.size());
    gpureg::ResampleRequest request;
    request.size = input.size;
    request.outside = { -1.0 };
    request.interpolation = interpolation;
    request.outputToPoint.matrix = { 0.9375, 0.125, 0, -0.0625, 1.0, 0.03125, 0, 0.0625, 1.0625 };
    request.outputToPoint.offset = { 0.3125, -0.75, 1.25 };
    request.output = [&values](std::int64_t first, std::int64_t count, const void * in) {
      std::copy_n(static_cast<const float *>(in), count, values.begin() + first);
    };
    resampler.Resample(input, request, OnThreads(3));
    found[name] = ComputeHash(values);
  }
  ExpectRecorded(found, recorded);
}

} // namespace
} // namespace gpuregtest
