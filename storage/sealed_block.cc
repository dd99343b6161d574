// SPDX-License-Identifier: Apache-2.0
#include "storage/sealed_block.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/base/invariant.h"

namespace larder::storage {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are stored little-endian");

constexpr std::uint64_t kMaxPayload = std::uint64_t{1} << 30;
constexpr std::size_t kOpenedAtOnce = 32u << 10;  // and summed while the nearest caches have it

// The order of the fields is the format.
struct HeaderInClear {
  std::uint32_t version;
  std::uint32_t extent;
  std::uint64_t generation;
  std::uint64_t facts_bytes;
  std::uint64_t payload_bytes;
  SealNonce nonce;
  std::uint64_t zero;
};
static_assert(sizeof(HeaderInClear) == kExtentHeader);

struct SealedFacts {
  BlockKey key;
  BlockKey parent;
  Digest256 identity;
  std::uint32_t first_position;
  std::uint32_t valid_tokens;
  std::uint32_t scheme;
  std::uint32_t slice_count;
  std::uint32_t slice_bytes;
  std::uint32_t zero;
  Token tokens[kernels::kBlockTokens];
};
static_assert(sizeof(SealedFacts) == 248);

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; }

// A multiple of 64, so that the payload's pieces are too.
std::size_t facts_bytes(std::uint32_t slice_count) {
  return round_up(sizeof(SealedFacts) + std::size_t{slice_count} * sizeof(std::uint64_t), 64);
}

// The whole nonce field is bound too: AES-GCM takes only a part of it.
Bytes<72> associated_data(const ExtentPlace& place, std::uint64_t facts, std::uint64_t payload,
                          const SealNonce& nonce) {
  Bytes<72> data{};
  std::memcpy(data.data(), place.scope.data(), 16);
  std::memcpy(data.data() + 16, &place.version, 4);
  std::memcpy(data.data() + 20, &place.extent, 4);
  std::memcpy(data.data() + 24, &place.generation, 8);
  std::memcpy(data.data() + 32, &facts, 8);
  std::memcpy(data.data() + 40, &payload, 8);
  std::memcpy(data.data() + 48, nonce.data(), 24);
  return data;
}

SealedFacts facts_of(const StoredBlock& block) {
  SealedFacts facts{};
  facts.key = block.key;
  facts.parent = block.parent;
  facts.identity = block.identity;
  facts.first_position = block.first_position;
  facts.valid_tokens = block.valid_tokens;
  facts.scheme = block.scheme;
  facts.slice_count = block.slice_count;
  facts.slice_bytes = block.slice_bytes;
  std::copy_n(block.tokens.begin(), block.valid_tokens, facts.tokens);
  return facts;
}

}  // namespace

bool shape_is_possible(const StoredBlock& block) {
  return block.valid_tokens >= 1 && block.valid_tokens <= kernels::kBlockTokens && block.slice_count >= 1 &&
         block.slice_count <= kMaxSlices && block.slice_bytes >= 64 && block.slice_bytes % 64 == 0 &&
         block.payload_bytes() <= kMaxPayload;
}

std::uint64_t extent_bytes(std::uint32_t slice_count, std::uint32_t slice_bytes) {
  const std::uint64_t payload = std::uint64_t{slice_count} * slice_bytes;
  return round_up(kExtentHeader + facts_bytes(slice_count) + payload + sizeof(SealTag), kDiskAlign);
}

BlockSealer::BlockSealer(std::shared_ptr<const CipherKey> key, const ExtentPlace& place, const StoredBlock& block,
                         std::span<const std::byte> payload)
    : key_(std::move(key)), payload_(payload), stored_bytes_(extent_bytes(block.slice_count, block.slice_bytes)) {
  INVARIANT(shape_is_possible(block) && payload.size() == block.payload_bytes());
  const std::size_t facts_size = facts_bytes(block.slice_count);
  HeaderInClear header{place.version, place.extent, place.generation, facts_size, payload.size(), {}, 0};
  random_bytes(header.nonce);
  head_.resize(kExtentHeader + facts_size);
  std::memcpy(head_.data(), &header, sizeof header);
  const SealedFacts facts = facts_of(block);
  std::memcpy(head_.data() + kExtentHeader, &facts, sizeof facts);
  checksum_ = kernels::kKvLayoutVersion;
  for (std::uint32_t slice = 0; slice < block.slice_count; ++slice) {
    const std::uint64_t sum =
        kernels::slice_checksum(payload.data() + std::size_t{slice} * block.slice_bytes, block.slice_bytes);
    std::memcpy(head_.data() + kExtentHeader + sizeof facts + slice * sizeof sum, &sum, sizeof sum);
    checksum_ = kernels::join_checksum(checksum_, sum);
  }
  stream_.emplace(SealStream::Direction::kSeal, *key_, header.nonce,
                  associated_data(place, facts_size, payload.size(), header.nonce));
  if (!stream_->ok()) return;
  const std::span<std::byte> sealed = std::span(head_).subspan(kExtentHeader);
  stream_->update(sealed, sealed);
}

std::size_t BlockSealer::fill(std::span<std::byte> piece) {
  INVARIANT(piece.size() >= kStagingPiece);
  const std::size_t size = std::min<std::uint64_t>(kStagingPiece, stored_bytes_ - written_);
  std::size_t at = 0;
  if (!head_done_) {
    std::copy(head_.begin(), head_.end(), piece.begin());
    at = head_.size();
    head_done_ = true;
  }
  const std::size_t now = std::min(size - at, payload_.size() - payload_at_);
  if (now > 0) {
    stream_->update(payload_.subspan(payload_at_, now), piece.subspan(at, now));
    payload_at_ += now;
    if (payload_at_ == payload_.size()) tag_ = stream_->finish();
  }
  fill_end(piece.first(size), at + now);
  written_ += size;
  return size;
}

std::size_t BlockSealer::fill_end(std::span<std::byte> piece, std::size_t at) {
  for (; at < piece.size(); ++at, ++tail_at_) {
    piece[at] = tail_at_ < tag_.size() ? static_cast<std::byte>(tag_[tail_at_]) : std::byte{0};
  }
  return at;
}

BlockOpener::BlockOpener(std::shared_ptr<const CipherKey> key, const ExtentPlace& place, const StoredBlock& expected,
                         std::span<std::byte> into)
    : key_(std::move(key)), place_(place), expected_(expected), into_(into),
      stored_bytes_(extent_bytes(expected.slice_count, expected.slice_bytes)) {
  INVARIANT(shape_is_possible(expected) && into.size() == expected.payload_bytes());
}

BlockOpener::~BlockOpener() {
  if (!proved_) std::fill_n(into_.begin(), payload_at_, std::byte{0});
}

Miss BlockOpener::take_head(std::span<const std::byte> piece) {
  const std::size_t facts_size = facts_bytes(expected_.slice_count);
  if (piece.size() < kExtentHeader + facts_size) return Miss::kTruncated;
  HeaderInClear header;
  std::memcpy(&header, piece.data(), sizeof header);
  if (header.version != place_.version || header.zero != 0) return Miss::kFormat;
  if (header.extent != place_.extent) return Miss::kWrongExtent;
  if (header.generation != place_.generation) return Miss::kStaleGeneration;
  if (header.facts_bytes != facts_size || header.payload_bytes != into_.size()) return Miss::kFormat;
  stream_.emplace(SealStream::Direction::kOpen, *key_, header.nonce,
                  associated_data(place_, facts_size, into_.size(), header.nonce));
  if (!stream_->ok()) return Miss::kReadFailed;
  facts_.resize(facts_size);
  stream_->update(piece.subspan(kExtentHeader, facts_size), facts_);
  return Miss::kNone;
}

Miss BlockOpener::take(std::span<const std::byte> piece) {
  if (!stream_) {
    const Miss miss = take_head(piece);
    if (miss != Miss::kNone) return miss;
    piece = piece.subspan(kExtentHeader + facts_.size());
  }
  const std::size_t now = std::min(piece.size(), into_.size() - payload_at_);
  open_payload(piece.first(now));
  end_.insert(end_.end(), piece.begin() + static_cast<std::ptrdiff_t>(now), piece.end());
  return Miss::kNone;
}

void BlockOpener::open_payload(std::span<const std::byte> sealed) {
  while (!sealed.empty()) {
    const std::size_t now = std::min(kOpenedAtOnce, sealed.size());
    stream_->update(sealed.first(now), into_.subspan(payload_at_, now));
    payload_at_ += now;
    sum_opened();
    sealed = sealed.subspan(now);
  }
}

// What the sums say counts only once the seal holds, over them too. A piece that was cut off may end anywhere.
void BlockOpener::sum_opened() {
  const std::size_t until = payload_at_ / 64 * 64;
  while (summed_ < until) {
    const std::size_t slice_end = (std::size_t{slices_} + 1) * expected_.slice_bytes;
    const std::size_t now = std::min(until, slice_end) - summed_;
    slice_sum_.add(into_.data() + summed_, now);
    summed_ += now;
    if (summed_ < slice_end) return;
    std::uint64_t wanted = 0;
    std::memcpy(&wanted, facts_.data() + sizeof(SealedFacts) + slices_ * sizeof wanted, sizeof wanted);
    const std::uint64_t sum = slice_sum_.value();
    slices_hold_ = slices_hold_ && sum == wanted;
    checksum_ = kernels::join_checksum(checksum_, sum);
    slice_sum_ = {};
    ++slices_;
  }
}

Miss BlockOpener::finish() {
  const std::uint64_t before_end = kExtentHeader + facts_.size() + into_.size();
  if (payload_at_ < into_.size() || before_end + end_.size() != stored_bytes_) return Miss::kTruncated;
  SealTag tag;
  std::memcpy(tag.data(), end_.data(), tag.size());
  if (!stream_->opened_whole(tag)) return Miss::kNotAuthentic;
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  if (!std::all_of(end_.begin() + sizeof tag, end_.end(), is_zero)) return Miss::kNotAuthentic;
  const Miss miss = compare_facts();
  if (miss != Miss::kNone) return miss;
  if (!slices_hold_ || slices_ != expected_.slice_count) return Miss::kSliceChecksum;
  proved_ = true;
  return Miss::kNone;
}

Miss BlockOpener::compare_facts() const {
  SealedFacts found;
  std::memcpy(&found, facts_.data(), sizeof found);
  const SealedFacts wanted = facts_of(expected_);
  if (found.identity != wanted.identity) return Miss::kWrongIdentity;
  if (found.key != wanted.key) return Miss::kWrongKey;
  if (found.parent != wanted.parent) return Miss::kWrongParent;
  if (found.first_position != wanted.first_position) return Miss::kWrongPosition;
  if (found.valid_tokens != wanted.valid_tokens || !std::equal(wanted.tokens, std::end(wanted.tokens), found.tokens)) {
    return Miss::kWrongTokens;
  }
  if (found.scheme != wanted.scheme) return Miss::kWrongScheme;
  if (found.slice_count != wanted.slice_count ||
      found.slice_bytes != wanted.slice_bytes || found.zero != 0) {
    return Miss::kWrongShape;
  }
  return Miss::kNone;
}

}  // namespace larder::storage
