// SPDX-License-Identifier: Apache-2.0
// Tests how the host's memory is read, from made-up files of a system. Needs no device.
#include "host/runtime/SystemMemory.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace
{
using gpureg::ReadSystemMemory;

constexpr std::size_t Mebibyte = std::size_t{ 1 } << 20;
constexpr std::size_t Physical = 1000 * Mebibyte;

std::string
Name(std::size_t mebibytes)
{
  return std::to_string(mebibytes * Mebibyte);
}

/** Writes down pages of files, which were used lately and before. */
std::string
NameFiles(const std::string & prefix, std::size_t mebibytes)
{
  const std::size_t active = mebibytes / 3;
  return prefix + "inactive_file " + Name(mebibytes - active) + "\n" + prefix + "active_file " + Name(active) + "\n";
}

class SystemMemoryTest : public ::testing::Test
{
protected:
  void
  SetUp() override
  {
    const auto * info = ::testing::UnitTest::GetInstance()->current_test_info();
    m_Root = std::filesystem::path(::testing::TempDir()) / (std::string("SystemMemoryTest_") + info->name());
    std::filesystem::remove_all(m_Root);
  }

  void
  TearDown() override
  {
    std::filesystem::remove_all(m_Root);
  }

  void
  Write(const std::string & path, const std::string & text) const
  {
    const std::filesystem::path file = m_Root / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  void
  WriteGroup2(const std::string & group, const std::string & limit, std::size_t usage, std::size_t files) const
  {
    const std::string folder = "sys/fs/cgroup" + group + "/memory.";
    this->Write(folder + "max", limit + "\n");
    this->Write(folder + "current", Name(usage) + "\n");
    this->Write(folder + "stat", "anon 5\nfile 7\ninactive_anon 1\n" + NameFiles("", files));
  }

  void
  WriteGroup1(const std::string & group, const std::string & limit, std::size_t usage, std::size_t files) const
  {
    const std::string folder = "sys/fs/cgroup/memory" + group + "/memory.";
    this->Write(folder + "limit_in_bytes", limit + "\n");
    this->Write(folder + "usage_in_bytes", Name(usage) + "\n");
    this->Write(folder + "stat", "inactive_file 3\nactive_file 2\n" + NameFiles("total_", files));
  }

  void
  Expect(std::size_t limit, std::size_t available) const
  {
    const gpureg::SystemMemory memory = ReadSystemMemory(m_Root.string(), Physical);
    EXPECT_EQ(memory.limit, limit * Mebibyte);
    EXPECT_EQ(memory.available, available * Mebibyte);
  }

private:
  std::filesystem::path m_Root;
};
} // namespace

TEST_F(SystemMemoryTest, IsAllThatIsThereWhereNoFileSaysMore)
{
  this->Expect(1000, 1000);
}

TEST_F(SystemMemoryTest, IsWhatIsAvailable)
{
  this->Write("proc/meminfo", "MemTotal: 1024000 kB\nMemFree: 1024 kB\nMemAvailable:     307200 kB\nBuffers: 5 kB\n");
  this->Expect(1000, 300);
}

TEST_F(SystemMemoryTest, IsNoMoreThanIsThere)
{
  this->Write("proc/meminfo", "MemAvailable: 3072000 kB\n");
  this->Expect(1000, 1000);
}

TEST_F(SystemMemoryTest, IsWhatAGroupOfVersion2Leaves)
{
  this->Write("proc/meminfo", "MemAvailable: 819200 kB\n");
  this->Write("proc/self/cgroup", "0::/user.slice/job\n");
  this->WriteGroup2("/user.slice/job", Name(500), 220, 20);
  this->Expect(500, 300);
}

TEST_F(SystemMemoryTest, IsWhatAGroupOfVersion1Leaves)
{
  this->Write("proc/self/cgroup", "5:cpu,cpuacct:/other\n4:hugetlb,memory:/job:1\n0::/\n");
  this->WriteGroup1("/job:1", Name(600), 250, 150);
  this->WriteGroup1("/other", Name(1), 1, 0);
  this->Expect(600, 500);
}

TEST_F(SystemMemoryTest, IsTheLeastOfAllGroupsAroundIt)
{
  this->Write("proc/self/cgroup", "0::/a/b/c\n");
  this->WriteGroup2("/a/b/c", "max", 10, 0);
  this->WriteGroup2("/a/b", Name(700), 100, 0);
  // Others have used what this larger group may have.
  this->WriteGroup2("/a", Name(800), 790, 30);
  this->Expect(700, 40);
}

TEST_F(SystemMemoryTest, IsThatOfTheFirstFolderInAContainer)
{
  for (const char * path : { "0::/\n", "0::/docker/0123\n", "0::/../../outside\n" })
  {
    this->Write("proc/self/cgroup", path);
    this->WriteGroup2("", Name(400), 100, 0);
    this->Expect(400, 300);
  }
}

TEST_F(SystemMemoryTest, IsUnlimitedIfAGroupIs)
{
  this->Write("proc/meminfo", "MemAvailable: 921600 kB\n");
  this->Write("proc/self/cgroup", "4:memory:/job\n0::/job\n");
  this->WriteGroup1("/job", "9223372036854771712", 300, 0);
  this->WriteGroup2("/job", "max", 300, 0);
  this->Expect(1000, 900);
}

TEST_F(SystemMemoryTest, IsNothingWhereAGroupHasUsedAll)
{
  this->Write("proc/self/cgroup", "0::/job\n");
  this->WriteGroup2("/job", Name(400), 500, 20);
  this->Expect(400, 0);
  // Pages of files are counted when the usage has been read, and may be more by then.
  this->WriteGroup2("/job", Name(400), 10, 20);
  this->Expect(400, 400);
}

TEST_F(SystemMemoryTest, LeavesMalformedFilesOut)
{
  for (const char * word : { "", "-5", "12x", "0x10", "1e3", " ", "max min", "99999999999999999999999999", "kB" })
  {
    this->Write("proc/meminfo", std::string("MemAvailable: ") + word + " kB\n");
    this->Write("proc/self/cgroup", "0::/job\n");
    this->WriteGroup2("/job", word, 100, 0);
    this->Expect(1000, 1000);
  }
  for (const char * text : { "", "\n\n", "0", "0:", "no colons", "0::relative/path", ":::::", "memory", "\0x" })
  {
    this->Write("proc/self/cgroup", text);
    this->Write("proc/meminfo", text);
    this->Expect(1000, 1000);
  }
  // A number of kibibytes whose bytes are too many.
  this->Write("proc/meminfo", "MemAvailable: 18446744073709551615 kB\n");
  this->Expect(1000, 1000);
}

TEST_F(SystemMemoryTest, TakesALimitWithoutUsage)
{
  this->Write("proc/self/cgroup", "0::/job\n");
  this->Write("sys/fs/cgroup/job/memory.max", Name(400));
  this->Expect(400, 400);
  this->Write("sys/fs/cgroup/job/memory.current", Name(150));
  this->Expect(400, 250);
  this->Write("sys/fs/cgroup/job/memory.stat", "inactive_file\ninactive_file -\n");
  this->Expect(400, 250);
}

TEST_F(SystemMemoryTest, ReadsTheFilesOfThisSystem)
{
  const gpureg::SystemMemory memory = ReadSystemMemory("", Physical);
  EXPECT_GT(memory.limit, 0u);
  EXPECT_LE(memory.limit, Physical);
  EXPECT_LE(memory.available, memory.limit);
}
