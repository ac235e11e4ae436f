// SPDX-License-Identifier: Apache-2.0
// Bounds of the errors that registrations leave: 1.5 times the error of record.
#ifndef gpuregtest_ErrorOfRecord_h
#define gpuregtest_ErrorOfRecord_h

#include "gpureg/runtime/Device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

namespace gpuregtest
{

/** The largest error that a test's registrations left when it was last measured, in the unit of the error that the test computes. Where
 *  GPUREG_TEST_SEED sets the test's images, it is the largest one of the seeds 1 to 20 on the host. To measure it again, run the test with
 *  GPUREG_TEST_RECORD=0 in the environment: it then fails with each error. */
struct ErrorOfRecord
{
  /** \param both by the host and by OpenCL (PoCL), where they hardly differ */
  ErrorOfRecord(double both) // NOLINT: a number is meant to become one
    : host(both)
    , openCL(both)
  {}
  ErrorOfRecord(double byHost, double byOpenCL)
    : host(byHost)
    , openCL(byOpenCL)
  {}
  /** \param byGPU where rounding decides, and GPUs round in another way: as CUDA does */
  ErrorOfRecord(double byHost, double byOpenCL, double byGPU)
    : host(byHost)
    , openCL(byOpenCL)
    , gpu(byGPU)
  {}

  /** Returns this record with one for OpenCL on a GPU, where its compiler rounds in a third way. */
  ErrorOfRecord
  WithOpenCLOnGPU(double error) const
  {
    ErrorOfRecord with = *this;
    with.openCLOnGPU = error;
    return with;
  }

  double                host;
  double                openCL;
  std::optional<double> gpu;
  std::optional<double> openCLOnGPU;
};

/** Returns true if a device is a GPU. PoCL's devices are none. */
inline bool
IsGPU(const std::string & device)
{
  const auto found = gpureg::FindDevice(device);
  return device != "host" && found && found->description.find("Portable Computing Language") == std::string::npos;
}

/** Returns true if an error is at most 1.5 times that of record. Where CUDA has no record of its own, the larger one of the other two is
 *  taken. */
inline ::testing::AssertionResult
IsWithinRecord(const std::string & device, double error, const ErrorOfRecord & record)
{
  const bool         isOpenCL = device.rfind("opencl", 0) == 0;
  const double       ofDevice = device == "host"                                  ? record.host
                                : isOpenCL && record.openCLOnGPU && IsGPU(device) ? *record.openCLOnGPU
                                : record.gpu && IsGPU(device)                     ? *record.gpu
                                : isOpenCL                                        ? record.openCL
                                           : std::max(record.host, record.openCL);
  const char * const asked = std::getenv("GPUREG_TEST_RECORD");
  const bool         isMeasured = asked != nullptr && std::string(asked) == "0";
  if (!isMeasured && error <= 1.5 * ofDevice)
  {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "an error of " << error << " by " << device << ", where that of record is "
                                       << ofDevice;
}

} // namespace gpuregtest

#endif
