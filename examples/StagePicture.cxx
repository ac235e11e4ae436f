// SPDX-License-Identifier: Apache-2.0
#include "StagePicture.h"

#include "Checkerboard.h"
#include "DeformedGrid.h"
#include "Head.h"
#include "HeadPicture.h"
#include "JacobianMap.h"
#include "OutputCheck.h"

#include <itksys/SystemTools.hxx>

#include <stdexcept>
#include <vector>

namespace example
{

void
WriteStagePicture(const Volume *             fixed,
                  const Volume *             moving,
                  const RegistrationResult & linear,
                  const FreeFormResult *     freeForm,
                  const std::string &        fileName)
{
  std::vector<PictureRow> rows;
  const auto              addCheckerboard = [&](const std::string & stage, const Transform * transform) {
    rows.push_back(
      { itksys::SystemTools::UpperCase(stage), PaintCheckerboard(fixed, Resample(moving, fixed, transform)), {} });
  };
  addCheckerboard("before", linear.start);
  addCheckerboard(linear.stages.back().name, linear.transform);
  if (freeForm != nullptr)
  {
    addCheckerboard("free-form", freeForm->transform);
    rows.push_back({ "DEFORMED GRID", PaintDeformedGrid(fixed, freeForm->deformation), {} });
    rows.push_back({ "JACOBIAN DETERMINANT", PaintJacobian(fixed, freeForm->deformation), JacobianScale() });
  }
  WriteHeadPicture(fixed, GetCentre(FindHead(fixed)), rows, fileName);
}

void
CheckStagePictureCanBeWritten(const std::string & fileName)
{
  if (itksys::SystemTools::LowerCase(itksys::SystemTools::GetFilenameLastExtension(fileName)) != ".png")
  {
    throw std::runtime_error("The picture is a PNG, but its name is " + fileName + ". Give it the extension .png.");
  }
  CheckFileCanBeWritten(fileName);
}

} // namespace example
