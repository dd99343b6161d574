// SPDX-License-Identifier: Apache-2.0
// StoreLife: a store in use and the ledger of what it said: every question gets one last answer, what was reported
// durable and not reported gone is read back bit for bit, a miss has its reason and leaves no bytes, a request that was
// answered with an error changed nothing, and every counter is the sum of the events.
// Use:      verbs wait for their answers; faults() names everything that was not so. While a campaign is armed on the
//           calling thread, only the calls into the store count.
// Threads:  one.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/base/mutex.h"
#include "tests/storage/block_maker.h"
#include "tests/support/failing_memory.h"

namespace larder::storage::test {

// A block, what is put of it and what comes back. `layout` counts where it is coded.
struct LifeBlock {
  StoredBlock block;
  kernels::KvLayout layout{};
  std::vector<std::byte> put;
  std::vector<std::byte> back;
};
LifeBlock exact_block(std::uint64_t chain, std::uint64_t n, std::uint64_t scope = 1, std::uint32_t slice_bytes = 1024);
// Coded by halving_codec.
LifeBlock coded_block(std::uint64_t chain, std::uint64_t n);
kernels::KvCodecKernels halving_codec();

class StoreLife {
 public:
  struct Known {
    LifeBlock made;
    bool durable = false;
    bool pinned = false;
    bool damaged = false;  // on disk, by the test
    bool dropped = false;  // said to be damaged; its kEvicted is to come, from another thread
    bool evicted = false;  // the other way round
  };
  struct Ledger {
    std::map<BlockKey, Known> blocks;
    std::map<std::uint64_t, std::vector<std::uint8_t>> records;  // of scope 1
    std::set<std::uint64_t> scopes{1, 2, 3};
  };

  explicit StoreLife(Disk& disk);
  StoreLife(Disk& disk, Ledger ledger, std::string folder = "/store");
  ~StoreLife();
  StoreLife(const StoreLife&) = delete;
  StoreLife& operator=(const StoreLife&) = delete;

  // False: error() says why. An open that runs out of memory is not made again.
  bool open(std::uint64_t cap_bytes = kWide);
  void close();
  const std::string& error() const { return error_; }

  void put(const std::vector<LifeBlock>& blocks);
  void get(const std::vector<LifeBlock>& blocks);
  void remove(const std::vector<LifeBlock>& blocks);
  void pin(const LifeBlock& block, bool pinned);
  void put_record(std::uint64_t id, std::vector<std::uint8_t> bytes);
  void remove_record(std::uint64_t id);
  void list(bool may_have_more = false);
  void flush();
  void shred(std::uint64_t scope);
  void add_scope(std::uint64_t scope);
  void limit(std::uint64_t cap_bytes);
  // The one extent of the segment file that this block was put into as the first.
  void damage(const LifeBlock& block, const std::string& segment);
  std::set<std::string> segments();

  // With memory again: all that is durable comes back, all else is missed, the listing and the sums are right.
  void check(bool may_have_more = false);
  // New requests are taken and done.
  void go_on(std::uint64_t chain);
  // Under no cap at all everything leaves but what is pinned and what that hangs on.
  void empty();

  const Ledger& ledger() const { return ledger_; }
  const std::vector<std::string>& faults() const { return faults_; }
  std::uint64_t refused() const { return refused_; }  // requests and calls, for want of memory or of what that cost
  std::uint64_t bytes_on_disk();
  bool strict = false;  // nothing may be refused

  static constexpr std::uint64_t kWide = std::uint64_t{1} << 40;

 private:
  struct Asked {
    const LifeBlock* block = nullptr;  // of a put or read
    std::vector<std::byte> into;
    bool copied = false;
    std::optional<StoreEvent> answer;
  };

  template <typename Call>
  auto call(Call what);
  void fault(std::string what);
  std::uint64_t ask(const LifeBlock* block = nullptr);
  void gather();
  void on_event(StoreEvent event);
  void on_final(Asked& asked, const StoreEvent& event);
  void on_read(const Asked& asked, const StoreEvent& event);
  void on_put(const Asked& asked, const StoreEvent& event);
  StoreEvent wait(std::uint64_t ticket);
  bool done(std::uint64_t ticket);
  void check_sums();
  Known& known(const LifeBlock& block);

  Disk& disk_;
  Ledger ledger_;
  const std::string folder_;
  ManualClock clock_;
  Mutex mutex_;
  CondVar arrived_;
  bool woken_ GUARDED_BY(mutex_) = false;
  std::map<std::uint64_t, Asked> asked_;
  std::uint64_t next_ = 1;
  StoreCounters told_;  // recounted from events
  std::uint64_t refused_ = 0;
  bool lost_ = false;  // a ticket was not answered: nothing more can be said
  std::string error_;
  std::vector<std::string> faults_;
  std::unique_ptr<BlockStore> store_;  // last: its threads call wake
};

}  // namespace larder::storage::test
