// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/pool_limit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/runtime/kv/cache_world.h"

namespace larder::engine {
namespace {

using kv::test::CacheWorld;
using kv::test::tokens_from;

// Remembers which blocks lost their memory.
class Device final : public exec::Executor {
 public:
  explicit Device(std::uint32_t most, std::uint32_t heads = 1) : most_(most), heads_(heads) {}
  const exec::DeviceInfo& info() const override { return info_; }
  kernels::KvLayout layout() const override { return {1, heads_, 64, kernels::KvType::kF16}; }
  std::uint32_t block_count() const override { return most_; }
  Status grow(std::uint32_t count) override {
    if (count <= most_) return {};
    return Error{ErrorCode::kResourceExhausted, "the device has " + std::to_string(most_) + " blocks", "pool.bytes"};
  }
  void release_blocks(std::span<const BlockId> blocks) override {
    released.insert(released.end(), blocks.begin(), blocks.end());
    largest_slice = std::max(largest_slice, blocks.size());
  }
  void submit(exec::Step) override {}
  void abort(std::uint64_t) override {}
  Status read_block(BlockId, std::span<std::byte>) const override { return {}; }
  Status write_block(BlockId, std::span<const std::byte>) override { return {}; }
  std::span<std::byte> host_memory(BlockId) override { return {}; }

  std::vector<BlockId> released;
  std::size_t largest_slice = 0;

 private:
  std::uint32_t most_;
  std::uint32_t heads_;
  exec::DeviceInfo info_{"cpu", "", ""};
};

TEST(PoolLimit, RaisesAtOnceAndAsksTheDevice) {
  CacheWorld world({.blocks = 8});
  Device device(12);
  PoolLimit limit(world.cache, device, world.clock);
  ASSERT_TRUE(limit.set(12).ok());
  EXPECT_EQ(world.cache.counts().pool.free, 12u);
  const Status more = limit.set(13);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(limit.blocks(), 12u);
  EXPECT_FALSE(limit.busy());
}

TEST(PoolLimit, CachedBlocksStayUntilTheirCopiesAreDurable) {
  CacheWorld world({.blocks = 16, .lower_tier = true});
  Device device(16);
  PoolLimit limit(world.cache, device, world.clock);
  world.serve(tokens_from(1, 320));
  ASSERT_TRUE(limit.set(4).ok());
  limit.turn(false);
  EXPECT_EQ(limit.excess(), 6u);
  EXPECT_EQ(device.released.size(), 6u) << "the free ones go at once";
  EXPECT_FALSE(limit.busy());
  world.store_all();
  limit.turn(true);
  EXPECT_EQ(limit.excess(), 0u);
  EXPECT_EQ(device.released.size(), 12u);
  EXPECT_EQ(world.cache.counts().cooled_blocks, 6u);
  EXPECT_EQ(world.cache.counts().evicted_blocks, 0u);
  EXPECT_EQ(world.cache.audit(), "");
}

TEST(PoolLimit, ItDoesNotWaitForEverForCopies) {
  CacheWorld world({.blocks = 16, .lower_tier = true});
  Device device(16);
  PoolLimit limit(world.cache, device, world.clock);
  world.serve(tokens_from(1, 320));
  ASSERT_TRUE(limit.set(4).ok());
  world.clock.advance_ns(PoolLimit::kLongestWaitNs - 1);
  limit.turn(false);
  EXPECT_EQ(limit.excess(), 6u);
  world.clock.advance_ns(1);
  limit.turn(false);
  EXPECT_EQ(limit.excess(), 0u);
  EXPECT_EQ(world.cache.counts().evicted_blocks, 6u);
}

TEST(PoolLimit, GoesInSlicesAndRestsWhereAllIsInUse) {
  CacheWorld world({.blocks = 400});
  Device device(400, 1024);  // 8 MiB a block
  PoolLimit limit(world.cache, device, world.clock);
  world.serve(tokens_from(1, 300 * 32));
  kv::Claim running = world.open(tokens_from(100'000, 64));
  ASSERT_TRUE(world.run_prompt(running).ok());
  ASSERT_TRUE(limit.set(1).ok());
  int turns = 0;
  do {
    limit.turn(true);
    ++turns;
  } while (limit.busy() && turns < 1000);
  EXPECT_GT(turns, 80) << "98 free and 300 cached blocks, 4 of them a turn";
  EXPECT_LT(turns, 120);
  EXPECT_EQ(device.largest_slice, 4u);
  EXPECT_EQ(limit.excess(), 1u);
  (void)running.close(kv::CloseAs::kDone);
  limit.turn(true);
  EXPECT_EQ(limit.excess(), 0u);
  EXPECT_EQ(device.released.size(), 399u);
}

TEST(PoolLimit, BlocksThatComeBackIntoUseKeepTheirMemory) {
  CacheWorld world({.blocks = 64});
  Device device(64, 1024);
  PoolLimit limit(world.cache, device, world.clock);
  ASSERT_TRUE(limit.set(1).ok());
  limit.turn(true);
  ASSERT_TRUE(limit.busy());
  const std::size_t before = device.released.size();
  ASSERT_TRUE(limit.set(64).ok());
  while (limit.busy()) limit.turn(true);
  EXPECT_EQ(device.released.size(), before);
  EXPECT_EQ(world.cache.counts().pool.free, 64u);
}

}  // namespace
}  // namespace larder::engine
