// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MiddleImage_h
#define gpureg_MiddleImage_h

#include "engine/field/FieldKernels.h"
#include "engine/field/StartTransform.h"
#include "engine/image/SummarizeImage.h"
#include "engine/filter/LevelImage.h"
#include "engine/filter/RecursiveFilter.h"
#include "engine/image/FloatImage.h"
#include "engine/registration/diffeomorphic/LevelGrid.h"

#include <array>
#include <cstddef>
#include <string>

namespace gpureg
{

/** One of the images that are registered, with its mask, as it is seen from the middle of a level: smoothed, but not shrunk, and resampled
 *  on the grid of the level's fields, where a field leads. */
class MiddleImage
{
public:
  /** workspace must outlive this object. */
  explicit MiddleImage(SchemeWorkspace & workspace);

  /** Smooths the image.
   *  \param image the image, which must live as long as the level
   *  \param which "fixed" or "moving"
   *  \param sigmas standard deviations in the image's voxels; 0 for none
   *  \param initial maps points of the level's grid, and their displacements, to points of the image
   *  \param outside is subtracted from all values, of which those outside of the image are 0 then
   *  \throws BadInputError if the image is constant */
  void
  BeginLevel(RecursiveFilter &             filter,
             const RegisteredImage &       image,
             const char *                  which,
             const std::array<double, 3> & sigmas,
             const LevelGrid &             grid,
             const DisplacedMap &          initial,
             double                        outside = 0);

  /** Enqueues the resampling of the image and its mask along a field, float[3] a voxel, mm, of the grid's voxels. */
  void
  Resample(const FieldPart & field);

  /** Enqueues the computation of the range of the resampled image's values inside of its mask. Overwrites the workspace's first array. */
  void
  EnqueueRange();

  /** Waits for the range of the resampled image's values. */
  ImageSummary
  DownloadRange() const;

  /** Makes GetResampled() have the range that EnqueueRange() has found, which stays on the device. */
  void
  UseRange();

  /** Returns the resampled values, and those of the mask, which is null if there is none: for devices that exchange them. */
  Memory *
  GetValues()
  {
    return &m_Values.GetValues();
  }
  Memory *
  GetWeights()
  {
    return m_Mask != nullptr ? &m_Weights.GetValues() : nullptr;
  }

  /** Returns the resampled image. Its summary has the range of the smoothed image and 0 from BeginLevel() on, until UseRange(). */
  const LevelImage &
  GetResampled() const
  {
    return m_Resampled;
  }

  /** Writes down the arrays that BeginLevel() reserves, and describes the resampled image, which GetResampled() returns.
   *  \param name what the arrays' names begin with */
  void
  Plan(const RecursiveFilter &       filter,
       const RegisteredImage &       image,
       const std::array<double, 3> & sigmas,
       const LevelGrid &             grid,
       const std::string &           name,
       MemoryLedger &                ledger);

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_Smoothed) + SizeOf(m_FloatMask) + m_Values.GetDeviceBytes() + m_Weights.GetDeviceBytes() +
           m_Range.GetDeviceBytes();
  }

private:
  /** Returns an image's numbers, of its own type, or, if they are doubles or copies says so, a copy as floats in own. */
  const Memory *
  GetFloats(const DeviceImage & image, bool copies, MemoryPointer & own);

  /** Throws BadInputError for an image whose values are equal as floats. \param which "fixed" or "moving" */
  [[noreturn]] void
  ThrowDoesNotVary(const RegisteredImage & image, const char * which) const;

  SchemeWorkspace &        m_Workspace;
  kernels::FieldResampling m_Places{};
  // The values and the mask that are resampled, which the pointers behind them hold if they are not the image's own. The mask is of floats.
  const Memory *  m_Image = nullptr;
  const Memory *  m_Mask = nullptr;
  MemoryPointer   m_Smoothed;
  MemoryPointer   m_FloatMask;
  int             m_Form = 0; // a kernels::NumberForm: the type of the values
  float           m_Outside = 0;
  SummaryOnDevice m_Range;
  const Memory *  m_RangeOnDevice = nullptr; // an array of m_Range
  FloatImage      m_Values;
  FloatImage      m_Weights;
  ImageLevel      m_ValueLevel;
  ImageLevel      m_WeightLevel;
  LevelImage      m_Resampled;
};

} // namespace gpureg

#endif
