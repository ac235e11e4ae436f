// SPDX-License-Identifier: Apache-2.0
// Tests errors of a global search: the message names the problem and the remedy, on every device, and the method works afterwards.
#include "GlobalProblem.h"
#include "TestDevices.h"

#include "itkBSplineTransform.h"

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using ProblemType = GlobalProblem<2>;
using ImageType = ProblemType::ImageType;
using MethodType = ProblemType::MethodType;
using AffineType = ProblemType::AffineType;

constexpr double Degrees = Pi / 180;
constexpr double Nan = std::numeric_limits<double>::quiet_NaN();
constexpr double Infinity = std::numeric_limits<double>::infinity();

/** Expects a call to throw TError. \param parts of the message: the problem, and the remedy. */
template <typename TError, typename TCall>
void
ExpectThrown(const TCall & call, const std::vector<std::string> & parts)
{
  SCOPED_TRACE(parts.front());
  try
  {
    call();
    ADD_FAILURE() << "nothing was thrown";
  }
  catch (const TError & error)
  {
    for (const std::string & part : parts)
    {
      EXPECT_NE(std::string(error.GetDescription()).find(part), std::string::npos)
        << '"' << part << "\" is not in: " << error.GetDescription();
    }
  }
}

class GlobalRefusalsTest : public DeviceTest
{
protected:
  GlobalRefusalsTest()
    : problem(6, 10 * Degrees)
    , method(problem.MakeMethod(GetParam()))
  {
    this->Mend();
  }

  /** Restores everything that a test may have spoilt. */
  void
  Mend()
  {
    method->SetFixedImage(problem.fixed);
    method->SetMovingImage(problem.moving);
    method->SetFixedImageMask(nullptr);
    method->SetMovingImageMask(nullptr);
    method->SetInitialTransform(nullptr);
    method->SetDegreesOfFreedom(6);
    method->SetSearchAngles(-18, 18);
    method->SetFinestSpacing(0);
    method->SetLeastOverlap(0.25);
    method->SetNumberOfHistogramBins(0);
    method->SetCost("CorrelationRatio");
  }

  template <typename TError>
  void
  ExpectRefused(const std::function<void(MethodType &)> & spoil, const std::vector<std::string> & parts)
  {
    ExpectThrown<TError>(
      [&] {
        spoil(*method);
        method->Update();
      },
      parts);
    this->Mend();
  }

  ProblemType         problem;
  MethodType::Pointer method;
};
} // namespace

TEST_P(GlobalRefusalsTest, Settings)
{
  struct Refusal
  {
    std::function<void(MethodType &)> spoil;
    std::vector<std::string>          parts;
  };
  const auto degrees = [](unsigned int n) { return [n](MethodType & m) { m.SetDegreesOfFreedom(n); }; };
  const auto angles = [](double from, double to) { return [=](MethodType & m) { m.SetSearchAngles(2, from, to); }; };
  const auto spacing = [](double length) { return [=](MethodType & m) { m.SetFinestSpacing(length); }; };
  const auto overlap = [](double share) { return [=](MethodType & m) { m.SetLeastOverlap(share); }; };
  const auto bins = [](unsigned int n, const char * cost = "CorrelationRatio") {
    return [=](MethodType & m) {
      m.SetCost(cost);
      m.SetNumberOfHistogramBins(n);
    };
  };
  const std::string rangeOfAngles = "give a range from the smaller to the larger one, of 360 at most";
  const std::string lengthAboveNone = "set a length above 0";
  const std::string share = "set a share from 0 to 1";
  const std::string anotherNumber = "set another number of bins";
  const std::string kinds = "set 3, 6, 7, 9 or 12";
  const Refusal     refusals[] = {
        { degrees(0), { "there are no 0 degrees of freedom", kinds } },
        { degrees(5), { "there are no 5 degrees of freedom", kinds } },
        { degrees(8), { "there are no 8 degrees of freedom", kinds } },
        { degrees(13), { "there are no 13 degrees of freedom", kinds } },
        // The message names the largest signed 32-bit number in place of a number that exceeds it.
        { degrees(4000000000u), { "there are no 2147483647 degrees of freedom", kinds } },
        { angles(10, -10), { "the search angles about axis 2 are from 10 to -10 degrees", rangeOfAngles } },
        { angles(-200, 200), { "the search angles about axis 2 are from -200 to 200 degrees", rangeOfAngles } },
        { angles(Nan, 0), { "the search angles about axis 2 are from nan to 0 degrees", rangeOfAngles } },
        { angles(-Infinity, 0), { "the search angles about axis 2 are from -inf to 0 degrees", rangeOfAngles } },
        { [](MethodType & m) { m.SetSearchAngles(3, 0.0, 1.0); }, { "There is no axis 3", "Give 0, 1 or 2" } },
    { [](MethodType & m) { m.GetSearchAngleTo(4); }, { "There is no axis 4", "Give 0, 1 or 2" } },
    { spacing(-1), { "the finest spacing is -1 mm", lengthAboveNone } },
    { spacing(Nan), { "the finest spacing is nan mm", lengthAboveNone } },
    { spacing(Infinity), { "the finest spacing is inf mm", lengthAboveNone } },
    { overlap(-0.1), { "the least overlap is -0.1", share } },
    { overlap(1.1), { "the least overlap is 1.1", share } },
    { overlap(Nan), { "the least overlap is nan", share } },
    { bins(1), { "a correlation ratio has 2 to 4096 bins, not 1", anotherNumber } },
    { bins(5000), { "a correlation ratio has 2 to 4096 bins, not 5000", anotherNumber } },
    { bins(4, "MattesMutualInformation"), { "mutual information has 5 to 4096 bins, not 4", anotherNumber } },
    { bins(4, "NormalizedMutualInformation"), { "mutual information has 5 to 4096 bins, not 4", anotherNumber } },
    { [](MethodType & m) { m.SetCost("MeanCubes"); },
      { "there is no cost \"MeanCubes\"",
        "set one of MeanSquares, MeanAbsoluteDifferences, Correlation, CorrelationRatio" } },
    { [](MethodType & m) { m.SetCost("Demons"); }, { "there is no cost \"Demons\"" } },
    { [](MethodType & m) { m.SetCost(gpureg::GlobalCost::Demons); },
      { "there is no cost Demons", "set one of MeanSquares" } },
    { [](MethodType & m) {
       m.SetCost("NeighborhoodCorrelation");
       m.SetNeighborhoodRadius(0);
     },
      { "a neighborhood's radius is 1 voxel or more, not 0" } },
    { [](MethodType & m) { m.SetCost(static_cast<gpureg::GlobalCost>(17)); },
      { "there is no cost 17", "set one of MeanSquares" } },
    { [](MethodType & m) { m.SetOptimizer("Guess"); },
      { "there is no optimizer \"Guess\"", "set one of QuasiNewton, Lines" } },
    { [](MethodType & m) { m.GetStageName(7); }, { "0 stages, and none of number 7" } },
  };
  for (const Refusal & refusal : refusals)
  {
    this->ExpectRefused<itk::GPUBadInputError>(refusal.spoil, refusal.parts);
  }
  EXPECT_NO_THROW(method->Update());
}

/** The message says which of the two images is meant. */
TEST_P(GlobalRefusalsTest, ImagesAndMasks)
{
  method->Update();
  const auto first = method->GetTransform()->GetParameters();
  const auto constant = MakeImage<ImageType>(problem.grid, [](const auto &) { return 7.0; });
  const auto ramp = MakeImage<ImageType>(problem.grid, [](const auto & p) { return p[0]; });
  const auto broken = MakeImage<ImageType>(problem.grid, [](const auto & p) { return p[0]; });
  broken->GetBufferPointer()[1234] = std::numeric_limits<float>::quiet_NaN();
  broken->GetBufferPointer()[4321] = -std::numeric_limits<float>::infinity();
  Grid<2> thin = problem.grid;
  thin.size[1] = 1;
  const auto line = MakeImage<ImageType>(thin, [](const auto & p) { return p[0]; });
  for (const bool isFixed : { true, false })
  {
    const std::string which = isFixed ? "the fixed image" : "the moving image";
    const auto        image = [&](ImageType * given) {
      return [=](MethodType & m) { isFixed ? m.SetFixedImage(given) : m.SetMovingImage(given); };
    };
    const auto mask = [&](ImageType * given, const auto & isInside) {
      const auto made = MakeMask(*given, isInside);
      return [=](MethodType & m) {
        isFixed ? m.SetFixedImage(given) : m.SetMovingImage(given);
        isFixed ? m.SetFixedImageMask(made) : m.SetMovingImageMask(made);
      };
    };
    this->ExpectRefused<itk::GPUBadInputError>(image(constant),
                                               { which + " is constant", "give one whose values vary" });
    this->ExpectRefused<itk::GPUBadInputError>(image(broken),
                                               { which + " has 2 values that are infinite or not a number",
                                                 "replace them first" });
    this->ExpectRefused<itk::GPUBadInputError>(image(line),
                                               { which + " has one voxel along axis 1",
                                                 "give one that has two or more" });
    this->ExpectRefused<itk::GPUBadInputError>(mask(ramp, [](const auto &) { return false; }),
                                               { "No voxel of " + which + " is inside of its mask",
                                                 "Set another mask, or none" });
    this->ExpectRefused<itk::GPUBadInputError>(
      mask(ramp, [&](const auto & p) { return p.EuclideanDistanceTo(problem.grid.GetCentre()) < 1.5; }),
      { "of " + which + ", the mask leaves no voxel of the coarsest level", "set a larger one, or none" });
    const auto flat = MakeImage<ImageType>(problem.grid, [&](const auto & p) {
      return p.EuclideanDistanceTo(problem.grid.GetCentre()) < 40 ? 70.0 : static_cast<double>(p[0]);
    });
    this->ExpectRefused<itk::GPUBadInputError>(
      mask(flat, [&](const auto & p) { return p.EuclideanDistanceTo(problem.grid.GetCentre()) < 40; }),
      { which + " is constant inside of its mask", "set another one, or none" });
  }
  // An error of ITK's own.
  this->ExpectRefused<itk::ExceptionObject>([](MethodType & m) { m.SetMovingImage(nullptr); }, { "MovingImage" });
  method->Update();
  EXPECT_EQ(method->GetTransform()->GetParameters(), first);
}

TEST_P(GlobalRefusalsTest, OneSlice)
{
  const GlobalProblem<3> volumes(6, 10 * Degrees);
  Grid<3>                grid = volumes.grid;
  grid.size[2] = 1;
  const auto slice = MakeImage<GlobalProblem<3>::ImageType>(grid, [](const auto & p) { return p[0]; });
  for (const bool isFixed : { true, false })
  {
    const auto searching = volumes.MakeMethod(GetParam());
    isFixed ? searching->SetFixedImage(slice) : searching->SetMovingImage(slice);
    ExpectThrown<itk::GPUBadInputError>([&] { searching->Update(); },
                                        { std::string("the ") + (isFixed ? "fixed" : "moving") +
                                            " image has one voxel along axis 2",
                                          "register images of two dimensions" });
  }
}

TEST_P(GlobalRefusalsTest, InitialTransforms)
{
  const auto scaled = [this](double scale) {
    const auto             transform = AffineType::New();
    itk::Vector<double, 2> factors(1.0);
    factors[1] = scale;
    transform->SetCenter(problem.grid.GetCentre());
    transform->Scale(factors);
    return transform;
  };
  for (const double scale : { -1.0, 0.0 })
  {
    const auto transform = scaled(scale);
    this->ExpectRefused<itk::GPUBadInputError>([&](MethodType & m) { m.SetInitialTransform(transform); },
                                               { "the initial transform is singular, or mirrors",
                                                 "give one whose matrix has a positive determinant" });
  }
  const auto bent = itk::BSplineTransform<double, 2, 3>::New();
  this->ExpectRefused<itk::GPUUnsupportedError>([&](MethodType & m) { m.SetInitialTransform(bent); },
                                                { "The initial transform BSplineTransform is not linear",
                                                  "Resample the moving image by it, and register that" });
  EXPECT_NO_THROW(method->Update());
}

INSTANTIATE_TEST_SUITE_P(Devices, GlobalRefusalsTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
