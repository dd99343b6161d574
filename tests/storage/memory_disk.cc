// SPDX-License-Identifier: Apache-2.0
#include "tests/storage/memory_disk.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace larder::storage::test {
namespace {

struct Change {
  enum class Kind : std::uint8_t { kWrite, kTruncate, kAllocate, kPunch } kind = Kind::kWrite;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::vector<std::byte> bytes;
};

struct Content {
  std::vector<std::byte> bytes;
  std::set<std::uint64_t> pages;  // with real room

  void back(std::uint64_t offset, std::uint64_t size) {
    for (std::uint64_t page = offset / kDiskAlign; page * kDiskAlign < offset + size; ++page) pages.insert(page);
  }
  void apply(const Change& change) {
    const std::uint64_t end = change.offset + change.size;
    switch (change.kind) {
      case Change::Kind::kWrite:
        if (bytes.size() < end) bytes.resize(end);
        std::memcpy(bytes.data() + change.offset, change.bytes.data(), change.size);
        back(change.offset, change.size);
        return;
      case Change::Kind::kTruncate:
        bytes.resize(change.size);
        pages.erase(pages.lower_bound((change.size + kDiskAlign - 1) / kDiskAlign), pages.end());
        return;
      case Change::Kind::kAllocate:
        if (bytes.size() < end) bytes.resize(end);
        back(change.offset, change.size);
        return;
      case Change::Kind::kPunch:
        for (std::uint64_t page = change.offset / kDiskAlign; (page + 1) * kDiskAlign <= end; ++page) pages.erase(page);
        if (change.offset < bytes.size()) {
          std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(change.offset),
                      std::min<std::uint64_t>(change.size, bytes.size() - change.offset), std::byte{0});
        }
        return;
    }
  }
  // A write of which only some sectors arrived.
  void apply_torn(const Change& change, Rng& rng) {
    const std::uint64_t sector = rng.below(2) == 0 ? 512 : 4096;
    const bool prefix = rng.below(2) == 0;
    const std::uint64_t sectors = (change.size + sector - 1) / sector;
    const std::uint64_t arrived = rng.below(sectors + 1);
    for (std::uint64_t i = 0; i < sectors; ++i) {
      if (prefix ? i >= arrived : rng.below(2) == 0) continue;
      Change part = change;
      part.offset = change.offset + i * sector;
      part.size = std::min(sector, change.size - i * sector);
      part.bytes.assign(change.bytes.begin() + static_cast<std::ptrdiff_t>(i * sector),
                        change.bytes.begin() + static_cast<std::ptrdiff_t>(i * sector + part.size));
      apply(part);
    }
  }
};

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

Error power_is_off() { return Error{ErrorCode::kIo, "the power is off", {}}; }

}  // namespace

struct MemoryDisk::Node {
  Content now;
  Content durable;
  std::vector<Change> unsynced;
};

class MemoryFile final : public DiskFile {
 public:
  MemoryFile(MemoryDisk& disk, std::shared_ptr<MemoryDisk::Node> node) : disk_(disk), node_(std::move(node)) {}

  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override {
    MutexLock lock(disk_.mutex_);
    Fault fault = Fault::kNone;
    RETURN_IF_ERROR(disk_.begin_call(false, fault));
    const auto& bytes = node_->now.bytes;
    std::size_t got = offset < bytes.size() ? std::min<std::size_t>(into.size(), bytes.size() - offset) : 0;
    if (fault == Fault::kShort) got /= 2;
    if (got > 0) std::memcpy(into.data(), bytes.data() + offset, got);
    return got;
  }
  Status write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    Change change{Change::Kind::kWrite, offset, bytes.size(), {bytes.begin(), bytes.end()}};
    return run(std::move(change), true);
  }
  Status truncate(std::uint64_t length) override { return run({Change::Kind::kTruncate, 0, length, {}}, false); }
  Status allocate(std::uint64_t offset, std::uint64_t bytes) override {
    return run({Change::Kind::kAllocate, offset, bytes, {}}, true);
  }
  Status punch(std::uint64_t offset, std::uint64_t bytes) override {
    return run({Change::Kind::kPunch, offset, bytes, {}}, false);
  }
  Status lock() override { return {}; }
  Status sync() override {
    MutexLock lock(disk_.mutex_);
    Fault fault = Fault::kNone;
    const Status begun = disk_.begin_call(false, fault);
    if (!begun.ok() || fault != Fault::kNone) {
      if (begun.ok() || begun.error().message != power_is_off().message) node_->unsynced.clear();
      return begun.ok() ? Status{Error{ErrorCode::kIo, "the sync failed", {}}} : begun;
    }
    node_->durable = node_->now;
    node_->unsynced.clear();
    return {};
  }
  Result<FileSizes> sizes() const override {
    MutexLock lock(disk_.mutex_);
    return FileSizes{node_->now.bytes.size(), node_->now.pages.size() * kDiskAlign};
  }

 private:
  Status run(Change change, bool takes_room) {
    MutexLock lock(disk_.mutex_);
    Fault fault = Fault::kNone;
    RETURN_IF_ERROR(disk_.begin_call(takes_room, fault));
    if (fault == Fault::kShort && change.kind == Change::Kind::kWrite) {
      change.size /= 2;
      change.bytes.resize(change.size);
      node_->now.apply(change);
      node_->unsynced.push_back(std::move(change));
      return Error{ErrorCode::kIo, "only half was written", {}};
    }
    if (fault == Fault::kShort) return Error{ErrorCode::kIo, "the call failed", {}};
    const std::uint64_t before = node_->now.pages.size();
    const bool may_fill = takes_room && disk_.capacity_ < MemoryDisk::kEndless;
    Content undo;
    if (may_fill) undo = node_->now;
    node_->now.apply(change);
    if (may_fill && node_->now.pages.size() > before && disk_.used_locked() > disk_.capacity_) {
      node_->now = std::move(undo);
      return Error{ErrorCode::kResourceExhausted, "no space left", {}};
    }
    node_->unsynced.push_back(std::move(change));
    return {};
  }

  MemoryDisk& disk_;
  const std::shared_ptr<MemoryDisk::Node> node_;
};

namespace {

// Runs operations when they are submitted and answers them last first.
class MemoryQueue final : public DiskQueue {
 public:
  explicit MemoryQueue(std::size_t pieces) : memory_(pieces * kStagingPiece), pieces_(pieces) {}
  std::size_t pieces() const override { return pieces_; }
  std::span<std::byte> piece(std::size_t index) override {
    return std::span(memory_).subspan(index * kStagingPiece, kStagingPiece);
  }
  void submit(const DiskOp& op) override {
    DiskDone done{op.tag, op.bytes, {}};
    if (op.kind == DiskOp::Kind::kWrite) {
      done.status = op.file->write(op.offset, piece(op.piece).first(op.bytes));
    } else {
      const Result<std::size_t> got = op.file->read(op.offset, piece(op.piece).first(op.bytes));
      if (got.ok()) done.bytes = *got;
      if (!got.ok()) done.status = got.error();
    }
    done_.push_back(std::move(done));
  }
  DiskDone wait() override {
    DiskDone done = std::move(done_.back());
    done_.pop_back();
    return done;
  }

 private:
  std::vector<std::byte> memory_;
  const std::size_t pieces_;
  std::vector<DiskDone> done_;
};

}  // namespace

void MemoryDisk::fail(std::uint64_t call, Fault fault, bool and_after) {
  MutexLock lock(mutex_);
  fail_at_ = call;
  fault_ = fault;
  fail_after_ = and_after;
}

void MemoryDisk::cut_power(std::uint64_t call) {
  MutexLock lock(mutex_);
  cut_at_ = call;
}

std::uint64_t MemoryDisk::calls() const {
  MutexLock lock(mutex_);
  return calls_;
}

void MemoryDisk::set_capacity(std::uint64_t bytes) {
  MutexLock lock(mutex_);
  capacity_ = bytes;
}

std::uint64_t MemoryDisk::used_locked() const {
  std::uint64_t pages = 0;
  for (const auto& [path, node] : now_) pages += node ? node->now.pages.size() : 0;
  return pages * kDiskAlign;
}

std::uint64_t MemoryDisk::used() const {
  MutexLock lock(mutex_);
  return used_locked();
}

Status MemoryDisk::begin_call(bool takes_room, Fault& fault) {
  ++calls_;
  if (cut_at_ != 0 && calls_ >= cut_at_) return power_is_off();
  if (fail_at_ == 0 || (calls_ != fail_at_ && !(fail_after_ && calls_ > fail_at_))) return {};
  if (fault_ == Fault::kError) return Error{ErrorCode::kIo, "input/output error", {}};
  if (fault_ == Fault::kNoSpace && takes_room) return Error{ErrorCode::kResourceExhausted, "no space left", {}};
  if (fault_ == Fault::kShort) fault = Fault::kShort;
  return {};
}

std::unique_ptr<MemoryDisk> MemoryDisk::after_power_cut(std::uint64_t seed) {
  Rng rng(seed);
  auto after = std::make_unique<MemoryDisk>();
  MutexLock lock(mutex_);
  MutexLock after_lock(after->mutex_);
  std::map<std::string, std::shared_ptr<Node>> names = durable_;
  for (const auto& [path, node] : now_) {
    if (!names.contains(path)) {
      if (rng.below(2) == 0) names[path] = node;  // made, its name not synced
    } else if (names[path] != node && rng.below(2) == 0) {
      names[path] = node;
    }
  }
  for (auto at = names.begin(); at != names.end();) {
    const bool removed = durable_.contains(at->first) && !now_.contains(at->first);
    at = removed && rng.below(2) == 0 ? names.erase(at) : std::next(at);
  }
  const std::uint64_t how = rng.below(4);
  for (const auto& [path, node] : names) {
    auto copy = node ? std::make_shared<Node>() : nullptr;
    if (node) {
      copy->now = node->durable;
      const std::uint64_t prefix = rng.below(node->unsynced.size() + 1);
      for (std::size_t i = 0; i < node->unsynced.size(); ++i) {
        const Change& change = node->unsynced[i];
        const bool arrives = how == 0 ? false : how == 1 ? true : how == 2 ? i < prefix : rng.below(2) == 0;
        if (!arrives) continue;
        const bool torn = change.kind == Change::Kind::kWrite && rng.below(3) == 0;
        torn ? copy->now.apply_torn(change, rng) : copy->now.apply(change);
      }
      copy->durable = copy->now;
    }
    after->now_[path] = copy;
  }
  after->durable_ = after->now_;
  return after;
}

Result<std::unique_ptr<DiskFile>> MemoryDisk::open(const std::string& path, OpenAs as, bool) {
  MutexLock lock(mutex_);
  Fault fault = Fault::kNone;
  RETURN_IF_ERROR(begin_call(as == OpenAs::kCreateNew, fault));
  if (fault == Fault::kShort) return Error{ErrorCode::kIo, "the call failed", path};
  const auto found = now_.find(path);
  if (found == now_.end() && as == OpenAs::kExisting) return Error{ErrorCode::kNotFound, "not there", path};
  if (found != now_.end() && as == OpenAs::kCreateNew) return Error{ErrorCode::kConflict, "it is there", path};
  std::shared_ptr<Node>& node = now_[path];
  if (!node) node = std::make_shared<Node>();
  return std::unique_ptr<DiskFile>(std::make_unique<MemoryFile>(*this, node));
}

Status MemoryDisk::make_folder(const std::string& path) {
  MutexLock lock(mutex_);
  now_[path] = nullptr;
  durable_[path] = nullptr;
  return {};
}

Status MemoryDisk::remove(const std::string& path) {
  MutexLock lock(mutex_);
  Fault fault = Fault::kNone;
  RETURN_IF_ERROR(begin_call(false, fault));
  if (fault == Fault::kShort) return Error{ErrorCode::kIo, "the call failed", path};
  now_.erase(path);
  return {};
}

Status MemoryDisk::sync_folder(const std::string& path) {
  MutexLock lock(mutex_);
  Fault fault = Fault::kNone;
  RETURN_IF_ERROR(begin_call(false, fault));
  if (fault == Fault::kShort) return Error{ErrorCode::kIo, "the sync failed", path};
  std::erase_if(durable_, [&](const auto& name) { return folder_of(name.first) == path; });
  for (const auto& [name, node] : now_) {
    if (folder_of(name) == path) durable_[name] = node;
  }
  return {};
}

Result<std::vector<std::string>> MemoryDisk::list(const std::string& folder) {
  MutexLock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [path, node] : now_) {
    if (node && folder_of(path) == folder) names.push_back(path.substr(folder.size() + 1));
  }
  return names;
}

Result<bool> MemoryDisk::exists(const std::string& path) {
  MutexLock lock(mutex_);
  return now_.contains(path);
}

Result<Disk::Space> MemoryDisk::space(const std::string&) {
  MutexLock lock(mutex_);
  const std::uint64_t used = used_locked();
  return Space{capacity_, capacity_ > used ? capacity_ - used : 0};
}

std::unique_ptr<DiskQueue> MemoryDisk::make_queue(std::size_t pieces) { return std::make_unique<MemoryQueue>(pieces); }

}  // namespace larder::storage::test
