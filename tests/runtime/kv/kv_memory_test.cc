// SPDX-License-Identifier: Apache-2.0
// Every allocation of every call into the prefix cache fails once, in the middle of random histories. After each
// failure every sum and edge is recounted, and the call is made again: in the end all stands as it does where nothing
// failed.
// LARDER_WALKS: how many histories of each kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "runtime/base/rng.h"
#include "runtime/kv/block_range.h"
#include "tests/runtime/kv/cache_world.h"
#include "tests/support/failing_memory.h"

namespace larder::kv {
namespace {

using kernels::kBlockTokens;
using test::CacheWorld;

enum class Failing { kNever, kRetried, kGivenUp };  // kGivenUp: now and then the sequence ends instead

struct Walked {
  std::string picture;  // of what is in the cache in the end, and of all that was found on the way
  std::uint64_t failures = 0;
  CacheCounts counts;
};

class Walk {
 public:
  Walk(std::uint64_t seed, Failing failing)
      : rng_(seed), luck_(seed + 1), failing_(failing),
        world_({.blocks = 24, .longest = 4, .pin_budget = 8, .ghosts = 4096, .lower_tier = true, .max_cold_nodes = 10,
                .policy = std::make_unique<storage::QuotaLru>()}) {
    for (std::uint8_t scope = 1; scope <= 3; ++scope) scopes_.push_back(test::make_scope(scope));
    world_.cache.set_quota(TenantId{1}, 4);
  }

  void step() {
    switch (rng_.below(22)) {
      case 0:
      case 1:
      case 2: open(); break;
      case 3:
      case 4:
      case 5:
      case 6: advance(); break;
      case 7: fail_step(); break;
      case 8:
      case 9: close(); break;
      case 10: remove(); break;
      case 11: pin(); break;
      case 12: store(); break;
      case 13: open(); break;
      case 14:
      case 15: bring_up(); break;
      case 16:
      case 17: answer_arrival(); break;
      case 18: lose_copy(); break;
      case 19: move_one(); break;
      case 20: adopt_all(); break;
      default: look(); break;
    }
  }

  Walked finish() {
    if (failing_ == Failing::kGivenUp) failing_ = Failing::kRetried;
    if (rng_.below(2) == 0) {
      Removed removed;
      try_all([&] { removed = world_.cache.erase_scope(scopes_.front()->id()); });
      note(removed.nodes);
    }
    while (!running_.empty()) close();
    while (!arriving_.empty()) answer_arrival();
    check();
    Walked walked;
    walked.failures = failures_;
    walked.counts = world_.cache.counts();
    EXPECT_EQ(walked.counts.pool.in_use + walked.counts.pool.arriving + walked.counts.pool.leaving, 0u);
    EXPECT_EQ(walked.counts.open_claims, 0u);
    for (const TreeRow& row : world_.cache.describe()) {
      log_ << '\n' << row.owner.value << ' ' << row.first_position << ' ' << row.tokens << ' ' << row.blocks << ' '
           << row.resident_blocks << ' ' << row.stored_blocks << ' ' << row.pinned << ' ' << row.hits;
    }
    log_ << '\n' << walked.counts.pool.free << ' ' << walked.counts.evicted_blocks << ' '
         << walked.counts.cooled_blocks << ' ' << walked.counts.warmed_blocks << ' ' << walked.counts.adopted_blocks
         << ' ' << walked.counts.superseded_blocks << ' ' << walked.counts.forgotten_cold;
    walked.picture = log_.str();
    try_all([&] { world_.cache.retire("unloaded"); });
    check();
    EXPECT_EQ(world_.cache.counts().pool.free, walked.counts.pool.total);
    EXPECT_EQ(world_.cache.counts().nodes, 0u);
    return walked;
  }

 private:
  struct Running {
    Claim claim;
  };
  struct Arriving {
    Arrival arrival;
    std::vector<std::size_t> waiting;
  };

  void check() { ASSERT_EQ(world_.cache.audit(), ""); }
  void note(std::uint64_t number) { log_ << number << ','; }
  bool gives_up() { return failing_ == Failing::kGivenUp && luck_.below(3) == 0; }

  // The call, with each of its allocations failing before it passes. False: it was given up.
  template <typename Call>
  bool try_all(Call call) {
    if (failing_ == Failing::kNever) return call(), true;
    const std::uint64_t burst = 1 + luck_.below(3);
    for (std::uint64_t nth = 1;; ++nth) {
      larder::test::arm_memory(nth, burst);
      try {
        call();
        larder::test::disarm_memory();
        return true;
      } catch (const std::bad_alloc&) {
        larder::test::disarm_memory();
      }
      ++failures_;
      check();
      if (::testing::Test::HasFatalFailure() || gives_up()) return false;
    }
  }

  std::vector<Token> random_prompt() {
    std::vector<Token> tokens(1 + rng_.below(170), 1);
    for (std::uint64_t i = rng_.below(4); i > 0; --i) {
      tokens[rng_.below(tokens.size())] = static_cast<Token>(2 + rng_.below(2));
    }
    return tokens;
  }

  OpenRequest random_request() {
    const std::size_t scope = rng_.below(scopes_.size());
    world_.scope = scopes_[scope];
    world_.tenant = TenantId{static_cast<std::uint32_t>(scope + 1)};
    std::vector<Section> sections(1);
    sections[0].label = "a label that is too long to lie in the string itself";
    OpenRequest request = world_.request(random_prompt());
    auto prompt = std::make_shared<PreparedPrompt>(*request.prompt);
    sections[0].token_end = static_cast<std::uint32_t>(prompt->tokens.size());
    prompt->sections = std::move(sections);
    request.prompt = std::move(prompt);
    return request;
  }

  void open() {
    if (running_.size() >= 5) return;
    OpenRequest request = random_request();
    request.keep = rng_.below(8) != 0;
    Running run;
    running_.reserve(8);
    if (!try_all([&] { run.claim = world_.cache.open(request); })) return;
    world_.check_reuse(run.claim);
    note(run.claim.reused_tokens());
    log_ << verdict_name(run.claim.verdict().kind) << ',';
    running_.push_back(std::move(run));
  }

  std::size_t any() { return rng_.below(running_.size()); }

  void drop(std::size_t index, CloseAs as) {
    const Closed closed = running_[index].claim.close(as);
    note(closed.kept_tokens);
    std::swap(running_[index], running_.back());
    running_.pop_back();
    check();
  }

  // Room for positions < until, with the copies done. False: there is none, or the sequence was given up.
  bool grow(std::size_t index, std::uint32_t until) {
    Claim& claim = running_[index].claim;
    Status grown;
    if (!try_all([&] { grown = claim.grow(until); })) {
      drop(index, CloseAs::kFailed);
      return false;
    }
    note(grown.ok() ? 1 : 0);
    if (grown.ok()) world_.do_copies(claim);
    return grown.ok();
  }

  void advance() {
    if (running_.empty()) return;
    const std::size_t index = any();
    Claim& claim = running_[index].claim;
    const auto next = static_cast<Token>(1 + rng_.below(3));
    if (claim.committed() == claim.tokens().size() && !try_all([&] { claim.append(next); })) return;
    const auto all = static_cast<std::uint32_t>(claim.tokens().size());
    const std::uint32_t until = claim.committed() + 1 + static_cast<std::uint32_t>(rng_.below(all - claim.committed()));
    if (!grow(index, until)) return;
    for (std::size_t at = claim.committed(); at < until; ++at) {
      world_.arena[claim.blocks()[at / kBlockTokens].value][at % kBlockTokens] = claim.tokens()[at];
    }
    if (try_all([&] { claim.commit(until); })) return;
    // Given up in the middle: the rows are run again, or the sequence ends.
    if (luck_.below(2) == 0) return claim.rollback();
    drop(index, CloseAs::kFailed);
  }

  void fail_step() {
    if (running_.empty()) return;
    const std::size_t index = any();
    Claim& claim = running_[index].claim;
    const auto all = static_cast<std::uint32_t>(claim.tokens().size());
    if (claim.committed() == all || !grow(index, all)) return;
    for (std::size_t at = claim.committed(); at < all; ++at) {
      world_.arena[claim.blocks()[at / kBlockTokens].value][at % kBlockTokens] = test::kGarbage;
    }
    if (rng_.below(2) == 0) return claim.rollback();
    drop(index, CloseAs::kFailed);
  }

  void close() {
    if (!running_.empty()) drop(any(), CloseAs::kDone);
  }

  // Of the rows of the tree; 0: there is none.
  NodeId any_node() {
    const std::vector<TreeRow> rows = world_.cache.describe();
    return rows.empty() ? NodeId{} : rows[rng_.below(rows.size())].id;
  }

  void remove() {
    const NodeId node = any_node();
    if (rng_.below(3) != 0) return;
    bool removed = false;
    try_all([&] { removed = world_.cache.remove(node, true, false).ok(); });
    note(removed);
  }

  void pin() {
    PinRequest request;
    request.node = any_node();
    request.reason = "a reason that is too long to lie in the string itself";
    if (rng_.below(2) == 0) request.expires = world_.clock.wall() + 5;
    const bool undo = rng_.below(3) == 0;
    std::uint64_t done = 0;
    try_all([&] { done = undo ? world_.cache.unpin_node(request.node) : world_.cache.pin(request).ok(); });
    note(done);
    world_.clock.advance_ns(1'000'000);
  }

  void store() {
    for (std::uint64_t i = rng_.below(6); i > 0; --i) {
      std::optional<UnstoredBlock> next;
      if (!try_all([&] { next = world_.cache.next_unstored(); }) || !next) break;
      world_.check_zeros_past_valid(next->block);
      if (rng_.below(8) == 0) {
        world_.cache.store_later(next->node);
        continue;
      }
      const CacheWorld::Copy copy{next->cold, world_.arena[next->block.value]};
      if (try_all([&] { world_.cache.mark_stored(next->node); })) world_.below[next->cold.key] = copy;
    }
    std::vector<StoredName> lost;
    if (!try_all([&] { lost = world_.cache.take_lost(); })) return;
    for (const StoredName& name : lost) world_.below.erase(name.key);
    note(lost.size());
  }

  void bring_up() {
    if (arriving_.size() >= 3) return;
    arriving_.reserve(8);
    const OpenRequest wanted = random_request();
    const ColdPart part{rng_.below(3), rng_.below(4) == 0 ? 2 : ~std::size_t{0}};
    const bool by_name = rng_.below(4) == 0;
    const std::vector<NodeId> chain = by_name ? cold_chain() : std::vector<NodeId>();
    Result<Arrival> begun = Arrival();
    const bool tried = try_all([&] {
      begun = by_name ? world_.cache.begin_arrival(chain, world_.cache.use_stamp(), wanted.tenant)
                      : world_.cache.begin_arrival(*wanted.prompt, *wanted.keys, wanted.request, wanted.tenant, part);
    });
    if (!tried) return;
    note(begun.ok() && begun->open() ? begun->blocks().size() : 0);
    if (!begun.ok() || !begun->open()) return;
    std::vector<std::size_t> waiting(begun->blocks().size());
    for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i] = i;
    arriving_.push_back({std::move(begun).value(), std::move(waiting)});
  }

  std::vector<NodeId> cold_chain() {
    const Result<std::vector<NodeId>> path = world_.cache.select({any_node(), true, 0, 0});
    if (!path.ok()) return {};
    std::vector<NodeId> cold;
    for (const NodeId node : *path) {
      if (!world_.cache.facts(node).resident()) cold.push_back(node);
    }
    return cold;
  }

  void answer_arrival() {
    if (arriving_.empty()) return;
    auto& [arrival, waiting] = arriving_[rng_.below(arriving_.size())];
    const std::size_t pick = rng_.below(waiting.size());
    const std::size_t index = waiting[pick];
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(pick));
    const ArrivingBlock block = arrival.blocks()[index];
    const std::uint64_t luck = rng_.below(12);
    if (luck > 1 && world_.read_up(block)) {
      arrival.arrived(index, 1);
    } else {
      world_.arena[block.to.value].fill(test::kGarbage);
      const bool gone = luck != 1;
      if (gone) world_.below.erase(block.cold.key);
      bool answered = false;
      try_all([&] {
        // Broken off, it is answered all the same; what is left is to forget the copy.
        if (std::exchange(answered, true)) return world_.cache.drop_stored(block.cold.key);
        arrival.missed(index, gone);
      });
    }
    if (rng_.below(2) == 0) arrival.look_again();
    if (waiting.empty()) {
      note(arrival.warmed_tokens());
      std::erase_if(arriving_, [](const Arriving& each) { return each.waiting.empty(); });
    }
    check();
  }

  void lose_copy() {
    if (world_.below.empty() || rng_.below(4) != 0) return;
    auto copy = world_.below.begin();
    std::advance(copy, static_cast<std::ptrdiff_t>(rng_.below(world_.below.size())));
    if (try_all([&] { world_.cache.drop_stored(copy->first); })) world_.below.erase(copy);
  }

  void move_one() {
    const NodeId node = any_node();
    const std::uint64_t what = rng_.below(8);
    std::uint64_t done = 0;
    try_all([&] {
      if (what < 3) done = static_cast<std::uint64_t>(world_.cache.cool(node));
      if (what == 3) done = static_cast<std::uint64_t>(world_.cache.drop_copy(node));
      if (what == 4) done = world_.cache.drop_damaged(node);
      if (what > 4) world_.cache.store_again(node);
    });
    note(done);
  }

  // As after a restart: what lies below and is not known is a cold node again.
  void adopt_all() {
    std::vector<ColdBlock> listed;
    for (const auto& [key, copy] : world_.below) listed.push_back(copy.cold);
    std::stable_sort(listed.begin(), listed.end(),
                     [](const ColdBlock& a, const ColdBlock& b) { return a.first_position < b.first_position; });
    std::vector<StoredName> lost;
    const std::vector<ChainedBlock> blocks = chain_listing(listed, scopes_, *world_.identity, lost);
    if (rng_.below(4) != 0) return;
    try_all([&] { world_.cache.adopt(blocks, world_.identity); });
    note(blocks.size());
  }

  void look() {
    const OpenRequest wanted = random_request();
    Outlook outlook;
    std::size_t shown = 0;
    try_all([&] {
      outlook = world_.cache.outlook(*wanted.prompt, *wanted.keys);
      shown = world_.cache.describe().size() + world_.cache.use_by_tenant().size();
    });
    note(outlook.known_tokens);
    note(shown);
    world_.cache.expire_pins();
  }

  Rng rng_;
  Rng luck_;  // of what fails; histories are the same whatever it says
  Failing failing_;
  CacheWorld world_;
  std::vector<tenant::Scope> scopes_;
  std::vector<Running> running_;
  std::vector<Arriving> arriving_;
  std::ostringstream log_;
  std::uint64_t failures_ = 0;
};

Walked walk(std::uint64_t seed, Failing failing, int steps) {
  Walk walk(seed, failing);
  for (int step = 0; step < steps && !::testing::Test::HasFailure(); ++step) walk.step();
  return walk.finish();
}

std::uint64_t walks() {
  const char* set = std::getenv("LARDER_WALKS");
  return set == nullptr ? 60 : std::strtoull(set, nullptr, 10);
}

constexpr int kSteps = 700;

TEST(KvMemory, AfterEveryFailedAllocationTheCallCanBeMadeAgainAsIfNothingHadFailed) {
  std::uint64_t failures = 0;
  CacheCounts seen;
  for (std::uint64_t seed = 1; seed <= walks(); ++seed) {
    SCOPED_TRACE(seed);
    const Walked control = walk(seed, Failing::kNever, kSteps);
    EXPECT_EQ(control.failures, 0u);
    const Walked damaged = walk(seed, Failing::kRetried, kSteps);
    const auto differ = std::mismatch(damaged.picture.begin(), damaged.picture.end(), control.picture.begin(),
                                      control.picture.end());
    const auto at = static_cast<std::size_t>(differ.first - damaged.picture.begin());
    ASSERT_TRUE(damaged.picture == control.picture)
        << "at " << at << ": " << damaged.picture.substr(at > 60 ? at - 60 : 0, 120) << "\ninstead of\n"
        << control.picture.substr(at > 60 ? at - 60 : 0, 120);
    failures += damaged.failures;
    seen.evicted_blocks += control.counts.evicted_blocks;
    seen.cooled_blocks += control.counts.cooled_blocks;
    seen.warmed_blocks += control.counts.warmed_blocks;
    seen.forgotten_cold += control.counts.forgotten_cold;
  }
  // The histories went through what they are meant to go through.
  for (const std::uint64_t each : {seen.evicted_blocks, seen.cooled_blocks, seen.warmed_blocks, seen.forgotten_cold}) {
    std::printf("%llu ", static_cast<unsigned long long>(each));
  }
  std::printf("evicted, cooled, warmed, forgotten\n");
  EXPECT_GT(failures, 1000 * walks());
  EXPECT_GT(seen.evicted_blocks, 5 * walks());
  EXPECT_GT(seen.cooled_blocks, 10 * walks());
  EXPECT_GT(seen.warmed_blocks, 3 * walks());
  EXPECT_GT(seen.forgotten_cold, walks() / 4);
  std::printf("%llu allocations failed, 0 were noticed\n", static_cast<unsigned long long>(failures));
}

TEST(KvMemory, SequencesThatEndForWantOfMemoryLeaveNothingBehind) {
  std::uint64_t failures = 0;
  for (std::uint64_t seed = 100; seed < 100 + walks(); ++seed) {
    SCOPED_TRACE(seed);
    failures += walk(seed, Failing::kGivenUp, kSteps).failures;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(failures, 300 * walks());
  std::printf("%llu allocations failed, nothing was left behind\n", static_cast<unsigned long long>(failures));
}

}  // namespace
}  // namespace larder::kv
