#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What each metric has of its own, in lines with comments and declarations, as CONTRIBUTING.md has it: every file that is named
# after it. Run it in a checkout.
set -eu
cd "$(dirname "$0")/.."

# count NAMES FOLDER…: lines of the files there whose names begin with one of these, after itkCuda or itkGPU in a face's folder.
count()
{
  names=$1
  shift
  git ls-files "$@" | grep -E "/(itkCuda|itkGPU)?($names)[^/]*$" | tr '\n' '\0' | xargs -0 --no-run-if-empty cat | wc -l
}

# row METRIC NAMES
row()
{
  echo "| $1 | $(count "$2" src/kernels) | $(count "$2" src/engine include/gpureg) | $(count "$2" src/host) |" \
    "$(count "$2" cuda) | $(count "$2" opencl) | $(count "$2" include/*.h include/*.hxx include/GPURegistrationDetail) |"
}

echo "| metric | kernels | engine | host | CUDA | OpenCL | face |"
echo "|---|---|---|---|---|---|---|"
row "mean squares, correlation, absolute differences, demons" \
  "Pair|ValuePair|MeanSquares|CorrelationImage|MeanAbsoluteDifferences|Demons"
row "Mattes' mutual information, and NMI" "Mattes"
row "partial volume" "PartialVolume"
row "what these two share" "Entropy|HostEntropy|CudaEntropy|OpenCLEntropy|JointDensity\."
row "correlation ratio, by six schemes" "CorrelationRatio|BorderWeight|SortedSamples|CudaSort"
row "joint histogram" "JointHistogram|JointDensityArguments|SmoothedDensity"
row "neighborhood correlation" "Neighborhood|ANTSNeighborhood"
