// SPDX-License-Identifier: Apache-2.0
// Every allocation of opening a model file fails once: no file stays open, nothing is left behind (the sanitizer build
// counts), and the next attempt opens it; a file that is refused is refused then too.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runtime/gguf/file.h"
#include "test_paths.h"
#include "tests/support/failing_memory.h"

namespace larder::gguf {
namespace {

std::size_t open_files() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) count += entry.exists() ? 1 : 0;
  return count;
}

const std::string kModel = std::string(LARDER_TEST_DATA) + "/models-tiny/stories260K-f32.gguf";

TEST(GgufMemory, EveryAllocationOfOpeningAModelMayFail) {
  const std::size_t before = open_files();
  std::size_t keys = 0;
  std::size_t tensors = 0;
  const std::uint64_t failures = test::each_allocation(
      [&] {
        const auto file = File::open(kModel);
        if (!file.ok()) return;
        keys = (*file)->entries().size();
        tensors = (*file)->tensors().size();
      },
      [&] {
        EXPECT_EQ(keys, 0u);
        EXPECT_EQ(open_files(), before);
      });
  EXPECT_GT(failures, 20u);
  EXPECT_EQ(tensors, 48u);
  EXPECT_GT(keys, 10u);
  EXPECT_EQ(open_files(), before);
}

TEST(GgufMemory, EveryAllocationOfRefusingAFileMayFail) {
  const std::string path = (std::filesystem::temp_directory_path() / "larder_gguf_memory.gguf").string();
  std::ifstream in(kModel, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  bytes.resize(bytes.size() / 2);
  std::ofstream(path, std::ios::binary) << bytes;
  const std::size_t before = open_files();
  std::optional<ErrorCode> refused;
  const std::uint64_t failures = test::each_allocation(
      [&] {
        const auto file = File::open(path);
        refused = file.ok() ? ErrorCode::kInternal : file.error().code;
      },
      [&] { EXPECT_EQ(open_files(), before); });
  std::filesystem::remove(path);
  EXPECT_GT(failures, 20u);
  EXPECT_EQ(refused, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace larder::gguf
