// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Source_h
#define gpureg_Source_h

#include "GPURegistrationExport.h"
#include "gpureg/core/Key.h"
#include "gpureg/core/ParallelFor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gpureg
{

/** Bytes of the host. */
struct MemoryRange
{
  const void * begin = nullptr;
  std::size_t  bytes = 0;
};

/** What something on a device is made from. */
struct Source
{
  /** Empty: not known, so that it is sent each time. */
  Key key;
  /** Where it lies. */
  std::vector<MemoryRange> memory;
  /** Whether a key that stays tells that the memory is as it was. Without, the memory's hash is to prove it. */
  bool isKeyTrusted = true;
};

/** A hash of the bytes in some memory, each range's with its length. A change that nobody made to deceive it is missed
 *  once in some 2^64 times. */
GPURegistration_EXPORT
std::uint64_t
HashContent(const std::vector<MemoryRange> & memory, const ParallelFor & parallelFor);

/** The same of each of several memories, which threads hash side by side. */
GPURegistration_EXPORT
std::vector<std::uint64_t>
HashContents(const std::vector<const std::vector<MemoryRange> *> & memories, const ParallelFor & parallelFor);

/** Remembers the source of what is on a device, to tell whether another one is the same. */
class GPURegistration_EXPORT ResidentSource
{
public:
  /** What a comparison found, for Remember. */
  struct Comparison
  {
    bool                         isSame = false;
    std::optional<std::uint64_t> hash;
  };

  /** Where the key is not trusted, memory is hashed only if the key is the one that is remembered: what is used once is
   *  never hashed, and what is used again is the same from the third time on. */
  Comparison
  Compare(const Source & source, const ParallelFor & parallelFor) const;

  /** By the hash of the source's memory. */
  Comparison
  Compare(const Source & source, std::uint64_t hash) const;

  void
  Remember(const Source & source, const Comparison & comparison);

  /** Nothing is the same from now on. */
  void
  Forget();

  /** The key that is remembered; empty if none is. */
  const Key &
  GetKey() const
  {
    return m_Key;
  }

private:
  Key                          m_Key;
  std::optional<std::uint64_t> m_Hash;
};

} // namespace gpureg

#endif
