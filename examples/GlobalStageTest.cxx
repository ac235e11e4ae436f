// SPDX-License-Identifier: Apache-2.0
// The program RegisterFiles finds an image that is turned round, writes how as FLIRT's matrix, and begins with such a matrix.
#include "Head.h"
#include "ProgramTest.h"
#include "Volume.h"
#include "WavyBall.h"

#include "itkEuler3DTransform.h"
#include "itkFLIRTMatrix.h"

#include <gtest/gtest.h>

#include <string>

namespace
{

using namespace example;

TEST(RegisterFiles, FindsWhatIsTurnedRoundAndWritesFLIRTsMatrix)
{
  const Folder folder;
  const auto   fixed = MakeWavyBall();
  const auto   truth = itk::Euler3DTransform<double>::New();
  truth->SetCenter(GetCentre(FindHead(fixed)));
  truth->SetRotation(0.4, -0.3, 2.5);
  itk::Vector<double, 3> shift(8.0);
  shift[1] = -5;
  truth->SetTranslation(shift);
  const auto inverse = itk::Euler3DTransform<double>::New();
  truth->GetInverse(inverse);
  const auto moving = Resample(fixed, MakeCentredGrid(fixed, 1.0, { { 60, 54, 48 } }), inverse);
  WriteVolume(fixed, folder / "fixed.nii");
  WriteVolume(moving, folder / "moving.nii");
  const auto run = [&](const std::string & output, const std::string & options) {
    Execute(FindProgram("RegisterFiles") + ' ' + (folder / "fixed.nii") + ' ' + (folder / "moving.nii") + ' ' +
              (folder / output) + " --rigid --device host " + options,
            folder / "log");
  };
  const auto getError = [&](const Transform * transform) { return Compare(transform, truth, FindHead(fixed)).mean; };

  run("found.nii", "--global --omat " + (folder / "found.mat"));
  const auto found = ReadTransform(folder / "found.tfm");
  EXPECT_LT(getError(found), 0.1);
  EXPECT_STREQ(found->GetNameOfClass(), "VersorRigid3DTransform");
  // The files' images, whose axes NIfTI has turned round, say the same.
  const auto matrix =
    itk::FLIRTMatrix::Read(folder / "found.mat", ReadVolume(folder / "fixed.nii"), ReadVolume(folder / "moving.nii"));
  EXPECT_LT(std::abs(getError(matrix) - getError(found)), 1e-3);

  run("again.nii", "--init " + (folder / "found.mat"));
  EXPECT_LT(getError(ReadTransform(folder / "again.tfm")), 0.1);
  run("lost.nii", "");
  EXPECT_GT(getError(ReadTransform(folder / "lost.tfm")), 5.0) << "without a search";
}

} // namespace
