// SPDX-License-Identifier: Apache-2.0
// The work-groups of the neighborhood correlation of several candidates of a batch, for the devices that have work-groups: CUDA and OpenCL.
// The third axis of groups numbers the candidates. Each candidate has arrays of its own, which follow those of the candidate before.
#ifndef gpureg_kernels_NeighborhoodBatchKernels_h
#define gpureg_kernels_NeighborhoodBatchKernels_h

GPUREG_NAMESPACE_BEGIN

/** Returns the arrays of this group's candidate. */
GPUREG_GROUP_FUNCTION NeighborhoodVolumes
VolumesOfCandidate(const NeighborhoodArguments * a, const NeighborhoodVolumes * n)
{
  NeighborhoodVolumes ofCandidate = *n;
  ofCandidate.moved += GroupIndexZ() * StoredVoxels(a);
  ofCandidate.sums += GroupIndexZ() * (NeighborhoodSumCount * CentreVoxels(a));
  return ofCandidate;
}

/** Returns where the sums of this group's candidate are written: those of all candidates of the batch follow each other. */
GPUREG_GROUP_FUNCTION GPUREG_GLOBAL float *
PartialsOfCandidate(const NeighborhoodArguments * a, int firstCandidate, GPUREG_GLOBAL float * partials)
{
  return partials + (i64)(firstCandidate + GroupIndexZ()) * a->groupCount * NeighborhoodPartialCount(a);
}

GPUREG_GROUP_FUNCTION void
BatchMovePlanesGroup(int                              variant,
                     const NeighborhoodArguments *    a,
                     GPUREG_GLOBAL const SampleMaps * batch,
                     int                              firstCandidate,
                     const SampleVolumes *            v,
                     const NeighborhoodVolumes *      n)
{
  const SampleMaps          maps = batch[firstCandidate + GroupIndexZ()];
  const NeighborhoodVolumes ofCandidate = VolumesOfCandidate(a, n);
  MovePlanesGroup(variant, a, &maps, v, ofCandidate.moved);
}

GPUREG_GROUP_FUNCTION void
BatchSumAlongZGroup(int                              lanes,
                    const NeighborhoodArguments *    a,
                    GPUREG_GLOBAL const SampleMaps * batch,
                    int                              firstCandidate,
                    const SampleVolumes *            v,
                    const NeighborhoodVolumes *      n)
{
  const SampleMaps          maps = batch[firstCandidate + GroupIndexZ()];
  const NeighborhoodVolumes ofCandidate = VolumesOfCandidate(a, n);
  SumAlongZGroup(lanes, a, &maps, v, &ofCandidate);
}

GPUREG_GROUP_FUNCTION void
BatchCorrelateTilesGroup(int                              variant,
                         int                              lanes,
                         const NeighborhoodArguments *    a,
                         GPUREG_GLOBAL const SampleMaps * batch,
                         int                              firstCandidate,
                         const SampleVolumes *            v,
                         const NeighborhoodVolumes *      n,
                         GPUREG_LOCAL double *            tile,
                         GPUREG_GLOBAL float *            partials)
{
  const SampleMaps          maps = batch[firstCandidate + GroupIndexZ()];
  const NeighborhoodVolumes ofCandidate = VolumesOfCandidate(a, n);
  CorrelateTilesGroup(
    variant, lanes, a, &maps, v, &ofCandidate, tile, PartialsOfCandidate(a, firstCandidate, partials));
}

GPUREG_GROUP_FUNCTION void
BatchCorrelateListGroup(int                              variant,
                        const NeighborhoodArguments *    a,
                        GPUREG_GLOBAL const SampleMaps * batch,
                        int                              firstCandidate,
                        const SampleVolumes *            v,
                        const NeighborhoodVolumes *      n,
                        GPUREG_LOCAL float *             scratch,
                        GPUREG_GLOBAL float *            partials)
{
  const SampleMaps maps = batch[firstCandidate + GroupIndexZ()];
  CorrelateListGroup(variant, a, &maps, v, n, scratch, PartialsOfCandidate(a, firstCandidate, partials));
}

GPUREG_NAMESPACE_END

#endif
