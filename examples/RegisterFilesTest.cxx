// SPDX-License-Identifier: Apache-2.0
// Tests that the program RegisterFiles recovers a known misalignment and deformation, and that its files and numbers agree; that it
// recovers a deformation that it adds itself; and that it refuses labels that cannot be compared.
#include "DeformedBall.h"
#include "DisplacementField.h"
#include "ErrorOfRecord.h"
#include "ImageFile.h"
#include "JacobianMap.h"
#include "LabelDice.h"
#include "ProgramTest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>

namespace
{

using namespace example;

/** Returns the largest difference between two images. */
double
GetLargestDifference(const Volume * a, const Volume * b)
{
  EXPECT_EQ(a->GetBufferedRegion(), b->GetBufferedRegion());
  double     largest = 0;
  const auto count = a->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType n = 0; n < count; ++n)
  {
    largest = std::max<double>(largest, std::abs(a->GetBufferPointer()[n] - b->GetBufferPointer()[n]));
  }
  return largest;
}

/** Returns the mean that is printed for a stage. \param what "error" or "Dice" */
double
GetPrintedMean(const std::string & text, const std::string & what, const std::string & stage)
{
  const auto heading = text.find('\n' + what + ' ');
  const auto line = text.find('\n' + stage + ' ', heading + 1);
  const auto mean = text.find(" mean ", line);
  if (heading == std::string::npos || line == std::string::npos || mean == std::string::npos)
  {
    ADD_FAILURE() << "There is no " << what << " of " << stage << " in\n" << text;
    return std::nan("");
  }
  return std::stod(text.substr(mean + 6));
}

Picture::Pointer
ReadPicture(const std::string & fileName)
{
  const auto reader = itk::ImageFileReader<Picture>::New();
  reader->SetFileName(fileName);
  reader->Update();
  return reader->GetOutput();
}

std::ptrdiff_t
CountPixels(const Picture * picture, const Picture::PixelType & pixel)
{
  const auto * const first = picture->GetBufferPointer();
  return std::count(first, first + picture->GetBufferedRegion().GetNumberOfPixels(), pixel);
}

TEST(RegisterFiles, FindsAKnownDeformationAndWritesWhatItFound)
{
  const DeformedBall problem;
  for (const auto & device : itk::GPUDevice::GetAvailable())
  {
    SCOPED_TRACE(device.GetName());
    const Folder folder;
    WriteVolume(problem.fixed, folder / "fixed.mha");
    WriteVolume(problem.moving, folder / "moving.mha");
    WriteLabels(problem.fixedParts, folder / "fixed-labels.mha");
    WriteLabels(problem.movingParts, folder / "labels.mha");
    WriteTransform(problem.truth, folder / "truth.tfm");
    const auto run = [&](const std::string & output, const std::string & options) {
      return Execute(FindProgram("RegisterFiles") + " " + (folder / "fixed.mha") + " " + (folder / "moving.mha") + " " +
                       (folder / output) + " --device " + device.GetName() + " " + options,
                     folder / "log");
    };
    run("affine.mha", "--affine --picture " + (folder / "affine.png"));
    const auto text =
      run("warped.mha",
          "--free-form --spacing 10 --field " + (folder / "field.mha") + " --labels " + (folder / "labels.mha") +
            " --warped-labels " + (folder / "warped-labels.mha") + " --fixed-labels " + (folder / "fixed-labels.mha") +
            " --truth " + (folder / "truth.tfm") + " --picture " + (folder / "warped.png"));
    EXPECT_NE(text.find("smallest Jacobian determinant 0."), std::string::npos) << text;

    const auto   affine = ReadTransform(folder / "affine.tfm");
    const auto   transform = ReadTransform(folder / "warped.tfm");
    const double affineError = problem.GetMeanError(affine);
    const double error = problem.GetMeanError(transform);
    const auto affineDice = ComputeDice(problem.fixedParts, ResampleLabels(problem.movingParts, problem.fixed, affine));
    const auto warpedLabels = ReadLabels(folder / "warped-labels.mha");
    const auto dice = ComputeDice(problem.fixedParts, warpedLabels);
    std::cout << device.GetName() << ": mean error " << affineError << " mm after affine, " << error
              << " mm after free-form; Dice " << affineDice << "; " << dice << '\n';
    EXPECT_TRUE(gpuregtest::IsWithinRecord(device.GetName(), affineError, 1.805)) << "affine";
    EXPECT_TRUE(gpuregtest::IsWithinRecord(device.GetName(), error, 0.301)) << "free-form";
    EXPECT_LT(error, 0.2 * affineError);
    // Labels that are resampled twice by nearest neighbour differ even for the exact transform.
    const double best =
      GetMeanDice(ComputeDice(problem.fixedParts, ResampleLabels(problem.movingParts, problem.fixed, problem.truth)));
    EXPECT_LT(GetMeanDice(affineDice), best - 0.03);
    EXPECT_GT(GetMeanDice(dice), best - 0.01);

    // The program prints Dice coefficients to three digits.
    constexpr double rounding = 0.000501;
    EXPECT_LT(GetPrintedMean(text, "Dice", "before"), GetPrintedMean(text, "Dice", "rigid"));
    EXPECT_LT(GetPrintedMean(text, "Dice", "rigid"), GetPrintedMean(text, "Dice", "affine"));
    EXPECT_NEAR(GetPrintedMean(text, "Dice", "affine"), GetMeanDice(affineDice), rounding);
    EXPECT_NEAR(GetPrintedMean(text, "Dice", "free-form"), GetMeanDice(dice), rounding);
    EXPECT_NEAR(GetPrintedMean(text, "Dice", "truth"), best, rounding);
    // It prints errors at fewer points.
    EXPECT_LT(GetPrintedMean(text, "error", "affine"), GetPrintedMean(text, "error", "before"));
    EXPECT_NEAR(GetPrintedMean(text, "error", "affine"), affineError, 0.1 * affineError);
    EXPECT_NEAR(GetPrintedMean(text, "error", "free-form"), error, 0.1 * error);

    // Without a deformation, the picture has two of its five rows: neither the grid nor the Jacobian with its scale.
    const auto affinePicture = ReadPicture(folder / "affine.png");
    const auto picture = ReadPicture(folder / "warped.png");
    EXPECT_EQ(picture->GetBufferedRegion().GetSize(0), affinePicture->GetBufferedRegion().GetSize(0));
    EXPECT_GT(picture->GetBufferedRegion().GetSize(1), 2.4 * affinePicture->GetBufferedRegion().GetSize(1));
    const auto gridLine = MakePixel({ 1.0, 0.78, 0.25 });
    EXPECT_EQ(CountPixels(affinePicture, gridLine), 0u);
    EXPECT_GT(CountPixels(picture, gridLine), 1000u);
    const auto leastVolume = MakePixel(JacobianScale().colour(0.0));
    EXPECT_EQ(CountPixels(affinePicture, leastVolume), 0u);
    EXPECT_GT(CountPixels(picture, leastVolume), 0u);

    // ITK itself, with the written transform, makes the written output of the moving files.
    const auto warped = ReadVolume(folder / "warped.mha");
    EXPECT_LT(GetLargestDifference(warped, Resample(problem.moving, problem.fixed, transform)), 1e-3);
    EXPECT_GT(GetLargestDifference(warped, ReadVolume(folder / "affine.mha")), 10.0);
    const auto same = ComputeDice(warpedLabels, ResampleLabels(problem.movingParts, problem.fixed, transform));
    EXPECT_GT(GetSmallestDice(same).dice, 0.9999);
    const auto field = ReadImageFile<DisplacementField>(folder / "field.mha", "a displacement field");
    const auto expected = SampleDisplacements(transform, problem.fixed);
    ASSERT_EQ(field->GetBufferedRegion(), expected->GetBufferedRegion());
    double largest = 0;
    for (itk::SizeValueType n = 0; n < field->GetBufferedRegion().GetNumberOfPixels(); ++n)
    {
      largest = std::max(largest, (field->GetBufferPointer()[n] - expected->GetBufferPointer()[n]).GetNorm());
    }
    EXPECT_LT(largest, 1e-5); // mm; written as floats
  }
}

TEST(RegisterFiles, FindsADeformationThatItAdds)
{
  const DeformedBall problem;
  const Folder       folder;
  WriteVolume(problem.moving, folder / "ball.mha");
  WriteLabels(problem.movingParts, folder / "labels.mha");
  const auto text = Execute(FindProgram("RegisterFiles") + ' ' + (folder / "ball.mha") + ' ' + (folder / "ball.mha") +
                              ' ' + (folder / "output.mha") +
                              " --device host --free-form --spacing 20 --deform 5 --labels " + (folder / "labels.mha"),
                            folder / "log");
  std::cout << text.substr(text.find("fixed image deformed"));
  // With a mean deformation of 8 mm, as in the demo.
  EXPECT_GT(GetPrintedMean(text, "error", "before"), 5.0);
  EXPECT_LT(GetPrintedMean(text, "error", "free-form"), 0.5 * GetPrintedMean(text, "error", "affine"));
  EXPECT_TRUE(gpuregtest::IsWithinRecord("host", GetPrintedMean(text, "error", "free-form"), 0.201));
  // The truth has made the fixed image's labels from these, so an exact result has the same labels.
  EXPECT_LT(GetPrintedMean(text, "Dice", "before"), 0.9);
  EXPECT_GT(GetPrintedMean(text, "Dice", "free-form"), 0.95);
  EXPECT_EQ(text.find("\ntruth "), std::string::npos);
}

/** Tests with labels that cannot be compared. */
class WrongLabels : public testing::Test
{
protected:
  void
  SetUp() override
  {
    WriteVolume(problem.fixed, folder / "fixed.mha");
    WriteVolume(problem.moving, folder / "moving.mha");
    WriteLabels(problem.fixedParts, folder / "fixed-labels.mha");
    WriteLabels(problem.movingParts, folder / "moving-labels.mha");
    WriteTransform(problem.truth, folder / "truth.tfm");
  }

  /** Expects the program to end with an error of one line, before it writes anything. */
  void
  ExpectError(const std::string & options, const std::string & says) const
  {
    const std::string command = FindProgram("RegisterFiles") + ' ' + (folder / "fixed.mha") + ' ' +
                                (folder / "moving.mha") + ' ' + (folder / "output.mha") + " --rigid --device host " +
                                options;
    const int          status = std::system((command + " > " + (folder / "log") + " 2>&1").c_str());
    std::ostringstream text;
    text << std::ifstream(folder / "log").rdbuf();
    SCOPED_TRACE(command + '\n' + text.str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE);
    const auto printed = text.str();
    EXPECT_NE(printed.find(says), std::string::npos);
    EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 1);
    EXPECT_FALSE(std::filesystem::exists(folder / "output.mha"));
  }

  std::string
  Compare(const std::string & fixedLabels, const std::string & movingLabels) const
  {
    return "--fixed-labels " + (folder / fixedLabels) + " --labels " + (folder / movingLabels);
  }

  /** Changes the fixed image's labels and writes them. */
  template <typename TChange>
  void
  WriteChanged(const std::string & name, const TChange & change) const
  {
    const auto labels = ReadLabels(folder / "fixed-labels.mha");
    change(labels.GetPointer());
    WriteLabels(labels, folder / name);
  }

  const DeformedBall problem;
  const Folder       folder;
};

TEST_F(WrongLabels, OfAnotherName)
{
  ExpectError(Compare("none.mha", "moving-labels.mha"), "none.mha. Check the name and the folder.");
  ExpectError(Compare("fixed-labels.mha", "none.mha"), "none.mha. Check the name and the folder.");
}

TEST_F(WrongLabels, OnAnotherGrid)
{
  WriteChanged("moved.mha", [](Labels * labels) {
    auto origin = labels->GetOrigin();
    origin[1] += 1;
    labels->SetOrigin(origin);
  });
  const auto smaller = ResampleLabels(problem.fixedParts, MakeCoarserGrid(problem.fixed, 2), problem.affine);
  WriteLabels(smaller, folder / "smaller.mha");
  ExpectError(Compare("smaller.mha", "moving-labels.mha"), "smaller.mha has [24, 20, 18] voxels, ");
  ExpectError(Compare("smaller.mha", "moving-labels.mha"),
              "fixed.mha has [48, 40, 36]. Name labels of the fixed image on its own");
  ExpectError(Compare("moved.mha", "moving-labels.mha"),
              "fixed.mha are. Name labels of the fixed image on its own grid, or");
}

TEST_F(WrongLabels, ThatAreNone)
{
  WriteChanged("empty.mha", [](Labels * labels) { labels->FillBuffer(0); });
  const std::string says = "empty.mha has no label: all its voxels are 0. Name a file of";
  ExpectError(Compare("empty.mha", "moving-labels.mha"), says);
  ExpectError(Compare("fixed-labels.mha", "empty.mha"), says);
  ExpectError("--truth " + (folder / "truth.tfm") + " --labels " + (folder / "empty.mha"), says);
}

TEST_F(WrongLabels, OfOtherNumbers)
{
  WriteChanged("other.mha", [](Labels * labels) {
    short * const first = labels->GetBufferPointer();
    std::for_each(first, first + labels->GetBufferedRegion().GetNumberOfPixels(), [](short & label) {
      label = static_cast<short>(label == 0 ? 0 : label + 100);
    });
  });
  ExpectError(Compare("other.mha", "moving-labels.mha"),
              "no label in common. Name files in which a region has the same");
}

TEST_F(WrongLabels, WhereTheTruthDoesNotLead)
{
  const auto             away = itk::AffineTransform<double, 3>::New();
  itk::Vector<double, 3> far(1000.0);
  away->Translate(far);
  WriteTransform(away, folder / "away.tfm");
  ExpectError("--truth " + (folder / "away.tfm") + " --labels " + (folder / "moving-labels.mha"),
              "moving-labels.mha. Check --truth, which is from fixed to moving points");
}

} // namespace
