# SPDX-License-Identifier: Apache-2.0
"""Tests itk.GPUDevice from Python: the list, names, the default, and the message about a wrong name."""
import numpy

numpy.bool = bool  # which ITK before 5.3 asks for and numpy since 1.24 has not

import itk  # noqa: E402

devices = itk.GPUDevice.GetAvailable()
names = [device.GetName() for device in devices]
print("\n".join(str(device) for device in devices))
assert "host" in names
assert all(device.GetMemorySize() > 0 for device in devices)
assert str(devices[0]) == f"{names[0]} ({devices[0].GetDescription()})"

host = itk.GPUDevice.FromName("host")
assert host == devices[names.index("host")] and not host != devices[names.index("host")]
assert len(set(devices)) == len(devices)
itk.GPUDevice.SetDefault(host)
assert itk.GPUDevice.GetDefault() == host

try:
    itk.GPUDevice.FromName("cuda:77")
except RuntimeError as error:
    print(error)
    assert "cuda:77" in str(error) and all(name in str(error) for name in names)
else:
    raise AssertionError("a device that is not there must be an error")

image_type = itk.Image[itk.F, 3]
assert itk.CudaMattesNMI[image_type, image_type].New().GetDevice() == host
