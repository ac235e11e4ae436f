// SPDX-License-Identifier: Apache-2.0
// Tests that the program RegisterRigidly finds how a head was moved, and writes the transform and the resampled head.
#include "Head.h"
#include "ProgramTest.h"
#include "Volume.h"
#include "WavyBall.h"

#include "itkEuler3DTransform.h"

#include <gtest/gtest.h>

#include <string>

namespace
{

using namespace example;

TEST(RegisterRigidly, FindsHowAHeadWasMoved)
{
  const Folder folder;
  const auto   fixed = MakeWavyBall();
  const auto   truth = itk::Euler3DTransform<double>::New();
  truth->SetCenter(GetCentre(FindHead(fixed)));
  truth->SetRotation(0.15, -0.1, 0.2);
  itk::Vector<double, 3> shift(8.0);
  shift[1] = -5;
  truth->SetTranslation(shift);
  const auto inverse = itk::Euler3DTransform<double>::New();
  truth->GetInverse(inverse);
  WriteVolume(fixed, folder / "fixed.nii");
  WriteVolume(Resample(fixed, MakeCentredGrid(fixed, 1.0, { { 60, 54, 48 } }), inverse), folder / "moving.nii");

  const std::string text =
    Execute(FindProgram("RegisterRigidly") + ' ' + (folder / "fixed.nii") + ' ' + (folder / "moving.nii") + ' ' +
              (folder / "registered.nii") + ' ' + (folder / "found.tfm"),
            folder / "log");
  EXPECT_EQ(text.rfind("value -1.", 0), 0u) << text; // normalised mutual information
  const auto found = ReadTransform(folder / "found.tfm");
  // mm, for voxels of 2 × 2.5 × 2.5 mm; that of record is 0.144.
  EXPECT_LT(Compare(found, truth, FindHead(fixed)).mean, 0.2) << text;

  const auto registered = ReadVolume(folder / "registered.nii");
  const auto expected = Resample(ReadVolume(folder / "moving.nii"), fixed, found);
  ASSERT_EQ(registered->GetBufferedRegion(), expected->GetBufferedRegion());
  for (itk::SizeValueType n = 0; n < expected->GetBufferedRegion().GetNumberOfPixels(); ++n)
  {
    ASSERT_NEAR(registered->GetBufferPointer()[n], expected->GetBufferPointer()[n], 1e-3) << n;
  }
}

TEST(RegisterRigidly, SaysWhatIsWrong)
{
  const Folder folder;
  const auto   program = FindProgram("RegisterRigidly");
  const auto   run = [&](const std::string & arguments) {
    return Execute(program + arguments + "; test $? = 1", folder / "log");
  };
  EXPECT_NE(run(" a.nii").find("Usage: RegisterRigidly"), std::string::npos);
  const auto outputs = ' ' + (folder / "b.nii") + ' ' + (folder / "c.tfm");
  EXPECT_NE(run(" none.nii none.nii" + outputs).find("none.nii"), std::string::npos);
  // Reported before anything is read.
  EXPECT_EQ(run(" none.nii none.nii /none/b.nii " + (folder / "c.tfm")).find("/none/b.nii cannot be written"), 0u);
  EXPECT_EQ(run(" none.nii none.nii " + (folder / "b.nii") + " /none/c.tfm").find("/none/c.tfm cannot be written"), 0u);
}

} // namespace
