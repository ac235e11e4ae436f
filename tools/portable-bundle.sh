#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Collects a build's tests, benchmarks and examples, with the shared libraries that they need, into a folder that
# runs on another x86-64 Linux: one with a GPU, without ITK, whose glibc is not older than this machine's.
#   tools/portable-bundle.sh BUILD_DIR OUT_DIR
# makes OUT_DIR and, packed, OUT_DIR.tar.xz, which must stay below 50 MB. On the other machine:
#   tar -xJf OUT_DIR.tar.xz && OUT_DIR/run-gpu-suite.sh OUT_DIR LOG_DIR       everything
#   OUT_DIR/run MattesBenchmark --benchmark_filter=/full/                     one program
set -Eeuo pipefail
shopt -s nullglob
trap 'echo "$0: failed: $BASH_COMMAND" >&2' ERR

fail() { echo "$0: $*" >&2; exit 1; }

[ $# -eq 2 ] || fail "usage: $0 BUILD_DIR OUT_DIR"
build=$1
out=${2%/}
tools=$(cd "$(dirname "$0")" && pwd)
limit=50000000

[ -d "$build/bin" ] || fail "there is no $build/bin: build first"
build=$(cd "$build" && pwd)
if [ -e "$out" ] && [ ! -e "$out/run-gpu-suite.sh" ]; then
  rmdir "$out" 2> /dev/null || fail "$out is there already and is no bundle: name another folder"
fi
rm -rf "$out" "$out.tar.xz"
mkdir -p "$out/bin" "$out/lib"

is_elf() { [ "$(head -c 4 "$1")" = $'\x7fELF' ]; }

# glibc belongs to the kernel and the loader of the machine that runs: its own is used there.
is_glibc() {
  case $1 in
    linux-vdso.so.* | ld-linux* | libc.so.* | libm.so.* | libmvec.so.* | libdl.so.* | libpthread.so.* | librt.so.* | \
      libresolv.so.* | libutil.so.* | libanl.so.* | libnsl.so.* | libnss_*.so.*) return 0 ;;
  esac
  return 1
}

# copy_libraries FILE…: what the loader would load for them, this build's own library among it.
copy_libraries() {
  local file name path listing
  for file; do
    listing=$(LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ldd "$file")
    while read -r name _ path _; do
      is_glibc "$(basename "$name")" && continue
      [ "$path" != not ] || fail "$(basename "$file") needs $name, which is not found"
      [ -e "$out/lib/$name" ] || cp -L "$path" "$out/lib/$name"
    done <<< "$listing"
  done
}

for program in "$build"/bin/*; do
  if [ -f "$program" ] && [ -x "$program" ] && is_elf "$program"; then
    cp "$program" "$out/bin/"
  fi
done
programs=("$out"/bin/*)
[ ${#programs[@]} -gt 0 ] || fail "there is no program in $build/bin: build the tests (BUILD_TESTING) and the benchmarks (BUILD_BENCHMARKS)"
copy_libraries "${programs[@]}"

# The OpenCL loader is opened at run time, so no program names it; the GPU's driver brings none.
opencl=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk '$1 == "libOpenCL.so.1" && /x86-64/ && !path { path = $NF } END { print path }')
if [ -n "$opencl" ]; then
  cp -L "$opencl" "$out/lib/libOpenCL.so.1"
  copy_libraries "$out/lib/libOpenCL.so.1"
else
  echo "no OpenCL loader (libOpenCL.so.1) here: the bundle finds OpenCL devices only where one is installed"
fi

cp "$tools/run-gpu-suite.sh" "$out/"
cat > "$out/run" << 'EOF'
#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run PROGRAM [ARGUMENTS]: one of the programs in bin, with the libraries in lib.
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
exec "$here/bin/$1" "${@:2}"
EOF
chmod +x "$out/run" "$out/run-gpu-suite.sh"

tar -C "$(dirname "$out")" --sort=name -cf - "$(basename "$out")" | xz -T0 > "$out.tar.xz"
# An archive that lacks anything is small, too.
packed=$(tar -tJf "$out.tar.xz" | wc -l)
[ "$packed" -eq "$(find "$out" | wc -l)" ] || fail "$out.tar.xz is incomplete: it holds $packed entries"
size=$(stat -c %s "$out.tar.xz")
libraries=("$out"/lib/*)
printf '%s: %d programs, %d libraries, %s unpacked, %d.%d MB packed in %s.tar.xz\n' "$out" "${#programs[@]}" \
  "${#libraries[@]}" "$(du -sh "$out" | cut -f 1)" $((size / 1000000)) $((size / 100000 % 10)) "$out"
[ "$size" -le "$limit" ] || fail "the packed bundle is larger than 50 MB"
