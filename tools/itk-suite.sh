#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs ITK's own tests, unmodified, without and with the plugin, and prints those during which this module's classes
# were made: how each ends, and which classes these were. Fails where a result differs. Last come the files that these
# tests wrote in DRIVER_BUILD_DIR/out, and which of them are not the same, byte for byte.
#   tools/itk-suite.sh DRIVER_BUILD_DIR PLUGIN_DIR [CTEST_ARGUMENT…]
# In DRIVER_BUILD_DIR ctest finds ITK's tests, built against ITK's shared libraries; PLUGIN_DIR is the plugin's folder
# in this project's build, beside which the build with tests leaves FactoryTrace. The environment variable
# ITK_SUITE_FILES names a folder for copies of these files, in without/TEST and with/TEST; ITK_SUITE_SECONDS is how long
# a test may take, 180 by default.
#   tools/itk-suite.sh ../itk-tests build/lib/GPURegistration-plugin -R 'Resample|Shrink'
set -Eeuo pipefail
trap 'echo "$0: failed: $BASH_COMMAND" >&2' ERR

fail() { echo "$0: $*" >&2; exit 1; }

[ $# -ge 2 ] || fail "usage: $0 DRIVER_BUILD_DIR PLUGIN_DIR [CTEST_ARGUMENT…]"
drivers=$1
plugin=$2
shift 2
[ -e "$drivers/CTestTestfile.cmake" ] || fail "there are no tests in $drivers"
[ -e "$plugin/GPURegistrationPlugin.so" ] || fail "there is no GPURegistrationPlugin.so in $plugin"
plugin=$(cd "$plugin" && pwd)
tracer=$(dirname "$plugin")/FactoryTrace
[ -e "$tracer/FactoryTrace.so" ] || fail "there is no $tracer/FactoryTrace.so: build the tests"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
files=${ITK_SUITE_FILES:-$scratch/files}
longest=${ITK_SUITE_SECONDS:-180}

# run NUMBER FOLDER: one test's result, as ctest words it. The test's output is in $scratch/output; its files
# go to FOLDER, too.
run() {
  mkdir -p "$2"
  touch "$scratch/before"
  ctest --test-dir "$drivers" --timeout "$longest" -I "$1,$1" -V > "$scratch/output" 2>&1 || true
  [ ! -d "$drivers/out" ] || find "$drivers/out" -type f -newer "$scratch/before" -exec cp -t "$2" {} +
  sed -nE "s/^.* Test +#$1: .*(Passed|Failed|Skipped|Timeout|Not Run|Exception: [A-Za-z]+).*/\1/p" "$scratch/output"
}

# The lines of the file $1 that match $2 (its group), each once, with commas between them.
list() {
  sed -nE "s/$2/\1/p" "$1" | sort -u | paste -sd , | sed 's/,/, /g'
}

tests=0
both=0
ours=0
different=0
written=0
elsewhere=()
changed=()
printf '| test | without | with | our classes made | left to ITK |\n|---|---|---|---|---|\n'
while read -r number name; do
  without=$(run "$number" "$files/without/$name")
  : > "$scratch/trace"
  with=$(ITK_AUTOLOAD_PATH=$tracer:$plugin GPUREG_FACTORY_TRACE=$scratch/trace run "$number" "$files/with/$name")
  made=$(list "$scratch/trace" '^itk::GPUOverride<.*itk::((GPU|Cuda)[A-Za-z0-9]+)<.*')
  # The warnings of a filter, and of a metric, whose work the device cannot do.
  sed -E "s/.* (Computed by itk::[A-Za-z0-9]+ on the host)\..*/\1/; s/.*WARNING: ([A-Za-z0-9]+) \(0x[0-9a-f]+\): .*the host computes it through ITK's own classes.*/Computed by itk::\1 on the host/" "$scratch/output" > "$scratch/warnings"
  left=$(list "$scratch/warnings" '^Computed by itk::([A-Za-z0-9]+) on the host$')
  if [ "$without" != Passed ] && [ "$without" = "$with" ] && [ -z "$made" ]; then
    elsewhere+=("$name ($with)")
    continue
  fi
  tests=$((tests + 1))
  [ "$without" != Passed ] || [ "$with" != Passed ] || both=$((both + 1))
  [ "$without" = "$with" ] || different=$((different + 1))
  if [ -z "$made" ] && [ "$without" = "$with" ]; then
    rm -r "$files/without/$name" "$files/with/$name"
    continue
  fi
  [ -z "$made" ] || ours=$((ours + 1))
  for file in "$files/with/$name"/*; do
    [ -e "$file" ] || continue
    written=$((written + 1))
    cmp -s "$file" "$files/without/$name/${file##*/}" || changed+=("$name: ${file##*/}")
  done
  printf '| %s | %s | %s | %s | %s |\n' "$name" "$without" "$with" "$made" "$left"
done < <(ctest --test-dir "$drivers" -N "$@" | sed -nE 's/^ *Test +#([0-9]+): ([^ ]+).*/\1 \2/p')

printf '\n%d tests: %d pass without the plugin and with it, in %d of them our classes were made, %d differ.\n' \
  "$tests" "$both" "$ours" "$different"
if [ ${#elsewhere[@]} -gt 0 ]; then
  printf '%d more do not pass either way, without our classes: not built here, without their data, or too long.\n' "${#elsewhere[@]}"
  printf '  %s\n' "${elsewhere[@]}"
fi
printf 'With our classes %d files were written, of which %d are not the same bytes.\n' "$written" "${#changed[@]}"
[ ${#changed[@]} -eq 0 ] || printf '  %s\n' "${changed[@]}"
[ "$tests" -gt 0 ] || fail "there is no test to run"
[ "$different" -eq 0 ] || fail "a result differs"
