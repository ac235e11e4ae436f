#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a bundle's tests, compute-sanitizer over some of them, and the benchmarks, on the machine at hand.
#   run-gpu-suite.sh BUNDLE_DIR LOG_DIR [--tests] [--sanitizer] [--benchmark] [--data DIR] [--seconds N]
# Without a part named, all three run. Full logs go to LOG_DIR (eight files at most, each below 16 MiB), a short table
# comes last. --data DIR has t2.mha and t1_rot10_tx15.mha for the registration; else it makes a head. --seconds is
# for everything together, 480 by default. Exits with 1 if anything failed or ran out of time.
# Reads the GPU's settings, and changes none.
set -uo pipefail
shopt -s nullglob
. "$(dirname "$0")/find-opencl.sh"

fail() { echo "$0: $*" >&2; exit 1; }

usage="usage: $0 BUNDLE_DIR LOG_DIR [--tests] [--sanitizer] [--benchmark] [--data DIR] [--seconds N]"
[ $# -ge 2 ] || fail "$usage"
bundle=$(cd "$1" && pwd) || fail "there is no folder $1"
mkdir -p "$2" || fail "$2 cannot be made"
logs=$(cd "$2" && pwd)
shift 2
parts=()
data=
total_seconds=480
while [ $# -gt 0 ]; do
  case $1 in
    --tests | --sanitizer | --benchmark) parts+=("${1#--}") ;;
    --data) data=${2:?$usage} && shift ;;
    --seconds) total_seconds=${2:?$usage} && shift ;;
    *) fail "$usage" ;;
  esac
  shift
done
[ ${#parts[@]} -gt 0 ] || parts=(tests sanitizer benchmark)

export LD_LIBRARY_PATH=$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Kernels are compiled afresh, and leave nothing behind.
export XDG_CACHE_HOME=$scratch/cache
summary=$logs/summary.txt
: > "$summary"
failed=0

say() { printf '\n== %s\n' "$*"; }
tell() { printf '%s\n' "$@" >> "$summary"; }

# Every part has its share of what time is left; one that is done sooner leaves the rest to those behind it.
share() { case $1 in tests) echo 45 ;; sanitizer) echo 25 ;; *) echo 30 ;; esac; }
begin_part() {
  local name shares=0 reached=
  for name in "${parts[@]}"; do
    [ "$name" = "$1" ] && reached=yes
    [ -z "$reached" ] || shares=$((shares + $(share "$name")))
  done
  part_end=$((SECONDS + (total_seconds - SECONDS) * $(share "$1") / shares))
}

# limited LIMIT COMMAND…: at most so many seconds, and no longer than the part lasts.
limited() {
  local left=$((part_end - SECONDS)) limit=$1
  shift
  [ "$left" -lt "$limit" ] && limit=$left
  if [ "$limit" -lt 1 ]; then
    echo "no time is left for: $*"
    return 124
  fi
  timeout --kill-after=10 "$limit" "$@"
}

# The exit code of a test program whose cases were all skipped (test/support/RunCases.h).
all_skipped=77

describe_status() {
  case $1 in
    0) echo ok ;;
    "$all_skipped") echo "all cases skipped" ;;
    124 | 137) echo "OUT OF TIME" ;;
    *) echo "exit $1" ;;
  esac
}

# A log beyond 15 MiB keeps its beginning and its end.
keep_small() {
  local limit=$((15 << 20))
  if [ "$(stat -c %s "$1")" -gt $limit ]; then
    { head -c $((limit / 2)) "$1"; printf '\n… cut …\n'; tail -c $((limit / 2)) "$1"; } > "$scratch/small"
    mv "$scratch/small" "$1"
  fi
}

# From GoogleTest's output: name, device, result of each test. A device is known by its place in the test's name.
list_results() {
  awk '
    /^\[ *(OK|FAILED|SKIPPED) *\] .* \([0-9]+ ms\)/ {
      result = $0; sub(/^\[ */, "", result); sub(/ *\].*/, "", result)
      name = $0; sub(/^[^]]*\] /, "", name)
      device = match(name, /(cuda|opencl)_[0-9]+|host/) ? substr(name, RSTART, RLENGTH) : "-"
      print device, result
    }' "$1"
}

count_results() {
  list_results "$1" | sort | uniq -c | awk -v program="$2" '
    { n[$2, $3] = $1; devices[$2] = 1 }
    END {
      for (device in devices)
        printf "%-26s %-9s %6d %6d %7d\n", program, device, n[device, "OK"], n[device, "FAILED"], n[device, "SKIPPED"]
    }' | sort
}

# start_test PROGRAM: one at once for two processors, for most of a test's time is one processor's. Output, exit status and seconds
# go to files.
start_test() {
  local output=$scratch/$(basename "$1") most=$((($(nproc) + 1) / 2))
  while [ "$(jobs -rp | wc -l)" -ge "$most" ]; do wait -n; done
  {
    local begin=$SECONDS
    limited 300 "$1" --gtest_color=no > "$output" 2>&1
    echo $? $((SECONDS - begin)) > "$output.status"
  } &
}

report_test() {
  local name=$1 output=$scratch/$1 status seconds
  read -r status seconds < "$output.status" || status=1
  { say "$name"; cat "$output"; } >> "$log"
  echo "$name: $(describe_status "$status"), ${seconds:-?} s"
  grep -a -E '^\[ +FAILED +\].*ms\)' "$output"
  tell "$(count_results "$output" "$name")"
  if [ "$status" -eq 0 ] && [ -z "$(list_results "$output" | head -n 1)" ]; then
    failed=1
    tell "$name: ran no test"
  elif [ "$status" -ne 0 ] && [ "$status" -ne $all_skipped ]; then
    failed=1
    tell "$name: $(describe_status "$status"); last: $(grep -a -E '^\[ +RUN ' "$output" | tail -n 1)"
  fi
}

run_tests() {
  local log=$logs/tests.log program programs=("$bundle"/bin/*Test)
  : > "$log"
  begin_part tests
  tell "$(printf '\n%-26s %-9s %6s %6s %7s' test device passed failed skipped)"
  say "Tests"
  # It takes all of a device's memory, which the others would miss.
  [ ! -x "$bundle/bin/CudaBackendTest" ] || start_test "$bundle/bin/CudaBackendTest"
  wait
  for program in "${programs[@]}"; do
    [ "$(basename "$program")" = CudaBackendTest ] || start_test "$program"
  done
  wait
  for program in "${programs[@]}"; do report_test "$(basename "$program")"; done
  grep -a -E '^\[ +SKIPPED +\].*ms\)' -B 3 "$log" | grep -a -v '^\[\|^--\|: Skipped$' | sort | uniq -c | sort -rn | head -n 10 \
    > "$scratch/skipped"
  [ ! -s "$scratch/skipped" ] || tell "why skipped:" "$(cat "$scratch/skipped")"
  keep_small "$log"
}

find_sanitizer() {
  local candidate
  for candidate in "$(command -v compute-sanitizer)" /usr/local/cuda*/bin/compute-sanitizer \
                   /usr/local/cuda*/compute-sanitizer/compute-sanitizer; do
    if [ -x "$candidate" ]; then
      echo "$candidate"
      return
    fi
  done
}

# sanitize TOOL NAME FILTER: its output goes to $scratch/TOOL-NAME, its exit status to a file beside it.
sanitize() {
  local output=$scratch/$1-$2 options=(--tool "$1" --error-exitcode 99 --print-limit 20)
  [ "$1" = racecheck ] || options+=(--leak-check full)
  GPUREG_TEST_DEVICES=cuda:0 GPUREG_TEST_CASES=8 limited 400 "$sanitizer" "${options[@]}" \
    "$bundle/bin/$2" --gtest_color=no --gtest_filter="$3" > "$output" 2>&1
  echo $? > "$output.status"
}

# for_each_sanitized COMMAND…: with tool, program and filter.
for_each_sanitized() {
  local tool name filter
  while read -r name filter; do
    [ -x "$bundle/bin/$name" ] || continue
    # racecheck loses count of what several threads launch at once, and reports that as an error of its own. Millions of samples
    # take it longer than everything else; other tests launch the same kernels.
    "$@" racecheck "$name" "$filter:-*SeveralThreadsAtOnce*:*OfAWholeHeadsSize*:*ManySamples*"
    "$@" memcheck "$name" "$filter"
  done <<< "$sanitized_tests"
}

# Most of their time is the host's: twelve at once.
start_sanitizing() {
  while [ "$(jobs -rp | wc -l)" -ge 12 ]; do wait -n; done
  sanitize "$@" &
}

report_sanitized() {
  local tool=$1 name=$2 output=$scratch/$1-$2 status errors ran
  status=$(cat "$output.status") || status=1
  { say "$tool: $name $3"; cat "$output"; } >> "$log"
  ran=$(list_results "$output" | grep -c ' OK$')
  errors=$(sed -n -E 's/^=+ (ERROR|RACECHECK|LEAK) SUMMARY: /\1: /p' "$output" | paste -s -d ';')
  tell "$(printf '%-10s %-26s %12d  %s' "$tool" "$name" "$ran" "${errors:-none reported}$([ "$status" -eq 0 ] || echo ", $(describe_status "$status")")")"
  if [ "$status" -ne 0 ] || [ "$ran" -eq 0 ]; then
    failed=1
  fi
}

# A sanitizer slows a kernel down a hundredfold: each program with one device, few random cases.
run_sanitizer() {
  local log=$logs/sanitizer.log sanitizer
  : > "$log"
  begin_part sanitizer
  tell "$(printf '\n%-10s %-26s %12s  %s' sanitizer test 'tests passed' errors)"
  sanitizer=$(find_sanitizer)
  if [ -z "$sanitizer" ]; then
    tell "skipped: no compute-sanitizer on this machine"
    return
  fi
  if ! nvidia-smi -L > /dev/null 2>&1; then
    tell "skipped: no NVIDIA GPU on this machine"
    return
  fi
  say "Sanitizers"
  for_each_sanitized start_sanitizing
  wait
  for_each_sanitized report_sanitized
  keep_small "$log"
}

# Program and GoogleTest filter. Left out of CudaBackendTest is what forks, and what runs a device out of memory or
# into a trap on purpose: errors to the sanitizer. The longest come first.
sanitized_tests="\
ResampleMemoryTest *AGrid*/cuda_0:*Axes*/cuda_0:*ASlice*/cuda_0
ResampleEquivalenceTest *2D
EngineTest */cuda_0
CudaBackendTest *ACallersCurrentDevice*:*AThreadWithoutAContext*
FreeFormDeformationTest *Finds*2D/cuda_0:*Same*/cuda_0
FreeFormSimilarityTest *ValuesAre*/cuda_0:*WhatThereIs*/cuda_0
EngineObjectsTest */cuda_0
ControlPenaltyTest *AgreesWithItsDefinition*/cuda_0:*Unfolds/cuda_0
MattesEquivalenceTest *Random*:*Masks:*Samplings:*Interpolations:*Bins
MetricSplineTest *Random*:*Geometries
SplineForcesTest */cuda_0
NmiTest */cuda_0
PairEquivalenceTest *Random*:*Masks:*Samplings
MetricOverrideTest *Gives*/cuda_0:*Sees*/cuda_0
CandidatesTest */cuda_0
EachMetricTest *Threads/cuda_0:*NaN*/cuda_0
LoadedImageTest */cuda_0
LoadedImageMetricsTest */cuda_0
BorrowedImageTest */cuda_0
DisplacementsTest */cuda_0
CorrelationRatioSchemesTest */cuda_0:*.OfAWholeHeadsSize
CorrelationRatioBorderTest */cuda_0
MetricChainTest *Deriv*/cuda_0:*Changed*/cuda_0
NeighborhoodTest */cuda_0
JointHistogramTest */cuda_0
JointHistogramEquivalenceTest *Random*
NeighborhoodEquivalenceTest *Random*
PartialVolumeTest */cuda_0
CorrelationRatioTest *Is*/cuda_0:*By*/cuda_0:*In*/cuda_0:*Of?o*/cuda_0:*OfADisp*/cuda_0:*Repeats*/cuda_0
DeterminismTest */cuda_0
ContractTest */cuda_0
ContractChangesTest */cuda_0
ContractFallbackTest */cuda_0
BadInputTest */cuda_0
FixedSamplesTest *Gradient*/cuda_0:*Mattes*/cuda_0
FloatMetricTest */cuda_0
ResidentImagesTest */cuda_0
FilterOverrideTest *Sees*/cuda_0:*Without*/cuda_0:*Named*/cuda_0
ResamplePixelTypeTest */cuda_0
ResampleContractTest */cuda_0
ResampleFuzzTest */cuda_0
ResampleTransformTest */cuda_0
ResampleBadInputTest */cuda_0
VolumeFilterTest */cuda_0
VolumeFilterFuzzTest */cuda_0
VolumeFilterBadInputTest */cuda_0
VolumeFilterContractTest */cuda_0
RecursiveGaussianTest */cuda_0
PyramidTest */cuda_0
ShrinkTest */cuda_0
BSplineDecompositionTest */cuda_0"

# measure PROGRAM LIMIT LINES OPTION…: reports the part of its output that sed prints by LINES, and what failed.
measure() {
  local name=$1 limit=$2 lines=$3 status
  shift 3
  say "$name" | tee -a "$log"
  limited "$limit" "$bundle/bin/$name" "$@" > "$scratch/output" 2>&1
  status=$?
  cat "$scratch/output" >> "$log"
  describe_status $status
  tell "" "$name: $(describe_status $status)" "$(sed -n "$lines" "$scratch/output")" \
    "$(grep '^FAILED' "$scratch/output")"
  # Without the tables, what it said on the way: each row's time as called.
  [ $status -eq 0 ] || { failed=1; tell "$(tail -n 20 "$scratch/output")"; }
}

run_benchmarks() {
  local log=$logs/benchmark.log status images=() options=()
  : > "$log"
  begin_part benchmark
  if [ -n "$data" ]; then
    images=("$data/t2.mha" "$data/t1_rot10_tx15.mha" --truth "0,0,-10,-15,0,0")
  fi
  say "RegistrationBenchmark" | tee -a "$log"
  limited 90 "$bundle/bin/RegistrationBenchmark" "${images[@]}" --benchmark_out="$logs/registration.json" > "$scratch/output" 2>&1
  status=$?
  cat "$scratch/output" >> "$log"
  describe_status $status
  tell "" "RegistrationBenchmark: $(describe_status $status)" \
    "$(sed -n '/^Times in ms/,/^Medians of/{/^Medians of/!p}' "$scratch/output")"
  [ $status -eq 0 ] || { failed=1; tell "$(tail -n 3 "$scratch/output")"; }

  say "MattesBenchmark" | tee -a "$log"
  limited 300 "$bundle/bin/MattesBenchmark" --benchmark_out="$logs/mattes.json" > "$scratch/output" 2>&1
  status=$?
  cat "$scratch/output" >> "$log"
  describe_status $status
  # Prints the rows for which the project has aims; the whole table is in the log.
  tell "" "MattesBenchmark: $(describe_status $status)" \
    "$(sed -n '/^Times in ms/,/^$/p' "$scratch/output" | grep -E '^(row |Mattes/(full|stripped)/)')" \
    "" "$(sed -n '/^Skull-stripped heads/,$p' "$scratch/output")" \
    "$(grep '^FAILED' "$scratch/output")"
  # Without the tables, what it said on the way: each row's time as called.
  [ $status -eq 0 ] || { failed=1; tell "$(tail -n 20 "$scratch/output")"; }
  measure PairBenchmark 60 '/^Times in ms/,/^$/p' --benchmark_out="$logs/pairs.json"
  measure CandidateBenchmark 40 '/^Times in ms/,/^$/p'
  measure InitializeBenchmark 90 '/^Times in ms/,/^$/p'
  if [ -n "$data" ]; then
    measure FreeFormBenchmark 60 '/^| /p' "$data/t2.mha" "$data/t2.mha"
  fi
  measure NeighborhoodBenchmark 60 '/^Times in ms/,/^$/p' --benchmark_filter=-ITK
  measure ResampleBenchmark 200 '/^Times in ms/,/^$/p' --benchmark_filter=/256/ --benchmark_out="$logs/resample.json"
  measure ResidencyBenchmark 60 '/^hash\|^resample\|^evaluate/p'
  measure VolumeFilterBenchmark 100 '/^Times in ms/,/^$/p' --benchmark_out="$logs/filter.json"
  measure Modat2010Tables 300 '/^Table 1/,/^Every figure/{/^Every figure/!p}'
  measure Shamonin2014Derivative 400 '/^Value and derivative/,/^Every figure/{/^Every figure/!p}'
  measure Sun2010Tables 60 '1,/^$/p'
  measure Li2015Tables 200 '/^Table 1/,/^Two noisy heads/{/^Two noisy heads/!p}'
  # All sizes take four minutes, those up to 256³ half a minute.
  [ $((part_end - SECONDS)) -ge 300 ] || options=(--sizes 100,128,192,256)
  # Beside the other parts these would be more than eight files.
  [ ${#parts[@]} -gt 1 ] || options+=(--figure "$logs/figure6.svg" --benchmark_out="$logs/tables.json")
  measure Shamonin2014Tables 400 '/^Table 2/,/^ITK and all devices/{/^ITK and all devices/!p}' "${options[@]}"
  keep_small "$log"
}

say "Machine"
{
  uname -srm
  grep -m 1 'model name' /proc/cpuinfo
  echo "$(nproc) processors"
  nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total,clocks.sm,clocks.max.sm,power.limit \
    --format=csv,noheader 2> /dev/null || echo "no NVIDIA GPU (nvidia-smi does not answer)"
} | tee -a "$summary"
find_opencl "$scratch" > "$scratch/opencl"
tee -a "$summary" < "$scratch/opencl"
for part in "${parts[@]}"; do
  case $part in
    tests) run_tests ;;
    sanitizer) run_sanitizer ;;
    benchmark) run_benchmarks ;;
  esac
done
tell "" "$([ $failed -eq 0 ] && echo 'all passed' || echo 'SOMETHING FAILED'), $SECONDS s"
say "Summary"
cat "$summary"
exit $failed
