#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Collects a build's tests, benchmarks and examples, with the shared libraries that they need, into a folder that
# runs on another x86-64 Linux: one with a GPU, without ITK, whose glibc is not older than this machine's.
#   tools/portable-bundle.sh BUILD_DIR OUT_DIR
# makes OUT_DIR and, packed, OUT_DIR.tar.xz, which must stay below 58 MB. On the other machine:
#   tar -xJf OUT_DIR.tar.xz && OUT_DIR/run-gpu-suite.sh OUT_DIR LOG_DIR       everything
#   OUT_DIR/run-fuzz.sh OUT_DIR LOG_DIR --seconds 28800                       random cases, through the night
#   OUT_DIR/run MattesBenchmark --benchmark_filter=/full/                     one program
set -Eeuo pipefail
shopt -s nullglob
trap 'echo "$0: failed: $BASH_COMMAND" >&2' ERR

fail() { echo "$0: $*" >&2; exit 1; }

[ $# -eq 2 ] || fail "usage: $0 BUILD_DIR OUT_DIR"
build=$1
out=${2%/}
tools=$(cd "$(dirname "$0")" && pwd)
. "$tools/bundle-libraries.sh"

[ -d "$build/bin" ] || fail "there is no $build/bin: build first"
build=$(cd "$build" && pwd)
if [ -e "$out" ] && [ ! -e "$out/run-gpu-suite.sh" ]; then
  rmdir "$out" 2> /dev/null || fail "$out is there already and is no bundle: name another folder"
fi
rm -rf "$out" "$out.tar.xz"
mkdir -p "$out/bin" "$out/lib"

is_elf() { [ "$(head -c 4 "$1")" = $'\x7fELF' ]; }

for program in "$build"/bin/*; do
  if [ -f "$program" ] && [ -x "$program" ] && is_elf "$program"; then
    cp "$program" "$out/bin/"
  fi
done
programs=("$out"/bin/*)
[ ${#programs[@]} -gt 0 ] || fail "there is no program in $build/bin: build the tests (BUILD_TESTING) and the benchmarks (BUILD_BENCHMARKS)"
copy_libraries "$build/lib" "$out/lib" "${programs[@]}"

copy_opencl_loader "$out/lib"
# Names of what is linked already are a quarter of it.
strip --strip-unneeded "$out"/bin/* "$out"/lib/*

cp "$tools/run-gpu-suite.sh" "$tools/run-fuzz.sh" "$tools/find-opencl.sh" "$out/"
cat > "$out/run" << 'EOF'
#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run PROGRAM [ARGUMENTS]: one of the programs in bin, with the libraries in lib.
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
exec "$here/bin/$1" "${@:2}"
EOF
chmod +x "$out/run" "$out/run-gpu-suite.sh" "$out/run-fuzz.sh"

libraries=("$out"/lib/*)
printf '%s: %d programs, %d libraries, ' "$out" "${#programs[@]}" "${#libraries[@]}"
pack "$out" 58000000
