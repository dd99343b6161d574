// SPDX-License-Identifier: Apache-2.0
#include "storage/block_store.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "storage/store_reader.h"
#include "tests/storage/store_rig.h"
#include "tests/storage/temp_folder.h"

namespace larder::storage {
namespace {

using test::block_of;
using test::config_in;
using test::payload_of;
using test::scope_of;
using test::StoreRig;

class BlockStores : public ::testing::TestWithParam<IoPath> {
 protected:
  void SetUp() override {
    auto disk = open_disk(GetParam());
    if (!disk.ok()) GTEST_SKIP() << to_string(disk.error());
    disk_ = std::move(*disk);
    rig_ = std::make_unique<StoreRig>(*disk_);
    ASSERT_TRUE(rig_->open(config_in(folder_.path()), 3)) << rig_->error();
  }
  void reopen(std::uint64_t scopes = 3) {
    rig_->close();
    rig_ = std::make_unique<StoreRig>(*disk_);
    ASSERT_TRUE(rig_->open(config_in(folder_.path()), scopes)) << rig_->error();
  }
  std::uint64_t bytes_of_files() const {
    std::uint64_t bytes = 0;
    for (const auto& [name, content] : folder_.all()) {
      struct stat facts {};
      EXPECT_EQ(::stat(folder_.file(name).c_str(), &facts), 0);
      if (S_ISREG(facts.st_mode)) bytes += static_cast<std::uint64_t>(facts.st_blocks) * 512;
    }
    return bytes;
  }
  // A file system may take a page of its own for a file's map, when it writes the file back and not before.
  void expect_counted() const {
    constexpr double kPage = 4096;
    EXPECT_NEAR(static_cast<double>(rig_->store().counters().bytes_on_disk), static_cast<double>(bytes_of_files()),
                kPage * static_cast<double>(folder_.all().size()));
  }
  std::string segment(std::uint32_t id = 1) const { return "segments/0000000" + std::to_string(id) + ".seg"; }

  const test::TempFolder folder_;
  std::unique_ptr<Disk> disk_;
  std::unique_ptr<StoreRig> rig_;
};
INSTANTIATE_TEST_SUITE_P(Paths, BlockStores, ::testing::Values(IoPath::kUring, IoPath::kThreads), [](const auto& path) {
  return path.param == IoPath::kUring ? "Uring" : "Threads";
});

TEST_P(BlockStores, BlocksComeBackBitForBitAlsoAfterARestart) {
  std::vector<StoredBlock> blocks;
  for (std::uint64_t n = 0; n < 40; ++n) blocks.push_back(block_of(1, n));
  for (std::uint64_t n = 0; n < 3; ++n) blocks.push_back(block_of(2, n, 40, 32'768, 2));  // several pieces each
  ASSERT_EQ(rig_->put_all(blocks), blocks.size());
  for (int restart = 0; restart < 2; ++restart) {
    for (const StoredBlock& block : blocks) {
      const StoreRig::Read read = rig_->get(block);
      ASSERT_EQ(read.miss, Miss::kNone);
      ASSERT_TRUE(read.right);
      ASSERT_EQ(read.checksum, test::checksum_of(block, payload_of(block)));
    }
    EXPECT_EQ(rig_->store().counters().blocks, blocks.size());
    expect_counted();
    reopen();
  }
}

TEST_P(BlockStores, ManyReadsAtOnceAllCome) {
  std::vector<StoredBlock> blocks;
  for (std::uint64_t n = 0; n < 30; ++n) blocks.push_back(block_of(1, n, 10, 65'536));
  ASSERT_EQ(rig_->put_all(blocks), blocks.size());
  std::vector<std::vector<std::byte>> into(blocks.size());
  std::vector<GetBlock> gets;
  std::set<std::uint64_t> tickets;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    into[i].resize(blocks[i].payload_bytes());
    gets.push_back({blocks[i], into[i], rig_->ticket()});
    tickets.insert(gets.back().ticket);
  }
  ASSERT_EQ(rig_->store().get(gets), gets.size());
  for (const auto& [ticket, event] : rig_->wait(tickets)) EXPECT_EQ(event.kind, StoreEvent::Kind::kRead);
  for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT_EQ(into[i], payload_of(blocks[i]));
  const StoreCounters counters = rig_->store().counters();
  EXPECT_EQ(counters.read_blocks, blocks.size());
  EXPECT_EQ(counters.queued_gets, 0u);
}

// A disk whose first reading queue gives no answer until it is released.
class GatedDisk final : public Disk {
 public:
  explicit GatedDisk(Disk& disk) : disk_(disk) {}
  void release() {
    MutexLock lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void pass() {
    MutexLock lock(mutex_);
    while (!open_) opened_.wait(mutex_);
  }

  Result<std::unique_ptr<DiskFile>> open(const std::string& path, OpenAs as, bool direct) override {
    return disk_.open(path, as, direct);
  }
  Status make_folder(const std::string& path) override { return disk_.make_folder(path); }
  Status remove(const std::string& path) override { return disk_.remove(path); }
  Status sync_folder(const std::string& path) override { return disk_.sync_folder(path); }
  Result<std::vector<std::string>> list(const std::string& folder) override { return disk_.list(folder); }
  Result<bool> exists(const std::string& path) override { return disk_.exists(path); }
  Result<Space> space(const std::string& path) override { return disk_.space(path); }
  std::unique_ptr<DiskQueue> make_queue(std::size_t pieces) override;
  std::string io_path() const override { return disk_.io_path(); }

 private:
  Disk& disk_;
  Mutex mutex_;
  CondVar opened_;
  bool open_ GUARDED_BY(mutex_) = false;
  bool gated_ = false;
};

class GatedQueue final : public DiskQueue {
 public:
  GatedQueue(GatedDisk& disk, std::unique_ptr<DiskQueue> queue) : disk_(disk), queue_(std::move(queue)) {}
  std::size_t pieces() const override { return queue_->pieces(); }
  std::span<std::byte> piece(std::size_t index) override { return queue_->piece(index); }
  void submit(const DiskOp& op) override { queue_->submit(op); }
  DiskDone wait() override {
    disk_.pass();
    return queue_->wait();
  }

 private:
  GatedDisk& disk_;
  const std::unique_ptr<DiskQueue> queue_;
};

std::unique_ptr<DiskQueue> GatedDisk::make_queue(std::size_t pieces) {
  if (pieces != kReadPieces || gated_) return disk_.make_queue(pieces);
  gated_ = true;
  return std::make_unique<GatedQueue>(*this, disk_.make_queue(pieces));
}

TEST_P(BlockStores, WhatOneReaderCannotTakeAnotherOneReads) {
  rig_->close();
  GatedDisk gated(*disk_);
  StoreRig rig(gated);
  ASSERT_TRUE(rig.open(config_in(folder_.path()))) << rig.error();
  std::vector<StoredBlock> blocks;
  for (std::uint64_t n = 0; n < 24; ++n) blocks.push_back(block_of(1, n, 8, 8192));  // a piece each
  ASSERT_EQ(rig.put_all(blocks), blocks.size());
  std::vector<std::vector<std::byte>> into(blocks.size());
  std::vector<GetBlock> gets;
  std::set<std::uint64_t> all;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    into[i].resize(blocks[i].payload_bytes());
    gets.push_back({blocks[i], into[i], rig.ticket()});
    all.insert(gets.back().ticket);
  }
  ASSERT_EQ(rig.store().get(gets), gets.size());
  const std::size_t others = blocks.size() - kReadPieces;  // the first reader holds as many as it has pieces for
  const auto deadline = deadline_after(std::chrono::seconds(30));
  while (rig.store().counters().read_blocks < others && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(rig.store().counters().read_blocks, others);
  gated.release();
  for (const auto& [ticket, event] : rig.wait(all)) EXPECT_EQ(event.kind, StoreEvent::Kind::kRead);
  for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT_EQ(into[i], payload_of(blocks[i]));
  rig.close();
}

TEST(SharedRate, CountsTheTimeOfSeveralOnce) {
  SharedRate rate;
  EXPECT_EQ(rate.per_s(), 0);
  rate.begin(1'000'000);
  rate.begin(1'000'000);
  rate.add(1000, 2'000'000);
  rate.add(1000, 2'000'000);
  EXPECT_DOUBLE_EQ(rate.per_s(), 2e6);  // 2,000 bytes in a millisecond
  rate.end(2'000'000);
  rate.add(2000, 4'000'000);
  rate.end(4'000'000);
  EXPECT_NEAR(rate.per_s(), 4e6 / 3, 1);
  rate.begin(900'000'000);  // nobody worked in between
  rate.add(4000, 901'000'000);
  EXPECT_NEAR(rate.per_s(), 2e6, 1);
}

TEST_P(BlockStores, RefusalsAreTyped) {
  EXPECT_EQ(rig_->put(block_of(1, 1)), Refusal::kParentMissing);
  EXPECT_EQ(rig_->put(block_of(1, 0)), Refusal::kNone);
  EXPECT_EQ(rig_->put(block_of(1, 0)), Refusal::kAlreadyThere);
  EXPECT_EQ(rig_->put(block_of(7, 0, 4, 1024, 9)), Refusal::kUnknownScope);
  StoredBlock bad = block_of(7, 0);
  bad.valid_tokens = 0;
  EXPECT_EQ(rig_->put(bad), Refusal::kBadShape);
  EXPECT_EQ(rig_->put(block_of(3, 0), true, 12345), Refusal::kSourceCorrupt);
  EXPECT_EQ(rig_->put(block_of(3, 0), true, test::checksum_of(block_of(3, 0), payload_of(block_of(3, 0)))),
            Refusal::kNone);
  rig_->store().set_mode(StoreMode::kFrozen);
  EXPECT_EQ(rig_->put(block_of(4, 0)), Refusal::kFrozen);
  EXPECT_TRUE(rig_->get(block_of(1, 0)).right);
  rig_->store().set_mode(StoreMode::kBypassed);
  EXPECT_EQ(rig_->put(block_of(4, 0)), Refusal::kBypassed);
  EXPECT_EQ(rig_->get(block_of(1, 0)).miss, Miss::kBypassed);
  rig_->store().set_mode(StoreMode::kOn);
  const StoreCounters counters = rig_->store().counters();
  EXPECT_EQ(counters.refused[static_cast<std::size_t>(Refusal::kFrozen)], 1u);
  EXPECT_EQ(counters.missed[static_cast<std::size_t>(Miss::kBypassed)], 1u);
  EXPECT_EQ(counters.blocks, 2u);
}

TEST_P(BlockStores, AReadThatExpectsSomethingElseMissesByNameAndKeepsTheBlock) {
  const StoredBlock block = block_of(1, 0);
  ASSERT_EQ(rig_->put(block), Refusal::kNone);
  const auto miss_with = [&](auto change) {
    StoredBlock wanted = block;
    change(wanted);
    const StoreRig::Read read = rig_->get(wanted);
    EXPECT_TRUE(read.zero);
    return read.miss;
  };
  EXPECT_EQ(miss_with([](StoredBlock& b) { b.key = test::key_of(9, 9); }), Miss::kNotStored);
  EXPECT_EQ(miss_with([](StoredBlock& b) { b.scope = scope_of(2).id; }), Miss::kNotStored);
  EXPECT_EQ(miss_with([](StoredBlock& b) { b.scope = scope_of(9).id; }), Miss::kUnknownScope);
  EXPECT_EQ(miss_with([](StoredBlock& b) { b.identity[0] ^= 1; }), Miss::kWrongIdentity);
  EXPECT_EQ(miss_with([](StoredBlock& b) { b.parent[0] ^= 1; }), Miss::kWrongParent);
  EXPECT_EQ(miss_with([](StoredBlock& b) { b.first_position = 32; }), Miss::kWrongPosition);
  EXPECT_EQ(miss_with([](StoredBlock& b) { b.tokens[5] += 1; }), Miss::kWrongTokens);
  EXPECT_EQ(miss_with([](StoredBlock& b) { b.slice_count = 5; }), Miss::kWrongShape);
  EXPECT_TRUE(rig_->get(block).right);  // control: it is still there
  EXPECT_EQ(rig_->store().counters().damaged_blocks, 0u);
}

TEST_P(BlockStores, RemovedBlocksAreGoneAndTheirRoomIsUsedAgain) {
  std::vector<StoredBlock> blocks;
  for (std::uint64_t n = 0; n < 30; ++n) blocks.push_back(block_of(1, n));
  ASSERT_EQ(rig_->put_all(blocks), 30u);
  rig_->flush();  // so that the catalog's log is short in both pictures
  const std::uint64_t before = rig_->store().counters().bytes_on_disk;
  std::vector<BlockKey> keys;
  for (std::uint64_t n = 10; n < 30; ++n) keys.push_back(blocks[n].key);
  const std::uint64_t ticket = rig_->ticket();
  ASSERT_TRUE(rig_->store().remove(scope_of(1).id, keys, ticket));
  EXPECT_EQ(rig_->wait({ticket})[ticket].error, "");
  EXPECT_EQ(rig_->get(blocks[10]).miss, Miss::kNotStored);
  EXPECT_TRUE(rig_->get(blocks[9]).right);
  for (std::uint64_t n = 0; n < 20; ++n) ASSERT_EQ(rig_->put(block_of(5, n)), Refusal::kNone);
  rig_->flush();
  EXPECT_EQ(rig_->store().counters().segment_files, 1u);
  EXPECT_LE(rig_->store().counters().bytes_on_disk, before);
  reopen();
  EXPECT_EQ(rig_->get(blocks[29]).miss, Miss::kNotStored);
  EXPECT_TRUE(rig_->get(block_of(5, 19)).right);
}

TEST_P(BlockStores, ListingTellsAllBlocksParentsFirstAndTheRecords) {
  for (std::uint64_t chain = 1; chain <= 3; ++chain) {
    for (std::uint64_t n = 0; n < 5; ++n) ASSERT_EQ(rig_->put(block_of(chain, n, 4, 1024, chain)), Refusal::kNone);
  }
  StoredBlock tail = block_of(1, 5);
  tail.valid_tokens = 3;
  std::fill(tail.tokens.begin() + 3, tail.tokens.end(), 0);
  ASSERT_EQ(rig_->put(tail), Refusal::kNone);
  const std::uint64_t put = rig_->ticket();
  ASSERT_TRUE(rig_->store().put_record({scope_of(2).id, 7, 11, {1, 2, 3}}, put));
  EXPECT_EQ(rig_->wait({put})[put].error, "");
  EXPECT_FALSE(rig_->store().put_record({scope_of(2).id, 7, 12, std::vector<std::uint8_t>(65'537)}, 1));
  for (int restart = 0; restart < 2; ++restart) {
    const auto all = rig_->list();
    EXPECT_EQ(all->blocks.size(), 16u);
    EXPECT_TRUE(std::is_sorted(all->blocks.begin(), all->blocks.end(), [](const auto& a, const auto& b) {
      return a.first_position < b.first_position;
    }));
    ASSERT_EQ(all->records.size(), 1u);
    EXPECT_EQ(all->records[0].bytes, (std::vector<std::uint8_t>{1, 2, 3}));
    const auto mine = rig_->list(scope_of(1).id, block_of(1, 0).identity);
    ASSERT_EQ(mine->blocks.size(), 6u);
    EXPECT_TRUE(mine->records.empty());
    EXPECT_EQ(mine->blocks[5].valid_tokens, 3u);
    EXPECT_EQ(mine->blocks[5].tokens, tail.tokens);
    EXPECT_EQ(mine->blocks[5].parent, tail.parent);
    EXPECT_TRUE(rig_->list({}, Digest256{})->blocks.empty());
    reopen();
  }
  const std::uint64_t gone = rig_->ticket();
  ASSERT_TRUE(rig_->store().remove_record(scope_of(2).id, 7, 11, gone));
  rig_->wait({gone});
  EXPECT_TRUE(rig_->list()->records.empty());
}

TEST_P(BlockStores, PinsSurviveARestart) {
  ASSERT_EQ(rig_->put(block_of(1, 0)), Refusal::kNone);
  ASSERT_EQ(rig_->put(block_of(1, 1)), Refusal::kNone);
  const std::uint64_t ticket = rig_->ticket();
  ASSERT_TRUE(rig_->store().set_pinned(scope_of(1).id, {block_of(1, 0).key}, true, ticket));
  EXPECT_EQ(rig_->wait({ticket})[ticket].error, "");
  reopen();
  EXPECT_EQ(rig_->store().counters().pinned_blocks, 1u);
  const auto all = rig_->list();
  EXPECT_TRUE(all->blocks[0].pinned);
  EXPECT_FALSE(all->blocks[1].pinned);
}

TEST_P(BlockStores, DamageOnDiskIsRefusedCountedAndHealsByWritingAgain) {
  const StoredBlock block = block_of(1, 0);
  ASSERT_EQ(rig_->put(block), Refusal::kNone);
  rig_->close();
  std::string file = folder_.read(segment());
  file[kDiskAlign + 5000] ^= 1;
  folder_.write(segment(), file);
  reopen();
  const StoreRig::Read read = rig_->get(block);
  EXPECT_EQ(read.miss, Miss::kNotAuthentic);
  EXPECT_TRUE(read.zero);
  EXPECT_EQ(rig_->store().counters().damaged_blocks, 1u);
  EXPECT_EQ(rig_->get(block).miss, Miss::kNotStored);
  EXPECT_EQ(rig_->put(block), Refusal::kNone);
  EXPECT_TRUE(rig_->get(block).right);
}

TEST_P(BlockStores, AnExtentUnderAnothersPlaceAndAnOlderGenerationAreRefused) {
  const StoredBlock a = block_of(1, 0);
  const StoredBlock b = block_of(2, 0);
  ASSERT_EQ(rig_->put(a), Refusal::kNone);
  ASSERT_EQ(rig_->put(b), Refusal::kNone);
  rig_->close();
  const std::string before = folder_.read(segment());
  const std::size_t extent = 8192;
  std::string swapped = before;
  swapped.replace(4096, extent, before.substr(4096 + extent, extent));
  swapped.replace(4096 + extent, extent, before.substr(4096, extent));
  folder_.write(segment(), swapped);
  reopen();
  EXPECT_EQ(rig_->get(a).miss, Miss::kWrongExtent);
  EXPECT_EQ(rig_->get(b).miss, Miss::kWrongExtent);
  // The same blocks in the same places, then the old bytes put back.
  ASSERT_EQ(rig_->put(a), Refusal::kNone);
  ASSERT_EQ(rig_->put(b), Refusal::kNone);
  EXPECT_TRUE(rig_->get(a).right);
  rig_->close();
  folder_.write(segment(), before);
  reopen();
  EXPECT_EQ(rig_->get(a).miss, Miss::kStaleGeneration);
  EXPECT_EQ(rig_->get(b).miss, Miss::kStaleGeneration);
}

TEST_P(BlockStores, ATruncatedFileLosesOnlyWhatWasCutOff) {
  ASSERT_EQ(rig_->put_all({block_of(1, 0), block_of(1, 1), block_of(1, 2)}), 3u);
  rig_->close();
  const std::string file = folder_.read(segment());
  folder_.write(segment(), file.substr(0, 4096 + 2 * 8192 + 100));
  reopen();
  EXPECT_TRUE(rig_->get(block_of(1, 0)).right);
  EXPECT_TRUE(rig_->get(block_of(1, 1)).right);
  EXPECT_EQ(rig_->get(block_of(1, 2)).miss, Miss::kNotStored);
  EXPECT_EQ(rig_->store().counters().damaged_blocks, 1u);
  EXPECT_EQ(rig_->put(block_of(1, 2)), Refusal::kNone);
  EXPECT_TRUE(rig_->get(block_of(1, 2)).right);
}

TEST_P(BlockStores, NothingReadableLiesInTheFolder) {
  std::vector<StoredBlock> blocks;
  for (std::uint64_t n = 0; n < 20; ++n) blocks.push_back(block_of(1, n));
  ASSERT_EQ(rig_->put_all(blocks), 20u);
  const std::string text = "the household's secret label";
  const std::uint64_t ticket = rig_->ticket();
  ASSERT_TRUE(rig_->store().put_record({scope_of(1).id, 1, 1, {text.begin(), text.end()}}, ticket));
  rig_->wait({ticket});
  rig_->flush();
  std::string all;
  for (const auto& [name, bytes] : folder_.all()) all += bytes;
  ASSERT_GT(all.size(), 20u * 8192);
  const auto holds = [&](const void* bytes, std::size_t size) {
    return all.find(std::string(static_cast<const char*>(bytes), size)) != std::string::npos;
  };
  EXPECT_FALSE(holds(text.data(), 12));
  EXPECT_FALSE(holds(scope_of(1).id.data(), 8));
  EXPECT_FALSE(holds(scope_of(1).secret.data(), 8));
  for (const StoredBlock& block : blocks) {
    EXPECT_FALSE(holds(block.key.data(), 8));
    EXPECT_FALSE(holds(block.tokens.data(), 16));
    const auto payload = payload_of(block);
    EXPECT_FALSE(holds(payload.data(), 16));
    EXPECT_FALSE(holds(payload.data() + 1024, 16));
  }
}

TEST_P(BlockStores, ShredDestroysOneScopeAndLeavesTheOthers) {
  for (std::uint64_t scope = 1; scope <= 2; ++scope) {
    for (std::uint64_t n = 0; n < 20; ++n) {
      ASSERT_EQ(rig_->put(block_of(scope, n, 4, 1024, scope)), Refusal::kNone);
    }
    const std::uint64_t ticket = rig_->ticket();
    ASSERT_TRUE(rig_->store().put_record({scope_of(scope).id, 1, 1, {9}}, ticket));
    rig_->wait({ticket});
  }
  const std::string stolen = folder_.read(segment(1));
  const std::uint64_t ticket = rig_->ticket();
  rig_->store().shred(scope_of(1).id, ticket);
  EXPECT_EQ(rig_->get(block_of(1, 0)).miss, Miss::kScopeGone);
  EXPECT_EQ(rig_->put(block_of(1, 30)), Refusal::kScopeGone);
  const StoreEvent event = rig_->wait({ticket})[ticket];
  EXPECT_EQ(event.kind, StoreEvent::Kind::kShredded);
  EXPECT_EQ(event.error, "");
  EXPECT_TRUE(rig_->get(block_of(2, 19, 4, 1024, 2)).right);
  rig_->flush();
  // Whoever kept the secret and finds the folder has no salt to make the key with.
  reopen(3);
  EXPECT_EQ(rig_->get(block_of(1, 0)).miss, Miss::kNotStored);
  EXPECT_TRUE(rig_->get(block_of(2, 0, 4, 1024, 2)).right);
  const auto all = rig_->list();
  EXPECT_EQ(all->blocks.size(), 20u);
  EXPECT_EQ(all->records.size(), 1u);
  // What the scope's file held lies nowhere.
  std::string files;
  for (const auto& [name, bytes] : folder_.all()) files += bytes;
  EXPECT_EQ(files.find(stolen.substr(24, 32)), std::string::npos);
}

TEST_P(BlockStores, ScopesThatNobodyKnowsAnyMoreAreDestroyedAtOpen) {
  for (std::uint64_t scope = 1; scope <= 3; ++scope) {
    ASSERT_EQ(rig_->put(block_of(scope, 0, 4, 1024, scope)), Refusal::kNone);
  }
  EXPECT_EQ(rig_->store().counters().segment_files, 3u);
  reopen(2);
  EXPECT_EQ(rig_->store().counters().segment_files, 2u);
  EXPECT_FALSE(folder_.has(segment(3)));
  reopen(3);
  EXPECT_EQ(rig_->list()->blocks.size(), 2u);
}

TEST_P(BlockStores, LeftoversAreRemovedAtOpen) {
  ASSERT_EQ(rig_->put(block_of(1, 0)), Refusal::kNone);
  rig_->close();
  folder_.write("segments/00000009.seg", std::string(20'000, 'x'));
  folder_.write("segments/probe.tmp", "x");
  reopen();
  EXPECT_FALSE(folder_.has("segments/00000009.seg"));
  EXPECT_FALSE(folder_.has("segments/probe.tmp"));
  EXPECT_TRUE(rig_->get(block_of(1, 0)).right);
  expect_counted();
}

TEST_P(BlockStores, StoppingAnswersWhatIsQueuedAndTouchesNoMemoryAfterwards) {
  std::vector<std::byte> bytes = payload_of(block_of(1, 0, 100, 65'536));
  std::vector<PutBlock> puts;
  for (std::uint64_t n = 0; n < 64; ++n) puts.push_back({block_of(1, n, 100, 65'536), bytes, 0, true, n + 1});
  EXPECT_EQ(rig_->store().put(puts), puts.size());
  rig_->close();
  bytes.clear();
  bytes.shrink_to_fit();  // the address sanitizer would see a late read
  reopen();
  const auto all = rig_->list();
  for (const StoredBlock& block : all->blocks) EXPECT_LT(block.first_position, 64u * 32);
}

TEST_P(BlockStores, FullQueueTakesWhatFits) {
  rig_->close();
  rig_ = std::make_unique<StoreRig>(*disk_);
  StoreConfig config = config_in(folder_.path());
  config.queue_blocks = 4;
  ASSERT_TRUE(rig_->open(std::move(config)));
  std::vector<std::byte> bytes = payload_of(block_of(1, 0, 64, 65'536));
  std::vector<PutBlock> puts;
  for (std::uint64_t n = 0; n < 9; ++n) puts.push_back({block_of(1, n, 64, 65'536), bytes, 0, true, 1000 + n});
  const std::size_t taken = rig_->store().put(puts);
  EXPECT_EQ(taken, 4u);
  std::set<std::uint64_t> tickets;
  for (std::size_t i = 0; i < taken; ++i) tickets.insert(1000 + i);
  rig_->wait(tickets);
}

}  // namespace
}  // namespace larder::storage
