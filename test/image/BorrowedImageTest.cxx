// SPDX-License-Identifier: Apache-2.0
// Tests, on every device, memory on a device that belongs to other code: it is read in place, is kept alive while it is used, and its
// numbers, of any type, are converted there.
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "gpureg/image/BorrowedImage.h"
#include "gpureg/core/Error.h"
#include "gpureg/image/NumberConverter.h"
#include "gpureg/resample/Resampler.h"
#include "gpureg/filter/VolumeFilter.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace gpuregtest
{

namespace
{
constexpr gpureg::Size ImageSize{ 7, 5, 3 };

std::vector<float>
MakeRamp()
{
  std::vector<float> values(static_cast<std::size_t>(gpureg::CountOf(ImageSize)));
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

/** Returns an image on the device, whose memory is to be borrowed. */
std::unique_ptr<gpureg::DeviceImage>
MakeOnDevice(const std::string & device, const std::vector<float> & values)
{
  gpureg::VolumeInput input;
  input.size = ImageSize;
  input.values = [&values](std::int64_t first, std::int64_t count, void * out) {
    std::memcpy(out, values.data() + first, static_cast<std::size_t>(count) * sizeof(float));
  };
  gpureg::VolumeFilter filter(device);
  filter.SetVolume(input, OneAfterTheOther);
  return filter.CopyVolume();
}

gpureg::BorrowedMemory
Lend(void * address, gpureg::NumberType type = gpureg::NumberType::Float32)
{
  gpureg::BorrowedMemory memory;
  memory.address = address;
  memory.type = type;
  memory.count = gpureg::CountOf(ImageSize);
  return memory;
}

/** Returns an image's voxels on the host, by a resampler that does not change them. */
std::vector<float>
Download(const gpureg::DeviceImage & image, gpureg::EvaluationStatistics * statistics = nullptr)
{
  std::vector<float>    values(static_cast<std::size_t>(gpureg::CountOf(ImageSize)));
  gpureg::Resampler     resampler(image.GetDeviceName());
  gpureg::ResampleInput input;
  input.size = ImageSize;
  input.precision = image.GetPrecision();
  input.image = &image;
  gpureg::ResampleRequest request;
  request.size = ImageSize;
  request.interpolation = gpureg::Interpolation::Nearest;
  request.outside = { -1.0 };
  request.output = [&](std::int64_t first, std::int64_t count, const void * in) {
    gpureg::WithReal(image.GetPrecision(), [&](auto zero) {
      const auto * const from = static_cast<const decltype(zero) *>(in);
      for (std::int64_t n = 0; n < count; ++n)
      {
        values[static_cast<std::size_t>(first + n)] = static_cast<float>(from[n]);
      }
    });
  };
  resampler.Resample(input, request, OneAfterTheOther);
  if (statistics != nullptr)
  {
    *statistics = resampler.GetStatistics();
  }
  return values;
}

class BorrowedImageTest : public DeviceTest
{
protected:
  void
  SetUp() override
  {
    if (GetParam().compare(0, 6, "opencl") == 0)
    {
      GTEST_SKIP() << "OpenCL reads no memory of others: BorrowedMemoryTest.OpenCLSaysThatItReadsNone";
    }
  }
};

TEST_P(BorrowedImageTest, IsReadWhereItIs)
{
  const std::vector<float>    values = MakeRamp();
  const auto                  made = MakeOnDevice(GetParam(), values);
  const std::size_t           before = gpureg::GetMemoryInUse(GetParam());
  const gpureg::BorrowedImage image(GetParam(), Lend(made->GetAddress()));
  EXPECT_EQ(image.GetAddress(), made->GetAddress());
  EXPECT_EQ(image.GetCount(), gpureg::CountOf(ImageSize));
  EXPECT_EQ(image.GetPrecision(), gpureg::Precision::Single);
  EXPECT_EQ(image.GetDeviceName(), GetParam());
  EXPECT_EQ(gpureg::GetMemoryInUse(GetParam()), before);
  gpureg::EvaluationStatistics statistics;
  EXPECT_EQ(Download(image, &statistics), values);
  // The chain's parts and the value for outside are uploaded, but not the image.
  EXPECT_LT(statistics.bytesUp, static_cast<std::int64_t>(values.size() * sizeof(float)));
}

TEST_P(BorrowedImageTest, KeepsItsOwnerAndFreesNothing)
{
  const auto                 made = MakeOnDevice(GetParam(), MakeRamp());
  const std::shared_ptr<int> owner = std::make_shared<int>(1);
  const std::size_t          before = gpureg::GetMemoryInUse(GetParam());
  {
    gpureg::BorrowedMemory memory = Lend(made->GetAddress());
    memory.owner = owner;
    const gpureg::BorrowedImage image(GetParam(), std::move(memory));
    EXPECT_EQ(owner.use_count(), 2);
  }
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(gpureg::GetMemoryInUse(GetParam()), before);
  EXPECT_EQ(Download(*made), MakeRamp());
}

TEST_P(BorrowedImageTest, WaitsForTheMeetingStream)
{
  const auto             made = MakeOnDevice(GetParam(), MakeRamp());
  gpureg::BorrowedMemory memory = Lend(made->GetAddress());
  memory.stream = gpureg::GetMeetingStream(GetParam());
  EXPECT_EQ(*memory.stream != 0, GetParam() != "host");
  EXPECT_EQ(gpureg::GetMeetingStream(GetParam()), *memory.stream);
  EXPECT_EQ(Download(gpureg::BorrowedImage(GetParam(), std::move(memory))), MakeRamp());
}

TEST_P(BorrowedImageTest, ReadsNumbersOfAnyType)
{
  const auto              made = MakeOnDevice(GetParam(), MakeRamp());
  gpureg::NumberConverter converter(GetParam());
  for (int n = 0; n <= static_cast<int>(gpureg::NumberType::Float64); ++n)
  {
    const auto         type = static_cast<gpureg::NumberType>(n);
    std::vector<float> expected = MakeRamp();
    if (type == gpureg::NumberType::Bool)
    {
      expected.assign(expected.size(), 1.0f);
    }
    const auto numbers = converter.MakeNumbers(*made, type, OneAfterTheOther);
    EXPECT_EQ(numbers->GetType(), type);
    EXPECT_EQ(numbers->GetDeviceName(), GetParam());
    const gpureg::BorrowedMemory memory = Lend(numbers->GetAddress(), type);
    for (const auto precision : { gpureg::Precision::Single, gpureg::Precision::Double })
    {
      const auto image = converter.MakeImage(memory, precision, OneAfterTheOther);
      EXPECT_EQ(image->GetPrecision(), precision);
      EXPECT_EQ(Download(*image), expected) << gpureg::GetName(type);
    }
    EXPECT_EQ(Download(*converter.MakeMask(memory, OneAfterTheOther)), std::vector<float>(expected.size(), 1.0f));
    EXPECT_EQ(converter.GetStatistics().bytesUp, 0);
    EXPECT_EQ(converter.GetStatistics().bytesDown, 0);
  }
}

TEST_P(BorrowedImageTest, AMaskIsWhatIsNot0)
{
  std::vector<float> values = MakeRamp();
  values[0] = 0.0f;
  values[1] = 0.01f;
  values[2] = -3.0f;
  const auto              made = MakeOnDevice(GetParam(), values);
  gpureg::NumberConverter converter(GetParam());
  std::vector<float>      expected(values.size(), 1.0f);
  expected[0] = 0.0f;
  EXPECT_EQ(Download(*converter.MakeMask(Lend(made->GetAddress()), OneAfterTheOther)), expected);
}

TEST_P(BorrowedImageTest, NumbersAreRoundedAndStayInTheirRange)
{
  constexpr float                            infinity = std::numeric_limits<float>::infinity();
  std::vector<float>                         values = MakeRamp();
  const std::vector<std::pair<float, float>> pairs{ { -0.5f, 0.0f },      { -0.51f, -1.0f },    { 0.5f, 0.0f },
                                                    { 1.5f, 2.0f },       { 2.5f, 2.0f },       { -1.5f, -2.0f },
                                                    { 126.5f, 126.0f },   { 127.5f, 127.0f },   { 1e20f, 127.0f },
                                                    { -1e20f, -128.0f },  { infinity, 127.0f }, { -infinity, -128.0f },
                                                    { std::nanf(""), 0 }, { -128.49f, -128.0f } };
  for (std::size_t n = 0; n < values.size(); ++n)
  {
    values[n] = pairs[n % pairs.size()].first;
  }
  const auto               made = MakeOnDevice(GetParam(), values);
  gpureg::NumberConverter  converter(GetParam());
  const auto               numbers = converter.MakeNumbers(*made, gpureg::NumberType::Int8, OneAfterTheOther);
  const auto               image = converter.MakeImage(Lend(numbers->GetAddress(), gpureg::NumberType::Int8),
                                         gpureg::Precision::Single,
                                         OneAfterTheOther);
  const std::vector<float> found = Download(*image);
  for (std::size_t n = 0; n < pairs.size(); ++n)
  {
    EXPECT_EQ(found[n], pairs[n].second) << pairs[n].first;
  }
}

TEST_P(BorrowedImageTest, SaysWhatIsWrong)
{
  const auto made = MakeOnDevice(GetParam(), MakeRamp());
  const auto borrow = [&](const gpureg::BorrowedMemory & memory) { gpureg::BorrowedImage(GetParam(), memory); };
  EXPECT_THROW(borrow(Lend(nullptr)), gpureg::BadInputError);
  gpureg::BorrowedMemory empty = Lend(made->GetAddress());
  empty.count = 0;
  EXPECT_THROW(borrow(empty), gpureg::BadInputError);
  EXPECT_THROW(borrow(Lend(made->GetAddress(), gpureg::NumberType::Int16)), gpureg::BadInputError);
  EXPECT_THROW(gpureg::BorrowedImage("cuda:99", Lend(made->GetAddress())), gpureg::BadInputError);
  gpureg::NumberConverter converter(GetParam());
  EXPECT_THROW(converter.MakeMask(Lend(nullptr), OneAfterTheOther), gpureg::BadInputError);
  std::vector<float> hosts = MakeRamp();
  EXPECT_EQ(gpureg::FindDeviceOf(hosts.data()), "");
  if (GetParam() != "host")
  {
    EXPECT_EQ(gpureg::FindDeviceOf(made->GetAddress()), GetParam());
    EXPECT_THROW(borrow(Lend(hosts.data())), gpureg::BadInputError);
    const gpureg::BorrowedImage ofHost("host", Lend(hosts.data()));
    EXPECT_THROW(converter.MakeNumbers(ofHost, gpureg::NumberType::Int16, OneAfterTheOther), gpureg::BadInputError);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, BorrowedImageTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

TEST(BorrowedMemoryTest, AChangeOfTheHostsMemoryIsSeen)
{
  std::vector<float>          values = MakeRamp();
  const gpureg::BorrowedImage image("host", Lend(values.data()));
  EXPECT_EQ(image.GetAddress(), values.data());
  values[5] = 1234.0f;
  EXPECT_EQ(Download(image), values);
}

TEST(BorrowedMemoryTest, OpenCLSaysThatItReadsNone)
{
  std::vector<float> values = MakeRamp();
  int                tried = 0;
  for (const std::string & name : GetDeviceNames())
  {
    if (name.compare(0, 6, "opencl") == 0)
    {
      EXPECT_THROW(gpureg::BorrowedImage(name, Lend(values.data())), gpureg::UnsupportedError);
      gpureg::NumberConverter converter(name);
      EXPECT_THROW(converter.MakeMask(Lend(values.data()), OneAfterTheOther), gpureg::UnsupportedError);
      ++tried;
    }
  }
  if (tried == 0)
  {
    GTEST_SKIP() << "there is no OpenCL";
  }
}

TEST(BorrowedMemoryTest, NamesOfTypes)
{
  for (const char * const name :
       { "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32", "float64" })
  {
    EXPECT_STREQ(gpureg::GetName(gpureg::GetNumberType(name)), name);
  }
  EXPECT_EQ(gpureg::BytesOf(gpureg::NumberType::UInt16), 2u);
  EXPECT_EQ(gpureg::BytesOf(gpureg::NumberType::Float64), 8u);
  EXPECT_THROW(gpureg::GetNumberType("float16"), gpureg::BadInputError);
}
} // namespace

} // namespace gpuregtest
