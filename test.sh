#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing (Debian 12, as root or with sudo), builds, and runs every test.
#   ./test.sh               every test, then the other ITKs and Python where ../shared has them
#   ./test.sh --sanitize    the tests of the host, built with AddressSanitizer and UndefinedBehaviorSanitizer
cd "$(dirname "$0")"
. tools/setup.sh
shared=../shared

# One program, with the library, built without a warning against the ITK in $2 and run. $1 names it.
register_with_itk() {
  say "ITK $1: without warnings"
  configure -G Ninja -S . -B "build/versions/$1" -DITK_DIR="$2" -DCMAKE_BUILD_TYPE=Release -DBUILD_EXAMPLES=OFF \
            -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
  build "build/versions/$1" RegisterTwoImages
  LD_LIBRARY_PATH=${2%/cmake/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "build/versions/$1/bin/RegisterTwoImages"
}

test_other_itk_versions() {
  local archive folder
  for archive in "$shared"/itk-versions/*.tar.xz; do
    if [ ! -e "$archive" ]; then
      echo "skipped: other versions of ITK, for there is no $archive"
      return
    fi
    folder=$PWD/build/versions/$(basename "$archive" .tar.xz)-installed
    if [ ! -e "$folder/.complete" ]; then
      mkdir -p "$folder"
      tar -C "$folder" --strip-components=1 -xJf "$archive"
      touch "$folder/.complete"
    fi
    register_with_itk "$(basename "$archive" .tar.xz)" "$(echo "$folder"/lib/cmake/ITK-*)"
  done
}

# As an ITK external module: against an ITK build tree, with Python wrapping.
test_external_module() {
  local archive tree script
  archive=$(echo "$shared"/itk-python/*.tar.xz)
  if [ ! -e "$archive" ]; then
    echo "skipped: external module and Python wrapping, for there is no $archive"
    return
  fi
  say "ITK build tree: external module, Python"
  install_packages castxml swig python3-dev python3-numpy ocl-icd-opencl-dev
  # A build tree can only stand where it was built: the archive says where.
  mkdir -p build/python
  [ -e build/python/tree ] ||
    tar -tJf "$archive" | awk '/\/CMakeCache.txt$/ && (!n || length < n) { n = length; t = $0 }
                               END { sub("/CMakeCache.txt$", "", t); print "/" t }' > build/python/tree
  tree=$(cat build/python/tree)
  [ -e "$tree/CMakeCache.txt" ] || tar -C / -xJf "$archive"
  configure -G Ninja -S . -B build/python -DITK_DIR="$tree" -DCMAKE_BUILD_TYPE=Release \
            -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$PWD/build/python/bin" -DPython3_EXECUTABLE=/usr/bin/python3 \
            -DITK_USE_SYSTEM_CASTXML=ON -DITK_USE_SYSTEM_SWIG=ON -DITK_USE_KWSTYLE=OFF -DITK_USE_CLANG_FORMAT=OFF
  build build/python GPURegistrationPython GPURegistrationHeaderTest1 RegisterTwoImages GPUDeviceTest
  build/python/bin/RegisterTwoImages
  build/python/bin/GPUDeviceTest --gtest_brief=1
  for script in test/python/*.py; do
    echo "$script"
    PYTHONPATH=$tree/Wrapping/Generators/Python:$tree/lib /usr/bin/python3 "$script"
  done
}

case ${1-} in
  --sanitize)
    install_packages "${packages[@]}"
    say "Building with sanitizers"
    configure --preset sanitize
    build build-sanitize
    say "Testing"
    ctest --preset sanitize
    ;;
  '')
    install_packages "${packages[@]}"
    say "Building"
    configure --preset release
    build build
    say "Testing"
    ctest --preset release
    say "The bundle for machines without ITK"
    tools/portable-bundle.sh build build/bundle
    build/bundle/run GPUDeviceTest --gtest_brief=1
    register_with_itk debian "$(sed -n 's/^ITK_DIR:PATH=//p' build/CMakeCache.txt)"
    test_other_itk_versions
    test_external_module
    ;;
  *) fail "usage: $0 [--sanitize]" ;;
esac
say "All passed"
