// SPDX-License-Identifier: Apache-2.0
// StoreRequests: changes asked of the store that it answers with kDone, and which of them are still open, so that a
// stop or an unload can wait for them.
// Errors:   false where the store's queue is full: nothing was asked.    Threads: engine thread.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "storage/block_store.h"

namespace larder::engine {

class StoreRequests {
 public:
  // Tickets are shared with whoever asks the store for other things.
  StoreRequests(storage::BlockStore& store, std::uint64_t& next_ticket) : store_(store), next_ticket_(next_ticket) {}

  bool remove(const ScopeId& scope, std::vector<BlockKey> keys) {
    return asked(store_.remove(scope, std::move(keys), next_ticket_));
  }
  bool set_pinned(const ScopeId& scope, std::vector<BlockKey> keys, bool pinned) {
    return asked(store_.set_pinned(scope, std::move(keys), pinned, next_ticket_));
  }
  bool put_record(storage::StoredRecord record) { return asked(store_.put_record(std::move(record), next_ticket_)); }
  bool remove_record(const ScopeId& scope, std::uint32_t kind, std::uint64_t id) {
    return asked(store_.remove_record(scope, kind, id, next_ticket_));
  }

  void answered(std::uint64_t ticket) { open_.erase(ticket); }
  bool none_open() const { return open_.empty(); }

 private:
  bool asked(bool taken) {
    if (taken) open_.insert(next_ticket_++);
    return taken;
  }

  storage::BlockStore& store_;
  std::uint64_t& next_ticket_;
  std::unordered_set<std::uint64_t> open_;
};

}  // namespace larder::engine
