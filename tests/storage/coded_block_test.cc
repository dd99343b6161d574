// SPDX-License-Identifier: Apache-2.0
// Blocks in another scheme than exact: what goes in as the pool's bytes comes back as the codec's, under the same
// checks as any block, and never as an answer to who asked for another scheme.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cpu/kernel_set.h"
#include "kernels/layout/checksum.h"
#include "kernels/layout/half.h"
#include "storage/block_coder.h"
#include "storage/sealed_block.h"
#include "storage/store_index.h"
#include "tests/storage/memory_disk.h"
#include "tests/storage/store_rig.h"
#include "tests/storage/temp_folder.h"

namespace larder::storage {
namespace {

using kernels::KvLayout;
using kernels::KvScheme;
using test::block_of;
using test::config_in;
using test::StoreRig;

constexpr KvLayout kHalves{6, 2, 64, kernels::KvType::kF16};
constexpr KvLayout kFloats{3, 1, 32, kernels::KvType::kF32};

const kernels::KvCodecKernels& codec() { return kernels::select_kernels(kernels::IsaRequest::kAuto)->codec; }

StoredBlock coded_block(KvScheme scheme, const KvLayout& layout, std::uint64_t chain, std::uint64_t n,
                        std::uint32_t valid = kernels::kBlockTokens) {
  StoredBlock block = block_of(chain, n, static_cast<std::uint32_t>(layout.slice_count()),
                               static_cast<std::uint32_t>(kernels::coded_slice_bytes(scheme, layout)));
  block.scheme = static_cast<std::uint32_t>(scheme);
  block.valid_tokens = valid;
  std::fill(block.tokens.begin() + valid, block.tokens.end(), 0);
  return block;
}

// What the pool holds of it: values of about one, zeros past the valid tokens.
std::vector<std::byte> pool_bytes(const StoredBlock& block, const KvLayout& layout) {
  std::vector<std::byte> bytes(layout.block_bytes());
  const std::size_t width = kernels::kv_element_bytes(layout.type);
  const std::size_t side = std::size_t{kernels::kBlockTokens} * layout.d_head;
  for (std::size_t i = 0; i < bytes.size() / width; ++i) {
    const std::size_t in_slice = i % (2 * side);
    const std::size_t token = in_slice < side ? in_slice / layout.d_head : in_slice % kernels::kBlockTokens;
    if (token >= block.valid_tokens) continue;
    const auto value = static_cast<float>(Rng::at(7, block.key[0] + 256u * block.key[1], i) >> 40) * 0x1p-23f - 1;
    const std::uint16_t half = kernels::f32_to_f16(value);
    if (width == 2) std::memcpy(bytes.data() + 2 * i, &half, 2);
    if (width == 4) std::memcpy(bytes.data() + 4 * i, &value, 4);
  }
  return bytes;
}

// What the codec itself makes of them, slice by slice in memory apart.
std::vector<std::byte> round_trip(const std::vector<std::byte>& exact, KvScheme scheme, const KvLayout& layout) {
  std::vector<std::byte> out(exact.size());
  std::vector<std::byte> coded(kernels::coded_slice_bytes(scheme, layout));
  std::vector<std::byte> scratch(kernels::kv_codec_scratch_bytes(layout));
  for (std::size_t at = 0; at < exact.size(); at += layout.slice_bytes()) {
    EXPECT_EQ(codec().encode({layout, scheme, exact.data() + at, coded.data(), scratch.data()}), 0u);
    codec().decode({layout, scheme, coded.data(), out.data() + at, scratch.data()});
  }
  return out;
}

StoreConfig with_codec(const std::string& folder) {
  StoreConfig config = config_in(folder);
  config.codec = codec();
  return config;
}

class CodedBlocks : public ::testing::Test {
 protected:
  CodedBlocks() : disk_(open_disk(IoPath::kThreads).value()), rig_(*disk_) {
    EXPECT_TRUE(rig_.open(with_codec(folder_.path()))) << rig_.error();
  }

  StoreEvent put(const StoredBlock& block, const KvLayout& layout, const std::vector<std::byte>& bytes,
                 std::uint64_t checksum = 0) {
    PutBlock put{block, bytes, checksum, true, rig_.ticket(), layout};
    EXPECT_EQ(rig_.store().put({&put, 1}), 1u);
    return rig_.wait({put.ticket})[put.ticket];
  }
  StoreEvent put(const StoredBlock& block, const KvLayout& layout) {
    return put(block, layout, pool_bytes(block, layout));
  }

  struct Got {
    StoreEvent event;
    std::vector<std::byte> bytes;
    bool zero() const {
      return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
    }
  };
  Got get(const StoredBlock& block, const KvLayout& layout) {
    Got got;
    got.bytes.resize(static_cast<std::size_t>(BlockCoder::exact_bytes(block, layout)));
    GetBlock get{block, got.bytes, rig_.ticket(), layout};
    EXPECT_EQ(rig_.store().get({&get, 1}), 1u);
    got.event = rig_.wait({get.ticket})[get.ticket];
    return got;
  }
  void reopen(StoreConfig config) {
    rig_.close();
    ASSERT_TRUE(rig_.open(std::move(config))) << rig_.error();
  }

  const test::TempFolder folder_;
  const std::unique_ptr<Disk> disk_;
  StoreRig rig_;
};

TEST_F(CodedBlocks, ComeBackAsTheCodecMakesThemAlsoAfterARestart) {
  std::uint64_t chain = 1;
  std::vector<std::pair<StoredBlock, KvLayout>> stored;
  for (const KvScheme scheme : {KvScheme::kInt8, KvScheme::kInt4}) {
    for (const KvLayout& layout : {kHalves, kFloats}) {
      for (const std::uint32_t valid : {32u, 17u}) {
        const StoredBlock block = coded_block(scheme, layout, chain++, 0, valid);
        const std::vector<std::byte> exact = pool_bytes(block, layout);
        const StoreEvent event = put(block, layout, exact, kernels::block_checksum(layout, exact.data()));
        ASSERT_EQ(event.kind, StoreEvent::Kind::kDurable) << refusal_name(event.refusal);
        EXPECT_EQ(event.scheme, block.scheme);
        EXPECT_EQ(event.bytes, extent_bytes(block.slice_count, block.slice_bytes));
        stored.emplace_back(block, layout);
      }
    }
  }
  for (const bool restarted : {false, true}) {
    if (restarted) reopen(with_codec(folder_.path()));
    for (const auto& [block, layout] : stored) {
      const std::vector<std::byte> exact = pool_bytes(block, layout);
      const Got got = get(block, layout);
      ASSERT_EQ(got.event.kind, StoreEvent::Kind::kRead) << miss_name(got.event.miss);
      EXPECT_EQ(got.event.scheme, block.scheme);
      EXPECT_EQ(got.bytes, round_trip(exact, static_cast<KvScheme>(block.scheme), layout));
      EXPECT_NE(got.bytes, exact);
      EXPECT_EQ(got.event.checksum, kernels::block_checksum(layout, got.bytes.data()));
    }
    const auto listing = rig_.list();
    ASSERT_EQ(listing->blocks.size(), stored.size());
    std::map<std::uint32_t, std::uint64_t> listed;
    for (const StoredBlock& block : listing->blocks) ++listed[block.scheme];
    EXPECT_EQ(listed, (std::map<std::uint32_t, std::uint64_t>{{1, 4}, {2, 4}}));
  }
}

TEST_F(CodedBlocks, AreCountedByTheirSchemeAndTheCountsSumUp) {
  const StoredBlock blocks[] = {
      coded_block(KvScheme::kExact, kHalves, 1, 0), coded_block(KvScheme::kInt8, kHalves, 2, 0),
      coded_block(KvScheme::kInt8, kHalves, 3, 0), coded_block(KvScheme::kInt4, kHalves, 4, 0)};
  for (const StoredBlock& block : blocks) ASSERT_EQ(put(block, kHalves).refusal, Refusal::kNone);
  const auto expect_counts = [&](std::uint64_t int8) {
    const StoreCounters counters = rig_.store().counters();
    std::uint64_t bytes = 0;
    for (const SchemeCount& count : counters.by_scheme) bytes += count.bytes;
    EXPECT_EQ(bytes, counters.block_bytes);
    EXPECT_EQ(counters.by_scheme[0].blocks, 1u);
    EXPECT_EQ(counters.by_scheme[1].blocks, int8);
    EXPECT_EQ(counters.by_scheme[1].bytes, int8 * extent_bytes(blocks[1].slice_count, blocks[1].slice_bytes));
    EXPECT_EQ(counters.by_scheme[2].bytes, extent_bytes(blocks[3].slice_count, blocks[3].slice_bytes));
    EXPECT_EQ(counters.by_scheme[3].blocks, 0u);
  };
  expect_counts(2);
  const std::uint64_t ticket = rig_.ticket();
  ASSERT_TRUE(rig_.store().remove(blocks[1].scope, {blocks[1].key}, ticket));
  rig_.wait({ticket});
  expect_counts(1);
  reopen(with_codec(folder_.path()));
  expect_counts(1);
}

TEST(StoreIndexSchemes, ASchemeOfANewerProgramIsCountedApart) {
  StoreIndex index(nullptr);
  StoredBlock block = block_of(1, 0);
  block.scheme = 77;
  index.insert(block, {1, 0}, 1, 8192);
  index.set_durable(*index.find(block.scope, block.key));
  EXPECT_EQ(index.durable_by_scheme().back().bytes, 8192u);
  index.erase(block.key);
  EXPECT_EQ(index.durable_by_scheme().back().blocks, 0u);
}

TEST_F(CodedBlocks, AnotherSchemeThanAskedForIsAMissThatNamesWhatIsThere) {
  const KvScheme schemes[] = {KvScheme::kExact, KvScheme::kInt8, KvScheme::kInt4};
  for (const KvScheme there : schemes) {
    const std::uint64_t chain = 10 + static_cast<std::uint64_t>(there);
    ASSERT_EQ(put(coded_block(there, kHalves, chain, 0), kHalves).refusal, Refusal::kNone);
    for (const KvScheme asked : schemes) {
      const Got got = get(coded_block(asked, kHalves, chain, 0), kHalves);
      if (asked == there) {
        EXPECT_EQ(got.event.kind, StoreEvent::Kind::kRead);
        continue;
      }
      EXPECT_EQ(got.event.miss, Miss::kWrongScheme);
      EXPECT_EQ(got.event.scheme, static_cast<std::uint32_t>(there));
      EXPECT_TRUE(got.zero());
    }
    // The miss did not harm it.
    EXPECT_EQ(get(coded_block(there, kHalves, chain, 0), kHalves).event.kind, StoreEvent::Kind::kRead);
  }
  EXPECT_STREQ(miss_name(Miss::kWrongScheme), "wrong_scheme");
  EXPECT_EQ(rig_.store().counters().missed[static_cast<std::size_t>(Miss::kWrongScheme)], 6u);
}

TEST_F(CodedBlocks, WhatCannotBeCodedIsRefusedByName) {
  const StoredBlock block = coded_block(KvScheme::kInt8, kHalves, 1, 0);
  std::vector<std::byte> bytes = pool_bytes(block, kHalves);
  EXPECT_EQ(put(block, kHalves, bytes, 1).refusal, Refusal::kSourceCorrupt);
  const std::uint16_t infinite = 0x7c00;
  std::memcpy(bytes.data() + bytes.size() - 2, &infinite, sizeof infinite);
  EXPECT_EQ(put(block, kHalves, bytes).refusal, Refusal::kNotFinite);
  bytes.resize(bytes.size() - 64);
  EXPECT_EQ(put(block, kHalves, bytes).refusal, Refusal::kBadShape);
  StoredBlock odd = block;
  odd.slice_bytes += 64;
  EXPECT_EQ(put(odd, kHalves).refusal, Refusal::kNoCodec);
  odd = block;
  odd.scheme = 9;
  EXPECT_EQ(put(odd, kHalves).refusal, Refusal::kNoCodec);
  const KvLayout no_power{6, 2, 96, kernels::KvType::kF16};
  EXPECT_EQ(put(coded_block(KvScheme::kInt4, no_power, 1, 0), no_power).refusal, Refusal::kNoCodec);
  EXPECT_EQ(rig_.store().counters().blocks, 0u);
  EXPECT_EQ(put(block, kHalves).refusal, Refusal::kNone) << "none of the refusals left a trace";
  EXPECT_STREQ(refusal_name(Refusal::kNoCodec), "no_codec");
  EXPECT_STREQ(refusal_name(Refusal::kNotFinite), "not_finite");
}

TEST_F(CodedBlocks, AStoreWithoutCodecsKeepsThemAndDoesNotAnswer) {
  const StoredBlock block = coded_block(KvScheme::kInt4, kHalves, 1, 0);
  ASSERT_EQ(put(block, kHalves).refusal, Refusal::kNone);
  reopen(config_in(folder_.path()));
  const Got got = get(block, kHalves);
  EXPECT_EQ(got.event.miss, Miss::kNoCodec);
  EXPECT_TRUE(got.zero());
  EXPECT_EQ(put(coded_block(KvScheme::kInt8, kHalves, 2, 0), kHalves).refusal, Refusal::kNoCodec);
  EXPECT_EQ(rig_.list()->blocks.size(), 1u);
  reopen(with_codec(folder_.path()));
  EXPECT_EQ(get(block, kHalves).event.kind, StoreEvent::Kind::kRead);
}

// Every 61st stored byte changed, one after another: what is coded is verified before it is decoded.
TEST_F(CodedBlocks, DamageIsAMissAndNothingOfItIsDecoded) {
  const StoredBlock block = coded_block(KvScheme::kInt4, kFloats, 1, 0);
  ASSERT_EQ(put(block, kFloats).refusal, Refusal::kNone);
  rig_.close();
  const std::string whole = folder_.read("segments/00000001.seg");
  const std::size_t stored = 64 + 320 + block.payload_bytes() + 16;
  ASSERT_GT(whole.size(), 4096 + stored);
  std::size_t cases = 0;
  for (std::size_t at = 4096; at < 4096 + stored; at += 61, ++cases) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    folder_.write("segments/00000001.seg", damaged);
    test::StoreRig* rig = &rig_;
    const std::string catalog = folder_.read("catalog.db");
    ASSERT_TRUE(rig->open(with_codec(folder_.path()))) << rig->error();
    const Got got = get(block, kFloats);
    EXPECT_TRUE(is_damage(got.event.miss)) << at << " " << miss_name(got.event.miss);
    EXPECT_TRUE(got.zero()) << at;
    rig->close();
    folder_.write("segments/00000001.seg", whole);
    folder_.write("catalog.db", catalog);
  }
  EXPECT_GT(cases, 40u);
  ASSERT_TRUE(rig_.open(with_codec(folder_.path())));
  EXPECT_EQ(get(block, kFloats).event.kind, StoreEvent::Kind::kRead);
}

}  // namespace
}  // namespace larder::storage
