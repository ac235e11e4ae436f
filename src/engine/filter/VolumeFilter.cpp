// SPDX-License-Identifier: Apache-2.0
#include "gpureg/filter/VolumeFilter.h"

#include "engine/runtime/Backend.h"
#include "engine/runtime/Operation.h"
#include "engine/filter/LinePasses.h"
#include "engine/filter/RecursiveFilter.h"
#include "engine/runtime/MakePasses.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

class VolumeFilter::Implementation
{
public:
  explicit Implementation(const std::string & deviceName)
    : m_Backend(gpureg::GetBackend(deviceName))
    , m_Queue(m_Backend->CreateQueue())
    , m_Passes(MakePasses<LinePasses>(*m_Queue))
    , m_Recursive(*m_Queue)
  {}

  const Backend &
  GetBackend() const
  {
    return *m_Backend;
  }

  std::size_t
  GetHeldBytes() const
  {
    return SizeOf(m_Input) + SizeOf(m_Work[0]) + SizeOf(m_Work[1]) + SizeOf(m_Places) + m_Recursive.GetSize();
  }

  void
  SetVolume(const VolumeInput & input, const ParallelFor & parallelFor)
  {
    SetVolume(input, parallelFor, [&] {
      UploadArray(*m_Queue, *m_Input, 0, GetVoxelBytes(), CountOf(input.size), input.values);
    });
  }

  void
  SetVolume(const DeviceImage & image, const Size & size, const ParallelFor & parallelFor)
  {
    if (image.GetMemory() == nullptr || image.GetCount() != CountOf(size) ||
        image.GetDeviceName() != m_Backend->GetDescription().name)
    {
      throw BadInputError("an image to filter is missing, on another device, or of another size");
    }
    VolumeInput input;
    input.size = size;
    input.precision = image.GetPrecision();
    SetVolume(input, parallelFor, [&] { m_Queue->Copy(*m_Input, *image.GetMemory(), GetBytes(size)); });
    // The caller may change the image afterwards.
    m_Queue->Finish();
  }

  void
  Restart()
  {
    if (!m_HasInput)
    {
      throw BadInputError("the volume is no longer there; set it again");
    }
    m_Current = &m_Input;
    m_Size = m_InputSize;
  }

  void
  ApplyGaussian(int axis, const RecursiveGaussian & weights)
  {
    RunInPlace([&] { m_Recursive.ApplyGaussian(**m_Current, m_Size, m_Components, m_Precision, axis, weights); });
  }

  void
  MakeSplineCoefficients(int order)
  {
    RunInPlace([&] { m_Recursive.MakeSplineCoefficients(**m_Current, m_Size, m_Components, m_Precision, order); });
  }

  void
  Convolve(const LineConvolution & convolution)
  {
    CheckVolume();
    if (convolution.taps.empty() || convolution.taps.size() > static_cast<std::size_t>(kernels::MaximumTaps))
    {
      throw BadInputError("a convolution has 1 to " + std::to_string(kernels::MaximumTaps) + " weights, not " +
                          std::to_string(convolution.taps.size()));
    }
    if (convolution.axis < 0 || convolution.axis > 2 || convolution.outputLength < 1 || convolution.run < 1)
    {
      throw BadInputError("a convolution is along axis 0, 1 or 2, has outputs, and runs of them, not of length 0");
    }
    const LineShape               shape = ShapeOf(m_Size, m_Components, convolution.axis);
    kernels::ConvolutionArguments a{};
    a.inner = shape.inner;
    a.outer = shape.outer;
    a.length = shape.length;
    a.outputLength = convolution.outputLength;
    a.first = convolution.first;
    a.step = convolution.step;
    a.run = convolution.run;
    a.end = convolution.end;
    a.left = convolution.left;
    a.tapCount = static_cast<int>(convolution.taps.size());
    a.truncates = convolution.truncates;
    std::copy(convolution.taps.begin(), convolution.taps.end(), a.taps);

    Size size = m_Size;
    size[static_cast<std::size_t>(convolution.axis)] = convolution.outputLength;
    MemoryPointer & target = m_Current == &m_Work[0] ? m_Work[1] : m_Work[0];
    ReserveAndCount(target, GetBytes(size));
    Run([&] { m_Passes->Convolve(a, m_Precision, **m_Current, *target); });
    m_Current = &target;
    m_Size = size;
  }

  void
  Interpolate(const GridInterpolation & grid)
  {
    CheckVolume();
    kernels::GridInterpolationArguments a{};
    a.components = m_Components;
    a.truncates = grid.truncates;
    std::vector<kernels::GridPlace> places;
    for (std::size_t d = 0; d < 3; ++d)
    {
      CheckGridAxis(grid.cells[d], grid.fractions[d], m_Size[d]);
      a.inputSize[d] = m_Size[d];
      a.outputSize[d] = static_cast<int>(grid.cells[d].size());
      for (std::size_t j = 0; j < grid.cells[d].size(); ++j)
      {
        places.push_back({ grid.fractions[d][j], grid.cells[d][j], 0 });
      }
    }
    const Size      size{ a.outputSize[0], a.outputSize[1], a.outputSize[2] };
    MemoryPointer & target = m_Current == &m_Work[0] ? m_Work[1] : m_Work[0];
    ReserveAndCount(m_Places, places.size() * sizeof(kernels::GridPlace));
    ReserveAndCount(target, GetBytes(size));
    UploadArray(*m_Queue, *m_Places, places);
    Run([&] { m_Passes->Interpolate(a, m_Precision, *m_Places, **m_Current, *target); });
    m_Current = &target;
    m_Size = size;
  }

  const Size &
  GetSize() const
  {
    return m_Size;
  }

  void
  GetVolume(const std::function<void(std::int64_t, std::int64_t, const void *)> & output)
  {
    CheckVolume();
    DownloadArray(*m_Queue, **m_Current, GetVoxelBytes(), CountOf(m_Size), output);
    m_Operation->CountTime();
  }

  std::unique_ptr<DeviceImage>
  CopyVolume()
  {
    CheckVolume();
    if (m_Components != 1)
    {
      throw BadInputError("an image on a device has one component, and the volume " + std::to_string(m_Components));
    }
    MemoryPointer copy = m_Queue->Allocate(GetBytes(m_Size));
    m_Queue->Copy(*copy, **m_Current, GetBytes(m_Size));
    m_Queue->Finish();
    return std::make_unique<MadeImage>(m_Backend, std::move(copy), m_Precision, CountOf(m_Size));
  }

  void
  Release()
  {
    m_Queue->CheckIsUsable();
    m_Queue->Finish();
    this->Forget();
    m_Input.reset();
    m_Work = {};
    m_Places.reset();
    m_Recursive.Release();
    if (m_Operation)
    {
      m_Operation->GiveStagingBack();
      m_Operation.reset();
    }
  }

  void
  SetTiming(bool on)
  {
    m_IsTiming = on;
  }

  EvaluationStatistics
  GetStatistics() const
  {
    return m_Queue->GetStatistics();
  }

private:
  /** Prepares m_Input for a volume. \param fill enqueues the work that fills m_Input */
  template <typename TFill>
  void
  SetVolume(const VolumeInput & input, const ParallelFor & parallelFor, const TFill & fill)
  {
    if (std::min({ input.size[0], input.size[1], input.size[2], input.components }) < 1)
    {
      throw BadInputError("a volume to filter has no voxels");
    }
    this->Forget();
    m_Operation.reset();
    m_Operation.emplace(*m_Queue, parallelFor);
    m_Components = input.components;
    m_Precision = input.precision;
    m_InputSize = input.size;
    ReserveAndCount(m_Input, GetBytes(input.size));
    fill();
    m_HasInput = true;
    Restart();
  }

  std::size_t
  GetVoxelBytes() const
  {
    return BytesOf(m_Precision) * static_cast<std::size_t>(m_Components);
  }

  std::size_t
  GetBytes(const Size & size) const
  {
    return GetVoxelBytes() * static_cast<std::size_t>(CountOf(size));
  }

  /** Checks the cells and fractions of a grid along one axis. \throws BadInputError unless each cell, and the sample behind it where that
   *  is read, lies in the volume */
  static void
  CheckGridAxis(const std::vector<int> & cells, const std::vector<double> & fractions, int length)
  {
    if (cells.empty() || cells.size() != fractions.size())
    {
      throw BadInputError("a grid to interpolate at has points along each axis, and a fraction for each cell");
    }
    for (std::size_t j = 0; j < cells.size(); ++j)
    {
      if (cells[j] >= length - (fractions[j] > 0.0 ? 1 : 0) || !(fractions[j] >= 0.0 && fractions[j] <= 1.0))
      {
        throw BadInputError("a grid to interpolate at has cell " + std::to_string(cells[j]) + " and fraction " +
                            std::to_string(fractions[j]) + " along an axis of " + std::to_string(length) + " samples");
      }
    }
  }

  /** Declares that there is no volume. */
  void
  Forget()
  {
    m_HasInput = false;
    m_Current = nullptr;
  }

  /** \throws BadInputError if there is no volume, DeviceLostError as Queue::CheckIsUsable() does */
  void
  CheckVolume() const
  {
    if (!m_Current)
    {
      throw BadInputError("there is no volume to filter; set one first");
    }
    m_Queue->CheckIsUsable();
  }

  void
  ReserveAndCount(MemoryPointer & memory, std::size_t bytes)
  {
    Reserve(*m_Queue, memory, bytes);
    CountMemory();
  }

  void
  CountMemory()
  {
    m_Queue->SetHeldBytes(GetHeldBytes(),
                          std::max({ SizeOf(m_Input), SizeOf(m_Work[0]), SizeOf(m_Work[1]), m_Recursive.GetSize() }));
  }

  template <typename TWork>
  void
  RunInPlace(const TWork & work)
  {
    CheckVolume();
    m_HasInput = m_HasInput && m_Current != &m_Input;
    Run(work);
    CountMemory();
  }

  /** Enqueues an operation. If it fails, the contents of the volume are undefined. */
  template <typename TWork>
  void
  Run(const TWork & work)
  {
    try
    {
      Enqueue(*m_Queue, m_IsTiming, work);
    }
    catch (...)
    {
      this->Forget();
      throw;
    }
  }

  std::shared_ptr<Backend>     m_Backend;
  std::unique_ptr<Queue>       m_Queue;
  std::unique_ptr<LinePasses>  m_Passes;
  RecursiveFilter              m_Recursive;
  Precision                    m_Precision = Precision::Single;
  int                          m_Components = 1;
  Size                         m_InputSize{};
  Size                         m_Size{};
  MemoryPointer                m_Input;
  std::array<MemoryPointer, 2> m_Work;
  /** The points of an interpolation. */
  MemoryPointer   m_Places;
  MemoryPointer * m_Current = nullptr;
  bool            m_HasInput = false;
  bool            m_IsTiming = false;
  /** Runs from SetVolume() to Release(), so that copies and filters in between overlap. */
  std::optional<Operation> m_Operation;
};

VolumeFilter::VolumeFilter(const std::string & deviceName)
  : m_Implementation(std::make_unique<Implementation>(deviceName))
{}

VolumeFilter::~VolumeFilter()
{
  FreeUnlessForked(m_Implementation);
}

const std::string &
VolumeFilter::GetDeviceName() const
{
  return m_Implementation->GetBackend().GetDescription().name;
}

std::size_t
VolumeFilter::GetHeldBytes() const
{
  return m_Implementation->GetHeldBytes();
}

void
VolumeFilter::SetVolume(const VolumeInput & input, const ParallelFor & parallelFor)
{
  m_Implementation->SetVolume(input, parallelFor);
}

void
VolumeFilter::SetVolume(const DeviceImage & image, const Size & size, const ParallelFor & parallelFor)
{
  m_Implementation->SetVolume(image, size, parallelFor);
}

void
VolumeFilter::Restart()
{
  m_Implementation->Restart();
}

void
VolumeFilter::ApplyGaussian(int axis, const RecursiveGaussian & weights)
{
  m_Implementation->ApplyGaussian(axis, weights);
}

void
VolumeFilter::MakeSplineCoefficients(int order)
{
  m_Implementation->MakeSplineCoefficients(order);
}

void
VolumeFilter::Convolve(const LineConvolution & convolution)
{
  m_Implementation->Convolve(convolution);
}

void
VolumeFilter::Interpolate(const GridInterpolation & grid)
{
  m_Implementation->Interpolate(grid);
}

const Size &
VolumeFilter::GetSize() const
{
  return m_Implementation->GetSize();
}

void
VolumeFilter::GetVolume(const std::function<void(std::int64_t, std::int64_t, const void *)> & output)
{
  m_Implementation->GetVolume(output);
}

std::unique_ptr<DeviceImage>
VolumeFilter::CopyVolume()
{
  return m_Implementation->CopyVolume();
}

void
VolumeFilter::Release()
{
  m_Implementation->Release();
}

void
VolumeFilter::SetTiming(bool on)
{
  m_Implementation->SetTiming(on);
}

EvaluationStatistics
VolumeFilter::GetStatistics() const
{
  return m_Implementation->GetStatistics();
}

} // namespace gpureg
