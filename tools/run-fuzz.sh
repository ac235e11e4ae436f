#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that draw their cases at random, in runs of new seeds, from a build or a bundle of
# tools/portable-bundle.sh.
#   run-fuzz.sh DIR LOG_DIR [--program NAME]… [--device NAME]… [--cases N | --seconds N] [--processes N] [--threads N]
#                       [--run N]
# Without a name: all seven programs; every device of the machine (host, cuda:0, opencl:0, …). Each program runs
# --cases on each device, 300 by default; or all of them in turns, until --seconds are over: then what runs is finished, and
# nothing more begun, as after Ctrl-C. The programs of metrics run their devices together, for most of a case's time is ITK's.
# --processes runs are made at once (1), each of --run cases (300), of which --threads are made at once (1; the
# resampler's, which bound the device's memory, are not). On a GPU threads are better than processes, which it serves in
# turns: 16 of them take 90 ms for a case of the resampler, which one makes in 4.
# Each run prints its seed; LOG_DIR keeps the logs of runs that fail; a table comes last. To repeat one failing case:
#   GPUREG_TEST_DEVICES=(its device) GPUREG_TEST_SEED=(its seed) GPUREG_TEST_CASES=1 \
#     DIR/bin/PROGRAM --gtest_filter='*RandomSetUps*'
# (in a bundle, DIR/run PROGRAM). Exits with 1 if anything failed or no case ran.
set -uo pipefail
. "$(dirname "$0")/find-opencl.sh"

fail() { echo "$0: $*" >&2; exit 1; }

usage="usage: $0 DIR LOG_DIR [--program NAME]... [--device NAME]... [--cases N | --seconds N] [--processes N] [--threads N] [--run N]"
[ $# -ge 2 ] || fail "$usage"
programs_folder=$(cd "$1/bin" 2> /dev/null && pwd) || fail "there is no folder $1/bin"
libraries=$(cd "$1/lib" && pwd) || fail "there is no folder $1/lib"
mkdir -p "$2" || fail "$2 cannot be made"
logs=$(cd "$2" && pwd)
shift 2
programs=()
devices=()
cases=300
total_seconds=
processes=1
case_threads=1
cases_of_run=300
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || fail "$usage"
  case $1 in
    --program | --device) ;;
    *) [[ $2 =~ ^[1-9][0-9]*$ ]] || fail "$1 needs a number: $usage" ;;
  esac
  case $1 in
    --program) programs+=("$2") ;;
    --device) devices+=("$2") ;;
    --cases) cases=$2 ;;
    --seconds) total_seconds=$2 ;;
    --processes) processes=$2 ;;
    --threads) case_threads=$2 ;;
    --run) cases_of_run=$2 ;;
    *) fail "$usage" ;;
  esac
  shift 2
done
[ ${#programs[@]} -gt 0 ] || programs=(ResampleFuzzTest VolumeFilterFuzzTest MattesEquivalenceTest PairEquivalenceTest
                                    JointHistogramEquivalenceTest NeighborhoodEquivalenceTest MetricSplineTest)

export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export GPUREG_TEST_THREADS=$case_threads
# Cases side by side share the processors: with all of them for each, a case takes a third longer.
threads=$(($(nproc) / processes / case_threads))
export ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS=${ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS:-$((threads > 0 ? threads : 1))}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
find_opencl "$scratch"
results=$scratch/results
: > "$results"
longest_run=3600 # seconds: what takes longer hangs

# list_random_cases PROGRAM: as GoogleTest lists them.
list_random_cases() {
  [ -x "$programs_folder/$1" ] || fail "there is no $programs_folder/$1"
  "$programs_folder/$1" --gtest_list_tests --gtest_filter='*RandomSetUps*'
}

# list_turns: program and device, one a line, as asked for. A metric's program lists no devices: it asks ITK once for all of them,
# and gets them in one argument, with commas. The resampler's program lists them.
list_turns() {
  local program device listed there asked
  listed=$(list_random_cases ResampleFuzzTest) || exit 1
  there=$(sed -n 's/.*GetParam() = "\(.*\)".*/\1/p' <<< "$listed")
  [ -n "$there" ] || fail "ResampleFuzzTest lists no devices"
  if [ ${#devices[@]} -eq 0 ]; then
    mapfile -t asked <<< "$there"
  else
    asked=("${devices[@]}")
  fi
  for device in "${asked[@]}"; do
    grep -qxF -- "$device" <<< "$there" || fail "there is no device $device, but ${there//$'\n'/ }"
  done
  for program in "${programs[@]}"; do
    listed=$(list_random_cases "$program") || exit 1
    [[ $listed == *RandomSetUps* ]] || fail "$program has no random cases"
    if [[ $listed == *GetParam* ]]; then
      for device in "${asked[@]}"; do echo "$program $device"; done
    else
      (IFS=, && echo "$program ${asked[*]}")
    fi
  done
}

# run_cases PROGRAM DEVICE COUNT: one run. Its result goes to $results: program, device, cases, cases that failed,
# milliseconds, and what to repeat: seeds of cases, or SEED+COUNT where that is not known.
run_cases() {
  local program=$1 device=$2 count=$3 seed name output begin status line ran=0 failures=0 seeds=
  seed=$(od -An -N6 -tu8 /dev/urandom | tr -d ' ')
  name=$program-${device//[:,]/_}-$seed
  output=$scratch/$name
  begin=$(date +%s%N)
  GPUREG_TEST_DEVICES=$device GPUREG_TEST_SEED=$seed GPUREG_TEST_CASES=$count timeout --kill-after=10 "$longest_run" \
    "$programs_folder/$program" --gtest_color=no --gtest_filter='*RandomSetUps*' > "$output" 2>&1
  status=$?
  line=$(grep -a -E '^ran [0-9]+ cases, [0-9]+ failed:' "$output" | tail -n 1)
  if [ -n "$line" ]; then
    read -r _ ran _ failures _ seeds <<< "$line"
  fi
  # A crash, a run that hangs, or what is wrong with all cases together.
  if [ -z "$line" ] || { [ $status -ne 0 ] && [ "$failures" -eq 0 ]; }; then
    failures=$((failures + 1))
    seeds="$seeds $seed+$count"
  fi
  echo "$program $device $ran $failures $((($(date +%s%N) - begin) / 1000000)) $seeds" >> "$results"
  printf '%s %s: GPUREG_TEST_SEED=%s GPUREG_TEST_CASES=%s: %s\n' "$program" "$device" "$seed" "$count" \
    "$([ "$failures" -eq 0 ] && echo passed || echo "FAILED (exit $status), see $logs/$name.log")"
  if [ "$failures" -gt 0 ]; then
    # The first lines say what failed; the rest may be gigabytes.
    head -c $((1 << 20)) "$output" > "$logs/$name.log"
  fi
  rm -f "$output"
}

stopped=
trap 'stopped=yes; echo "no more runs are begun"' INT TERM
turns=$(list_turns) || exit 1
begun=0
end=$((SECONDS + ${total_seconds:-0}))
while [ -z "$stopped" ]; do
  if [ -n "$total_seconds" ]; then
    [ "$SECONDS" -lt "$end" ] || break
    count=$cases_of_run
  else
    [ "$begun" -lt "$cases" ] || break
    count=$((cases - begun < cases_of_run ? cases - begun : cases_of_run))
  fi
  while read -r program device; do
    while [ "$(jobs -rp | wc -l)" -ge "$processes" ]; do wait -n; done
    if [ -n "$stopped" ] || { [ -n "$total_seconds" ] && [ "$SECONDS" -ge "$end" ]; }; then
      break
    fi
    run_cases "$program" "$device" "$count" < /dev/null &
  done <<< "$turns"
  begun=$((begun + count))
done
while [ -n "$(jobs -rp)" ]; do wait; done

# Seeds of failures: ten at most for each row, all are in the logs.
awk '
  {
    key = sprintf("%-29s %-21s", $1, $2)
    cases[key] += $3; failures[key] += $4; time[key] += $5
    for (i = 6; i <= NF; ++i) if (++n[key] <= 10) seeds[key] = seeds[key] " " $i; else if (n[key] == 11) seeds[key] = seeds[key] " …"
  }
  END { for (key in cases) printf "%s %9d %8d %8.1f %s\n", key, cases[key], failures[key], cases[key] ? time[key] / cases[key] : 0, seeds[key] }
' "$results" | sort > "$scratch/table"
printf '\n%-29s %-21s %9s %8s %8s  %s\n' program device cases failures ms/case 'seeds of failures'
cat "$scratch/table"
awk '{ cases += $3; failures += $4 } END { exit !(cases > 0 && failures == 0) }' "$results"
