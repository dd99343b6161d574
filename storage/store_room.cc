// SPDX-License-Identifier: Apache-2.0
#include "storage/store_room.h"

#include <algorithm>
#include <utility>

#include "runtime/base/invariant.h"
#include "runtime/base/out_of_memory.h"

namespace larder::storage {
namespace {

constexpr std::uint64_t kGrowth = 8u << 20;  // bytes of room asked for at once: few calls, few pieces on disk

// Both lists have room for every extent of the file, so that giving one back, or its room, needs no memory.
void reserve_lists(StoreRoom::Segment& segment, std::size_t extents) {
  for (std::vector<std::uint32_t>* list : {&segment.backed, &segment.holes}) {
    if (list->capacity() < extents) list->reserve(std::max(extents, 2 * list->capacity()));
  }
}

// A file that goes again unless it was kept.
class NewFile {
 public:
  NewFile(Disk& disk, const std::string& path) : disk_(disk), path_(path) {}
  ~NewFile() {
    // Where even that fails the next open removes it.
    if (!kept_) static_cast<void>(had_memory([this] { static_cast<void>(disk_.remove(path_)); }));
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  void keep() { kept_ = true; }

 private:
  Disk& disk_;
  const std::string& path_;
  bool kept_ = false;
};

}  // namespace

std::string StoreRoom::path_of(std::uint32_t segment) const { return folder_ + "/" + SegmentFile::name_of(segment); }

std::uint32_t StoreRoom::most_extents(std::uint64_t extent_bytes) const {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(segment_bytes_ / extent_bytes, 1, 1u << 24));
}

Status StoreRoom::measure(Segment& segment) {
  ASSIGN_OR_RETURN(const FileSizes sizes, segment.file->file().sizes());
  real_bytes_ += sizes.allocated - segment.real_bytes;
  segment.real_bytes = sizes.allocated;
  return {};
}

Status StoreRoom::adopt(std::shared_ptr<SegmentFile> file, const SegmentRow& row,
                        std::vector<std::uint32_t> used_extents) {
  ASSIGN_OR_RETURN(const FileSizes sizes, file->file().sizes());
  Segment segment;
  segment.file = std::move(file);
  segment.scope = row.scope;
  const std::uint64_t body = sizes.length > kSegmentHeader ? sizes.length - kSegmentHeader : 0;
  segment.extents = static_cast<std::uint32_t>(body / row.extent_bytes);
  segment.used = static_cast<std::uint32_t>(used_extents.size());
  segment.writes = row.writes;
  segment.closed = row.writes >= kMaxSegmentWrites;
  // Where there are holes it is not known which: then all that is free is made one.
  const bool has_holes = sizes.allocated < sizes.length;
  auto& free = has_holes ? segment.holes : segment.backed;
  reserve_lists(segment, segment.extents);
  std::sort(used_extents.begin(), used_extents.end());
  for (std::uint32_t extent = segment.extents; extent-- > 0;) {
    if (!std::binary_search(used_extents.begin(), used_extents.end(), extent)) free.push_back(extent);
  }
  for (const std::uint32_t extent : segment.holes) RETURN_IF_ERROR(segment.file->punch(extent));
  return measure(segments_.emplace(row.id, std::move(segment)).first->second);
}

bool StoreRoom::writable(const Segment& segment, const ScopeTag& scope, std::uint64_t extent_bytes) const {
  return !segment.closed && segment.scope == scope && segment.file->extent_bytes() == extent_bytes &&
         segment.writes < kMaxSegmentWrites;
}

Status StoreRoom::grow(Segment& segment, std::uint64_t allowance) {
  const std::uint64_t size = segment.file->extent_bytes();
  const std::uint64_t left = most_extents(size) - segment.extents;
  const std::uint64_t step = std::min({std::max<std::uint64_t>(kGrowth / size, 1), left, allowance / size});
  auto count = static_cast<std::uint32_t>(step);
  // Memory first: an extent that was listed as free while the file's new end was not counted would be given out twice.
  reserve_lists(segment, segment.extents + count);
  Status grown = segment.file->allocate(segment.extents, count);
  if (!grown.ok() && count > 1) {  // the last room of a full disk
    count = 1;
    grown = segment.file->allocate(segment.extents, count);
  }
  RETURN_IF_ERROR(measure(segment));  // a failed call may have taken room too
  RETURN_IF_ERROR(grown);
  for (std::uint32_t i = count; i-- > 0;) segment.backed.push_back(segment.extents + i);
  segment.extents += count;
  return {};
}

Result<std::optional<StoreRoom::Taken>> StoreRoom::take(const ScopeKeys& keys, std::uint64_t extent_bytes,
                                                        std::uint64_t allowance) {
  const auto give = [&](Segment& segment) {
    const std::uint32_t extent = segment.backed.back();
    segment.backed.pop_back();
    ++segment.used;
    ++segment.writes;
    return std::optional<Taken>(Taken{segment.file, extent});
  };
  for (auto& [id, segment] : segments_) {
    if (writable(segment, keys.tag(), extent_bytes) && !segment.backed.empty()) return give(segment);
  }
  if (allowance < extent_bytes) return std::optional<Taken>{};
  for (auto& [id, segment] : segments_) {
    if (!writable(segment, keys.tag(), extent_bytes)) continue;
    if (!segment.holes.empty()) {
      RETURN_IF_ERROR(segment.file->allocate(segment.holes.back(), 1));
      RETURN_IF_ERROR(measure(segment));
      segment.backed.push_back(segment.holes.back());  // there is room: see reserve_lists
      segment.holes.pop_back();
      return give(segment);
    }
    if (segment.extents < most_extents(extent_bytes)) {
      RETURN_IF_ERROR(grow(segment, allowance));
      return give(segment);
    }
  }
  if (allowance < kSegmentHeader + extent_bytes) return std::optional<Taken>{};
  ASSIGN_OR_RETURN(Segment* const segment, make_segment(keys, extent_bytes));
  RETURN_IF_ERROR(measure(*segment));
  RETURN_IF_ERROR(grow(*segment, allowance - kSegmentHeader));
  return give(*segment);
}

// The file and its place in the list, or neither.
Result<StoreRoom::Segment*> StoreRoom::make_segment(const ScopeKeys& keys, std::uint64_t extent_bytes) {
  const std::uint32_t id = next_segment_++;
  std::map<std::uint32_t, Segment> made;
  Segment& segment = made[id];
  segment.scope = keys.tag();
  const SegmentFile::Owner owner{keys.id(), keys.secret()};
  const std::string path = path_of(id);
  NewFile guard(disk_, path);
  ASSIGN_OR_RETURN(segment.file, SegmentFile::create(disk_, folder_, id, owner, cipher_, extent_bytes));
  guard.keep();
  return &segments_.insert(made.extract(made.begin())).position->second;
}

void StoreRoom::give_back(const ExtentId& at) {
  const auto found = segments_.find(at.segment);
  if (found == segments_.end()) return;  // its file went meanwhile
  INVARIANT(found->second.used > 0);
  --found->second.used;
  found->second.backed.push_back(at.extent);
}

std::uint64_t StoreRoom::squeeze(const ScopeTag& scope, std::uint64_t extent_bytes, std::uint64_t wanted,
                                 std::vector<std::uint32_t>& removed) {
  const std::uint64_t before = real_bytes_;
  // Memory first: who asked hears of every file that goes.
  removed.reserve(removed.size() + segments_.size());
  std::string path;
  path.reserve(path_of(0).size() + 8);
  for (auto at = segments_.begin(); at != segments_.end() && before - real_bytes_ < wanted;) {
    const std::uint32_t id = at->first;
    Segment& segment = at->second;
    ++at;
    const bool wanted_here = writable(segment, scope, extent_bytes);
    if (segment.used == 0 && !wanted_here) {
      path.assign(folder_).append("/").append(SegmentFile::name_of(id));
      if (!disk_.remove(path).ok()) continue;
      forget(id);
      removed.push_back(id);
      continue;
    }
    while (!wanted_here && !segment.backed.empty() && before - real_bytes_ < wanted) {
      if (!segment.file->punch(segment.backed.back()).ok() || !measure(segment).ok()) return before - real_bytes_;
      segment.holes.push_back(segment.backed.back());
      segment.backed.pop_back();
    }
  }
  return before - real_bytes_;
}

std::shared_ptr<SegmentFile> StoreRoom::forget(std::uint32_t segment) {
  const auto at = segments_.find(segment);
  INVARIANT(at != segments_.end());
  std::shared_ptr<SegmentFile> file = std::move(at->second.file);
  real_bytes_ -= at->second.real_bytes;
  segments_.erase(at);
  return file;
}

Status StoreRoom::remove_file(std::uint32_t segment) {
  RETURN_IF_ERROR(disk_.remove(path_of(segment)));
  forget(segment);
  return {};
}

}  // namespace larder::storage
