// SPDX-License-Identifier: Apache-2.0
// Tests that the program RegisterFiles finds a rotated image, deformed or not, writes the result as FLIRT's matrix, and starts with such a
// matrix.
#include "DeformationError.h"
#include "DeformedBall.h"
#include "ErrorOfRecord.h"
#include "Head.h"
#include "ProgramTest.h"
#include "Volume.h"
#include "WavyBall.h"

#include "itkAffineTransform.h"
#include "itkCompositeTransform.h"
#include "itkEuler3DTransform.h"
#include "itkFLIRTMatrix.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iomanip>
#include <iostream>
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
  EXPECT_TRUE(gpuregtest::IsWithinRecord("host", getError(found), 0.0237));
  EXPECT_STREQ(found->GetNameOfClass(), "VersorRigid3DTransform");
  // The files' images, whose axes NIfTI has reversed, give the same matrix.
  const auto matrix =
    itk::FLIRTMatrix::Read(folder / "found.mat", ReadVolume(folder / "fixed.nii"), ReadVolume(folder / "moving.nii"));
  EXPECT_LT(std::abs(getError(matrix) - getError(found)), 1e-3);

  run("again.nii", "--init " + (folder / "found.mat"));
  EXPECT_TRUE(gpuregtest::IsWithinRecord("host", getError(ReadTransform(folder / "again.tfm")), 0.0217));
  run("lost.nii", "");
  EXPECT_GT(getError(ReadTransform(folder / "lost.tfm")), 5.0) << "without a search";
}

/** The ball is deformed and rotated. */
TEST(RegisterFiles, FindsADeformationOfWhatIsTurnedRound)
{
  const Folder       folder;
  const DeformedBall problem;
  const auto         turn = itk::Euler3DTransform<double>::New();
  turn->SetCenter(GetCentre(FindHead(problem.moving)));
  turn->SetRotation(0.3, -0.2, 2.5);
  const auto turnBack = itk::Euler3DTransform<double>::New();
  turn->GetInverse(turnBack);
  // In one step, since each interpolation blurs.
  const auto inverse = itk::CompositeTransform<double, 3>::New();
  inverse->AddTransform(problem.affine->GetInverseTransform());
  inverse->AddTransform(turnBack);
  const auto truth = itk::CompositeTransform<double, 3>::New();
  truth->AddTransform(turn);
  truth->AddTransform(problem.truth); // applied first
  WriteVolume(problem.fixed, folder / "fixed.mha");
  WriteVolume(Resample(MakeWavyBall(), MakeCentredGrid(problem.moving, 1.0, { { 60, 54, 48 } }), inverse),
              folder / "moving.mha");
  const auto run = [&](const std::string & output, const std::string & options) {
    Execute(FindProgram("RegisterFiles") + ' ' + (folder / "fixed.mha") + ' ' + (folder / "moving.mha") + ' ' +
              (folder / output) + " --device host --global " + options,
            folder / "log");
  };
  const auto getError = [&](const std::string & name) {
    const auto transform = ReadTransform(folder / name);
    return MeasureDeformationError(transform, truth, problem.fixed, ComputeHeadThreshold(problem.fixed)).head.mean;
  };
  run("affine.mha", "--affine");
  run("warped.mha", "--free-form --spacing 10");
  const double affineError = getError("affine.tfm");
  std::cout << "after affine " << affineError << " mm, after free-form " << getError("warped.tfm") << " mm\n";
  EXPECT_TRUE(gpuregtest::IsWithinRecord("host", affineError, 1.789)) << "affine";
  EXPECT_TRUE(gpuregtest::IsWithinRecord("host", getError("warped.tfm"), 0.25)) << "free-form";
  EXPECT_LT(getError("warped.tfm"), 0.2 * affineError);
}

/** A search starts with a matrix that is too far from the truth for the registration alone. */
TEST(RegisterFiles, SearchesFromAMatrix)
{
  const Folder folder;
  const auto   fixed = MakeWavyBall();
  const auto   truth = itk::Euler3DTransform<double>::New();
  truth->SetCenter(GetCentre(FindHead(fixed)));
  truth->SetRotation(0.4, -0.3, 2.5);
  const auto inverse = itk::Euler3DTransform<double>::New();
  truth->GetInverse(inverse);
  const auto moving = Resample(fixed, MakeCentredGrid(fixed, 1.0, { { 60, 54, 48 } }), inverse);
  const auto rough = itk::Euler3DTransform<double>::New();
  rough->SetCenter(truth->GetCenter());
  rough->SetRotation(0.4, -0.3, 1.0);
  WriteVolume(fixed, folder / "fixed.mha");
  WriteVolume(moving, folder / "moving.mha");
  itk::FLIRTMatrix::Write(folder / "rough.mat", rough, fixed, moving);
  const auto run = [&](const std::string & output, const std::string & options) {
    Execute(FindProgram("RegisterFiles") + ' ' + (folder / "fixed.mha") + ' ' + (folder / "moving.mha") + ' ' +
              (folder / output) + " --rigid --device host --init " + (folder / "rough.mat") + ' ' + options,
            folder / "log");
    return Compare(ReadTransform(folder / (output.substr(0, output.find('.')) + ".tfm")), truth, FindHead(fixed)).mean;
  };
  EXPECT_GT(run("lost.mha", ""), 5.0) << "without a search";
  EXPECT_TRUE(gpuregtest::IsWithinRecord("host", run("found.mha", "--global"), 0.0265));
}

/** FLIRT writes ten decimals, so that its rotations are none to the last bit. */
TEST(RegisterFiles, StartsRigidlyFromRoundedNumbers)
{
  const Folder folder;
  const auto   oblique = itk::Euler3DTransform<double>::New();
  oblique->SetRotation(0.4, 0.2, -0.3);
  const auto fixed = MakeWavyBall();
  fixed->SetDirection(oblique->GetMatrix());
  const auto truth = itk::Euler3DTransform<double>::New();
  truth->SetCenter(GetCentre(FindHead(fixed)));
  truth->SetRotation(0.4, -0.3, 2.5);
  const auto inverse = itk::Euler3DTransform<double>::New();
  truth->GetInverse(inverse);
  const auto grid = MakeCentredGrid(fixed, 1.0, { { 60, 54, 48 } });
  const auto moving = Resample(fixed, grid, inverse);
  WriteVolume(fixed, folder / "fixed.nii");
  WriteVolume(moving, folder / "moving.nii");
  const auto writeMatrix = [&](const std::string & name, double scale, int decimals) {
    const auto start = itk::AffineTransform<double, 3>::New();
    start->SetCenter(truth->GetCenter());
    start->SetMatrix(truth->GetMatrix());
    start->Scale(scale);
    const auto    matrix = itk::FLIRTMatrix::FromTransform(*start, *fixed, *moving);
    std::ofstream file(folder / name);
    file << std::fixed << std::setprecision(decimals);
    for (unsigned int r = 0; r < 4; ++r)
    {
      for (unsigned int c = 0; c < 4; ++c)
      {
        file << matrix[r][c] << (c < 3 ? "  " : "  \n");
      }
    }
  };
  const auto command = [&](const std::string & name) {
    return FindProgram("RegisterFiles") + ' ' + (folder / "fixed.nii") + ' ' + (folder / "moving.nii") + ' ' +
           (folder / "found.nii") + " --rigid --device host --init " + (folder / name);
  };
  for (const int decimals : { 10, 6 })
  {
    writeMatrix("rounded.mat", 1, decimals);
    Execute(command("rounded.mat"), folder / "log");
    EXPECT_LT(Compare(ReadTransform(folder / "found.tfm"), truth, FindHead(fixed)).mean, 0.05) << decimals;
  }
  writeMatrix("scaled.mat", 1.001, 10);
  EXPECT_NE(Execute("! " + command("scaled.mat"), folder / "log").find("is not rigid"), std::string::npos);
}

} // namespace
