// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: each number is a function of its key and counter alone, so that every device and any number of threads
// generate the same ones.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_CounterRandom_h
#define gpureg_kernels_CounterRandom_h

GPUREG_NAMESPACE_BEGIN

/** Holds the four 32-bit words of a counter, or the four random words made from it. */
typedef struct RandomWords
{
  u32 word[4];
} RandomWords;

/** Returns four random words by Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011): in
 *  each of ten rounds, the upper halves of two products are mixed with the other words and the key, and the key grows by the golden
 *  ratio and by the square root of 3, each less 1. */
GPUREG_FUNCTION RandomWords
Philox4x32(RandomWords counter, u32 key0, u32 key1)
{
  for (int round = 0; round < 10; ++round)
  {
    const u64 a = (u64)0xD2511F53u * counter.word[0];
    const u64 b = (u64)0xCD9E8D57u * counter.word[2];
    counter.word[0] = (u32)(b >> 32) ^ counter.word[1] ^ key0;
    counter.word[1] = (u32)b;
    counter.word[2] = (u32)(a >> 32) ^ counter.word[3] ^ key1;
    counter.word[3] = (u32)a;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/** Returns a random position along an axis of `size` voxels, uniformly distributed from -1/2 to size - 1/2, in units of 2^-32 voxel
 *  (Position.h). */
GPUREG_FUNCTION i64
RandomPosition(u32 random, int size)
{
  return (i64)random * size + (size >> 1) - ((i64)1 << 31);
}

GPUREG_NAMESPACE_END

#endif
