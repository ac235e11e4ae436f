#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing (Debian 12, as root or with sudo), builds, and runs every test.
#   ./test.sh               every test, then the other ITKs, Python and Modules/Remote where their archives are:
#                           in $GPUREG_TEST_ARCHIVES, or ../shared (CONTRIBUTING.md says how they are made)
#   ./test.sh --sanitize    the tests of the host, built with AddressSanitizer and UndefinedBehaviorSanitizer
cd "$(dirname "$0")"
. tools/setup.sh
shared=${GPUREG_TEST_ARCHIVES:-../shared}

# start FUNCTION: runs it beside what follows. finish FUNCTION waits for it and prints what it said; fails if it failed.
declare -A started
start() {
  mkdir -p build
  "$1" > "build/$1.log" 2>&1 &
  started[$1]=$!
}
finish() {
  wait "${started[$1]}" || fail "$(cat "build/$1.log")"
  cat "build/$1.log"
}

# mold links in a quarter of the time, where the compiler knows it.
packages+=(mold)
use_mold() {
  ! c++ -fuse-ld=mold -Wl,--version &> /dev/null ||
    configure_options+=(-DCMAKE_{EXE,SHARED,MODULE}_LINKER_FLAGS=-fuse-ld=mold)
}

# Puts what $GPUREG_COMPILER_CACHE names, such as ccache, before the compilers: tools/take-object.sh does so in the later builds.
use_compiler_cache() {
  # Else ccache takes no source with a precompiled header.
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros}
  [ -z "${GPUREG_COMPILER_CACHE-}" ] || configure_options+=(-DCMAKE_{C,CXX,CUDA}_COMPILER_LAUNCHER="$GPUREG_COMPILER_CACHE")
}

# Where there is no GPU, CUDA code is compiled only to see that it compiles: where nvcc can leave most of its optimisation out, in a
# ninth of the time.
compile_cuda_quickly() {
  local flags=${CUDAFLAGS-}
  if [ "$(cuda_architecture)" = 90-virtual ] && [[ $("${CUDACXX:-nvcc}" --help 2> /dev/null) == *--Ofast-compile* ]]; then
    flags+=" --Ofast-compile=max"
  fi
  configure_options+=("-DCMAKE_CUDA_FLAGS=$flags")
}

# configure_quickly FOLDER [ARGUMENTS]: against another ITK than the first build, which is what users get: its warnings in a
# part of the time. Objects without ITK are taken from the first build. ITK's wrapping optimizes at link time, for most of a minute,
# where the build type is Release.
configure_quickly() {
  local folder=$1 launcher="$PWD/tools/take-object.sh;engine;$PWD/build;$PWD/$1"
  shift
  mkdir -p "$folder"
  # Objects that were taken before know no headers, so that Ninja would not take them again where one has changed.
  (cd build && find src -name '*.cpp.o' -o -name '*.cu.o') | sed "s|^|$folder/|" | xargs rm -f
  configure -G Ninja -S . -B "$folder" -DCMAKE_BUILD_TYPE=MinSizeRel "-DCMAKE_CXX_FLAGS_MINSIZEREL=-O0 -DNDEBUG" \
            "-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher" "-DCMAKE_CUDA_COMPILER_LAUNCHER=$launcher" \
            "$@"
}

# One program, with the library, built without a warning against the ITK in $2 and run. $1 names it.
register_with_itk() {
  say "ITK $1: without warnings"
  # The program has the metrics itself.
  configure_quickly "build/versions/$1" -DITK_DIR="$2" -DBUILD_EXAMPLES=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
                    -DGPURegistration_FEW_OVERRIDES=FILTERS
  build "build/versions/$1" RegisterTwoImages
  LD_LIBRARY_PATH=${2%/cmake/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "build/versions/$1/bin/RegisterTwoImages"
}

# Other versions of ITK: archives of installed ones, each unpacked into a folder of its name.
itk_versions=("$shared"/itk-versions/*.tar.xz)

unpack_itk_versions() {
  local archive folder
  for archive in "${itk_versions[@]}"; do
    folder=build/versions/$(basename "$archive" .tar.xz)-installed
    if [ -e "$archive" ] && [ ! -e "$folder/.complete" ]; then
      mkdir -p "$folder"
      tar -C "$folder" --strip-components=1 -xJf "$archive"
      touch "$folder/.complete"
    fi
  done
}

test_other_itk_versions() {
  local archive name
  for archive in "${itk_versions[@]}"; do
    if [ ! -e "$archive" ]; then
      echo "skipped: other versions of ITK, for there is no $archive"
      return
    fi
    name=$(basename "$archive" .tar.xz)
    register_with_itk "$name" "$(echo "$PWD/build/versions/$name-installed"/lib/cmake/ITK-*)"
  done
}

# ITK's build tree with Python wrapping, and the source tree beside it.
itk_tree_archive=$(echo "$shared"/itk-python/*.tar.xz)

# Unpacks it, and writes into build/python/tree where it is: it can only stand where it was built, and the archive says where.
unpack_itk_tree() {
  mkdir -p build/python
  [ -e build/python/tree ] ||
    tar -tJf "$itk_tree_archive" | awk '/\/CMakeCache.txt$/ && (!n || length < n) { n = length; t = $0 }
                                        END { sub("/CMakeCache.txt$", "", t); print "/" t }' > build/python/tree
  [ -e "$(cat build/python/tree)/CMakeCache.txt" ] || tar -C / -xJf "$itk_tree_archive"
}

# As an ITK external module: against an ITK build tree, with Python wrapping.
test_external_module() {
  local tree
  if [ ! -e "$itk_tree_archive" ]; then
    echo "skipped: external module and Python wrapping, for there is no $itk_tree_archive"
    return
  fi
  say "ITK build tree: external module, Python"
  tree=$(cat build/python/tree)
  configure_quickly build/python -DITK_DIR="$tree" -DGPURegistration_FEW_OVERRIDES=ON \
            -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$PWD/build/python/bin" -DPython3_EXECUTABLE=/usr/bin/python3 \
            -DITK_USE_SYSTEM_CASTXML=ON -DITK_USE_SYSTEM_SWIG=ON -DITK_USE_KWSTYLE=OFF -DITK_USE_CLANG_FORMAT=OFF
  build build/python GPURegistrationPython GPURegistrationHeaderTest1 GPUDeviceTest
  build/python/bin/GPUDeviceTest --gtest_brief=1
  PYTHONPATH=$tree/Wrapping/Generators/Python:$tree/lib /usr/bin/python3 test/support/run_scripts.py test/python/*.py
}

# link_all_but NAME FROM TO: in the folder TO a link to each entry of FROM but one.
link_all_but() {
  mkdir -p "$3"
  find "$2" -mindepth 1 -maxdepth 1 ! -name "$1" -exec ln -s -t "$3" {} +
}

# Inside ITK's Modules/Remote: an ITK source tree of links is configured with the module. $GPUREG_ITK_SOURCE names
# one, as Debian's `apt-get source insighttoolkit5` unpacks it; else it is the one that the build tree was made from.
test_remote_module() {
  local folder=$PWD/build/remote itk=${GPUREG_ITK_SOURCE-}
  if [ -z "$itk" ] && [ -e "$itk_tree_archive" ]; then
    itk=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$(cat build/python/tree)/CMakeCache.txt")
  fi
  if [ -z "$itk" ]; then
    echo "skipped: Modules/Remote, for GPUREG_ITK_SOURCE names no ITK source tree, and there is no $itk_tree_archive"
    return
  fi
  [ -d "$itk/Modules/Remote" ] || fail "there is no ITK source tree in $itk"
  itk=$(cd "$itk" && pwd)
  say "ITK source tree: configured with GPURegistration in Modules/Remote"
  rm -rf "$folder"
  link_all_but Modules "$itk" "$folder/itk"
  link_all_but Remote "$itk/Modules" "$folder/itk/Modules"
  link_all_but GPURegistration "$itk/Modules/Remote" "$folder/itk/Modules/Remote"
  link_all_but 'build*' "$PWD" "$folder/itk/Modules/Remote/GPURegistration"
  [ -e "$folder/itk/README.md" ] || touch "$folder/itk/README.md" # ITK's packaging looks for it
  configure -G Ninja -S "$folder/itk" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DITK_BUILD_DEFAULT_MODULES=OFF \
            -DITKGroup_Core=OFF -DModule_GPURegistration=ON -DBUILD_TESTING=OFF -DBUILD_EXAMPLES=OFF \
            -DITK_FORBID_DOWNLOADS=ON
  # Fails unless there is such a target and every file that it is made from: nothing is built.
  cmake --build "$folder/build" --target GPURegistration -- -n > /dev/null
}

# test_external_and_remote_module: both at once. ITK's configure step keeps one processor busy for a minute and a half, and so do
# wrapping's steps in turn. The second one's output comes when the first is through.
test_external_and_remote_module() {
  start test_remote_module
  test_external_module
  finish test_remote_module
}

# Installs what the Python package's tests need: Debian's Python and what Debian has for it; pip for the rest; a browser that opens reports.
make_python_environment() {
  local venv=build/python-package/venv
  install_packages python3-dev python3-venv python3-numpy python3-pil python3-jinja2 python3-nibabel python3-pytest chromium fonts-dejavu-core
  [ -e "$venv/bin/pip" ] || /usr/bin/python3 -m venv --system-site-packages "$venv"
  # Debian's packages are compiled for NumPy 1, and zarr's newest version is not.
  "$venv/bin/pip" install --quiet 'scikit-build-core>=0.10' 'nanobind>=2.2' 'SimpleITK>=2.2' 'itk>=5.3' 'pydicom>=2.3' 'distributed>=2024.8' \
    dask-jobqueue 'isal>=1.5' pytest-xdist mypy nipype 'zarr>=3' 'antspyx==0.6.3' 'numpy<2'
}

# The Python package and the command gpureg, on the host and on OpenCL's devices: the package's project builds its bindings, and
# takes the engine from the first build.
test_python_package() {
  local folder=$PWD/build/python-package launcher="$PWD/tools/take-object.sh;package;$PWD/build;$PWD/build/python-package/build"
  say "The Python package"
  mkdir -p "$folder/build"
  # As in configure_quickly.
  find "$folder/build" -path '*/GPURegistration.dir/*.o' -delete
  CMAKE_ARGS="-DCMAKE_CUDA_ARCHITECTURES=$(cuda_architecture) ${configure_options[*]@Q} '-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG' \
              '-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher' '-DCMAKE_CUDA_COMPILER_LAUNCHER=$launcher'" \
    SKBUILD_BUILD_DIR="$folder/build" "$folder/venv/bin/pip" install --quiet --no-build-isolation --no-deps .
  GPUREG_TEST_PROGRAMS=$PWD/build/bin "$folder/venv/bin/python" -m pytest -q -rs -p no:cacheprovider \
    --numprocesses "$(nproc)" --dist loadfile test/python-package
}

# ITK's own tests, unmodified, without and with the plugin, where $GPUREG_ITK_SUITE names a folder of its test drivers.
test_itk_suite() {
  if [ -z "${GPUREG_ITK_SUITE-}" ]; then
    echo "skipped: ITK's own tests, for GPUREG_ITK_SUITE names no folder of its test drivers"
    return
  fi
  say "ITK's own tests, without and with the plugin"
  tools/itk-suite.sh "$GPUREG_ITK_SUITE" build/lib/GPURegistration-plugin
}

# Debian 12's clang-format; another generation of it breaks lines elsewhere.
test_format() {
  say "The sources' format"
  find benchmark cuda examples include opencl src test wrapping -regextype posix-egrep -regex '.*\.(h|hxx|cxx|cpp|cu|cl)' \
       -exec clang-format-14 --dry-run -Werror {} +
}

# Sources include each other in one direction.
test_layers() {
  say "The sources' layers"
  tools/check-layers.py
}

# Fetches and unpacks, which keeps less than one processor busy, what the parts after the first build need.
prepare() {
  make_python_environment
  unpack_itk_versions
  if [ -e "$itk_tree_archive" ]; then
    install_packages castxml swig python3-dev python3-numpy ocl-icd-opencl-dev
    unpack_itk_tree
  fi
}

case ${1-} in
  --sanitize)
    install_packages "${packages[@]}"
    use_mold
    say "Building with sanitizers"
    configure --preset sanitize
    build build-sanitize
    say "Testing"
    ctest --preset sanitize --parallel "$(nproc)"
    ;;
  '')
    install_packages "${packages[@]}" clang-format-14 python3-minimal
    use_mold
    use_compiler_cache
    compile_with_memory
    compile_cuda_quickly
    start prepare
    test_format
    test_layers
    say "Building, without warnings"
    configure --preset release -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DGPURegistration_FEW_OVERRIDES=OFF \
              -DGPURegistration_QUICK_PROGRAMS=ON -DGPURegistration_JOIN_PROGRAMS=ON -DGPURegistration_USE_CUDA=AUTO
    build build
    say "Testing"
    ctest --preset release --parallel "$(nproc)"
    finish prepare
    say "The bundle for machines without ITK"
    tools/portable-bundle.sh build build/bundle
    build/bundle/run GPUDeviceTest --gtest_brief=1
    # Each of the two keeps less than two processors busy.
    start test_python_package
    test_itk_suite
    test_other_itk_versions
    test_external_and_remote_module
    finish test_python_package
    ;;
  *) fail "usage: $0 [--sanitize]" ;;
esac
say "All passed"
