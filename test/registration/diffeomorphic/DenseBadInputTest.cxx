// SPDX-License-Identifier: Apache-2.0
// Tests errors of all schemes of diffeomorphic registration: the message says what is wrong, where, and what to do, it is the same on each
// device, and the object finds what a new one does afterwards.
#include "DenseCase.h"

#include "gpureg/core/Error.h"
#include "gpureg/runtime/Device.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::DiffeomorphicScheme;
using gpureg::SimilarityKind;

constexpr double Nan = std::numeric_limits<double>::quiet_NaN();
constexpr double Infinity = std::numeric_limits<double>::infinity();

/** The images of a problem on one device, and masks. */
class Images
{
public:
  explicit Images(const std::string & device)
    : m_Device(device)
    , m_Pair(device, 2, 1.0)
  {
    good = m_Pair.Load();
  }

  std::int64_t
  CountVoxels() const
  {
    return gpureg::CountOf(m_Pair.grid.size);
  }

  /** Returns an image on the device, which lives as long as this object. */
  const gpureg::DeviceImage *
  Load(Floats values)
  {
    m_Values.push_back(std::make_unique<Floats>(std::move(values)));
    m_Images.push_back(std::make_unique<gpureg::LoadedImage>(m_Device));
    const Floats & kept = *m_Values.back();
    m_Images.back()->Load(
      {}, gpureg::Precision::Single, kept.data(), static_cast<std::int64_t>(kept.size()), OnThreads(2));
    return m_Images.back().get();
  }

  /** Returns an image with one value at each voxel. */
  const gpureg::DeviceImage *
  LoadConstant(float value)
  {
    return this->Load(Floats(static_cast<std::size_t>(this->CountVoxels()), value));
  }

  /** Returns an image that has a value at some voxels, and the fixed image's at the others. */
  const gpureg::DeviceImage *
  LoadSpoilt(double value, const std::vector<std::size_t> & voxels)
  {
    Floats values = m_Pair.fixed;
    for (const std::size_t voxel : voxels)
    {
      values[voxel] = static_cast<float>(value);
    }
    return this->Load(values);
  }

  /** Returns an image of a size, which shows waves. */
  gpureg::RegisteredImage
  LoadWaves(const gpureg::Size & size)
  {
    Floats values;
    for (std::int64_t n = 0; n < gpureg::CountOf(size); ++n)
    {
      values.push_back(static_cast<float>(std::sin(0.7 * static_cast<double>(n))));
    }
    gpureg::RegisteredImage image;
    image.image = this->Load(values);
    image.size = size;
    return image;
  }

  gpureg::DiffeomorphicProblem good;

private:
  std::string                                       m_Device;
  Pair                                              m_Pair;
  std::vector<std::unique_ptr<Floats>>              m_Values;
  std::vector<std::unique_ptr<gpureg::LoadedImage>> m_Images;
};

/** Spoils a problem or settings. */
using Spoil = std::function<void(Images &, gpureg::DiffeomorphicProblem &, gpureg::DiffeomorphicSettings &)>;

class DenseBadInputTest : public DenseTest
{
protected:
  void
  SetUp() override
  {
    m_Expected = RegisterDense(GetDevice(), m_Images.good, MakeFewSettings()).field;
    EXPECT_GT(ComputeLargest(m_Expected), 0.2);
  }

  static gpureg::DiffeomorphicSettings
  MakeFewSettings()
  {
    auto settings = MakeSettings();
    settings.iterations = { 3, 2 };
    return settings;
  }

  /** Returns the message of an error of some type, without the device's name.
   *  \tparam TError the error that is expected */
  template <typename TError>
  static std::string
  FindMessage(const std::string & device, gpureg::DiffeomorphicRegistration & registration, const Spoil & spoil)
  {
    Images images(device);
    auto   problem = images.good;
    auto   settings = MakeFewSettings();
    spoil(images, problem, settings);
    try
    {
      registration.Register(problem, settings, OnThreads(2));
      return "nothing was thrown";
    }
    catch (const TError & error)
    {
      std::string       said = error.what();
      const std::size_t at = said.find(device);
      return at == std::string::npos ? said : said.replace(at, device.size(), "DEVICE");
    }
  }

  /** Expects an error. \param parts of the message */
  template <typename TError = gpureg::BadInputError>
  void
  ExpectRefused(const std::vector<std::string> & parts, const Spoil & spoil)
  {
    const std::string said = FindMessage<TError>(GetDevice(), m_Registration, spoil);
    for (const std::string & part : parts)
    {
      EXPECT_NE(said.find(part), std::string::npos) << '"' << part << "\" is not in: " << said;
    }
    gpureg::DiffeomorphicRegistration onHost("host");
    EXPECT_EQ(said, FindMessage<TError>("host", onHost, spoil));
    EXPECT_EQ(m_Registration.CountVoxels(), 0) << said;
    EXPECT_THROW(TakeField(m_Registration, 1), gpureg::BadInputError) << said;
    EXPECT_TRUE(RegisterDense(m_Registration, m_Images.good, MakeFewSettings()).field == m_Expected) << said;
  }

  /** Expects an error for a change of the settings. */
  template <typename TError = gpureg::BadInputError>
  void
  ExpectSettingRefused(const std::vector<std::string> &                             parts,
                       const std::function<void(gpureg::DiffeomorphicSettings &)> & change)
  {
    this->ExpectRefused<TError>(parts, [&change](Images &, auto &, auto & settings) { change(settings); });
  }

  Images                            m_Images{ GetDevice() };
  gpureg::DiffeomorphicRegistration m_Registration{ GetDevice() };
  Floats                            m_Expected;
};

gpureg::RegisteredImage &
PickImage(gpureg::DiffeomorphicProblem & problem, bool isFixed)
{
  return isFixed ? problem.fixed : problem.moving;
}
} // namespace

TEST_P(DenseBadInputTest, Images)
{
  for (const bool isFixed : { true, false })
  {
    const std::string which = isFixed ? "the fixed image" : "the moving image";
    const auto        refuses = [&](const std::vector<std::string> & parts, const auto & change) {
      std::vector<std::string> all{ which };
      all.insert(all.end(), parts.begin(), parts.end());
      this->ExpectRefused(all, [&](Images & images, auto & problem, auto &) {
        change(images, PickImage(problem, isFixed));
      });
    };
    refuses({ "is constant", "give one whose values vary" },
            [](auto & images, auto & image) { image.image = images.LoadConstant(7.0F); });
    refuses({ "has one value that is infinite or not a number", "replace it first" },
            [](auto & images, auto & image) { image.image = images.LoadSpoilt(Nan, { 500 }); });
    refuses({ "has 2 values that are infinite or not a number", "replace them first" },
            [](auto & images, auto & image) {
              image.image = images.LoadSpoilt(-Infinity, { 0, 1516 });
            });
    refuses({ "is missing" }, [](auto &, auto & image) { image.image = nullptr; });
    refuses({ "has not as many voxels as its size says" }, [](auto &, auto & image) { image.size[0] -= 1; });
    refuses({ "lies nowhere", "a map of indices to points that is finite and has an inverse" },
            [](auto &, auto & image) { image.indexToPoint.matrix = {}; });
    refuses({ "lies nowhere" }, [](auto &, auto & image) { image.indexToPoint.matrix[4] = Nan; });
    refuses({ "lies nowhere" }, [](auto &, auto & image) { image.indexToPoint.offset[1] = Infinity; });
    if (GetDevice() != "host")
    {
      Images     onHost("host");
      const auto said =
        FindMessage<gpureg::BadInputError>(GetDevice(), m_Registration, [&](Images &, auto & problem, auto &) {
          PickImage(problem, isFixed).image = PickImage(onHost.good, isFixed).image;
        });
      EXPECT_EQ(said, which + " is on host, and the registration on DEVICE");
    }
  }
}

TEST_P(DenseBadInputTest, Masks)
{
  for (const bool isFixed : { true, false })
  {
    const std::string which = isFixed ? "the fixed" : "the moving";
    const auto        refuses = [&](const std::vector<std::string> & parts, const auto & makeMask) {
      this->ExpectRefused(parts, [&](Images & images, auto & problem, auto &) {
        PickImage(problem, isFixed).mask = makeMask(images, PickImage(problem, isFixed));
      });
    };
    refuses({ "no voxel of " + which + " image is inside of its mask", "set another one, or none" },
            [](auto & images, auto &) { return images.LoadConstant(0.0F); });
    refuses({ "no voxel of " + which + " image is inside of its mask" },
            [](auto & images, auto &) { return images.LoadConstant(static_cast<float>(Nan)); });
    refuses({ which + " image is constant inside of its mask", "set another one, or none" },
            [](auto & images, auto & image) {
              image.image = images.LoadSpoilt(2.0, { 700, 701, 702 });
              Floats mask(static_cast<std::size_t>(images.CountVoxels()), 0.0F);
              mask[700] = mask[701] = mask[702] = 1.0F;
              return images.Load(mask);
            });
    refuses({ which + " mask has not as many voxels as its image" },
            [](auto & images, auto &) { return images.Load(Floats(10, 1.0F)); });
  }
}

TEST_P(DenseBadInputTest, NoOverlap)
{
  this->ExpectRefused({ "begin with a transform that brings them together" },
                      [](Images &, auto & problem, auto &) { problem.moving.indexToPoint.offset[0] += 1e5; });
  this->ExpectRefused({ "begin with a transform that brings them together" }, [](Images &, auto & problem, auto &) {
    gpureg::IndexMap away;
    away.offset[1] = -300;
    problem.initial.Append(away);
  });
  // Masks that do not overlap, though the images do.
  this->ExpectRefused({ "begin with a transform that brings them together" },
                      [](Images & images, auto & problem, auto &) {
                        Floats left(static_cast<std::size_t>(images.CountVoxels()), 0.0F);
                        Floats right = left;
                        for (std::size_t n = 0; n < left.size(); ++n)
                        {
                          (n % 41 < 10 ? left[n] : right[n]) = n % 41 < 10 || n % 41 > 30 ? 1.0F : 0.0F;
                        }
                        problem.fixed.mask = images.Load(left);
                        problem.moving.mask = images.Load(right);
                      });
}

TEST_P(DenseBadInputTest, Problems)
{
  for (const int dimension : { 0, 1, 4 })
  {
    this->ExpectRefused({ "images of " + std::to_string(dimension) + " dimensions; give 2 or 3" },
                        [=](Images &, auto & problem, auto &) { problem.dimension = dimension; });
  }
  const auto spoilState = [](Images &, auto & problem, auto &) {
    problem.fixedState.emplace();
    problem.fixedState->size = problem.fixed.size;
  };
  if (GetScheme() == DiffeomorphicScheme::SyN)
  {
    this->ExpectRefused({ "SyN continues from four fields", "give all or none" }, spoilState);
  }
  else
  {
    this->ExpectRefused<gpureg::UnsupportedError>({ "SyN alone continues from fields", "as initial transform" },
                                                  spoilState);
  }
}

TEST_P(DenseBadInputTest, ImagesOfFewVoxels)
{
  const auto use = [](int dimension, const gpureg::Size & size) {
    return [=](Images & images, auto & problem, auto &) {
      problem = {};
      problem.dimension = problem.initial.dimension = problem.fixedInitial.dimension = dimension;
      problem.fixed = images.LoadWaves(size);
      problem.moving = images.LoadWaves(size);
    };
  };
  this->ExpectRefused({ GetScheme() == DiffeomorphicScheme::SyN ? "the fixed image has one voxel along axis 0"
                                                                : "the fixed image is constant" },
                      use(2, { 1, 1, 1 }));
  if (GetScheme() != DiffeomorphicScheme::SyN)
  {
    return;
  }
  const std::string remedy = "needs 4: choose the greedy scheme or a velocity";
  this->ExpectRefused({ "the fixed image has one voxel along axis 2",
                        remedy + ", or register images of two dimensions" },
                      use(3, { 12, 12, 1 }));
  this->ExpectRefused({ "the fixed image has 2 voxels along axis 1", remedy }, use(2, { 12, 2, 1 }));
  this->ExpectRefused({ "the moving image has 3 voxels along axis 0", remedy },
                      [](Images & images, auto & problem, auto &) {
                        problem.moving = images.LoadWaves({ 3, 9, 1 });
                      });
}

TEST_P(DenseBadInputTest, Settings)
{
  using Settings = gpureg::DiffeomorphicSettings;
  for (const double bad : { 0.0, -0.5, 5.5, Nan, Infinity })
  {
    this->ExpectSettingRefused({ "a step of ", "above 0, and 5 at most" }, [=](Settings & its) { its.step = bad; });
  }
  for (const double bad : { -1.0, 20.5, Nan, Infinity })
  {
    this->ExpectSettingRefused({ "the sigma that smooths an update, in voxels,", "it is to be 0 to 20" },
                               [=](Settings & its) { its.updateSigma = bad; });
    this->ExpectSettingRefused({ "the sigma that smooths the field, in voxels,", "it is to be 0 to 20" },
                               [=](Settings & its) { its.fieldSigma = bad; });
  }
  this->ExpectSettingRefused({ "iterations for 0 levels", "1 to 6 numbers" },
                             [](Settings & its) { its.iterations.clear(); });
  this->ExpectSettingRefused({ "iterations for 7 levels" }, [](Settings & its) { its.iterations.assign(7, 1); });
  for (const int bad : { -1, 2000000 })
  {
    this->ExpectSettingRefused({ "the number of a level's iterations is " + std::to_string(bad) }, [=](Settings & its) {
      its.iterations = { 1, bad };
    });
  }
  for (const int bad : { 0, -3, 33 })
  {
    this->ExpectSettingRefused({ "a neighborhood's radius, in voxels, is " + std::to_string(bad), "1 to 32" },
                               [=](Settings & its) { its.similarity.radius = bad; });
    this->ExpectSettingRefused({ "mutual information has 5 to 4096 bins, not " + std::to_string(bad == 33 ? 4 : bad) },
                               [=](Settings & its) {
                                 its.similarity = { SimilarityKind::MattesMutualInformation, bad == 33 ? 4 : bad, 2 };
                               });
  }
  for (const double bad : { -1.0, Nan, 1e7 })
  {
    this->ExpectSettingRefused({ "a pair's weight is " }, [=](Settings & its) { its.weight = bad; });
    this->ExpectSettingRefused({ "a weight of the derivative's components is " },
                               [=](Settings & its) { its.weights[1] = bad; });
  }
  this->ExpectSettingRefused({ "the weights of all pairs of images are 0" }, [](Settings & its) { its.weight = 0; });
  this->ExpectSettingRefused({ "then nothing moves" }, [](Settings & its) { its.weights = { 0, 0, 0 }; });
  this->ExpectSettingRefused({ "convergence window is 1" }, [](Settings & its) { its.convergenceWindow = 1; });
  this->ExpectSettingRefused({ "convergence window is -4" }, [](Settings & its) { its.convergenceWindow = -4; });
  this->ExpectSettingRefused({ "the convergence threshold is nan" }, [](Settings & its) {
    its.convergenceWindow = 5;
    its.convergenceThreshold = Nan;
  });
  this->ExpectSettingRefused({ "the range of the fixed image's values is none" }, [](Settings & its) {
    its.fixedRange = gpureg::ValueRange{ { 2.0, 1.0 } };
  });
  this->ExpectSettingRefused({ "the range of the moving image's values is none" }, [](Settings & its) {
    its.movingRange = gpureg::ValueRange{ { Nan, 1.0 } };
  });
  this->ExpectSettingRefused({ "the range from 50 to 60 leaves nothing of the moving image",
                               "set another one, or none" },
                             [](Settings & its) {
                               its.movingRange = gpureg::ValueRange{ { 50.0, 60.0 } };
                             });
}

TEST_P(DenseBadInputTest, Choices)
{
  using Settings = gpureg::DiffeomorphicSettings;
  this->ExpectSettingRefused<gpureg::Error>({ "9" },
                                            [](Settings & its) { its.scheme = static_cast<DiffeomorphicScheme>(9); });
  this->ExpectSettingRefused<gpureg::Error>({ "77" }, [](Settings & its) {
    its.similarity.kind = static_cast<SimilarityKind>(77);
  });
  this->ExpectSettingRefused<gpureg::Error>({ "5" }, [](Settings & its) {
    its.optimizer = static_cast<gpureg::DiffeomorphicOptimizer>(5);
  });
  this->ExpectSettingRefused<gpureg::Error>({ "6" }, [](Settings & its) {
    its.smoothing = static_cast<gpureg::DiffeomorphicSmoothing>(6);
  });
  const std::string isNone = "there is no similarity JointHistogramMutualInformation; set one of MeanSquares";
  this->ExpectSettingRefused<gpureg::Error>({ isNone }, [](Settings & its) {
    its.similarity.kind = SimilarityKind::JointHistogramMutualInformation;
  });
}

TEST_P(DenseBadInputTest, SettingsOfSyN)
{
  if (GetScheme() != DiffeomorphicScheme::SyN)
  {
    // The other schemes do not read them.
    auto settings = MakeFewSettings();
    settings.syn.shrinkFactors = { { 0, 0, 0 } };
    settings.syn.smoothingSigmas = { Nan };
    EXPECT_TRUE(RegisterDense(m_Registration, m_Images.good, settings).field == m_Expected);
    return;
  }
  using Settings = gpureg::DiffeomorphicSettings;
  this->ExpectSettingRefused({ "there are 1 shrink factors for 2 levels", "give one a level, or none" },
                             [](Settings & its) {
                               its.syn.shrinkFactors = { { 1, 1, 1 } };
                             });
  this->ExpectSettingRefused({ "there are 3 smoothing sigmas for 2 levels" }, [](Settings & its) {
    its.syn.smoothingSigmas = { 2, 1, 0 };
  });
  for (const int bad : { 0, -2, 14 })
  {
    this->ExpectSettingRefused({ "a shrink factor is " + std::to_string(bad), "1 to 12" }, [=](Settings & its) {
      its.syn.shrinkFactors = { { 2, bad, 1 }, { 1, 1, 1 } };
    });
  }
  for (const double bad : { -1.0, Nan, Infinity })
  {
    this->ExpectSettingRefused({ "sigma" }, [=](Settings & its) { its.syn.smoothingSigmas = { 1, bad }; });
  }
  this->ExpectSettingRefused({ "a level's smoothing sigma of 50 voxels is longer than the fixed image",
                               "a smaller one" },
                             [](Settings & its) {
                               its.syn.smoothingSigmas = { 50, 0 };
                             });
  this->ExpectSettingRefused({ "a level's smoothing sigma of 60 mm is longer than the fixed image" },
                             [](Settings & its) {
                               its.syn.smoothingSigmas = { 60, 0 };
                               its.syn.sigmasAreInMillimetres = true;
                             });
}

TEST_P(DenseBadInputTest, SaysThatTheDeformationMovedThePairApart)
{
  // Two pixels along x, which long steps leave.
  using Parts = std::vector<std::string>;
  this->ExpectRefused(GetScheme() == DiffeomorphicScheme::SyN
                        ? Parts{ "the fixed image has 2 voxels along axis 0" }
                        : Parts{ "the deformation has moved the images apart", "a shorter step", "a weight of 0" },
                      [](Images & images, auto & problem, auto & settings) {
                        const gpureg::Size size{ 2, 22, 1 };
                        Floats             fixed, moving;
                        for (int y = 0; y < size[1]; ++y)
                        {
                          for (int x = 0; x < size[0]; ++x)
                          {
                            const auto value = [y](double x) {
                              return static_cast<float>(std::sin(0.5 * x + 0.3 * y) + std::cos(0.4 * y - 0.2 * x));
                            };
                            fixed.push_back(value(x + 0.6));
                            moving.push_back(value(x));
                          }
                        }
                        problem = {};
                        problem.dimension = problem.initial.dimension = problem.fixedInitial.dimension = 2;
                        problem.fixed.size = problem.moving.size = size;
                        problem.fixed.image = images.Load(fixed);
                        problem.moving.image = images.Load(moving);
                        settings.iterations = { 50, 50, 50 };
                        settings.step = 1;
                      });
}

/** Inside of the moving mask the image has one value but for two voxels. The first iteration moves these by so much that no voxel of the
 *  middle is mapped to them. */
TEST_P(DenseBadInputTest, SaysThatAnImageHasBecomeConstantInTheMiddle)
{
  const auto setUp = [](SimilarityKind kind, int iterations) {
    return [=](Images & images, auto & problem, auto & settings) {
      Floats mask(static_cast<std::size_t>(images.CountVoxels()), 0.0F);
      Floats fixed = mask, moving = mask;
      for (std::size_t n = 0; n < mask.size(); ++n)
      {
        const auto x = static_cast<float>(n % 41);
        const auto y = static_cast<float>(n / 41);
        mask[n] = x < 8 || (x == 20 && (y == 18 || y == 19)) ? 1.0F : 0.0F;
        fixed[n] = x < 15 ? 0.0F : 10.0F * (x - 15) + 20.0F * (y - 18);
        moving[n] = x < 10 ? 0.0F : 10.0F * (x - 10) - (y - 18);
      }
      problem.fixed.image = images.Load(fixed);
      problem.moving.image = images.Load(moving);
      problem.moving.mask = images.Load(mask);
      settings.similarity.kind = kind;
      settings.iterations = { iterations };
      settings.step = 4;
      settings.updateSigma = 0.7;
    };
  };
  const auto expectRegistered = [this](const Spoil & spoil) {
    Images images(GetDevice());
    auto   problem = images.good;
    auto   settings = MakeFewSettings();
    spoil(images, problem, settings);
    ASSERT_NO_THROW(m_Registration.Register(problem, settings, OnThreads(2)));
    EXPECT_GT(m_Registration.CountVoxels(), 0);
  };
  // One iteration is computed before that, and a similarity without bins compares constant images, too.
  expectRegistered(setUp(SimilarityKind::MattesMutualInformation, 1));
  expectRegistered(setUp(SimilarityKind::MeanSquares, 3));
  if (GetScheme() == DiffeomorphicScheme::SyN)
  {
    this->ExpectRefused({ "an image is constant where both are",
                          "the deformation has moved the images apart",
                          "a shorter step" },
                        setUp(SimilarityKind::MattesMutualInformation, 3));
  }
}

TEST_P(DenseBadInputTest, Plans)
{
  const auto refuses = [this](const std::string & part, const Spoil & spoil) {
    auto problem = m_Images.good;
    auto settings = MakeFewSettings();
    spoil(m_Images, problem, settings);
    try
    {
      m_Registration.GetPlan(problem, settings);
      ADD_FAILURE() << part;
    }
    catch (const gpureg::BadInputError & error)
    {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refuses("the fixed image is missing", [](Images &, auto & problem, auto &) { problem.fixed.image = nullptr; });
  refuses("pair 2: the moving image is missing", [](Images &, auto & problem, auto &) {
    problem.further.emplace_back();
    problem.further[0].fixed = problem.fixed;
  });
  refuses("the moving image lies nowhere",
          [](Images &, auto & problem, auto &) { problem.moving.indexToPoint.matrix = {}; });
  refuses("a step of 0", [](Images &, auto &, auto & settings) { settings.step = 0; });
  EXPECT_GT(m_Registration.GetPlan(m_Images.good, MakeFewSettings()).bytes, 0U);
}

TEST_P(DenseBadInputTest, Callers)
{
  const auto ends = [this](const auto & act) {
    auto settings = MakeFewSettings();
    m_Registration.Register(m_Images.good, settings, OnThreads(2), [&](const gpureg::DiffeomorphicProgress & where) {
      if (where.level == 1 && where.iteration == 1)
      {
        act(settings);
      }
    });
  };
  const auto expectWorks = [this] {
    EXPECT_TRUE(RegisterDense(m_Registration, m_Images.good, MakeFewSettings()).field == m_Expected);
  };
  EXPECT_THROW(ends([](auto &) { throw std::runtime_error("enough"); }), std::runtime_error);
  EXPECT_EQ(m_Registration.CountVoxels(), 0);
  expectWorks();
  EXPECT_THROW(ends([](auto & settings) { settings.step = 0; }), gpureg::BadInputError);
  expectWorks();
  EXPECT_THROW(ends([](auto & settings) {
                 settings.scheme = settings.scheme == DiffeomorphicScheme::Greedy ? DiffeomorphicScheme::Velocity
                                                                                  : DiffeomorphicScheme::Greedy;
               }),
               gpureg::BadInputError);
  expectWorks();
  EXPECT_THROW(TakeField(m_Registration, m_Registration.CountVoxels(), static_cast<gpureg::DeformationField>(12)),
               gpureg::BadInputError);
  if (GetScheme() != DiffeomorphicScheme::SyN)
  {
    EXPECT_THROW(TakeField(m_Registration, m_Registration.CountVoxels(), gpureg::DeformationField::FixedToMiddle),
                 gpureg::BadInputError);
  }
  EXPECT_TRUE(TakeField(m_Registration, m_Registration.CountVoxels()) == m_Expected);
}

TEST_P(DenseBadInputTest, HoldsTheSameBytesEachTime)
{
  const auto  account = [] { return gpureg::GetMemoryInUse(GetDevice()); };
  std::size_t held = 0;
  {
    gpureg::DiffeomorphicRegistration registration(GetDevice());
    RegisterDense(registration, m_Images.good, MakeFewSettings());
    held = registration.GetHeldBytes();
    const std::size_t used = account();
    for (int time = 0; time < 4; ++time)
    {
      RegisterDense(registration, m_Images.good, MakeFewSettings());
      EXPECT_EQ(registration.GetHeldBytes(), held) << time;
      EXPECT_EQ(account(), used) << time;
    }
    // Errors before, at the beginning of, and within a level.
    const Spoil spoils[] = {
      [](Images &, auto &, auto & settings) { settings.step = 0; },
      [](Images & images, auto & problem, auto &) { problem.moving.image = images.LoadConstant(1.0F); },
      [](Images &, auto & problem, auto &) { problem.moving.indexToPoint.offset[0] += 1e5; },
    };
    for (const Spoil & spoil : spoils)
    {
      FindMessage<gpureg::BadInputError>(GetDevice(), registration, spoil);
      RegisterDense(registration, m_Images.good, MakeFewSettings());
      EXPECT_EQ(registration.GetHeldBytes(), held);
      EXPECT_EQ(account(), used);
    }
  }
  // The test's own object holds other arrays.
  const std::size_t without = account();
  {
    gpureg::DiffeomorphicRegistration registration(GetDevice());
    RegisterDense(registration, m_Images.good, MakeFewSettings());
    EXPECT_EQ(registration.GetHeldBytes(), held);
    EXPECT_GE(account(), without + (GetDevice() == "host" ? 0 : held));
  }
  EXPECT_EQ(account(), without);
}

INSTANTIATE_TEST_SUITE_P(Devices, DenseBadInputTest, AllDevicesAndSchemes(), GetNameOfDeviceAndScheme);

} // namespace gpuregtest
