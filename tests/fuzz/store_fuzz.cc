// SPDX-License-Identifier: Apache-2.0
// What the disk tier reads back: the first byte chooses an extent, a segment file, a catalog row as it lies, a row
// behind a seal that holds, or a whole catalog; the rest are its bytes. Nothing may crash, and nothing that is not the
// block may be served.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/catalog_rows.h"
#include "storage/sealed_block.h"
#include "storage/segment_file.h"
#include "tests/storage/block_maker.h"
#include "tests/storage/memory_disk.h"

namespace {

using namespace larder;
using namespace larder::storage;

using Input = std::span<const std::uint8_t>;

void open_extent(Input bytes) {
  const StoredBlock block = test::block_of(1, 0, 4, 640);
  SealKey key{};
  const auto cipher = std::make_shared<const CipherKey>(Cipher::kAes256Gcm, key);
  std::vector<std::byte> into(block.payload_bytes());
  BlockOpener opener(cipher, {block.scope, format_word(Cipher::kAes256Gcm), 0, 1}, block, into);
  const Miss miss = opener.take(std::as_bytes(bytes));
  // The key is not in the corpus's reach: a seal that holds was made by chance or not at all.
  if (miss == Miss::kNone && opener.finish() == Miss::kNone) __builtin_trap();
}

void open_segment(Input bytes) {
  test::MemoryDisk disk;
  static_cast<void>(disk.make_folder("/s"));
  {
    const auto file = disk.open("/s/" + SegmentFile::name_of(1), OpenAs::kCreateNew, true);
    if (!file.ok() || !(*file)->write(0, std::as_bytes(bytes)).ok()) return;
  }
  const StoreScope scope = test::scope_of(1);
  static_cast<void>(SegmentFile::open(disk, "/s", 1, {scope.id, scope.secret}, 8192));
}

void open_row(Input bytes, bool behind_the_seal) {
  const StoreScope scope = test::scope_of(1);
  const ScopeKeys keys(scope.id, scope.secret, {});
  BlockRow row = seal_block_row(keys, {1, 2}, 3, test::block_of(1, 0));
  if (!behind_the_seal) {
    row.sealed.assign(bytes.begin(), bytes.end());
    if (open_block_row(keys, row).ok() && bytes.size() < kWrapOverhead) __builtin_trap();
    return;
  }
  const auto opened = open_block_row_plain(keys, bytes);
  if (opened.ok() && !shape_is_possible(*opened)) __builtin_trap();
}

void open_catalog(Input bytes) {
  test::MemoryDisk disk;
  static_cast<void>(disk.make_folder("/s"));
  {
    const auto file = disk.open("/s/catalog.db", OpenAs::kCreateNew, false);
    if (!file.ok() || !(*file)->write(0, std::as_bytes(bytes)).ok()) return;
  }
  const auto catalog = Catalog::open(disk, "/s/catalog.db");
  if (!catalog.ok()) return;
  static_cast<void>((*catalog)->scopes());
  static_cast<void>((*catalog)->segments());
  static_cast<void>((*catalog)->each_block([](const BlockRow&) {}));
  static_cast<void>((*catalog)->each_record([](const RecordRow&) {}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Input bytes(data + 1, std::min<std::size_t>(size - 1, 256u << 10));
  switch (data[0] % 5) {
    case 0: open_extent(bytes.first(std::min(bytes.size(), kStagingPiece))); break;
    case 1: open_segment(bytes); break;
    case 2: open_row(bytes, false); break;
    case 3: open_row(bytes, true); break;
    default: open_catalog(bytes); break;
  }
  return 0;
}
