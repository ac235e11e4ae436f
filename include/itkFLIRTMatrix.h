// SPDX-License-Identifier: Apache-2.0
#ifndef itkFLIRTMatrix_h
#define itkFLIRTMatrix_h

#include "GPURegistrationExport.h"

#include "itkAffineTransform.h"
#include "itkImageBase.h"
#include "itkMatrix.h"
#include "itkTransform.h"

#include <string>

namespace itk
{

/** \class FLIRTMatrix
 * \brief Converts linear transforms between ITK and FSL's FLIRT, and reads and writes FLIRT's matrix files (.mat).
 *
 * FLIRT's matrix maps the input (the moving image) to the reference (the fixed image). Its coordinates ignore origin and direction:
 * along each axis a coordinate is a voxel's index times the voxel's length, in mm. If the image's directions have a positive
 * determinant (FSL: neurological), the index along x counts from the other end. ITK's transforms map the fixed image's points to the
 * moving image's. A FLIRT matrix therefore has a meaning only with its two images, on the grids that they have in their files.
 *
 * If the codes of qform and sform in a NIfTI file are both 0, the file does not say where its voxels are. FSL then does not flip x,
 * although ITK's reader gives the image the identity as its directions. Pass the image as the reader made it: its dictionary has these
 * codes (qform_code, sform_code), and filters do not pass the dictionary on. ITK's determinant equals NIfTI's, since the two
 * conventions flip two axes.
 *
 * \code
 * itk::FLIRTMatrix::Write("fixed_from_moving.mat", method->GetTransform(), fixed, moving);
 * auto transform = itk::FLIRTMatrix::Read("fixed_from_moving.mat", fixed, moving); // of flirt -omat
 * \endcode
 *
 * Every function throws an itk::ExceptionObject that names the file, or what is wrong.
 *
 * \ingroup GPURegistration
 */
class GPURegistration_EXPORT FLIRTMatrix
{
public:
  using Self = FLIRTMatrix;
  using TransformType = Transform<double, 3, 3>;
  using AffineType = AffineTransform<double, 3>;
  using ImageType = ImageBase<3>;

  /** Writes a transform from fixed to moving points as four lines of four numbers.
   * \throws ExceptionObject if the transform is not linear or has no inverse. */
  static void
  Write(const std::string &   fileName,
        const TransformType * transform,
        const ImageType *     fixed,
        const ImageType *     moving);

  /** Reads a matrix file, and returns the transform from the fixed image's points to the moving image's.
   * \throws ExceptionObject if the file cannot be read, or does not hold an affine map. */
  static AffineType::Pointer
  Read(const std::string & fileName, const ImageType * fixed, const ImageType * moving);

#ifndef ITK_WRAPPING_PARSER
  /** Holds FLIRT's matrix row by row, as the file does; the last row is 0 0 0 1. */
  using MatrixType = Matrix<double, 4, 4>;

  static MatrixType
  FromTransform(const TransformType & transform, const ImageType & fixed, const ImageType & moving);

  static AffineType::Pointer
  ToTransform(const MatrixType & matrix, const ImageType & fixed, const ImageType & moving);
#endif
};

} // namespace itk

#endif
