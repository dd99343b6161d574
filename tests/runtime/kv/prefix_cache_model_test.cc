// SPDX-License-Identifier: Apache-2.0
// Random histories against a naive list of everything that may be found. The arena of CacheWorld shows what a model
// would have read.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "runtime/base/rng.h"
#include "tests/runtime/kv/cache_world.h"

namespace larder::kv {
namespace {

using kernels::kBlockTokens;
using test::CacheWorld;

struct Running {
  Claim claim;
  std::size_t root = 0;
  bool is_private = false;
  std::vector<Token> growing;  // its unsealed tail with everything before it, as found by others
};

class Model {
 public:
  enum class Play { kExact, kPressure, kPressureOverALowerTier };

  Model(std::uint64_t seed, std::uint32_t blocks, Play play)
      : rng_(seed), play_(play), exact_(play == Play::kExact),
        blocks_(blocks),
        world_({.blocks = blocks, .longest = 4, .pin_budget = blocks / 3,
                .lower_tier = play == Play::kPressureOverALowerTier}) {
    for (std::uint8_t root = 0; root < 3; ++root)
      scopes_.push_back(test::make_scope(static_cast<std::uint8_t>(root + 1)));
    known_.resize(scopes_.size());
    perhaps_.resize(scopes_.size());
    world_.identity = identity_;
  }

  void step() {
    if (!exact_ && rng_.below(16) == 0) resize();
    switch (rng_.below(exact_ ? 9 : play_ == Play::kPressure ? 12 : 16)) {
      case 0:
      case 1: open(); break;
      case 2:
      case 3:
      case 4: advance(); break;
      case 5: fail(); break;
      case 6: close(); break;
      case 7: remove(); break;
      case 8: advance(); break;
      case 12: store(); break;
      case 13: bring_up(); break;
      case 14: answer_arrival(); break;
      case 15: lose_copy(); break;
      default: pin(); break;
    }
    ASSERT_EQ(world_.cache.audit(), "");
  }

  // The digest of the weights arrives, whatever is running.
  void learn_weights() { identity_->learn_weights(test::make_identity()->weights); }

  // Every end of a sequence that is still there has the key that a process makes which knew the digest from the start.
  // How many there were.
  std::size_t check_keys() const {
    std::size_t seen = 0;
    for (const auto& [node, root, tokens] : ends_) {
      const Result<BlockKey> key = world_.cache.key_of(node);
      if (!key.ok() && key.error().code == ErrorCode::kNotFound) continue;
      ++seen;
      EXPECT_EQ(key.ok(), identity_->weights_known);
      if (!key.ok()) continue;
      const PromptKeys chain = chain_keys(scopes_[root], test::make_identity(), "", tokens);
      const std::size_t whole = chain.blocks.size() * kBlockTokens;
      ChainKey last = whole == 0 ? chain.root : chain.blocks.back();
      if (whole < tokens.size()) last = next_key(scopes_[root]->secret(), last, std::span(tokens).subspan(whole));
      EXPECT_EQ(*key, block_key(scopes_[root]->secret(), *chain.identity, last));
    }
    return seen;
  }

  void finish() {
    world_.cache.set_block_limit(blocks_);
    running_.clear();
    while (!arriving_.empty()) answer_arrival();
    ASSERT_EQ(world_.cache.audit(), "");
    const CacheCounts counts = world_.cache.counts();
    EXPECT_EQ(counts.pool.in_use, 0u);
    EXPECT_EQ(counts.pool.free + counts.pool.cached, counts.pool.total);
    EXPECT_EQ(counts.pool.cached + cold_nodes(), counts.nodes);
    for (const auto& scope : scopes_) (void)world_.cache.erase_scope(scope->id());
    EXPECT_EQ(world_.cache.counts().pool.free, counts.pool.total);
  }

  // Nearly every answer of the naive list was one number, so the comparison means something.
  bool mostly_exact() const { return exactly_known_ > 20 * partly_known_; }
  std::uint64_t evicted() const { return world_.cache.counts().evicted_blocks; }
  CacheCounts counts() const { return world_.cache.counts(); }
  std::uint64_t restored() const { return restored_; }
  std::uint64_t withheld() const { return withheld_; }
  std::uint64_t shrunk_below_use() const { return shrunk_below_use_; }

 private:
  using Path = std::vector<Token>;

  // Few different tokens and few places to branch, so that prompts meet often.
  Path random_prompt() {
    Path tokens(1 + rng_.below(150), 1);
    const std::uint64_t branches = rng_.below(4);
    for (std::uint64_t i = 0; i < branches; ++i)
      tokens[rng_.below(tokens.size())] = static_cast<Token>(2 + rng_.below(2));
    return tokens;
  }

  static bool starts_with(const Path& path, const Path& start) {
    return path.size() >= start.size() && std::equal(start.begin(), start.end(), path.begin());
  }

  // Least and most that may be reused.
  std::pair<std::uint32_t, std::uint32_t> expected(std::size_t root, const Path& prompt) const {
    std::size_t best = 0;
    const auto look = [&](const Path& path) {
      const auto differ = std::mismatch(path.begin(), path.end(), prompt.begin(), prompt.end());
      best = std::max(best, static_cast<std::size_t>(differ.first - path.begin()));
    };
    for (const Path& path : known_[root]) look(path);
    for (const Running& run : running_) {
      if (run.root == root && !run.is_private) look(run.growing);
    }
    const auto least = static_cast<std::uint32_t>(std::min(best, prompt.size() - 1));
    for (const Path& path : perhaps_[root]) look(path);
    return {least, static_cast<std::uint32_t>(std::min(best, prompt.size() - 1))};
  }

  void open() {
    if (running_.size() >= 6) return;
    const std::size_t root = rng_.below(scopes_.size());
    const Path prompt = random_prompt();
    world_.scope = scopes_[root];
    Running run;
    run.root = root;
    OpenRequest request = world_.request(prompt);
    if (rng_.below(10) == 0) {
      request.keep = false;
      run.is_private = true;
    }
    run.claim = world_.cache.open(std::move(request));
    world_.check_reuse(run.claim);
    if (exact_) {
      const auto [least, most] = expected(root, prompt);
      ASSERT_GE(run.claim.reused_tokens(), least);
      ASSERT_LE(run.claim.reused_tokens(), most);
      (least == most ? exactly_known_ : partly_known_) += 1;
    }
    running_.push_back(std::move(run));
  }

  Running* any() { return running_.empty() ? nullptr : &running_[rng_.below(running_.size())]; }

  void advance() {
    Running* run = any();
    if (run == nullptr) return;
    Claim& claim = run->claim;
    const auto have = static_cast<std::uint32_t>(claim.tokens().size());
    if (claim.committed() == have) claim.append(static_cast<Token>(1 + rng_.below(3)));
    const auto all = static_cast<std::uint32_t>(claim.tokens().size());
    const std::uint32_t until = claim.committed() + 1 + static_cast<std::uint32_t>(rng_.below(all - claim.committed()));
    const PoolCounts before = world_.cache.counts().pool;
    const Status status = world_.run(claim, until);
    if (!status.ok()) {
      EXPECT_EQ(status.error().code, ErrorCode::kResourceExhausted);
      EXPECT_EQ(world_.cache.counts().pool, before);
      if (rng_.below(2) == 0) close_run(*run, CloseAs::kDone);
      return;
    }
    if (run->is_private) return;
    for (std::uint32_t end = kBlockTokens; end <= until; end += kBlockTokens) {
      known_[run->root].insert(Path(claim.tokens().begin(), claim.tokens().begin() + end));
    }
    run->growing.clear();
    if (until % kBlockTokens != 0) run->growing.assign(claim.tokens().begin(), claim.tokens().begin() + until);
  }

  // A step goes wrong; the sequence ends, or tries again.
  void fail() {
    Running* run = any();
    if (run == nullptr || run->claim.committed() == run->claim.tokens().size()) return;
    const auto all = static_cast<std::uint32_t>(run->claim.tokens().size());
    if (!world_.run_and_fail(run->claim, all).ok()) return;
    run->growing.clear();
    if (rng_.below(2) == 0) {
      run->claim.rollback();
    } else {
      close_run(*run, CloseAs::kFailed);
    }
  }

  void close_run(Running& run, CloseAs as) {
    Path tokens = run.claim.tokens();
    const Closed closed = run.claim.close(as);
    if (!run.growing.empty() && !run.is_private) known_[run.root].insert(run.growing);
    const auto rows = closed.end.value != 0 ? world_.cache.locate(closed.end) : Result<std::vector<TreeRow>>(Error{});
    // An end that a longer sibling stands in for has tokens that this list does not know.
    if (rows.ok() && rows->back().first_position + rows->back().tokens == closed.kept_tokens) {
      tokens.resize(closed.kept_tokens);
      ends_.emplace_back(closed.end, run.root, std::move(tokens));
    }
    std::swap(run, running_.back());
    running_.pop_back();
  }

  void close() {
    if (Running* run = any()) close_run(*run, CloseAs::kDone);
  }

  void remove() {
    if (ends_.empty() || rng_.below(4) != 0) return;
    const auto [node, root, tokens] = ends_[rng_.below(ends_.size())];
    const auto rows = world_.cache.locate(node);
    const auto removed = world_.cache.remove(node, true, false);
    if (!removed.ok()) return;
    ASSERT_TRUE(rows.ok());
    const std::uint32_t start = rows->back().first_position;
    if (rows->back().tokens < kBlockTokens) {  // a tail: only itself goes
      known_[root].erase(tokens);
      doubt_tails_of(root, tokens, start);
      return;
    }
    const Path top(tokens.begin(), tokens.begin() + start + kBlockTokens);
    for (Running& run : running_) {
      const bool passes = run.root == root && !run.is_private && run.claim.committed() >= top.size() &&
                          starts_with(run.claim.tokens(), top) &&
                          run.claim.blocks().size() * kBlockTokens >= top.size();
      if (!passes) continue;
      run.is_private = true;
      run.growing.clear();
    }
    std::erase_if(known_[root], [&](const Path& path) { return starts_with(path, top); });
    std::erase_if(perhaps_[root], [&](const Path& path) { return starts_with(path, top); });
    doubt_tails_of(root, top, start);
  }

  // Shorter tails that the removed block continued may have been dropped in its favour before.
  void doubt_tails_of(std::size_t root, const Path& removed, std::uint32_t start) {
    for (std::size_t size = start + 1; size < removed.size(); ++size) {
      const Path tail(removed.begin(), removed.begin() + static_cast<std::ptrdiff_t>(size));
      if (known_[root].erase(tail) > 0) perhaps_[root].insert(tail);
    }
  }

  void pin() {
    if (ends_.empty()) return;
    const auto [node, root, tokens] = ends_[rng_.below(ends_.size())];
    if (rng_.below(2) == 0) {
      (void)world_.cache.unpin_node(node);
      return;
    }
    PinRequest request;
    request.node = node;
    if (rng_.below(2) == 0) request.expires = world_.clock.wall() + 5;
    const auto pinned = world_.cache.pin(request);
    world_.clock.advance_ns(1'000'000);
    if (pinned.ok()) {
      EXPECT_TRUE(world_.cache.locate(node).ok());
    }
  }

  // A limit lowered and raised at any moment; what is withheld loses what it held.
  void resize() {
    world_.cache.set_block_limit(blocks_ - static_cast<std::uint32_t>(rng_.below(blocks_ / 2)));
    const std::uint32_t left = world_.cache.trim(static_cast<std::uint32_t>(rng_.below(blocks_)));
    EXPECT_EQ(left, world_.cache.pool().excess());
    if (left > 0) {
      EXPECT_EQ(world_.cache.counts().pool.free, 0u);
      ++shrunk_below_use_;
    }
    for (const BlockId block : world_.cache.take_withheld()) {
      EXPECT_EQ(world_.cache.pool().residency(block), Residency::kWithheld);
      world_.arena[block.value].fill(test::kGarbage);
      ++withheld_;
    }
  }

  // Writes some of what has no copy down, drops the copies of nodes that are gone.
  void store() {
    for (std::uint64_t i = rng_.below(8); i > 0; --i) {
      if (const std::optional<UnstoredBlock> next = world_.cache.next_unstored()) world_.store(*next);
    }
    for (const StoredName& name : world_.cache.take_lost()) world_.below.erase(name.key);
  }

  void bring_up() {
    if (arriving_.size() >= 3) return;
    const std::size_t root = rng_.below(scopes_.size());
    world_.scope = scopes_[root];
    const OpenRequest wanted = world_.request(random_prompt());
    const ColdPart part{rng_.below(3), rng_.below(4) == 0 ? 2 : ~std::size_t{0}};
    Result<Arrival> begun =
        world_.cache.begin_arrival(*wanted.prompt, *wanted.keys, wanted.request, wanted.tenant, part);
    if (!begun.ok()) {
      EXPECT_EQ(begun.error().code, ErrorCode::kResourceExhausted);
      return;
    }
    if (!begun->open()) return;
    std::vector<std::size_t> waiting(begun->blocks().size());
    for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i] = i;
    arriving_.push_back({std::move(begun).value(), std::move(waiting)});
  }

  // One block of one arrival comes, in any order; now and then it is damaged, gone or late.
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
      arrival.missed(index, gone);
    }
    if (rng_.below(2) == 0) arrival.look_again();
    if (!waiting.empty()) return;
    EXPECT_TRUE(arrival.settled());
    restored_ += arrival.warmed_tokens();
    std::erase_if(arriving_, [](const auto& each) { return each.second.empty(); });
  }

  // The lower tier drops a copy by itself.
  void lose_copy() {
    if (world_.below.empty() || rng_.below(6) != 0) return;
    auto copy = world_.below.begin();
    std::advance(copy, static_cast<std::ptrdiff_t>(rng_.below(world_.below.size())));
    world_.cache.drop_stored(copy->first);
    world_.below.erase(copy);
  }

  std::uint32_t cold_nodes() const {
    std::uint32_t cold = 0;
    for (const TreeRow& row : world_.cache.describe()) cold += row.blocks - row.resident_blocks;
    return cold;
  }

  Rng rng_;
  Play play_;
  bool exact_;
  std::uint32_t blocks_;
  CacheWorld world_;
  std::shared_ptr<Identity> identity_ = test::make_load_identity(1);
  std::vector<tenant::Scope> scopes_;
  std::vector<std::set<Path>> known_;
  std::vector<std::set<Path>> perhaps_;
  std::uint64_t exactly_known_ = 0;
  std::uint64_t partly_known_ = 0;
  std::vector<Running> running_;
  std::vector<std::pair<Arrival, std::vector<std::size_t>>> arriving_;
  std::uint64_t restored_ = 0;
  std::uint64_t withheld_ = 0;
  std::uint64_t shrunk_below_use_ = 0;
  std::vector<std::tuple<NodeId, std::size_t, Path>> ends_;
};

TEST(PrefixCacheModel, FindsExactlyWhatANaiveListFindsWhileNothingIsEvicted) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    Model model(seed, 4000, Model::Play::kExact);
    const int digest_comes = static_cast<int>(60 * seed);
    for (int step = 0; step < 600; ++step) {
      if (step == digest_comes) {
        EXPECT_GT(model.check_keys(), 0u);
        model.learn_weights();
      }
      model.step();
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(model.check_keys(), 0u);
    EXPECT_EQ(model.evicted(), 0u);
    EXPECT_TRUE(model.mostly_exact());
    model.finish();
  }
}

TEST(PrefixCacheModel, UnderPressureReusesOnlyWhatWasComputedAndLeaksNothing) {
  std::uint64_t evicted = 0;
  std::uint64_t withheld = 0;
  std::uint64_t shrunk_below_use = 0;
  std::size_t keys = 0;
  for (std::uint64_t seed = 100; seed < 112; ++seed) {
    SCOPED_TRACE(seed);
    Model model(seed, 20, Model::Play::kPressure);
    for (int step = 0; step < 1500; ++step) {
      if (step == 750) model.learn_weights();
      if (step % 50 == 0) keys += model.check_keys();
      model.step();
      if (::testing::Test::HasFailure()) return;
    }
    evicted += model.evicted();
    withheld += model.withheld();
    shrunk_below_use += model.shrunk_below_use();
    model.finish();
  }
  EXPECT_GT(evicted, 1000u);
  EXPECT_GT(keys, 1000u);
  EXPECT_GT(withheld, 1000u);
  EXPECT_GT(shrunk_below_use, 100u);
}

TEST(PrefixCacheModel, OverALowerTierReadsOnlyWhatWasComputedWhateverIsLateDamagedOrGone) {
  std::uint64_t cooled = 0;
  std::uint64_t restored = 0;
  for (std::uint64_t seed = 200; seed < 212; ++seed) {
    SCOPED_TRACE(seed);
    Model model(seed, 20, Model::Play::kPressureOverALowerTier);
    for (int step = 0; step < 2500; ++step) {
      if (step == 100) model.learn_weights();
      model.step();
      if (::testing::Test::HasFailure()) return;
    }
    cooled += model.counts().cooled_blocks;
    restored += model.restored();
    model.finish();
  }
  EXPECT_GT(cooled, 1000u);
  EXPECT_GT(restored, 3000u);
}

}  // namespace
}  // namespace larder::kv
