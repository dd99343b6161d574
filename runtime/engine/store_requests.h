// SPDX-License-Identifier: Apache-2.0
// StoreRequests: changes asked of the store that it answers with kDone, and which of them are still open, so that a
// stop or an unload can wait for them.
// Errors:   false where the store's queue is full, or memory ran out: nothing was asked.    Threads: engine thread.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/base/out_of_memory.h"
#include "storage/block_store.h"

namespace larder::engine {

class StoreRequests {
 public:
  // Tickets are shared with whoever asks the store for other things.
  StoreRequests(storage::BlockStore& store, std::uint64_t& next_ticket) : store_(store), next_ticket_(next_ticket) {}

  bool remove(const ScopeId& scope, std::vector<BlockKey> keys) {
    return ask([&](std::uint64_t ticket) { return store_.remove(scope, std::move(keys), ticket); });
  }
  bool set_pinned(const ScopeId& scope, std::vector<BlockKey> keys, bool pinned) {
    return ask([&](std::uint64_t ticket) { return store_.set_pinned(scope, std::move(keys), pinned, ticket); });
  }
  bool put_record(storage::StoredRecord record) {
    return ask([&](std::uint64_t ticket) { return store_.put_record(std::move(record), ticket); });
  }
  bool remove_record(const ScopeId& scope, std::uint32_t kind, std::uint64_t id) {
    return ask([&](std::uint64_t ticket) { return store_.remove_record(scope, kind, id, ticket); });
  }

  void answered(std::uint64_t ticket) { open_.erase(ticket); }
  bool none_open() const { return open_.empty(); }

 private:
  // It is known to be open before the store has it.
  template <typename Request>
  bool ask(Request request) {
    const std::uint64_t ticket = next_ticket_++;
    bool taken = false;
    const bool had = had_memory([&] {
      open_.insert(ticket);
      taken = request(ticket);
    });
    if (!had || !taken) open_.erase(ticket);
    return had && taken;
  }

  storage::BlockStore& store_;
  std::uint64_t& next_ticket_;
  std::unordered_set<std::uint64_t> open_;
};

}  // namespace larder::engine
