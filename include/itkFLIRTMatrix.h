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
 * \brief Linear transforms as FSL's FLIRT has them (.mat), from and to ITK's.
 *
 * FLIRT's matrix leads from the input (the moving image) to the reference (the fixed one), and its coordinates know no origin and no
 * direction: along each axis a voxel's index times the voxel's length, in mm; where the image's directions have a positive
 * determinant (FSL: neurological), the index along x is counted from the other end. ITK's transforms lead from the fixed image's
 * points to the moving one's. So a matrix has a meaning with its two images alone: these, with the grids that they have in the files.
 * A NIfTI file of which the codes of qform and sform are both 0 does not say where its voxels are. FSL does not turn x round then,
 * though ITK's reader gives the image the identity for its directions. Hand in the image as the reader made it: its dictionary has these
 * codes (qform_code, sform_code), which filters do not pass on.
 * ITK's determinant is that of NIfTI's, since both of the axes that they name differently are turned round.
 *
 * \code
 * itk::FLIRTMatrix::Write("fixed_from_moving.mat", method->GetTransform(), fixed, moving);
 * auto transform = itk::FLIRTMatrix::Read("fixed_from_moving.mat", fixed, moving); // of flirt -omat
 * \endcode
 *
 * Each throws an itk::ExceptionObject that names the file, or what is wrong.
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

  /** Writes four lines of four numbers. \throws ExceptionObject if the transform is not linear or has no inverse. */
  static void
  Write(const std::string &   fileName,
        const TransformType * transform,
        const ImageType *     fixed,
        const ImageType *     moving);

  /** From the fixed image's points to the moving one's. */
  static AffineType::Pointer
  Read(const std::string & fileName, const ImageType * fixed, const ImageType * moving);

#ifndef ITK_WRAPPING_PARSER
  /** By rows, as in the file; the last one is 0 0 0 1. */
  using MatrixType = Matrix<double, 4, 4>;

  static MatrixType
  FromTransform(const TransformType & transform, const ImageType & fixed, const ImageType & moving);

  static AffineType::Pointer
  ToTransform(const MatrixType & matrix, const ImageType & fixed, const ImageType & moving);
#endif
};

} // namespace itk

#endif
