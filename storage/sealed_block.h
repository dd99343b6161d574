// SPDX-License-Identifier: Apache-2.0
// SealedBlock: one block as it lies in an extent, written and proved piece by piece. Pure: memory in, memory out.
// Shapes:   storage/FORMAT.md, "Extent". Pieces are consecutive parts of the extent's stored bytes, each but the last
//           kStagingPiece long.
// Ensures:  a BlockOpener says kNone only when the seal holds and everything sealed is what was expected; the target's
//           bytes are zero after any other answer.
// Bounds:   kMaxSlices; the sealed facts always lie in the first piece.
// Threads:  an object has one owner.    Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/layout/checksum.h"
#include "runtime/base/ids.h"
#include "storage/disk_io.h"
#include "storage/seal.h"
#include "storage/stored_block.h"

namespace larder::storage {

inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::uint32_t kMaxSlices = 16'384;
inline constexpr std::size_t kExtentHeader = 64;

// In clear, and bound to the seal as associated data.
struct ExtentPlace {
  ScopeId scope{};
  std::uint32_t version = 0;  // format_word()
  std::uint32_t extent = 0;
  std::uint64_t generation = 0;
};

// The format's version, with the cipher in its upper half.
constexpr std::uint32_t format_word(Cipher cipher) {
  return kFormatVersion | static_cast<std::uint32_t>(cipher) << 16;
}

// 1..kBlockTokens valid tokens, 1..kMaxSlices slices of a multiple of 64 bytes, at most 1 GiB together.
bool shape_is_possible(const StoredBlock& block);

// Bytes in the extent, a multiple of kDiskAlign: an extent of this size holds every block of this shape.
std::uint64_t extent_bytes(std::uint32_t slice_count, std::uint32_t slice_bytes);

class BlockSealer {
 public:
  // Copies nothing: `payload` is read by fill.    Requires: shape_is_possible, payload of that size.
  BlockSealer(std::shared_ptr<const CipherKey> key, const ExtentPlace& place, const StoredBlock& block,
              std::span<const std::byte> payload);

  // False: there was no memory for the cipher, and fill may not be called.
  bool ok() const { return stream_->ok(); }
  // block_checksum of what will be sealed.
  std::uint64_t checksum() const { return checksum_; }
  // The next piece's bytes; 0: the block is complete.    Requires: room for kStagingPiece.
  std::size_t fill(std::span<std::byte> piece);

 private:
  std::size_t fill_end(std::span<std::byte> piece, std::size_t at);

  std::shared_ptr<const CipherKey> key_;
  std::span<const std::byte> payload_;
  std::vector<std::byte> head_;  // header and sealed facts
  std::optional<SealStream> stream_;
  std::size_t payload_at_ = 0;
  bool head_done_ = false;
  std::size_t tail_at_ = 0;  // bytes of tag and padding written
  std::uint64_t stored_bytes_;
  std::uint64_t written_ = 0;
  SealTag tag_{};
  std::uint64_t checksum_ = 0;
};

class BlockOpener {
 public:
  // Requires: shape_is_possible(expected), `into` of its payload's size.
  BlockOpener(std::shared_ptr<const CipherKey> key, const ExtentPlace& place, const StoredBlock& expected,
              std::span<std::byte> into);
  ~BlockOpener();  // zeros the target unless finish() said kNone
  BlockOpener(const BlockOpener&) = delete;
  BlockOpener& operator=(const BlockOpener&) = delete;

  std::uint64_t stored_bytes() const { return stored_bytes_; }
  // Takes the next piece. Anything but kNone is final.
  Miss take(std::span<const std::byte> piece);
  // After all stored bytes were taken.
  Miss finish();
  std::uint64_t checksum() const { return checksum_; }  // after finish

 private:
  Miss take_head(std::span<const std::byte> piece);
  void open_payload(std::span<const std::byte> sealed);
  void sum_opened();
  Miss compare_facts() const;

  std::shared_ptr<const CipherKey> key_;
  const ExtentPlace place_;
  const StoredBlock expected_;
  const std::span<std::byte> into_;
  const std::uint64_t stored_bytes_;
  std::vector<std::byte> facts_;
  std::optional<SealStream> stream_;
  std::size_t payload_at_ = 0;   // opened so far
  std::size_t summed_ = 0;       // of that
  std::uint32_t slices_ = 0;     // whole ones of that
  kernels::SliceSum slice_sum_;  // of the next one
  bool slices_hold_ = true;
  std::vector<std::byte> end_;  // tag and padding
  std::uint64_t checksum_ = kernels::kKvLayoutVersion;
  bool proved_ = false;
};

}  // namespace larder::storage
