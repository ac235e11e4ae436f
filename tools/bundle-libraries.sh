# SPDX-License-Identifier: Apache-2.0
# For the scripts that pack programs for another x86-64 Linux, to be sourced: which shared libraries travel with them.

# glibc belongs to the kernel and the loader of the machine that runs: its own is used there.
is_glibc() {
  case $1 in
    linux-vdso.so.* | ld-linux* | libc.so.* | libm.so.* | libmvec.so.* | libdl.so.* | libpthread.so.* | librt.so.* | \
      libresolv.so.* | libutil.so.* | libanl.so.* | libnsl.so.* | libnss_*.so.*) return 0 ;;
  esac
  return 1
}

# copy_libraries BUILD_LIBRARIES FOLDER FILE…: to FOLDER what the loader would load for these files, where the build's
# own libraries are in BUILD_LIBRARIES.
copy_libraries() {
  local build_libraries=$1 folder=$2 file name path listing
  shift 2
  for file; do
    listing=$(LD_LIBRARY_PATH=$build_libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ldd "$file")
    while read -r name _ path _; do
      is_glibc "$(basename "$name")" && continue
      [ "$path" != not ] || fail "$(basename "$file") needs $name, which is not found"
      [ -e "$folder/$name" ] || cp -L "$path" "$folder/$name"
    done <<< "$listing"
  done
}

# copy_opencl_loader FOLDER: it is opened at run time, so no program names it; a GPU's driver brings none.
copy_opencl_loader() {
  local loader
  loader=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk '$1 == "libOpenCL.so.1" && /x86-64/ && !path { path = $NF } END { print path }')
  if [ -n "$loader" ]; then
    cp -L "$loader" "$1/libOpenCL.so.1"
    copy_libraries "" "$1" "$loader"
  else
    echo "no OpenCL loader (libOpenCL.so.1) here: the bundle finds OpenCL devices only where one is installed"
  fi
}

# pack FOLDER LIMIT: FOLDER.tar.xz, of at most LIMIT bytes; says its size in MB.
pack() {
  local packed size
  # Programs have much in common: a dictionary that holds many of them finds it.
  tar -C "$(dirname "$1")" --sort=name -cf - "$(basename "$1")" | xz -T0 --lzma2=preset=2,dict=64MiB > "$1.tar.xz"
  # An archive that lacks anything is small, too.
  packed=$(tar -tJf "$1.tar.xz" | wc -l)
  [ "$packed" -eq "$(find "$1" | wc -l)" ] || fail "$1.tar.xz is incomplete: it holds $packed entries"
  size=$(stat -c %s "$1.tar.xz")
  printf '%s unpacked, %d.%d MB packed in %s.tar.xz\n' "$(du -sh "$1" | cut -f 1)" $((size / 1000000)) \
    $((size / 100000 % 10)) "$1"
  [ "$size" -le "$2" ] || fail "the packed bundle is larger than $(($2 / 1000000)) MB"
}
