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
                  const Volume *             registered,
                  const RegistrationResult & linear,
                  const FreeFormResult *     freeForm,
                  const std::string &        fileName)
{
  std::vector<PictureRow> rows;
  const auto              addCheckerboard = [&](const std::string & stage, const Volume * moved) {
    rows.push_back({ itksys::SystemTools::UpperCase(stage), PaintCheckerboard(fixed, moved), {} });
  };
  const std::string & lastLinear = linear.stages.back().name;
  addCheckerboard("before", Resample(moving, fixed, linear.start));
  if (freeForm == nullptr)
  {
    addCheckerboard(lastLinear, registered);
  }
  else
  {
    addCheckerboard(lastLinear, Resample(moving, fixed, linear.transform));
    addCheckerboard("free-form", registered);
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
