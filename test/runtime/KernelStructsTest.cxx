// SPDX-License-Identifier: Apache-2.0
// Tests that the host and OpenCL's compiler lay out identically the structures that are passed to kernels as bytes: every program compares
// the sizes of all its structures (opencl/runtime/OpenCLStructSizes.h), and does not compile if one differs.
#include "opencl/runtime/OpenCLProgram.h"
#include "opencl/runtime/OpenCLStructSizes.h"

#include "gpureg/runtime/Device.h"
#include "gpureg/core/Error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace gpuregtest
{
namespace
{
using namespace gpureg;

std::string
ReadFile(const std::filesystem::path & path)
{
  std::ifstream file(path);
  return { std::istreambuf_iterator<char>(file), {} };
}

/** Returns the names of the structures that a source declares. Leaves out structures with pointers, and those with constants, which only
 *  C++ reads. */
std::set<std::string>
FindStructs(const std::string & text)
{
  const std::string     code = std::regex_replace(text, std::regex(R"(/\*([^*]|\*+[^*/])*\*+/|//[^\n]*)"), "");
  const std::regex      declaration(R"(struct\s+(\w+)\s*\{([^}]*)\})");
  std::set<std::string> names;
  for (std::sregex_iterator found(code.begin(), code.end(), declaration), end; found != end; ++found)
  {
    const std::string members = found->str(2);
    if (members.find('*') == std::string::npos && members.find("constexpr") == std::string::npos)
    {
      names.insert(found->str(1));
    }
  }
  return names;
}

const std::vector<std::pair<const char *, const char *>> &
GetPrograms()
{
  static const std::vector<std::pair<const char *, const char *>> programs{
    { "ControlGrid", OpenCLControlGridSource },
    { "ControlStep", OpenCLControlStepSource },
    { "ControlPenalty", OpenCLControlPenaltySource },
    { "CorrelationRatio", OpenCLCorrelationRatioSource },
    { "CorrelationRatioSchemes", OpenCLCorrelationRatioSchemesSource },
    { "Displacement", OpenCLDisplacementSource },
    { "Field", OpenCLFieldSource },
    { "FieldStart", OpenCLFieldStartSource },
    { "FieldVectors", OpenCLFieldVectorsSource },
    { "Image", OpenCLImageSource },
    { "JointHistogram", OpenCLJointHistogramSource },
    { "JointHistogramSummary", OpenCLJointHistogramSummarySource },
    { "PreTransform", OpenCLPreTransformSource },
    { "Line", OpenCLLineSource },
    { "Mattes", OpenCLMattesSource },
    { "MattesVoxelForces", OpenCLMattesVoxelForcesSource },
    { "MovingImage", OpenCLMovingImageSource },
    { "Neighborhood", OpenCLNeighborhoodSource },
    { "Number", OpenCLNumberSource },
    { "Pair", OpenCLPairSource },
    { "PartialVolume", OpenCLPartialVolumeSource },
    { "Resample", OpenCLResampleSource },
    { "Similarity", OpenCLSimilaritySource },
    { "Windowed", OpenCLWindowedSource },
  };
  return programs;
}

TEST(KernelStructs, AreComparedByEveryProgram)
{
  std::size_t compared = 0;
  for (const auto & program : GetPrograms())
  {
    const std::string text = program.second;
    for (const std::string & name : FindStructs(text))
    {
      EXPECT_NE(text.find("sizeof(" + name + ") == GPUREG_BYTES_OF_" + name + " ? 1 : -1"), std::string::npos)
        << name << " of " << program.first;
      ++compared;
    }
  }
  EXPECT_GT(compared, 100u);
}

TEST(KernelStructs, AllHaveTheHostsSize)
{
  std::set<std::string> all;
  for (const auto & program : GetPrograms())
  {
    all.merge(FindStructs(program.second));
  }
  for (const std::string & name : all)
  {
    EXPECT_NE(GetStructSizes().find("#define GPUREG_BYTES_OF_" + name + " "), std::string::npos) << name;
  }
  // The structures of a program that is missing in the list above are in headers.
  std::set<std::string> known{ "float4", "RandomWords" };
  known.merge(all);
  for (const auto & file : std::filesystem::recursive_directory_iterator(GPUREG_KERNEL_FOLDER))
  {
    if (file.is_directory())
    {
      continue;
    }
    for (const std::string & name : FindStructs(ReadFile(file.path())))
    {
      EXPECT_EQ(known.count(name), 1u) << name << " of " << file.path() << " is in no OpenCL program";
    }
  }
}

TEST(KernelStructs, DoNotCompileWhereSizesDiffer)
{
  const auto found = FindDevice("opencl:0");
  if (!found)
  {
    GTEST_SKIP() << "there is no OpenCL device";
  }
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  for (const cl::Platform & platform : platforms)
  {
    std::vector<cl::Device> some;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &some);
    devices.insert(devices.end(), some.begin(), some.end());
  }
  ASSERT_FALSE(devices.empty());
  const cl::Context context(devices.front());
  const std::string options = "-DGPUREG_REAL=float -DGPUREG_LANES=64";
  const std::string good = OpenCLMovingImageSource;
  EXPECT_NO_THROW(BuildOpenCLProgram(context, devices.front(), "opencl:0", good.c_str(), options));

  const std::string member = "int stride[3];";
  std::string       bad = good;
  ASSERT_NE(bad.find(member), std::string::npos);
  bad.replace(bad.find(member), member.size(), "int stride[4];");
  EXPECT_THROW(BuildOpenCLProgram(context, devices.front(), "opencl:0", bad.c_str(), options), UnsupportedError);

  // As for a new structure that is missing in the host's sizes.
  const std::string strange = good + "typedef char StrangeHasEqualLayout[4 == GPUREG_BYTES_OF_Strange ? 1 : -1];\n";
  EXPECT_THROW(BuildOpenCLProgram(context, devices.front(), "opencl:0", strange.c_str(), options), UnsupportedError);
}

} // namespace
} // namespace gpuregtest
