#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints how many lines the product has, what a device must have, what each metric has of its own, and what a new metric needs, with
# comments and declarations. A metric's files are those that are named after it. Run it in a checkout.
set -eu
cd "$(dirname "$0")/.."

# lines: of the files whose names come in.
lines() { tr '\n' '\0' | xargs -0 --no-run-if-empty cat | wc -l; }

# sources FOLDER…: the files of code there.
sources() { git ls-files "$@" | grep -E '\.(h|hxx|cpp|cxx|cu|cl|py|wrap|j2)$'; }

# count NAMES FOLDER…: lines of the files there whose names begin with one of these, after itkCuda or itkGPU where ITK's classes are.
count()
{
  names=$1
  shift
  git ls-files "$@" | { grep -E "/(itkCuda|itkGPU)?($names)[^/]*$" || true; } | lines
}

# row METRIC NAMES
row()
{
  echo "| $1 | $(count "$2" src/kernels) | $(count "$2" src/engine include/gpureg) | $(count "$2" src/host) |" \
    "$(count "$2" cuda) | $(count "$2" opencl) | $(count "$2" include/*.h include/*.hxx include/GPURegistrationDetail) |"
}

# need METRIC NAME: prints the files and lines of a metric whose files and classes are named so, and the other files and lines of the
# product and its build that name it.
need()
{
  own=$(git ls-files src cuda opencl include wrapping | grep "/[^/]*$2[^/]*$")
  others=$(git grep -l "$2" -- src cuda opencl include wrapping cmake | grep -v "/[^/]*$2[^/]*$")
  named=$(echo "$others" | xargs grep -h "$2" | wc -l)
  echo "| $1 | $(echo "$own" | wc -l) | $(echo "$own" | lines) | $(echo "$others" | wc -l) | $named |"
}

echo "| code | lines |"
echo "|---|---|"
for folder in src/kernels src/engine src/host src/factories cuda opencl include wrapping; do
  echo "| $folder | $(sources "$folder" | lines) |"
done
echo "| product (src, include, cuda, opencl, wrapping) | $(sources src include cuda opencl wrapping | lines) |"
echo
echo "| what a device has of its own | runtime, dialect and entry points | passes | all |"
echo "|---|---|---|---|"
for device in cuda opencl; do
  all=$(sources "$device" | lines)
  passes=$(git ls-files "$device/metric" | lines)
  echo "| $device | $((all - passes)) | $passes | $all |"
done
echo
echo "| metric | kernels | engine | host | CUDA | OpenCL | ITK class |"
echo "|---|---|---|---|---|---|---|"
row "mean squares, correlation, absolute differences, demons" \
  "Pair|ValuePair|MeanSquares|CorrelationImage|MeanAbsoluteDifferences|Demons"
row "Mattes' mutual information, and NMI" "Mattes"
row "partial volume" "PartialVolume"
row "what these two share" "Entropy|HostEntropy|CudaEntropy|OpenCLEntropy|JointDensity\."
row "correlation ratio, by six schemes" "CorrelationRatio|BorderWeight|SortedSamples|CudaSort"
row "joint histogram" "JointHistogram|JointDensityArguments|SmoothedDensity"
row "neighborhood correlation" "Neighborhood|ANTSNeighborhood"
echo
echo "| what a new metric needs, as this one has it | files of its own | lines | other files that name it | lines there |"
echo "|---|---|---|---|---|"
need "of pairs of values: mean absolute differences" MeanAbsoluteDifferences
need "with a histogram: partial volume" PartialVolume
