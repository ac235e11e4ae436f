# SPDX-License-Identifier: Apache-2.0
# For the scripts that run programs on another machine, to be sourced: where OpenCL is on an NVIDIA GPU.

# find_opencl FOLDER: an NVIDIA driver in a container often comes without the file by which the OpenCL loader finds it:
# makes one in FOLDER. The system's own list stays.
find_opencl() {
  local library vendors=$1/vendors
  [ ! -e /etc/OpenCL/vendors/nvidia.icd ] || return 0
  library=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2> /dev/null | awk '$1 == "libnvidia-opencl.so.1" { print $NF; exit }')
  [ -n "$library" ] ||
    library=$(find /usr/lib /usr/lib64 /usr/local/nvidia /usr/local/cuda -name 'libnvidia-opencl.so.1' 2> /dev/null | head -n 1)
  if [ -z "$library" ]; then
    echo "no libnvidia-opencl.so.1: no OpenCL on the GPU"
    return 0
  fi
  mkdir -p "$vendors"
  cp /etc/OpenCL/vendors/*.icd "$vendors/" 2> /dev/null
  echo "$library" > "$vendors/nvidia.icd"
  export OCL_ICD_VENDORS=$vendors
  echo "OpenCL through $library"
}
