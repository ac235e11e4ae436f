// SPDX-License-Identifier: Apache-2.0
#include "gpureg/image/NumberConverter.h"

#include "gpureg/core/Error.h"

#include "engine/runtime/Backend.h"
#include "engine/runtime/Operation.h"
#include "engine/runtime/ForEachItem.h"

#include "kernels/core/NumberForm.h"
#include "kernels/image/NumberTypes.h"

#include <utility>

namespace gpureg
{

namespace
{
/** Returns the kernels' number of a type. */
int
FormOf(NumberType type)
{
  return static_cast<int>(type);
}
} // namespace

class NumberConverter::Implementation
{
public:
  explicit Implementation(const std::string & deviceName)
    : m_Backend(gpureg::GetBackend(deviceName))
    , m_Queue(m_Backend->CreateQueue())
  {}

  const Backend &
  GetBackend() const
  {
    return *m_Backend;
  }

  std::unique_ptr<DeviceImage>
  Read(const BorrowedMemory & numbers, bool isMask, Precision precision, const ParallelFor & parallelFor)
  {
    MemoryPointer made;
    this->Run(parallelFor, [&] {
      const MemoryPointer borrowed = Borrow(*m_Backend, numbers);
      made = m_Queue->Allocate(BytesOf(precision) * static_cast<std::size_t>(numbers.count));
      ForEachItem<kernels::NumberToRealKernel>(*m_Queue,
                                               numbers.count,
                                               precision,
                                               Input<void>(*borrowed),
                                               FormOf(numbers.type),
                                               isMask,
                                               Output<RealNumber>(*made));
      m_Queue->Finish();
    });
    return std::make_unique<MadeImage>(m_Backend, std::move(made), precision, numbers.count);
  }

  std::unique_ptr<MadeNumbers>
  Write(const DeviceImage & image, NumberType type, const ParallelFor & parallelFor)
  {
    if (image.GetMemory() == nullptr || image.GetDeviceName() != m_Backend->GetDescription().name)
    {
      throw BadInputError("an image whose numbers are to be converted is missing, or on another device");
    }
    MemoryPointer made;
    this->Run(parallelFor, [&] {
      made = m_Queue->Allocate(BytesOf(type) * static_cast<std::size_t>(image.GetCount()));
      ForEachItem<kernels::RealToNumberKernel>(*m_Queue,
                                               image.GetCount(),
                                               image.GetPrecision(),
                                               Input<RealNumber>(*image.GetMemory()),
                                               FormOf(type),
                                               Output<void>(*made));
      m_Queue->Finish();
    });
    return std::make_unique<MadeNumbers>(m_Backend, std::move(made), type);
  }

  EvaluationStatistics
  GetStatistics() const
  {
    return m_Queue->GetStatistics();
  }

private:
  template <typename TWork>
  void
  Run(const ParallelFor & parallelFor, const TWork & work)
  {
    // OpenCL reads no memory of other libraries.
    if (m_Queue->GetKind() == DeviceKind::OpenCL)
    {
      throw UnsupportedError(m_Backend->GetDescription().name + " converts no arrays; hand in what the host has");
    }
    Operate(*m_Queue, parallelFor, work);
  }

  std::shared_ptr<Backend> m_Backend;
  std::unique_ptr<Queue>   m_Queue;
};

NumberConverter::NumberConverter(const std::string & deviceName)
  : m_Implementation(std::make_unique<Implementation>(deviceName))
{}

NumberConverter::~NumberConverter()
{
  FreeUnlessForked(m_Implementation);
}

const std::string &
NumberConverter::GetDeviceName() const
{
  return m_Implementation->GetBackend().GetDescription().name;
}

std::size_t
NumberConverter::GetHeldBytes() const
{
  return 0;
}

std::unique_ptr<DeviceImage>
NumberConverter::MakeImage(const BorrowedMemory & numbers, Precision precision, const ParallelFor & parallelFor)
{
  return m_Implementation->Read(numbers, false, precision, parallelFor);
}

std::unique_ptr<DeviceImage>
NumberConverter::MakeMask(const BorrowedMemory & numbers, const ParallelFor & parallelFor)
{
  return m_Implementation->Read(numbers, true, Precision::Single, parallelFor);
}

std::unique_ptr<MadeNumbers>
NumberConverter::MakeNumbers(const DeviceImage & image, NumberType type, const ParallelFor & parallelFor)
{
  return m_Implementation->Write(image, type, parallelFor);
}

EvaluationStatistics
NumberConverter::GetStatistics() const
{
  return m_Implementation->GetStatistics();
}

} // namespace gpureg
