#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs ITK's own tests, unmodified, without and with the plugin, and prints how each ends and which of this module's
# classes were made during it. Fails where a result differs.
#   tools/itk-suite.sh DRIVER_BUILD_DIR PLUGIN_DIR [CTEST_ARGUMENT…]
# In DRIVER_BUILD_DIR ctest finds ITK's tests, built against ITK's shared libraries; PLUGIN_DIR is the plugin's folder
# in this project's build, beside which the build with tests leaves FactoryTrace.
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

# run NUMBER: one test's result, as ctest words it. What the test prints is in $scratch/output.
run() {
  ctest --test-dir "$drivers" -I "$1,$1" -V > "$scratch/output" 2>&1 || true
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
elsewhere=0
printf '| test | without | with | our classes made | left to ITK |\n|---|---|---|---|---|\n'
while read -r number name; do
  without=$(run "$number")
  : > "$scratch/trace"
  with=$(ITK_AUTOLOAD_PATH=$tracer:$plugin GPUREG_FACTORY_TRACE=$scratch/trace run "$number")
  made=$(list "$scratch/trace" '^itk::GPUStandIn<.*itk::(GPU[A-Za-z]+)<.*')
  # The warning of a filter whose work the device cannot do.
  left=$(list "$scratch/output" '.* Computed by itk::([A-Za-z]+) on the host\..*')
  if [ "$without$with" = FailedFailed ] && [ -z "$made" ]; then
    elsewhere=$((elsewhere + 1))
    continue
  fi
  tests=$((tests + 1))
  [ "$without" != Passed ] || [ "$with" != Passed ] || both=$((both + 1))
  [ -z "$made" ] || ours=$((ours + 1))
  [ "$without" = "$with" ] || different=$((different + 1))
  printf '| %s | %s | %s | %s | %s |\n' "$name" "$without" "$with" "$made" "$left"
done < <(ctest --test-dir "$drivers" -N "$@" | sed -nE 's/^ *Test +#([0-9]+): ([^ ]+).*/\1 \2/p')

printf '\n%d tests: %d pass without the plugin and with it, in %d of them our classes were made, %d differ.\n' \
  "$tests" "$both" "$ours" "$different"
[ "$elsewhere" -eq 0 ] || printf '%d more fail either way, without our classes: not built here, or without their data.\n' "$elsewhere"
[ "$tests" -gt 0 ] || fail "there is no test to run"
[ "$different" -eq 0 ] || fail "a result differs"
