// SPDX-License-Identifier: Apache-2.0
#include "runtime/tokenizer/bpe.h"

#include <algorithm>
#include <functional>

#include "runtime/base/rng.h"
#include "runtime/tokenizer/byte_alphabet.h"
#include "runtime/tokenizer/tokenizer.h"

namespace larder::tokenizer {
namespace {

constexpr std::uint32_t kNone = 0xffffffffu;

std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
  return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32) | static_cast<std::uint32_t>(right);
}

// Rank above position, so that the smallest number is the merge to do next.
std::uint64_t queue_entry(std::uint32_t rank, std::uint32_t position) { return (std::uint64_t{rank} << 32) | position; }

}  // namespace

MergeTable::MergeTable(std::size_t merges) {
  std::size_t slots = 16;
  while (slots < merges * 2) slots *= 2;
  slots_.resize(slots);
  mask_ = slots - 1;
}

std::size_t MergeTable::slot_of(std::uint64_t pair) const {
  std::size_t slot = mix64(pair) & mask_;
  while (slots_[slot].pair != pair && slots_[slot].pair != ~std::uint64_t{0}) slot = (slot + 1) & mask_;
  return slot;
}

void MergeTable::add(std::int32_t left, std::int32_t right, Merge merge) {
  Slot& slot = slots_[slot_of(pair_of(left, right))];
  if (slot.pair != ~std::uint64_t{0}) return;
  slot = {pair_of(left, right), merge};
}

MergeTable::Merge MergeTable::find(std::int32_t left, std::int32_t right) const {
  return slots_[slot_of(pair_of(left, right))].merge;
}

std::int32_t Bpe::symbol_of(std::string_view spelling, const TokenIndex& index,
                            std::unordered_map<std::string, std::int32_t>& further) {
  if (const auto found = index.find(spelling); found != index.end()) return found->second;
  const auto [place, made] = further.emplace(std::string(spelling), next_symbol_);
  if (made) ++next_symbol_;
  return place->second;
}

Result<Bpe> Bpe::build(const std::vector<std::string>& merges, const TokenIndex& index, std::size_t n_tokens) {
  Bpe bpe;
  bpe.n_tokens_ = static_cast<std::int32_t>(n_tokens);
  bpe.next_symbol_ = bpe.n_tokens_;
  bpe.merges_ = MergeTable(merges.size());
  std::unordered_map<std::string, std::int32_t> further;
  for (unsigned byte = 0; byte < 256; ++byte) {
    bpe.byte_symbols_[byte] = bpe.symbol_of(byte_spelling(static_cast<std::uint8_t>(byte)), index, further);
  }
  for (std::uint32_t rank = 0; rank < merges.size(); ++rank) {
    const std::string& merge = merges[rank];
    const std::size_t space = merge.find(' ', 1);
    if (space == std::string::npos || space + 1 == merge.size()) {
      return Error{
          ErrorCode::kCorrupt,
          "tokenizer.ggml.merges: entry " + std::to_string(rank) + " does not have two sides; convert the model again",
          ""};
    }
    const std::string left = merge.substr(0, space);
    const std::string right = merge.substr(space + 1);
    bpe.merges_.add(bpe.symbol_of(left, index, further), bpe.symbol_of(right, index, further),
                    {rank, bpe.symbol_of(left + right, index, further)});
  }
  return bpe;
}

void Bpe::emit(std::int32_t symbol, std::string_view bytes, std::uint32_t origin, Encoding& out) const {
  if (symbol < n_tokens_) {
    out.tokens.push_back(symbol);
    out.offsets.push_back(origin);
    return;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::int32_t byte = byte_symbols_[static_cast<std::uint8_t>(bytes[i])];
    if (byte >= n_tokens_) continue;
    out.tokens.push_back(byte);
    out.offsets.push_back(origin + static_cast<std::uint32_t>(i));
  }
}

void Bpe::encode(std::string_view piece, std::uint32_t origin, Encoding& out) const {
  const auto n = static_cast<std::uint32_t>(piece.size());
  std::vector<Symbol> symbols(n);
  std::vector<std::uint64_t> queue;
  const auto offer = [&](std::uint32_t left) {
    const std::uint32_t right = symbols[left].next;
    if (right == kNone) return;
    const MergeTable::Merge merge = merges_.find(symbols[left].symbol, symbols[right].symbol);
    if (merge.symbol < 0) return;
    queue.push_back(queue_entry(merge.rank, left));
    std::push_heap(queue.begin(), queue.end(), std::greater<>());
  };
  for (std::uint32_t i = 0; i < n; ++i) {
    symbols[i] = {i - 1, i + 1 < n ? i + 1 : kNone, byte_symbols_[static_cast<std::uint8_t>(piece[i])]};
  }
  for (std::uint32_t i = 0; i + 1 < n; ++i) offer(i);
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), std::greater<>());
    const std::uint64_t entry = queue.back();
    queue.pop_back();
    const auto left = static_cast<std::uint32_t>(entry);
    const std::uint32_t right = symbols[left].symbol < 0 ? kNone : symbols[left].next;
    if (right == kNone) continue;
    // An entry is stale when other merges came between: then the pair here has another rank, or none.
    const MergeTable::Merge merge = merges_.find(symbols[left].symbol, symbols[right].symbol);
    if (merge.symbol < 0 || merge.rank != static_cast<std::uint32_t>(entry >> 32)) continue;
    symbols[left].symbol = merge.symbol;
    symbols[left].next = symbols[right].next;
    symbols[right].symbol = -1;
    if (symbols[left].next != kNone) symbols[symbols[left].next].previous = left;
    if (symbols[left].previous != kNone) offer(symbols[left].previous);
    offer(left);
  }
  for (std::uint32_t i = 0; i < n && i != kNone; i = symbols[i].next) {
    const std::uint32_t end = symbols[i].next == kNone ? n : symbols[i].next;
    emit(symbols[i].symbol, piece.substr(i, end - i), origin + i, out);
  }
}

}  // namespace larder::tokenizer
