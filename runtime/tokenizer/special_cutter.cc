// SPDX-License-Identifier: Apache-2.0
#include "runtime/tokenizer/special_cutter.h"

namespace larder::tokenizer {

void SpecialCutter::add(std::string_view text, Token token, bool control) {
  std::uint32_t node = 0;
  for (const char c : text) {
    const auto found = nodes_[node].next.find(c);
    if (found != nodes_[node].next.end()) {
      node = found->second;
      continue;
    }
    const auto made = static_cast<std::uint32_t>(nodes_.size());
    nodes_[node].next.emplace(c, made);
    nodes_.emplace_back();
    node = made;
  }
  if (nodes_[node].token >= 0) return;
  nodes_[node].token = token;
  nodes_[node].control = control;
}

Cut SpecialCutter::longest_at(std::string_view text, std::uint32_t at, std::uint32_t trusted_end) const {
  Cut best{at, at, -1};
  std::uint32_t node = 0;
  for (std::uint32_t i = at; i < text.size(); ++i) {
    const auto found = nodes_[node].next.find(text[i]);
    if (found == nodes_[node].next.end()) break;
    node = found->second;
    if (nodes_[node].token < 0 || (nodes_[node].control && i + 1 > trusted_end)) continue;
    best = {at, i + 1, nodes_[node].token};
  }
  return best;
}

void SpecialCutter::find(std::string_view text, std::span<const ByteRange> untrusted, std::vector<Cut>& cuts) const {
  if (nodes_.size() == 1) return;
  std::size_t range = 0;
  std::uint32_t at = 0;
  while (at < text.size()) {
    while (range < untrusted.size() && untrusted[range].end <= at) ++range;
    // Where trusted text that begins here ends; `at` itself when it does not begin here.
    auto trusted_end = static_cast<std::uint32_t>(text.size());
    if (range < untrusted.size()) trusted_end = untrusted[range].begin > at ? untrusted[range].begin : at;
    const Cut cut = longest_at(text, at, trusted_end);
    if (cut.token < 0) {
      ++at;
      continue;
    }
    cuts.push_back(cut);
    at = cut.end;
  }
}

}  // namespace larder::tokenizer
