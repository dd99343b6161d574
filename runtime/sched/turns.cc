// SPDX-License-Identifier: Apache-2.0
#include "runtime/sched/turns.h"

#include <algorithm>

namespace larder::sched {

Turns::Last Turns::last_of(ModelId model) const {
  const auto found = last_.find(model);
  return found == last_.end() ? Last() : found->second;
}

std::vector<ModelTurn> Turns::order(std::span<const Contender> contenders) const {
  const auto decoding = std::count_if(contenders.begin(), contenders.end(),
                                      [](const Contender& each) { return each.demand.decodes; });
  struct Place {
    std::uint64_t since = 0;  // whose turn was longest ago comes first
    ModelTurn turn;
  };
  std::vector<Place> due;
  std::vector<Place> prefill;
  std::vector<Place> rest;
  for (const Contender& each : contenders) {
    const Last last = last_of(each.model);
    const bool others_decode = decoding > (each.demand.decodes ? 1 : 0);
    if (each.demand.decodes) {
      const bool is_due = last.decoded < last_prefill_;
      (is_due ? due : rest).push_back({last.decoded, {each.model, {others_decode, others_decode, each.admits}}});
    }
    if (each.demand.prefills) prefill.push_back({last.prefilled, {each.model, {others_decode, false, each.admits}}});
  }
  std::vector<ModelTurn> ordered;
  for (std::vector<Place>* line : {&due, &prefill, &rest}) {
    std::stable_sort(line->begin(), line->end(), [](const Place& a, const Place& b) { return a.since < b.since; });
    for (const Place& place : *line) ordered.push_back(place.turn);
  }
  return ordered;
}

void Turns::ran(ModelId model, Demand rows) {
  ++step_;
  Last& last = last_[model];
  if (rows.decodes) last.decoded = step_;
  if (!rows.prefills) return;
  last.prefilled = step_;
  last_prefill_ = step_;
}

}  // namespace larder::sched
