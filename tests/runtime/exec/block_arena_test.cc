// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/block_arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

namespace larder::exec {
namespace {

// 2 layers, 2 heads of 64 in f16: 32 KiB a block.
kernels::KvLayout layout() {
  kernels::KvLayout layout;
  layout.n_layers = 2;
  layout.n_kv_heads = 2;
  layout.d_head = 64;
  layout.type = kernels::KvType::kF16;
  return layout;
}

std::size_t resident_pages(const BlockArena& arena, BlockId first, std::uint32_t blocks) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = blocks * arena.layout().block_bytes();
  std::vector<unsigned char> in_memory((bytes + page - 1) / page);
  EXPECT_EQ(mincore(arena.block(first), bytes, in_memory.data()), 0);
  std::size_t pages = 0;
  for (const unsigned char each : in_memory) pages += each & 1u;
  return pages;
}

TEST(BlockArena, SetsAddressesAsideAndTakesNoMemoryForThem) {
  constexpr std::uint32_t kMost = 4u << 20;  // 128 GiB
  Result<BlockArena> arena = BlockArena::create(layout(), 8, kMost);
  ASSERT_TRUE(arena.ok()) << arena.error().message;
  EXPECT_EQ(arena->block_count(), 8u);
  EXPECT_EQ(resident_pages(*arena, BlockId{kMost - 512}, 512), 0u);
  ASSERT_TRUE(arena->grow(kMost).ok());
  EXPECT_EQ(arena->block_count(), kMost);
  ASSERT_TRUE(arena->grow(4).ok());
  EXPECT_EQ(arena->block_count(), kMost);
  std::memset(arena->block(BlockId{kMost - 1}), 1, arena->layout().block_bytes());
  const Status more = arena->grow(kMost + 1);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, ErrorCode::kResourceExhausted);
  EXPECT_NE(more.error().message.find("4194305"), std::string::npos) << more.error().message;
}

TEST(BlockArena, GivesTheMemoryOfBlocksBackAndNoOther) {
  Result<BlockArena> made = BlockArena::create(layout(), 64, 64);
  ASSERT_TRUE(made.ok());
  const BlockArena& arena = *made;
  std::memset(arena.block(BlockId{0}), 7, 64 * layout().block_bytes());
  std::vector<BlockId> gone;
  for (std::uint32_t id = 40; id > 16; --id) gone.push_back(BlockId{id - 1});  // 16 to 39, in any order
  arena.give_back(gone);
  EXPECT_EQ(resident_pages(arena, BlockId{16}, 24), 0u);
  for (std::uint32_t id = 0; id < 64; ++id) {
    const int expected = id >= 16 && id < 40 ? 0 : 7;
    for (std::size_t at = 0; at < layout().block_bytes(); at += 64) {
      ASSERT_EQ(static_cast<int>(arena.block(BlockId{id})[at]), expected) << "block " << id;
    }
  }
}

}  // namespace
}  // namespace larder::exec
