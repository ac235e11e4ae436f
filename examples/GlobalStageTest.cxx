// SPDX-License-Identifier: Apache-2.0
// The program RegisterFiles finds an image that is turned round, writes how as FLIRT's matrix, and begins with such a matrix.
#include "Head.h"
#include "Volume.h"
#include "WavyBall.h"

#include "itkEuler3DTransform.h"
#include "itkFLIRTMatrix.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace
{

using namespace example;

TEST(RegisterFiles, FindsWhatIsTurnedRoundAndWritesFLIRTsMatrix)
{
  std::string folder = testing::TempDir() + "global-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto fixed = MakeWavyBall();
  const auto truth = itk::Euler3DTransform<double>::New();
  truth->SetCenter(GetCentre(FindHead(fixed)));
  truth->SetRotation(0.4, -0.3, 2.5);
  itk::Vector<double, 3> shift(8.0);
  shift[1] = -5;
  truth->SetTranslation(shift);
  const auto inverse = itk::Euler3DTransform<double>::New();
  truth->GetInverse(inverse);
  const auto moving = Resample(fixed, MakeCentredGrid(fixed, 1.0, { { 60, 54, 48 } }), inverse);
  WriteVolume(fixed, folder + "/fixed.nii");
  WriteVolume(moving, folder + "/moving.nii");
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "RegisterFiles";
  const auto run = [&](const std::string & output, const std::string & options) {
    const std::string command = program.string() + ' ' + folder + "/fixed.nii " + folder + "/moving.nii " + folder +
                                '/' + output + " --rigid --device host " + options + " > " + folder + "/log 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  };
  const auto getError = [&](const Transform * transform) { return Compare(transform, truth, FindHead(fixed)).mean; };

  run("found.nii", "--global --omat " + folder + "/found.mat");
  const auto found = ReadTransform(folder + "/found.tfm");
  EXPECT_LT(getError(found), 0.1);
  EXPECT_STREQ(found->GetNameOfClass(), "VersorRigid3DTransform");
  // The files' images, whose axes NIfTI has turned round, say the same.
  const auto matrix = itk::FLIRTMatrix::Read(folder + "/found.mat",
                                             ReadVolume(folder + "/fixed.nii"),
                                             ReadVolume(folder + "/moving.nii"));
  EXPECT_LT(std::abs(getError(matrix) - getError(found)), 1e-3);

  run("again.nii", "--init " + folder + "/found.mat");
  EXPECT_LT(getError(ReadTransform(folder + "/again.tfm")), 0.1);
  run("lost.nii", "");
  EXPECT_GT(getError(ReadTransform(folder + "/lost.tfm")), 5.0) << "without a search";
  std::filesystem::remove_all(folder);
}

} // namespace
