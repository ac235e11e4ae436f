// SPDX-License-Identifier: Apache-2.0
// The work-groups that count the histograms of a batch of candidates, for the devices that have work-groups: CUDA and OpenCL.
// src/host/metric/histogram/HostHistogramPasses.h computes the same in plain loops.
#ifndef gpureg_kernels_HistogramBatchKernels_h
#define gpureg_kernels_HistogramBatchKernels_h

GPUREG_NAMESPACE_BEGIN

/** Pass 1 of a batch of candidates, as HistogramGroup. The chunks of a candidate follow those of the candidate before, batch[candidate]
 *  maps its samples, and slots are numbered like groups. */
GPUREG_METRIC_GROUP_FUNCTION void
BatchHistogramGroup(int                              variant,
                    const MetricArguments *          a,
                    GPUREG_GLOBAL const SampleMaps * batch,
                    int                              firstCandidate,
                    const SampleVolumes *            v,
                    GPUREG_LOCAL u32 *               histogram,
                    GPUREG_GLOBAL u32 *              chunkHistograms)
{
  const int        chunks = ChunkCount(&a->histogram.samples);
  const SampleMaps maps = batch[firstCandidate + GroupIndex() / chunks];
  HistogramGroup(variant, a, &maps, v, GroupIndex() % chunks, GroupIndex(), histogram, chunkHistograms);
}

/** Does for each candidate what SumHistogramsGroup does for one: histograms[candidate][entry]. */
GPUREG_METRIC_GROUP_FUNCTION void
BatchSumGroup(int                       variant,
              const MetricArguments *   a,
              GPUREG_GLOBAL const u32 * chunkHistograms,
              GPUREG_LOCAL u64 *        shareSums,
              GPUREG_GLOBAL u64 *       histograms)
{
  const HistogramArguments * h = &a->histogram;
  const int                  chunks = ChunkCount(&h->samples);
  const int                  sumEntries = SumEntriesOfBatch(chunks, LaneCount());
  const int                  groups = CountSumGroups(h, sumEntries);
  const int                  candidate = GroupIndex() / groups;
  SumHistogramsGroup(variant,
                     a,
                     sumEntries,
                     GroupIndex() % groups,
                     chunks,
                     0,
                     chunkHistograms + BandInChunk(variant, h, candidate * chunks, 0),
                     shareSums,
                     histograms + (i64)candidate * h->rows * h->columns);
}

GPUREG_NAMESPACE_END

#endif
