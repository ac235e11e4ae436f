// SPDX-License-Identifier: Apache-2.0
#include "itkFLIRTMatrix.h"

#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/transform/itkGPUTransformChain.h"

#include "gpureg/transform/FLIRTCoordinates.h"

#include "itkMacro.h"
#include "itkMetaDataObject.h"

#include "vnl/algo/vnl_determinant.h"

#include <cmath>
#include <fstream>
#include <iomanip>
#include <locale>

namespace itk
{

namespace
{
using Matrix4 = FLIRTMatrix::MatrixType;

Matrix4
MakeMatrix(const gpureg::IndexMap & map)
{
  Matrix4 matrix;
  matrix.SetIdentity();
  for (unsigned int r = 0; r < 3; ++r)
  {
    for (unsigned int c = 0; c < 3; ++c)
    {
      matrix[r][c] = map.matrix[3 * r + c];
    }
    matrix[r][3] = map.offset[r];
  }
  return matrix;
}

Matrix4
Invert(const Matrix4 & matrix, const char * what)
{
  // The determinant of a singular matrix is not exactly 0, because of rounding.
  const auto linear = matrix.GetVnlMatrix().extract(3, 3);
  if (!(std::abs(vnl_determinant(linear)) > 1e-12 * std::pow(linear.frobenius_norm(), 3)))
  {
    itkGenericExceptionMacro("FLIRTMatrix: " << what << " has no inverse.");
  }
  return Matrix4(matrix.GetInverse());
}

/** Returns false if an image's metadata has a qform_code and an sform_code of 0: its NIfTI file does not place it in space. */
bool
IsPlaced(const FLIRTMatrix::ImageType & image)
{
  for (const char * form : { "qform_code", "sform_code" })
  {
    std::string code;
    if (!ExposeMetaData<std::string>(image.GetMetaDataDictionary(), form, code) || code != "0")
    {
      return true;
    }
  }
  return false;
}

/** Returns the determinant by whose sign FSL chooses the direction of x. FSL takes an image without qform and sform for radiological, so
 *  the determinant is negative; ITK's reader gives such an image the identity. */
double
ComputeDeterminant(const FLIRTMatrix::ImageType & image)
{
  return IsPlaced(image) ? vnl_determinant(image.GetDirection().GetVnlMatrix()) : -1.0;
}

/** Returns the matrix from an image's points to FSL's coordinates in the image. */
Matrix4
MakePointToFSL(const FLIRTMatrix::ImageType & image)
{
  const auto             region = image.GetLargestPossibleRegion();
  const auto             spacing = image.GetSpacing();
  const gpureg::IndexMap toFSL = gpureg::MakeIndexToFLIRT({ spacing[0], spacing[1], spacing[2] },
                                                          ComputeDeterminant(image),
                                                          static_cast<double>(region.GetSize(0)));
  return MakeMatrix(toFSL) * MakeMatrix(GPURegistrationGeometry::GetPointToIndexMap<3>(image, region));
}

void
CheckIsThere(const void * argument, const char * what)
{
  if (argument == nullptr)
  {
    itkGenericExceptionMacro("FLIRTMatrix: there is no " << what << ".");
  }
}
} // namespace

FLIRTMatrix::MatrixType
FLIRTMatrix::FromTransform(const TransformType & transform, const ImageType & fixed, const ImageType & moving)
{
  if (!GPURegistrationGeometry::IsLinear(transform))
  {
    itkGenericExceptionMacro("FLIRTMatrix: the transform " << transform.GetNameOfClass()
                                                           << " is not linear; a matrix cannot describe it.");
  }
  const Matrix4 toMoving = MakeMatrix(GPUTransformChain::FitAffine<double, 3>(transform));
  MatrixType    matrix =
    Invert(MakePointToFSL(moving) * toMoving * Invert(MakePointToFSL(fixed), "the fixed image's grid"),
           "the transform");
  for (unsigned int c = 0; c < 4; ++c)
  {
    matrix[3][c] = c < 3 ? 0.0 : 1.0;
  }
  return matrix;
}

FLIRTMatrix::AffineType::Pointer
FLIRTMatrix::ToTransform(const MatrixType & matrix, const ImageType & fixed, const ImageType & moving)
{
  const Matrix4 toMoving =
    Invert(MakePointToFSL(moving), "the moving image's grid") * Invert(matrix, "the matrix") * MakePointToFSL(fixed);
  AffineType::MatrixType       linear;
  AffineType::OutputVectorType offset;
  for (unsigned int r = 0; r < 3; ++r)
  {
    for (unsigned int c = 0; c < 3; ++c)
    {
      linear[r][c] = toMoving[r][c];
    }
    offset[r] = toMoving[r][3];
  }
  const auto transform = AffineType::New();
  transform->SetMatrix(linear);
  transform->SetOffset(offset);
  return transform;
}

void
FLIRTMatrix::Write(const std::string &   fileName,
                   const TransformType * transform,
                   const ImageType *     fixed,
                   const ImageType *     moving)
{
  CheckIsThere(transform, "transform");
  CheckIsThere(fixed, "fixed image");
  CheckIsThere(moving, "moving image");
  const MatrixType matrix = FromTransform(*transform, *fixed, *moving);
  std::ofstream    file(fileName);
  // Whatever the program's locale is: FSL knows the point alone.
  file.imbue(std::locale::classic());
  // As many digits as a double has.
  file << std::setprecision(17);
  for (unsigned int r = 0; r < 4; ++r)
  {
    for (unsigned int c = 0; c < 4; ++c)
    {
      file << matrix[r][c] << (c < 3 ? "  " : "\n");
    }
  }
  file.close();
  if (!file)
  {
    itkGenericExceptionMacro("FLIRTMatrix: cannot write " << fileName << ".");
  }
}

FLIRTMatrix::AffineType::Pointer
FLIRTMatrix::Read(const std::string & fileName, const ImageType * fixed, const ImageType * moving)
{
  CheckIsThere(fixed, "fixed image");
  CheckIsThere(moving, "moving image");
  std::ifstream file(fileName);
  file.imbue(std::locale::classic());
  if (!file)
  {
    itkGenericExceptionMacro("FLIRTMatrix: cannot read " << fileName << ".");
  }
  MatrixType matrix;
  for (unsigned int r = 0; r < 4; ++r)
  {
    for (unsigned int c = 0; c < 4; ++c)
    {
      if (!(file >> matrix[r][c]) || !std::isfinite(matrix[r][c]))
      {
        itkGenericExceptionMacro("FLIRTMatrix: " << fileName << " has no number in line " << r + 1 << ", column "
                                                 << c + 1 << "; it is to have four lines of four numbers.");
      }
    }
  }
  if (matrix[3][0] != 0 || matrix[3][1] != 0 || matrix[3][2] != 0 || matrix[3][3] != 1)
  {
    itkGenericExceptionMacro("FLIRTMatrix: the last line of " << fileName << " is not 0 0 0 1: it is no affine map.");
  }
  return ToTransform(matrix, *fixed, *moving);
}

} // namespace itk
