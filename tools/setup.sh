# SPDX-License-Identifier: Apache-2.0
# Holds the functions that demo.sh and test.sh share; they source it in the project's root folder.
set -Eeuo pipefail
trap 'echo "$0: failed: $BASH_COMMAND" >&2' ERR

# ITK, OpenCL (headers; PoCL, which brings the loader), the tests' and benchmarks' libraries, tools, a head to register.
packages=(libinsighttoolkit5-dev
          opencl-headers opencl-clhpp-headers ocl-icd-libopencl1 pocl-opencl-icd
          libgtest-dev libbenchmark-dev
          cmake ninja-build g++
          mricron-data)

say() { printf '\n== %s\n' "$*"; }
fail() { echo "$0: $*" >&2; exit 1; }

# install_packages NAME…: those that are missing, from Debian's archive.
install_packages() {
  command -v dpkg-query > /dev/null || fail "this script installs Debian packages; elsewhere, see README.md for what to install"
  local name missing=() as_root=()
  for name; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2> /dev/null || true)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo > /dev/null || fail "run as root, or install sudo, to install: ${missing[*]}"
    as_root=(sudo)
  fi
  say "Installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" > /dev/null
}

# CUDA code is compiled for this machine's GPU alone: one architecture takes a seventh of the time of all of them. Where there
# is none it is compiled to PTX, in three fifths of that. Without nvcc this is not used.
cuda_architecture() {
  local capability
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | head -n 1 | tr -d .) || true
  if [ "${capability:-0}" -ge 75 ] 2> /dev/null; then
    echo "$capability-real"
  else
    echo 90-virtual
  fi
}

# Options of every configure step.
configure_options=()

# g++ looks for memory to free for a seventh of its time with ITK's headers. Where it does not, it takes at most 1.4 GB instead of 1.2.
compile_with_memory() {
  local flags="--param=ggc-min-expand=400 --param=ggc-min-heapsize=1000000"
  # shellcheck disable=SC2086 # two words
  ! c++ $flags -x c++ -fsyntax-only /dev/null &> /dev/null ||
    configure_options+=("-DCMAKE_CXX_FLAGS=${CXXFLAGS-} $flags")
}

# configure ARGUMENTS…: cmake, quiet but for which backends it builds, warnings and errors.
configure() {
  cmake --log-level=NOTICE --no-warn-unused-cli -DCMAKE_CUDA_ARCHITECTURES="$(cuda_architecture)" "${configure_options[@]}" "$@" \
    > /dev/null
}

# build FOLDER [TARGET…]: runs one job a processor; a job may take 1.4 GB, and 2 GB where programs are joined.
build() {
  local folder=$1
  shift
  cmake --build "$folder" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" ${1:+--target "$@"}
}
