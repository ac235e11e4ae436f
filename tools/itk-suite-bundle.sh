#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Collects those of ITK's tests in which this module's classes were made, with their data, ITK's shared libraries and
# the plugin, into a folder that runs on another x86-64 Linux: one with a GPU and ctest, without ITK, whose glibc is
# not older than this machine's.
#   tools/itk-suite-bundle.sh DRIVER_BUILD_DIR PLUGIN_DIR TABLE OUT_DIR
# TABLE is what tools/itk-suite.sh printed for the same two folders. Makes OUT_DIR and, packed, OUT_DIR.tar.xz, which
# must stay below 50 MB. On the other machine:
#   tar -xJf OUT_DIR.tar.xz && ITK_GPU_DEVICE=cuda:0 OUT_DIR/itk-suite.sh OUT_DIR OUT_DIR/GPURegistration-plugin
set -Eeuo pipefail
trap 'echo "$0: failed: $BASH_COMMAND" >&2' ERR

fail() { echo "$0: $*" >&2; exit 1; }

[ $# -eq 4 ] || fail "usage: $0 DRIVER_BUILD_DIR PLUGIN_DIR TABLE OUT_DIR"
[ -e "$1/CTestTestfile.cmake" ] || fail "there are no tests in $1"
[ -e "$2/GPURegistrationPlugin.so" ] || fail "there is no GPURegistrationPlugin.so in $2"
drivers=$(cd "$1" && pwd)
plugin=$(cd "$2" && pwd)
table=$3
out=${4%/}
tools=$(cd "$(dirname "$0")" && pwd)
. "$tools/bundle-libraries.sh"

if [ -e "$out" ] && [ ! -e "$out/itk-suite.sh" ]; then
  rmdir "$out" 2> /dev/null || fail "$out is there already and is no bundle: name another folder"
fi
rm -rf "$out" "$out.tar.xz"
mkdir -p "$out/lib" "$out/out" "$out/tests"
out=$(cd "$out" && pwd)

# CMake's commands for the tests of the table, each on a line of its own, without the places in ITK's sources. ctest
# tells a file of commands its folder only if another names it.
commands=$out/tests/CTestTestfile.cmake
here='${CMAKE_CURRENT_LIST_DIR}/..'
echo 'subdirs(tests)' > "$out/CTestTestfile.cmake"
listed=$(mktemp)
trap 'rm -f "$listed"' EXIT
awk -F ' *[|] *' '$5 ~ /(GPU|Cuda)/ { print "([=[" $2 "]=]" }' "$table" > "$listed"
grep -rhF -f "$listed" --include=CTestTestfile.cmake --include='*_tests.cmake' "$drivers" |
  sed -E 's/ _BACKTRACE_TRIPLES "[^"]*"//' > "$commands" || fail "$table names no test of $drivers"
[ "$(grep -c '^add_test' "$commands")" -eq "$(wc -l < "$listed")" ] || fail "some of $table are not in $drivers, or twice"

# named PATTERN: the paths below the drivers' folder that these commands name and that begin with PATTERN.
named() {
  grep -oE "$drivers/$1[^]\" ()]*" "$commands" | cut -c $((${#drivers} + 2))- | sort -u
}
programs=()
while read -r file; do
  mkdir -p "$out/$(dirname "$file")"
  cp "$drivers/$file" "$out/$file"
  programs+=("$out/$file")
done < <(named '[^/]+/[^/]+Driver')
# An image can be of several files, a baseline have alternatives: all are named identically but for the end.
while read -r file; do
  mkdir -p "$out/$(dirname "$file")"
  cp -rL "$drivers/${file%.*}"* "$out/$(dirname "$file")"
done < <(named ExternalData/)
sed -i "s|$drivers|$here|g" "$commands"
! grep -E '[" =]/' "$commands" || fail "these tests name other files"
sed "s|.*|set_tests_properties& PROPERTIES ENVIRONMENT \"LD_LIBRARY_PATH=$here/lib:\$ENV{LD_LIBRARY_PATH}\")|" \
  "$listed" >> "$commands"

cp -r "$plugin" "$(dirname "$plugin")/FactoryTrace" "$out/"
cp "$tools/itk-suite.sh" "$out/"
programs+=("$out"/GPURegistration-plugin/*.so "$out"/FactoryTrace/*.so)
copy_libraries "$(dirname "$plugin")" "$out/lib" "${programs[@]}"
copy_opencl_loader "$out/lib"
strip "${programs[@]}"

printf '%s: %d tests, ' "$out" "$(wc -l < "$listed")"
pack "$out" 50000000
