// SPDX-License-Identifier: Apache-2.0
// StoreLoader: opens a store's folder and brings it back to what the catalog committed: files without a row, rows
// without a file, extents without a row and rows that no known scope opens are given back.
// Ensures:  a folder of a newer version is untouched; afterwards every entry of the index has a whole file behind it.
// Errors:   as BlockStore::open.    Threads: one, before the store's own threads begin.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/store_state.h"
#include "storage/store_writer.h"

namespace larder::storage {

class StoreLoader {
 public:
  StoreLoader(StoreState& state, const StoreConfig& config, const std::vector<StoreScope>& scopes);

  Result<std::unique_ptr<StoreWriter>> load();

 private:
  Status open_catalog();
  Status probe();
  Status load_scopes();
  Status load_segments();
  Status load_blocks();
  Status drop_rows();
  Status start_afresh();

  StoreState& state_;
  const StoreConfig& config_;
  const std::vector<StoreScope>& scopes_;
  const std::string catalog_path_;
  const std::string segments_folder_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<StoreRoom> room_;
  StoreProgress progress_;
  std::map<ScopeTag, std::shared_ptr<const ScopeKeys>> by_tag_;
  std::map<std::uint32_t, SegmentRow> rows_;
  std::map<std::uint32_t, std::shared_ptr<SegmentFile>> files_;
  std::map<std::uint32_t, std::uint64_t> lengths_;
  std::vector<ExtentId> bad_blocks_;
  std::vector<std::uint32_t> bad_segments_;
  std::vector<ScopeTag> bad_scopes_;
};

}  // namespace larder::storage
