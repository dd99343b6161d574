// SPDX-License-Identifier: Apache-2.0
// TicketTable: what the store was asked for and has not answered yet, by ticket. An entry is there before the store is
// asked, so that every answer finds what it is for, and memory that the store writes to has its owner.
// Errors:   std::bad_alloc; nothing was asked then.    Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace larder::engine {

template <typename Entry>
class TicketTable {
 public:
  // ask(): whether the store took it; it may look at the entry's memory. False: it did not, and the entry is gone.
  template <typename Ask>
  bool ask(std::uint64_t ticket, Entry entry, Ask ask) {
    Place place{entries_, ticket};
    entries_.emplace(ticket, std::move(entry));
    place.taken = ask();
    return place.taken;
  }

  Entry* find(std::uint64_t ticket) {
    const auto found = entries_.find(ticket);
    return found == entries_.end() ? nullptr : &found->second;
  }
  void erase(std::uint64_t ticket) { entries_.erase(ticket); }
  void clear() { entries_.clear(); }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  using Entries = std::unordered_map<std::uint64_t, Entry>;
  struct Place {
    Entries& entries;
    const std::uint64_t ticket;
    bool taken = false;
    ~Place() {
      if (!taken) entries.erase(ticket);
    }
  };

  Entries entries_;
};

}  // namespace larder::engine
