// SPDX-License-Identifier: Apache-2.0
#include "tests/support/slow_disk.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>
#include <vector>

namespace larder::test {
namespace {

using namespace storage;

class SlowQueue final : public DiskQueue {
 public:
  SlowQueue(std::unique_ptr<DiskQueue> inner, std::shared_ptr<SlowDiskKnobs> knobs)
      : inner_(std::move(inner)), knobs_(std::move(knobs)) {}
  std::size_t pieces() const override { return inner_->pieces(); }
  std::span<std::byte> piece(std::size_t index) override { return inner_->piece(index); }
  void submit(const DiskOp& op) override {
    inner_->submit(op);
    const bool reads = op.kind == DiskOp::Kind::kRead;
    order_.push_back({op.tag, reads, reads ? knobs_->next_turn() : 0});
  }
  // In the order in which they were asked for.
  DiskDone wait() override {
    const Asked asked = order_.front();
    order_.pop_front();
    const auto is_next = [&](const DiskDone& done) { return done.tag == asked.tag; };
    while (std::none_of(done_.begin(), done_.end(), is_next)) done_.push_back(inner_->wait());
    const auto next = std::find_if(done_.begin(), done_.end(), is_next);
    DiskDone done = std::move(*next);
    done_.erase(next);
    if (asked.reads) {
      knobs_->pass(asked.turn);
    } else {
      knobs_->pass_write();
    }
    return done;
  }

 private:
  struct Asked {
    std::uint64_t tag = 0;
    bool reads = false;
    std::uint64_t turn = 0;
  };

  const std::unique_ptr<DiskQueue> inner_;
  const std::shared_ptr<SlowDiskKnobs> knobs_;
  std::deque<Asked> order_;
  std::vector<DiskDone> done_;
};

class SlowDisk final : public Disk {
 public:
  SlowDisk(std::shared_ptr<Disk> inner, std::shared_ptr<SlowDiskKnobs> knobs)
      : inner_(std::move(inner)), knobs_(std::move(knobs)) {}
  Result<std::unique_ptr<DiskFile>> open(const std::string& path, OpenAs as, bool direct) override {
    return inner_->open(path, as, direct);
  }
  Status make_folder(const std::string& path) override { return inner_->make_folder(path); }
  Status remove(const std::string& path) override { return inner_->remove(path); }
  Status sync_folder(const std::string& path) override { return inner_->sync_folder(path); }
  Result<std::vector<std::string>> list(const std::string& folder) override { return inner_->list(folder); }
  Result<bool> exists(const std::string& path) override { return inner_->exists(path); }
  Result<Space> space(const std::string& path) override { return inner_->space(path); }
  std::unique_ptr<DiskQueue> make_queue(std::size_t pieces) override {
    return std::make_unique<SlowQueue>(inner_->make_queue(pieces), knobs_);
  }
  std::string io_path() const override { return inner_->io_path(); }

 private:
  const std::shared_ptr<Disk> inner_;
  const std::shared_ptr<SlowDiskKnobs> knobs_;
};

}  // namespace

void SlowDiskKnobs::hold() {
  MutexLock lock(mutex_);
  held_ = true;
  passes_ = 0;
}

void SlowDiskKnobs::let_through(std::uint32_t reads) {
  MutexLock lock(mutex_);
  passes_ += reads;
  changed_.notify_all();
}

void SlowDiskKnobs::hold_writes() {
  MutexLock lock(mutex_);
  writes_held_ = true;
}

void SlowDiskKnobs::pass_write() {
  MutexLock lock(mutex_);
  while (writes_held_) changed_.wait(mutex_);
}

void SlowDiskKnobs::release() {
  MutexLock lock(mutex_);
  held_ = false;
  writes_held_ = false;
  changed_.notify_all();
}

void SlowDiskKnobs::set_delay_us(std::int64_t each_read) {
  MutexLock lock(mutex_);
  delay_us_ = each_read;
}

std::uint64_t SlowDiskKnobs::next_turn() {
  MutexLock lock(mutex_);
  return asked_++;
}

void SlowDiskKnobs::pass(std::uint64_t turn) {
  MutexLock lock(mutex_);
  while (turn != answered_ || (held_ && passes_ == 0)) changed_.wait(mutex_);
  if (held_) --passes_;
  const auto slow_until = deadline_after(std::chrono::microseconds(delay_us_));
  while (delay_us_ > 0 && changed_.wait_until(mutex_, slow_until)) {
  }
  ++answered_;
  changed_.notify_all();
}

std::function<Result<std::unique_ptr<Disk>>()> slow_disk_over(std::shared_ptr<Disk> inner,
                                                              std::shared_ptr<SlowDiskKnobs> knobs) {
  return [inner = std::move(inner), knobs = std::move(knobs)]() -> Result<std::unique_ptr<Disk>> {
    return std::unique_ptr<Disk>(std::make_unique<SlowDisk>(inner, knobs));
  };
}

}  // namespace larder::test
