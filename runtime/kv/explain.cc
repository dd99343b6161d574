// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/explain.h"

#include <algorithm>
#include <span>

#include "kernels/layout/kv_layout.h"

namespace larder::kv {
namespace {

struct Frame {
  std::uint32_t prompt = 0;  // P
  std::uint32_t most = 0;    // P-1
  std::uint32_t head = 0;    // T without its floor of 1
  std::uint32_t last = 0;    // L
  std::uint32_t start() const { return std::max(head, 1u); }
  // What full prefix asks for: everything before the last message, or all that can be where nothing stands before it.
  std::uint32_t goal() const { return last > head ? std::min(last, most) : most; }
};

Frame frame_of(const PreparedPrompt& prompt) {
  Frame frame;
  frame.prompt = static_cast<std::uint32_t>(prompt.tokens.size());
  frame.most = frame.prompt > 0 ? frame.prompt - 1 : 0;
  frame.last = std::min(prompt.last_message_begin, frame.prompt);
  for (const Section& section : prompt.sections) {
    if (section.kind != SectionKind::kTemplate) break;
    frame.head = std::min(section.token_end, frame.prompt);
  }
  return frame;
}

std::uint32_t section_at(const PreparedPrompt& prompt, std::uint32_t token) {
  for (std::uint32_t i = 0; i < prompt.sections.size(); ++i) {
    if (token < prompt.sections[i].token_end) return i;
  }
  return prompt.sections.empty() ? 0 : static_cast<std::uint32_t>(prompt.sections.size() - 1);
}

bool only_closing_is_left(const MatchFacts& facts, const Frame& frame) {
  if (facts.sibling || facts.seen <= frame.start() || facts.seen != facts.reused) return false;
  if (frame.last <= frame.head || frame.last <= facts.seen || frame.last - facts.seen > kClosingTokens) return false;
  return section_at(*facts.prompt, facts.seen) == section_at(*facts.prompt, frame.last - 1);
}

bool is_full_prefix(const MatchFacts& facts, const Frame& frame) {
  if (facts.reused > 0 && facts.reused >= frame.goal()) return true;
  return only_closing_is_left(facts, frame);
}

// The longest run that is equal again when the first few tokens after the difference are set aside on either side.
std::uint32_t equal_again(std::span<const Token> here, std::span<const Token> cached) {
  constexpr std::size_t kShift = 16;
  std::size_t best = 0;
  for (std::size_t i = 0; i < std::min(kShift, here.size()); ++i) {
    for (std::size_t j = 0; j < std::min(kShift, cached.size()); ++j) {
      std::size_t run = 0;
      while (i + run < here.size() && j + run < cached.size() && here[i + run] == cached[j + run]) ++run;
      best = std::max(best, run);
    }
  }
  constexpr std::size_t kChance = 4;  // shorter runs are equal by accident
  return best < kChance ? 0 : static_cast<std::uint32_t>(best);
}

Divergence divergence_of(const MatchFacts& facts) {
  const std::vector<Token>& tokens = facts.prompt->tokens;
  Divergence divergence;
  divergence.token = facts.seen;
  divergence.section = section_at(*facts.prompt, facts.seen);
  const std::size_t begin = facts.seen - std::min(facts.seen, kRunBefore);
  const std::size_t end = std::min<std::size_t>(tokens.size(), begin + kRunTokens);
  divergence.here_run.assign(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                             tokens.begin() + static_cast<std::ptrdiff_t>(end));
  if (facts.seen < tokens.size()) divergence.here = tokens[facts.seen];
  if (!facts.sibling) return divergence;
  const Sibling& sibling = *facts.sibling;
  divergence.cached = sibling.tokens.front();
  divergence.cached_by = sibling.made_by;
  divergence.cached_owner = sibling.owner;
  divergence.cached_run.assign(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                               tokens.begin() + static_cast<std::ptrdiff_t>(facts.seen));
  const std::size_t after = std::min(sibling.tokens.size(), kRunTokens - divergence.cached_run.size());
  divergence.cached_run.insert(divergence.cached_run.end(), sibling.tokens.begin(),
                               sibling.tokens.begin() + static_cast<std::ptrdiff_t>(after));
  divergence.equal_after = equal_again(std::span(tokens).subspan(facts.seen), sibling.tokens);
  return divergence;
}

// Does something that reaches to `end` explain more than the tree, by half a block or by all that is asked for?
bool explains_more(std::uint32_t end, const MatchFacts& facts, const Frame& frame) {
  const std::uint32_t reach = std::min(end, frame.most);
  if (end <= frame.start() || reach <= facts.seen) return false;
  return reach >= frame.goal() || reach - facts.seen >= kernels::kBlockTokens / 2;
}

VerdictKind decide(const MatchFacts& facts, const Frame& frame) {
  if (!facts.read) return VerdictKind::kBypassed;
  if (is_full_prefix(facts, frame)) return VerdictKind::kFullPrefix;
  const bool held_back = facts.max_reuse < std::min(facts.seen, frame.most);
  const bool ghosts = explains_more(facts.ghost_end, facts, frame);
  const bool others = explains_more(facts.other_end, facts, frame);
  if (!ghosts && !others && !held_back) {
    if (facts.seen <= frame.start() && facts.seen < frame.prompt) return VerdictKind::kCold;
    if (facts.seen < frame.prompt) return VerdictKind::kDiverged;
  }
  if (ghosts && !held_back) return VerdictKind::kEvicted;
  if (others && !held_back) return VerdictKind::kOtherIdentity;
  return held_back ? VerdictKind::kBypassed : VerdictKind::kTooShort;
}

}  // namespace

Verdict explain(const MatchFacts& facts) {
  const Frame frame = frame_of(*facts.prompt);
  Verdict verdict;
  verdict.prompt_tokens = frame.prompt;
  verdict.reused_tokens = facts.reused;
  verdict.copied_tokens = facts.copied;
  verdict.tier = facts.reused > 0 ? facts.tier : "none";
  if (facts.reused > 0) verdict.lineage = facts.lineage;
  verdict.foreign = facts.reused > 0 && facts.foreign;
  verdict.kind = decide(facts, frame);
  if (verdict.kind == VerdictKind::kDiverged) verdict.divergence = divergence_of(facts);
  if (verdict.kind == VerdictKind::kEvicted) {
    verdict.eviction = facts.eviction;
    verdict.eviction->lost_tokens = std::min(facts.ghost_end, frame.most) - facts.seen;
  }
  if (verdict.kind == VerdictKind::kOtherIdentity) verdict.identity_part = facts.other_part;
  return verdict;
}

}  // namespace larder::kv
