// SPDX-License-Identifier: Apache-2.0
#include "runtime/tokenizer/spm.h"

#include <algorithm>
#include <string>

#include "runtime/tokenizer/tokenizer.h"
#include "runtime/tokenizer/utf8_stream.h"

namespace larder::tokenizer {
namespace {

constexpr std::uint32_t kNone = 0xffffffffu;
constexpr std::string_view kSpelledSpace = "\xE2\x96\x81";  // U+2581

}  // namespace

// One text on its way from characters to tokens.
class Spm::Run {
 public:
  Run(const Spm& spm, std::string_view text, std::uint32_t origin, bool space_before) : spm_(spm) {
    spelled_.reserve(text.size() + text.size() / 4 + kSpelledSpace.size());
    if (space_before) append(kSpelledSpace, origin);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t bytes = next_utf8_unit(text.substr(at)).bytes;
      const std::string_view character = text.substr(at, bytes);
      append(character == " " ? kSpelledSpace : character, origin + static_cast<std::uint32_t>(at));
      at += bytes;
    }
    if (!symbols_.empty()) symbols_.back().next = kNone;
  }

  void merge() {
    for (std::uint32_t i = 0; i + 1 < symbols_.size(); ++i) offer(i);
    while (!queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end(), later);
      const Candidate candidate = queue_.back();
      queue_.pop_back();
      Symbol& left = symbols_[candidate.left];
      if (left.bytes == 0 || left.next == kNone) continue;
      Symbol& right = symbols_[left.next];
      if (left.bytes + right.bytes != candidate.bytes) continue;
      left.bytes = candidate.bytes;
      right.bytes = 0;
      left.next = right.next;
      if (left.next != kNone) symbols_[left.next].previous = candidate.left;
      if (left.previous != kNone) offer(left.previous);
      offer(candidate.left);
    }
  }

  void emit(Encoding& out) const {
    for (std::uint32_t i = symbols_.empty() ? kNone : 0; i != kNone; i = symbols_[i].next) {
      spm_.emit(symbols_[i], std::string_view(spelled_).substr(symbols_[i].begin, symbols_[i].bytes), out);
    }
  }

 private:
  static bool later(const Candidate& a, const Candidate& b) {
    return a.score != b.score ? a.score < b.score : a.left > b.left;
  }

  void append(std::string_view character, std::uint32_t origin) {
    const auto at = static_cast<std::uint32_t>(symbols_.size());
    symbols_.push_back({static_cast<std::uint32_t>(spelled_.size()), static_cast<std::uint32_t>(character.size()),
                        origin, at - 1, at + 1});
    spelled_ += character;
  }

  void offer(std::uint32_t at) {
    const Symbol& left = symbols_[at];
    if (left.next == kNone) return;
    const std::uint32_t bytes = left.bytes + symbols_[left.next].bytes;
    if (bytes > spm_.longest_token_bytes_) return;
    const auto found = spm_.index_.find(std::string_view(spelled_).substr(left.begin, bytes));
    if (found == spm_.index_.end()) return;
    queue_.push_back({spm_.scores_[static_cast<std::size_t>(found->second)], at, bytes});
    std::push_heap(queue_.begin(), queue_.end(), later);
  }

  const Spm& spm_;
  std::string spelled_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> queue_;
};

Spm::Spm(const TokenIndex& index, const std::vector<float>& scores, const std::array<Token, 256>& byte_tokens,
         Token unknown, std::size_t longest_token_bytes)
    : index_(index),
      scores_(scores),
      byte_tokens_(byte_tokens),
      unknown_(unknown),
      longest_token_bytes_(longest_token_bytes) {}

void Spm::encode(std::string_view text, std::uint32_t origin, bool space_before, Encoding& out) const {
  Run run(*this, text, origin, space_before);
  run.merge();
  run.emit(out);
}

void Spm::emit(const Symbol& symbol, std::string_view spelled, Encoding& out) const {
  const auto push = [&](Token token) {
    if (token < 0) return;
    out.tokens.push_back(token);
    out.offsets.push_back(symbol.origin);
  };
  if (const auto found = index_.find(spelled); found != index_.end()) return push(found->second);
  const bool spellable = std::all_of(spelled.begin(), spelled.end(), [&](char c) {
    return byte_tokens_[static_cast<std::uint8_t>(c)] >= 0;
  });
  if (!spellable) return push(unknown_);
  for (const char c : spelled) push(byte_tokens_[static_cast<std::uint8_t>(c)]);
}

}  // namespace larder::tokenizer
