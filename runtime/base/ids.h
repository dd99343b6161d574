// SPDX-License-Identifier: Apache-2.0
// Strong ids: numbers that cannot be mistaken for each other. An id is opaque; only its owner's room makes one.
// Threads: values.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

namespace larder {

template <typename Tag, typename Number>
struct StrongId {
  Number value{};
  friend constexpr auto operator<=>(const StrongId&, const StrongId&) = default;
};

using BlockId = StrongId<struct BlockIdTag, std::uint32_t>;       // index of a pool block; kv owns
using SeqId = StrongId<struct SeqIdTag, std::uint64_t>;           // a running sequence; sched owns
using RequestId = StrongId<struct RequestIdTag, std::uint64_t>;   // engine owns; shown as #5127
using TenantId = StrongId<struct TenantIdTag, std::uint32_t>;     // tenant owns; never reused
using KeyId = StrongId<struct KeyIdTag, std::uint32_t>;           // an API key, not its secret
using EntryId = StrongId<struct EntryIdTag, std::uint64_t>;       // entry owns
using PinId = StrongId<struct PinIdTag, std::uint64_t>;           // kv owns
using NodeId = StrongId<struct NodeIdTag, std::uint64_t>;         // a prefix-tree node; kv owns, never reused
using JobId = StrongId<struct JobIdTag, std::uint64_t>;
using ModelId = StrongId<struct ModelIdTag, std::uint32_t>;       // a loaded model, this process only

inline constexpr BlockId kNoBlock{0xffffffffu};

using Token = std::int32_t;  // a vocabulary index; negative is invalid

template <std::size_t N>
using Bytes = std::array<std::uint8_t, N>;

using Digest256 = Bytes<32>;   // BLAKE2b-256
using ScopeId = Bytes<16>;     // random at creation
using ScopeSecret = Bytes<32>;
using BlockKey = Bytes<32>;    // chained keyed hash, see runtime/kv/block_key.h

struct DigestHash {
  template <std::size_t N>
  std::size_t operator()(const Bytes<N>& bytes) const {
    static_assert(N >= sizeof(std::size_t));
    std::size_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    return word;
  }
};

}  // namespace larder

template <typename Tag, typename Number>
struct std::hash<larder::StrongId<Tag, Number>> {
  std::size_t operator()(const larder::StrongId<Tag, Number>& id) const noexcept {
    return std::hash<Number>{}(id.value);
  }
};
