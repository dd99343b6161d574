// SPDX-License-Identifier: Apache-2.0
// StoreStory: a random life of a store, and the ledger of what has to be true of it afterwards: every block that was
// reported durable and neither removed nor reported evicted is there, bit for bit, and no read ever answers anything
// but the right bytes or a miss.
// Shapes:   chains 1..kChains of blocks; chain c belongs to scope 1 + c % 2.    Threads: one.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tests/storage/store_rig.h"

namespace larder::storage::test {

class StoreStory {
 public:
  static constexpr std::uint64_t kChains = 6;
  static constexpr std::uint64_t kScopes = 2;
  using Name = std::pair<std::uint64_t, std::uint64_t>;  // chain, n

  explicit StoreStory(std::uint64_t seed) : rng_(seed) {}

  static StoredBlock block(const Name& name) {
    // Two sizes, so that two files compete for the room of one scope.
    const std::uint32_t slice_bytes = name.first % 3 == 0 ? 3072 : 1024;
    return block_of(name.first, name.second, 4, slice_bytes, 1 + name.first % kScopes);
  }

  // Told before a removal is asked for, and after a block was reported durable or evicted. For who keeps a ledger of
  // its own.
  std::function<void(char what, const Name& name)> tell = [](char, const Name&) {};

  // A few steps. Answers how many reads were dishonest.
  int live(StoreRig& rig, int steps) {
    int wrong = 0;
    for (int i = 0; i < steps; ++i) {
      const std::uint64_t what = rng_.below(100);
      if (what < 62) {
        put(rig);
      } else if (what < 80) {
        wrong += read(rig);
      } else if (what < 90) {
        remove(rig);
      } else if (what < 96) {
        pin(rig);
      } else {
        rig.flush();
      }
      take_evictions(rig);
    }
    return wrong;
  }

  void take_evictions(StoreRig& rig) {
    for (const StoreEvent& event : rig.others()) {
      if (event.kind != StoreEvent::Kind::kEvicted) continue;
      for (std::uint64_t chain = 1; chain <= kChains; ++chain) {
        for (std::uint64_t n = 0; n < length_[chain]; ++n) {
          if (key_of(chain, n) == event.key) gone('e', {chain, n});
        }
      }
    }
  }

  // How much of what has to be there is not, plus every dishonest answer, read from a store opened anew.
  int check(StoreRig& rig) {
    int wrong = 0;
    for (const Name& name : must_have_) {
      const StoreRig::Read read = rig.get(block(name));
      wrong += read.miss == Miss::kNone && read.right ? 0 : 1;
    }
    for (std::uint64_t chain = 1; chain <= kChains; ++chain) {
      for (std::uint64_t n = 0; n < longest_[chain]; ++n) {
        if (!must_have_.contains({chain, n})) wrong += StoreRig::honest(rig.get(block({chain, n}))) ? 0 : 1;
      }
    }
    return wrong;
  }

  std::set<Name>& must_have() { return must_have_; }
  std::size_t stored() const { return stored_; }
  void remember(const Name& name) {
    must_have_.insert(name);
    length_[name.first] = std::max(length_[name.first], name.second + 1);
    longest_[name.first] = std::max(longest_[name.first], length_[name.first]);
    ++stored_;
  }
  void gone(char why, const Name& name) {
    tell(why, name);
    must_have_.erase(name);
    length_[name.first] = std::min(length_[name.first], name.second);
  }

 private:
  void put(StoreRig& rig) {
    const std::uint64_t chain = 1 + rng_.below(kChains);
    const std::uint64_t count = 1 + rng_.below(6);
    std::map<std::uint64_t, Name> asked;
    std::set<std::uint64_t> tickets;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Name name{chain, length_[chain] + i};
      const std::uint64_t ticket = rig.ask_put(block(name));
      asked[ticket] = name;
      tickets.insert(ticket);
    }
    longest_[chain] = std::max(longest_[chain], length_[chain] + count);
    bool whole = true;
    for (const auto& [ticket, event] : rig.wait(tickets)) {
      const bool there = event.kind == StoreEvent::Kind::kDurable || event.refusal == Refusal::kAlreadyThere;
      whole = whole && there;
      if (event.kind == StoreEvent::Kind::kDurable) {
        remember(asked[ticket]);
        tell('d', asked[ticket]);
      } else if (whole) {
        length_[chain] = std::max(length_[chain], asked[ticket].second + 1);  // there, though nobody promised it
      }
    }
  }

  int read(StoreRig& rig) {
    const std::uint64_t chain = 1 + rng_.below(kChains);
    const Name name{chain, rng_.below(longest_[chain] + 1)};
    return StoreRig::honest(rig.get(block(name))) ? 0 : 1;
  }

  void remove(StoreRig& rig) {
    const std::uint64_t chain = 1 + rng_.below(kChains);
    if (length_[chain] == 0) return;
    const Name name{chain, length_[chain] - 1};
    gone('r', name);
    const std::uint64_t ticket = rig.ticket();
    if (rig.store().remove(block(name).scope, {block(name).key}, ticket)) rig.wait({ticket});
  }

  void pin(StoreRig& rig) {
    const std::uint64_t chain = 1 + rng_.below(kChains);
    const std::uint64_t ticket = rig.ticket();
    const StoredBlock first = block({chain, 0});
    if (rig.store().set_pinned(first.scope, {first.key}, rng_.below(2) == 0, ticket)) rig.wait({ticket});
  }

  Rng rng_;
  std::map<std::uint64_t, std::uint64_t> length_;   // next block of a chain
  std::map<std::uint64_t, std::uint64_t> longest_;  // it ever had
  std::set<Name> must_have_;
  std::size_t stored_ = 0;
};

}  // namespace larder::storage::test
