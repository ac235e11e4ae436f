// SPDX-License-Identifier: Apache-2.0
// Tests the cache of compiled programs by itself: what it stores, and what it does not trust. Needs no OpenCL.
#include "opencl/runtime/OpenCLProgramCache.h"
#include "TemporaryFolder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace
{

using namespace gpureg;
using namespace gpuregtest;
using Bytes = std::vector<unsigned char>;

/** Returns the permissions of a file or folder. */
mode_t
GetMode(const std::filesystem::path & path)
{
  struct stat state = {};
  EXPECT_EQ(stat(path.c_str(), &state), 0) << path;
  return state.st_mode & 07777;
}

/** Makes new files and folders writable by everybody, until the end of the scope. */
class OpenUmaskScope
{
public:
  ~OpenUmaskScope()
  {
    umask(m_Before);
  }

private:
  const mode_t m_Before = umask(0);
};

/** A cache in a folder of the test's own, with one entry. */
class OpenCLProgramCacheTrustTest : public testing::Test
{
protected:
  void
  SetUp() override
  {
    ASSERT_TRUE(m_Cache.Store("key", m_Binary));
    ASSERT_EQ(m_Cache.Load("key"), m_Binary);
  }

  TemporaryFolder             m_Parent;
  const std::filesystem::path m_Folder = m_Parent.GetPath() / "cache";
  const OpenCLProgramCache    m_Cache{ m_Folder };
  const std::filesystem::path m_Entry = m_Cache.GetPath("key");
  const Bytes                 m_Binary{ 'a', 'b' };
};

/** Sets an environment variable, or removes it if value is null, until the end of the scope. */
class EnvironmentScope
{
public:
  EnvironmentScope(const char * name, const char * value)
    : m_Name(name)
    , m_WasSet(std::getenv(name) != nullptr)
    , m_Before(m_WasSet ? std::getenv(name) : "")
  {
    Set(value);
  }

  ~EnvironmentScope()
  {
    Set(m_WasSet ? m_Before.c_str() : nullptr);
  }

private:
  void
  Set(const char * value) const
  {
    EXPECT_EQ(value ? setenv(m_Name, value, 1) : unsetenv(m_Name), 0);
  }

  const char *      m_Name;
  const bool        m_WasSet;
  const std::string m_Before;
};

TEST(OpenCLProgramCacheTest, FindsTheUsersFolder)
{
  const EnvironmentScope home("HOME", "/home/somebody");
  const EnvironmentScope cache("XDG_CACHE_HOME", nullptr);
  const EnvironmentScope chosen("GPUREG_OPENCL_CACHE", nullptr);
  EXPECT_EQ(OpenCLProgramCache::FindFolder("NVIDIA CUDA"), "/home/somebody/.cache/gpuregistration/opencl");
  {
    const EnvironmentScope relative("XDG_CACHE_HOME", "cache");
    EXPECT_EQ(OpenCLProgramCache::FindFolder("NVIDIA CUDA"), "/home/somebody/.cache/gpuregistration/opencl");
    const EnvironmentScope absolute("XDG_CACHE_HOME", "/cache");
    EXPECT_EQ(OpenCLProgramCache::FindFolder("NVIDIA CUDA"), "/cache/gpuregistration/opencl");
  }
  const EnvironmentScope nowhere("HOME", nullptr);
  EXPECT_EQ(OpenCLProgramCache::FindFolder("NVIDIA CUDA"), "");
}

TEST(OpenCLProgramCacheTest, GivesPoCLAFolderOnlyIfTheUserNamesOne)
{
  const std::string      pocl = "Portable Computing Language";
  const EnvironmentScope home("HOME", "/home/somebody");
  const EnvironmentScope cache("XDG_CACHE_HOME", "/cache");
  {
    const EnvironmentScope chosen("GPUREG_OPENCL_CACHE", nullptr);
    EXPECT_EQ(OpenCLProgramCache::FindFolder(pocl), "");
  }
  for (const std::string & platform : { pocl, std::string("NVIDIA CUDA") })
  {
    const EnvironmentScope chosen("GPUREG_OPENCL_CACHE", "/chosen");
    EXPECT_EQ(OpenCLProgramCache::FindFolder(platform), "/chosen");
    const EnvironmentScope off("GPUREG_OPENCL_CACHE", "off");
    EXPECT_EQ(OpenCLProgramCache::FindFolder(platform), "");
  }
}

TEST(OpenCLProgramCacheTest, GivesBackWhatWasStored)
{
  const TemporaryFolder    folder;
  const OpenCLProgramCache cache(folder.GetPath() / "made" / "when needed");
  const Bytes              binary{ 'a', 0, '\n', 255, 'b' };
  EXPECT_TRUE(cache.Load("key").empty());
  EXPECT_TRUE(cache.Store("key", binary));
  EXPECT_EQ(cache.Load("key"), binary);
  EXPECT_TRUE(cache.Load("another key").empty());
  EXPECT_TRUE(cache.Store("key", { 'c' }));
  EXPECT_EQ(cache.Load("key"), Bytes{ 'c' });
  EXPECT_EQ(ListFiles(folder.GetPath() / "made" / "when needed").size(), 1u);
}

TEST(OpenCLProgramCacheTest, TrustsNoBrokenEntry)
{
  const TemporaryFolder    folder;
  const OpenCLProgramCache cache(folder.GetPath());
  const std::string        key(200, 'k');
  const Bytes              binary(1000, 'b');
  ASSERT_TRUE(cache.Store(key, binary));
  for (const auto & broken : MakeBrokenCopies(ReadFile(cache.GetPath(key))))
  {
    WriteFile(cache.GetPath(key), broken.second);
    EXPECT_TRUE(cache.Load(key).empty()) << broken.first;
  }
  ASSERT_TRUE(cache.Store(key, binary));
  EXPECT_EQ(cache.Load(key), binary);
}

TEST(OpenCLProgramCacheTest, DoesWithoutAFolder)
{
  for (const char * folder : { "", "/proc/no/such/folder" })
  {
    const OpenCLProgramCache cache(folder);
    EXPECT_FALSE(cache.Store("key", { 'b' })) << folder;
    EXPECT_TRUE(cache.Load("key").empty()) << folder;
  }
}

TEST(OpenCLProgramCacheTest, MakesFoldersAndFilesForTheUserAlone)
{
  const OpenUmaskScope     open;
  const TemporaryFolder    parent;
  const auto               folder = parent.GetPath() / "made" / "when needed";
  const OpenCLProgramCache cache(folder);
  ASSERT_TRUE(cache.Store("key", { 'b' }));
  EXPECT_EQ(GetMode(parent.GetPath() / "made"), mode_t{ 0700 });
  EXPECT_EQ(GetMode(folder), mode_t{ 0700 });
  EXPECT_EQ(GetMode(cache.GetPath("key")), mode_t{ 0600 });
}

TEST_F(OpenCLProgramCacheTrustTest, ReadsWhatOthersMayReadButNotWrite)
{
  chmod(m_Folder.c_str(), 0755);
  chmod(m_Entry.c_str(), 0644);
  EXPECT_EQ(m_Cache.Load("key"), m_Binary);
  EXPECT_TRUE(m_Cache.Store("key", { 'c' }));
  EXPECT_EQ(m_Cache.Load("key"), Bytes{ 'c' });
}

TEST_F(OpenCLProgramCacheTrustTest, NeitherReadsNorWritesWhereOthersMayWrite)
{
  for (const mode_t mode : { 0720, 0702, 0775, 01777 })
  {
    chmod(m_Folder.c_str(), mode);
    EXPECT_TRUE(m_Cache.Load("key").empty()) << std::oct << mode;
    EXPECT_FALSE(m_Cache.Store("another key", { 'c' })) << std::oct << mode;
    EXPECT_EQ(GetMode(m_Folder), mode);
  }
  EXPECT_EQ(ListFiles(m_Folder).size(), 1u);
}

TEST_F(OpenCLProgramCacheTrustTest, ReplacesAnEntryThatOthersMayWrite)
{
  for (const mode_t mode : { 0620, 0602, 0666 })
  {
    chmod(m_Entry.c_str(), mode);
    EXPECT_TRUE(m_Cache.Load("key").empty()) << std::oct << mode;
    EXPECT_TRUE(m_Cache.Store("key", m_Binary));
    EXPECT_EQ(m_Cache.Load("key"), m_Binary);
  }
}

TEST_F(OpenCLProgramCacheTrustTest, TrustsNothingOfSomebodyElse)
{
  if (geteuid() != 0)
  {
    GTEST_SKIP() << "only root can give files away";
  }
  const uid_t other = 65534;
  ASSERT_EQ(chown(m_Entry.c_str(), other, static_cast<gid_t>(-1)), 0);
  EXPECT_TRUE(m_Cache.Load("key").empty());
  EXPECT_TRUE(m_Cache.Store("key", m_Binary)) << "the folder is still this user's";
  EXPECT_EQ(m_Cache.Load("key"), m_Binary);

  ASSERT_EQ(chown(m_Folder.c_str(), other, static_cast<gid_t>(-1)), 0);
  EXPECT_TRUE(m_Cache.Load("key").empty());
  EXPECT_FALSE(m_Cache.Store("another key", { 'c' }));
  EXPECT_EQ(ListFiles(m_Folder).size(), 1u);
}

TEST_F(OpenCLProgramCacheTrustTest, FollowsALinkToAFolderButTrustsTheFolderItself)
{
  const std::filesystem::path link = m_Parent.GetPath() / "link";
  std::filesystem::create_directory_symlink(m_Folder, link);
  const OpenCLProgramCache linked(link);
  EXPECT_EQ(linked.Load("key"), m_Binary);
  EXPECT_TRUE(linked.Store("another key", { 'c' }));
  EXPECT_EQ(m_Cache.Load("another key"), Bytes{ 'c' });

  chmod(m_Folder.c_str(), 0777);
  EXPECT_TRUE(linked.Load("key").empty());
  EXPECT_FALSE(linked.Store("key", { 'c' }));
}

TEST_F(OpenCLProgramCacheTrustTest, FollowsNoLinkInTheFolder)
{
  const std::filesystem::path elsewhere = m_Parent.GetPath() / "elsewhere";
  std::filesystem::rename(m_Entry, elsewhere);
  std::filesystem::create_symlink(elsewhere, m_Entry);
  EXPECT_TRUE(m_Cache.Load("key").empty());
  EXPECT_TRUE(m_Cache.Store("key", { 'c' }));
  EXPECT_FALSE(std::filesystem::is_symlink(m_Entry));
  EXPECT_NE(ReadFile(elsewhere), ReadFile(m_Entry)) << "a link was written through";
}

TEST_F(OpenCLProgramCacheTrustTest, WaitsForNoFifo)
{
  std::filesystem::remove(m_Entry);
  ASSERT_EQ(mkfifo(m_Entry.c_str(), 0600), 0);
  EXPECT_TRUE(m_Cache.Load("key").empty());
  EXPECT_TRUE(m_Cache.Store("key", m_Binary));
  EXPECT_EQ(m_Cache.Load("key"), m_Binary);
}

TEST_F(OpenCLProgramCacheTrustTest, WhatCannotBeReadIsAbsent)
{
  std::filesystem::remove(m_Entry);
  std::filesystem::create_directory(m_Entry);
  EXPECT_NO_THROW(EXPECT_TRUE(m_Cache.Load("key").empty())) << "a folder";
  EXPECT_FALSE(m_Cache.Store("key", m_Binary));
  EXPECT_EQ(ListFiles(m_Folder).size(), 1u) << "a file that could not be moved to its place was left behind";

  std::filesystem::remove(m_Entry);
  ASSERT_TRUE(m_Cache.Store("key", m_Binary));
  ASSERT_EQ(truncate(m_Entry.c_str(), off_t{ 1 } << 40), 0);
  EXPECT_NO_THROW(EXPECT_TRUE(m_Cache.Load("key").empty())) << "more than there is memory for";
  EXPECT_TRUE(m_Cache.Store("key", m_Binary));
}

TEST_F(OpenCLProgramCacheTrustTest, AFolderThatIsNoneIsNotUsed)
{
  const std::filesystem::path fifo = m_Parent.GetPath() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::filesystem::path & path : { fifo, m_Entry })
  {
    const OpenCLProgramCache cache(path);
    EXPECT_TRUE(cache.Load("key").empty()) << path;
    EXPECT_FALSE(cache.Store("key", { 'c' })) << path;
  }
}

} // namespace
