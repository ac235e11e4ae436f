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

/** A range of the host's memory. */
struct MemoryRange
{
  const void * begin = nullptr;
  std::size_t  bytes = 0;
};

/** Describes what an array on a device is made from. */
struct Source
{
  /** Identifies the content; empty if unknown, so that the array is uploaded each time. */
  Key key;
  /** The host's memory that holds the content. */
  std::vector<MemoryRange> memory;
  /** True if an unchanged key proves that the memory is unchanged. If false, the hash of the memory has to prove it. */
  bool isKeyTrusted = true;
};

/** Returns a hash of the bytes in some memory, of each range with its length. An accidental change keeps the hash once in some 2^64
 *  times; the hash does not withstand deliberate collisions. */
GPURegistration_EXPORT
std::uint64_t
HashContent(const std::vector<MemoryRange> & memory, const ParallelFor & parallelFor);

/** Returns the hash of each of several memories, which threads compute in parallel. */
GPURegistration_EXPORT
std::vector<std::uint64_t>
HashContents(const std::vector<const std::vector<MemoryRange> *> & memories, const ParallelFor & parallelFor);

/** Stores the source of an array on a device, to compare it with another source. */
class GPURegistration_EXPORT ResidentSource
{
public:
  /** Holds the result of a comparison, for Remember(). */
  struct Comparison
  {
    bool                         isSame = false;
    std::optional<std::uint64_t> hash;
  };

  /** Compares a source with the remembered one. If its key is not trusted, it hashes the memory only if the key is the remembered one:
   *  memory that is used once is never hashed, and memory that is used repeatedly can be found the same from the third use on. */
  Comparison
  Compare(const Source & source, const ParallelFor & parallelFor) const;

  /** Compares a source with the remembered one, by a hash of the source's memory. */
  Comparison
  Compare(const Source & source, std::uint64_t hash) const;

  void
  Remember(const Source & source, const Comparison & comparison);

  /** Makes every source differ from now on. */
  void
  Forget();

  /** Returns the remembered key; empty if there is none. */
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
