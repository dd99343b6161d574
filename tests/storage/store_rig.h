// SPDX-License-Identifier: Apache-2.0
// StoreRig: a BlockStore whose answers a test can wait for. Puts and reads are of blocks from block_maker.h; their
// memory is kept here until the answer came.    Threads: the test's; wake comes from the store's.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/mutex.h"
#include "storage/block_store.h"
#include "tests/storage/block_maker.h"

namespace larder::storage::test {

class StoreRig {
 public:
  struct Read {
    Miss miss = Miss::kNone;
    bool right = false;  // the bytes are the block's own
    bool zero = false;   // or nothing at all
    std::uint64_t checksum = 0;
    bool from_ram = false;
  };

  explicit StoreRig(Disk& disk) : disk_(disk) {}

  // Opens with scopes 1..n. False: error() says why.
  bool open(StoreConfig config, std::uint64_t scopes = 1) {
    std::vector<StoreScope> known;
    for (std::uint64_t i = 1; i <= scopes; ++i) known.push_back(scope_of(i));
    auto opened = BlockStore::open(std::move(config), known, disk_, clock_, [this] {
      MutexLock lock(mutex_);
      woken_ = true;
      arrived_.notify_all();
    });
    if (!opened.ok()) {
      error_ = to_string(opened.error());
      return false;
    }
    store_ = std::move(opened).value();
    return true;
  }
  void close() {
    if (store_) collect();
    store_.reset();
  }
  BlockStore& store() { return *store_; }
  bool is_open() const { return store_ != nullptr; }
  const std::string& error() const { return error_; }
  ManualClock& clock() { return clock_; }

  // Waits for all events of the tickets that answer for good, and gives them by ticket.
  std::map<std::uint64_t, StoreEvent> wait(std::set<std::uint64_t> tickets) {
    std::map<std::uint64_t, StoreEvent> answers;
    for (;;) {
      collect();
      for (auto at = events_.begin(); at != events_.end();) {
        if (at->kind != StoreEvent::Kind::kCopied && tickets.contains(at->ticket)) {
          answers[at->ticket] = *at;
          at = events_.erase(at);
        } else {
          ++at;
        }
      }
      if (answers.size() == tickets.size()) return answers;
      MutexLock lock(mutex_);
      while (!woken_) arrived_.wait(mutex_);
      woken_ = false;
    }
  }

  // What came by itself and was not waited for.
  std::vector<StoreEvent> others() {
    collect();
    std::vector<StoreEvent> all(events_.begin(), events_.end());
    events_.clear();
    return all;
  }

  std::uint64_t ask_put(StoredBlock block, bool earned = true, std::uint64_t checksum = 0) {
    const std::uint64_t ticket = next_++;
    auto& bytes = memory_[ticket];
    bytes = payload_of(block);
    const PutBlock put{block, bytes, checksum, earned, ticket};
    EXPECT_EQ(store_->put({&put, 1}), 1u);
    return ticket;
  }
  Refusal put(const StoredBlock& block, bool earned = true, std::uint64_t checksum = 0) {
    const std::uint64_t ticket = ask_put(block, earned, checksum);
    const StoreEvent event = wait({ticket})[ticket];
    memory_.erase(ticket);
    return event.refusal;
  }
  // Many at once; how many became durable.
  std::size_t put_all(const std::vector<StoredBlock>& blocks) {
    std::set<std::uint64_t> tickets;
    for (const StoredBlock& block : blocks) tickets.insert(ask_put(block));
    std::size_t durable = 0;
    for (const auto& [ticket, event] : wait(tickets)) {
      durable += event.kind == StoreEvent::Kind::kDurable ? 1 : 0;
      memory_.erase(ticket);
    }
    return durable;
  }

  Read get(const StoredBlock& wanted) {
    const std::uint64_t ticket = next_++;
    std::vector<std::byte> into(wanted.payload_bytes());
    const GetBlock get{wanted, into, ticket};
    EXPECT_EQ(store_->get({&get, 1}), 1u);
    const StoreEvent event = wait({ticket})[ticket];
    Read read;
    read.miss = event.kind == StoreEvent::Kind::kRead ? Miss::kNone : event.miss;
    read.right = into == payload_of(wanted);
    read.zero = std::all_of(into.begin(), into.end(), [](std::byte byte) { return byte == std::byte{0}; });
    read.checksum = event.checksum;
    read.from_ram = event.from_ram;
    return read;
  }
  // Right data and no miss, or a miss and no data: never anything else.
  static bool honest(const Read& read) { return read.miss == Miss::kNone ? read.right : read.zero; }

  std::shared_ptr<const StoreListing> list(std::optional<ScopeId> scope = {}, std::optional<Digest256> identity = {}) {
    const std::uint64_t ticket = next_++;
    EXPECT_TRUE(store_->list(scope, identity, ticket));
    return wait({ticket})[ticket].listing;
  }
  StoreEvent flush() {
    const std::uint64_t ticket = next_++;
    EXPECT_TRUE(store_->flush(ticket));
    return wait({ticket})[ticket];
  }
  std::uint64_t ticket() { return next_++; }

 private:
  void collect() {
    std::vector<StoreEvent> fresh;
    store_->drain(fresh);
    events_.insert(events_.end(), fresh.begin(), fresh.end());
  }

  Disk& disk_;
  ManualClock clock_;
  Mutex mutex_;
  CondVar arrived_;
  bool woken_ GUARDED_BY(mutex_) = false;
  std::deque<StoreEvent> events_;
  std::map<std::uint64_t, std::vector<std::byte>> memory_;
  std::uint64_t next_ = 1;
  std::string error_;
  std::unique_ptr<BlockStore> store_;  // last: its threads call wake
};

inline StoreConfig config_in(const std::string& folder) {
  StoreConfig config;
  config.folder = folder;
  config.limits.keep_free_bytes = 1;
  return config;
}

}  // namespace larder::storage::test
