// SPDX-License-Identifier: Apache-2.0
// A hash of a block of memory that is the same on the host and on a device, to prove that both hold the same bytes.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_ContentHash_h
#define gpureg_kernels_ContentHash_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** Words that are hashed side by side, each into a state of its own, since a multiplication takes a few cycles. */
  HashLanes = 8,
  HashBlockBytes = 64,
  /** Bytes in a task; less is not worth a second thread. */
  HashTaskBytes = 131072
};

/** Returns a lane's multiplier: digits of pi, all odd, different in each lane. */
GPUREG_FUNCTION u64
HashMultiplier(int lane)
{
  switch (lane)
  {
    case 0:
      return 0x243f6a8885a308d3u;
    case 1:
      return 0x13198a2e03707345u;
    case 2:
      return 0xa4093822299f31d1u;
    case 3:
      return 0x082efa98ec4e6c89u;
    case 4:
      return 0x452821e638d01377u;
    case 5:
      return 0xbe5466cf34e90c6du;
    case 6:
      return 0xc0ac29b7c97c50ddu;
    default:
      return 0x3f84d5b5b5470917u;
  }
}

/** Mixes a word into a state and returns the new state: the exclusive-or of both halves of a 128-bit product, so that every bit of the
 *  result depends on every bit of the operands. */
GPUREG_FUNCTION u64
MixHash(u64 state, u64 word, u64 multiplier)
{
  const u64 factor = state ^ word;
  return MixProduct(factor, multiplier);
}

/** Returns the word at an offset, whose first byte is its lowest. Bytes beyond the end are 0. */
GPUREG_FUNCTION u64
HashWordAt(GPUREG_GLOBAL const u8 * bytes, i64 count, i64 offset)
{
  if (offset + 8 <= count)
  {
    return *(GPUREG_GLOBAL const u64 *)(bytes + offset);
  }
  u64 word = 0;
  for (int n = 0; offset + n < count; ++n)
  {
    word |= (u64)bytes[offset + n] << 8 * n;
  }
  return word;
}

/** Returns the state of one lane after all blocks of a task. bytes: aligned to words. */
GPUREG_FUNCTION u64
HashLane(GPUREG_GLOBAL const u8 * bytes, i64 count, int lane)
{
  const u64 multiplier = HashMultiplier(lane);
  u64       state = (u64)lane + 1;
  GPUREG_UNROLL_8
  for (i64 block = 0; block < count; block += HashBlockBytes)
  {
    state = MixHash(state, HashWordAt(bytes, count, block + 8 * lane), multiplier);
  }
  return state;
}

/** Writes the state of task number / HashLanes and lane number % HashLanes to states[number]. Tasks begin every HashTaskBytes bytes; the
 *  last one may be shorter. */
GPUREG_FUNCTION void
HashLaneOfTask(GPUREG_GLOBAL const u8 * bytes, i64 count, GPUREG_GLOBAL u64 * states, i64 number)
{
  const i64 begin = number / HashLanes * HashTaskBytes;
  const i64 rest = count - begin;
  states[number] = HashLane(bytes + begin, rest < HashTaskBytes ? rest : (i64)HashTaskBytes, (int)(number % HashLanes));
}

GPUREG_ITEM_KERNEL(HashLaneOfTask, 1, "hashing an image");

GPUREG_NAMESPACE_END

#endif
