// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_HostQueue_h
#define gpureg_HostQueue_h

#include "Backend.h"
#include "CorrelationRatioPasses.h"
#include "CorrelationRatioSchemePasses.h"
#include "JointHistogramPasses.h"
#include "LinePasses.h"
#include "MattesPasses.h"
#include "PartialVolumePasses.h"
#include "ResamplePasses.h"

namespace gpureg
{

class HostMemory : public Memory
{
public:
  HostMemory(Backend & backend, std::size_t bytes);
  /** Another's memory, which is not charged. */
  HostMemory(void * address, std::size_t bytes)
    : Memory(bytes)
    , m_Address(address)
  {}
  ~HostMemory() override;

  void *
  GetAddress() const override
  {
    return m_Address;
  }

private:
  Backend * m_Backend = nullptr; // of memory of its own
  void *    m_Address;
};

/** The array as the kernels see it; null if there is none. */
template <typename T>
T *
AddressOf(const MemoryPointer & memory)
{
  return memory ? static_cast<T *>(static_cast<HostMemory &>(*memory).GetAddress()) : nullptr;
}

/** Runs what it is given at once, on the caller's threads. */
class HostQueue : public Queue
{
public:
  using Queue::Queue;

  std::size_t
  GetFreeMemory() override;
  void
  Upload(Memory & target, std::size_t offset, const void * source, std::size_t bytes) override;
  void
  StartUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes, int buffer) override;
  void
  Download(void * target, const Memory & source, std::size_t bytes) override;
  void
  StartDownload(void * target, const Memory & source, std::size_t bytes, std::size_t offset, int buffer) override;
  void
  Copy(Memory & target, const Memory & source, std::size_t bytes) override;
  bool
  IsHost() const override
  {
    return true;
  }
  void *
  GetHostAddress(Memory & memory) override;
  /** Where the elements of some memory are, also of what is only read. */
  template <typename T>
  T *
  AddressIn(const Memory & memory)
  {
    return static_cast<T *>(this->GetHostAddress(const_cast<Memory &>(memory)));
  }
  MemoryPointer
  Wrap(void * address, std::size_t bytes) override;
  std::unique_ptr<ControlGridPasses>
  CreateControlGridPasses() override;
  std::unique_ptr<ControlStepPasses>
  CreateControlStepPasses() override;
  std::unique_ptr<ControlPenaltyPasses>
  CreateControlPenaltyPasses() override;
  std::unique_ptr<CorrelationRatioPasses>
  CreateCorrelationRatioPasses() override;
  std::unique_ptr<CorrelationRatioSchemePasses>
  CreateCorrelationRatioSchemePasses() override;
  std::unique_ptr<DisplacementPasses>
  CreateDisplacementPasses() override;
  std::unique_ptr<ImagePasses>
  CreateImagePasses() override;
  std::unique_ptr<JointHistogramPasses>
  CreateJointHistogramPasses() override;
  std::unique_ptr<LeadingGridPasses>
  CreateLeadingGridPasses() override;
  std::unique_ptr<LinePasses>
  CreateLinePasses() override;
  std::unique_ptr<MattesPasses>
  CreateMattesPasses() override;
  std::unique_ptr<MovingImagePasses>
  CreateMovingImagePasses() override;
  std::unique_ptr<NeighborhoodPasses>
  CreateNeighborhoodPasses() override;
  std::unique_ptr<NumberPasses>
  CreateNumberPasses() override;
  std::unique_ptr<PairPasses>
  CreatePairPasses() override;
  std::unique_ptr<PartialVolumePasses>
  CreatePartialVolumePasses() override;
  std::unique_ptr<ResamplePasses>
  CreateResamplePasses() override;
  std::unique_ptr<SimilarityPasses>
  CreateSimilarityPasses() override;
  void
  StartTimer() override;
  void
  StopTimer() override;
  double
  ReadTimer() override;

  void
  MarkRead(int) override
  {}
  void
  OrderAfterUploads() override
  {}
  void
  MarkMade(int) override
  {}
  void
  MarkStaging(Direction, int) override
  {}
  void
  WaitForStaging(Direction, int) override
  {}
  void
  Finish() override
  {}
  void
  SetMilestone(int) override
  {}
  void
  WaitForMilestone(int) override
  {}

private:
  MemoryPointer
  DoAllocate(std::size_t bytes) override;

  double m_Started = 0;
  double m_Stopped = 0;
};

} // namespace gpureg

#endif
