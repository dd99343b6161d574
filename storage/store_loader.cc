// SPDX-License-Identifier: Apache-2.0
#include "storage/store_loader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <unordered_map>
#include <utility>

#include "storage/sealed_block.h"

namespace larder::storage {
namespace {

constexpr const char* kProbeName = "/probe.tmp";

struct alignas(kDiskAlign) Page {
  std::array<std::byte, kDiskAlign> bytes{};
};

Cipher cipher_of(CipherChoice choice) {
  if (choice == CipherChoice::kAes256Gcm) return Cipher::kAes256Gcm;
  if (choice == CipherChoice::kXChaCha20) return Cipher::kXChaCha20Poly1305;
  return fastest_cipher();
}

}  // namespace

StoreLoader::StoreLoader(StoreState& state, const StoreConfig& config, const std::vector<StoreScope>& scopes)
    : state_(state), config_(config), scopes_(scopes), catalog_path_(config.folder + "/catalog.db"),
      segments_folder_(config.folder + "/segments") {}

Result<std::unique_ptr<StoreWriter>> StoreLoader::load() {
  RETURN_IF_ERROR(open_catalog());
  RETURN_IF_ERROR(probe());
  const Cipher cipher = cipher_of(config_.cipher);
  room_ = std::make_unique<StoreRoom>(state_.disk, segments_folder_, config_.segment_bytes, cipher);
  RETURN_IF_ERROR(load_scopes());
  RETURN_IF_ERROR(load_segments());
  RETURN_IF_ERROR(load_blocks());
  RETURN_IF_ERROR(drop_rows());
  ASSIGN_OR_RETURN(progress_.next_generation, catalog_->number(CatalogNumber::kNextGeneration));
  ASSIGN_OR_RETURN(progress_.budget_day, catalog_->number(CatalogNumber::kBudgetDay));
  ASSIGN_OR_RETURN(progress_.budget_spent, catalog_->number(CatalogNumber::kBudgetBytes));
  ASSIGN_OR_RETURN(const std::uint64_t next_segment, catalog_->number(CatalogNumber::kNextSegment));
  const std::uint32_t after_rows = rows_.empty() ? 1 : rows_.rbegin()->first + 1;
  room_->set_next_segment(std::max(after_rows, static_cast<std::uint32_t>(next_segment)));
  {
    MutexLock lock(state_.mutex);
    state_.counters.io_path = state_.disk.io_path();
    state_.counters.cipher = cipher == Cipher::kAes256Gcm ? "AES-256-GCM" : "XChaCha20-Poly1305";
  }
  return std::make_unique<StoreWriter>(state_, std::move(catalog_), std::move(room_), config_.folder, progress_);
}

// A damaged catalog takes the blocks with it: this is a cache, and what cannot be proved is computed again.
Status StoreLoader::open_catalog() {
  Result<std::unique_ptr<Catalog>> opened = Catalog::open(state_.disk, catalog_path_);
  if (!opened.ok() && opened.error().code == ErrorCode::kCorrupt) {
    {
      MutexLock lock(state_.mutex);
      state_.counters.last_failure = to_string(opened.error()) + "; the disk tier begins empty";
      ++state_.counters.damaged_blocks;
    }
    RETURN_IF_ERROR(start_afresh());
    opened = Catalog::open(state_.disk, catalog_path_);
  }
  if (!opened.ok()) return opened.error();
  catalog_ = std::move(opened).value();
  return state_.disk.make_folder(segments_folder_);
}

Status StoreLoader::start_afresh() {
  RETURN_IF_ERROR(state_.disk.make_folder(segments_folder_));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, state_.disk.list(segments_folder_));
  for (const std::string& name : names) RETURN_IF_ERROR(state_.disk.remove(segments_folder_ + "/" + name));
  return Catalog::remove(state_.disk, catalog_path_);
}

// The way of a block, with one page: a tier that cannot write is better known now than at the first block.
Status StoreLoader::probe() {
  const std::string path = segments_folder_ + kProbeName;
  RETURN_IF_ERROR(state_.disk.remove(path));
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<DiskFile> file, state_.disk.open(path, OpenAs::kCreateNew, true));
    Page written;
    Page read;
    written.bytes.fill(std::byte{0x5a});
    RETURN_IF_ERROR(file->write(0, written.bytes));
    RETURN_IF_ERROR(file->sync());
    ASSIGN_OR_RETURN(const std::size_t got, file->read(0, read.bytes));
    if (got != kDiskAlign || read.bytes != written.bytes) {
      return Error{ErrorCode::kIo, "the disk does not give back what was written to it", path};
    }
  }
  return state_.disk.remove(path);
}

Status StoreLoader::load_scopes() {
  ASSIGN_OR_RETURN(const std::vector<ScopeRow> rows, catalog_->scopes());
  std::map<ScopeTag, Bytes<32>> salts;
  for (const ScopeRow& row : rows) salts.emplace(row.tag, row.salt);
  MutexLock lock(state_.mutex);
  for (const StoreScope& scope : scopes_) {
    Bytes<32> salt;
    const auto known = salts.find(scope_tag(scope.secret));
    if (known != salts.end()) {
      salt = known->second;
      salts.erase(known);
    } else {
      random_bytes(salt);
    }
    auto keys = std::make_shared<const ScopeKeys>(scope.id, scope.secret, salt);
    by_tag_[keys->tag()] = keys;
    state_.scopes[scope.id] = std::move(keys);
  }
  for (const auto& [tag, salt] : salts) bad_scopes_.push_back(tag);
  return {};
}

Status StoreLoader::load_segments() {
  ASSIGN_OR_RETURN(const std::vector<SegmentRow> rows, catalog_->segments());
  std::set<std::string> kept;
  for (const SegmentRow& row : rows) {
    rows_[row.id] = row;
    const auto keys = by_tag_.find(row.scope);
    Error why{ErrorCode::kNotFound, "no scope", {}};
    if (keys != by_tag_.end() && row.extent_bytes >= kDiskAlign && row.extent_bytes % kDiskAlign == 0) {
      const SegmentFile::Owner owner{keys->second->id(), keys->second->secret()};
      auto file = SegmentFile::open(state_.disk, segments_folder_, row.id, owner, row.extent_bytes);
      // May be well the next time: nothing is dropped for it.
      const ErrorCode code = file.ok() ? ErrorCode::kNotFound : file.error().code;
      if (code == ErrorCode::kIo || code == ErrorCode::kConflict) return file.error();
      if (file.ok()) {
        ASSIGN_OR_RETURN(const FileSizes sizes, (*file)->file().sizes());
        lengths_[row.id] = sizes.length;
        files_[row.id] = std::move(file).value();
        kept.insert(SegmentFile::name_of(row.id));
        continue;
      }
      why = file.error();
    }
    bad_segments_.push_back(row.id);
    if (keys == by_tag_.end()) continue;
    MutexLock lock(state_.mutex);
    state_.counters.last_failure = to_string(why);
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, state_.disk.list(segments_folder_));
  for (const std::string& name : names) {
    if (!kept.contains(name)) RETURN_IF_ERROR(state_.disk.remove(segments_folder_ + "/" + name));
  }
  return {};
}

Status StoreLoader::load_blocks() {
  struct Found {
    StoredBlock block;
    ExtentId at;
    std::uint64_t generation = 0;
  };
  std::vector<Found> found;
  std::uint64_t damaged = 0;
  RETURN_IF_ERROR(catalog_->each_block([&](const BlockRow& row) {
    const auto file = files_.find(row.at.segment);
    if (file == files_.end()) {
      bad_blocks_.push_back(row.at);
      return;
    }
    Result<StoredBlock> block = open_block_row(*by_tag_.at(rows_.at(row.at.segment).scope), row);
    const std::uint64_t size = file->second->extent_bytes();
    const bool whole = block.ok() && file->second->offset_of(row.at.extent) + size <= lengths_.at(row.at.segment) &&
                       extent_bytes(block->slice_count, block->slice_bytes) == size;
    if (!whole) {
      ++damaged;
      bad_blocks_.push_back(row.at);
      return;
    }
    found.push_back({std::move(block).value(), row.at, row.generation});
  }));
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::pair(a.block.last_use, a.generation) < std::pair(b.block.last_use, b.generation);
  });
  // Two rows of one block: the older one's could not be deleted when it was dropped.
  std::unordered_map<BlockKey, std::uint64_t, DigestHash> newest;
  for (const Found& one : found) {
    std::uint64_t& generation = newest[one.block.key];
    generation = std::max(generation, one.generation);
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> used;
  MutexLock lock(state_.mutex);
  for (const Found& one : found) {
    if (newest.at(one.block.key) != one.generation || state_.index.has(one.block.key)) {
      bad_blocks_.push_back(one.at);
      continue;
    }
    state_.index.insert(one.block, one.at, one.generation, files_.at(one.at.segment)->extent_bytes());
    state_.index.set_durable(*state_.index.find(one.block.scope, one.block.key));
    used[one.at.segment].push_back(one.at.extent);
  }
  state_.counters.damaged_blocks += damaged;
  for (const auto& [id, file] : files_) {
    RETURN_IF_ERROR(room_->adopt(file, rows_.at(id), used[id]));
    const StoreRoom::Segment& segment = room_->segments().at(id);
    state_.counters.reclaimed_extents += segment.extents - segment.used;
    state_.files[id] = file;
  }
  return {};
}

Status StoreLoader::drop_rows() {
  if (bad_blocks_.empty() && bad_segments_.empty() && bad_scopes_.empty()) return {};
  RETURN_IF_ERROR(catalog_->begin());
  for (const ExtentId& at : bad_blocks_) RETURN_IF_ERROR(catalog_->remove_block(at));
  for (const std::uint32_t id : bad_segments_) RETURN_IF_ERROR(catalog_->remove_segment(id));
  for (const ScopeTag& tag : bad_scopes_) RETURN_IF_ERROR(catalog_->remove_scope(tag));
  RETURN_IF_ERROR(catalog_->commit());
  return catalog_->checkpoint();
}

}  // namespace larder::storage
