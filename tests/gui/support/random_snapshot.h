// SPDX-License-Identifier: GPL-3.0-or-later
// Filler: random values for every member of a snapshot and of what it holds.
// Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/rng.h"
#include "runtime/engine/snapshot.h"

namespace larder::gui {

// Random values in every member. The structured bindings below name all members of a struct, so one that is added later
// does not compile until it is filled here.
class Filler {
 public:
  explicit Filler(std::uint64_t seed) : rng_(seed) {}

  template <typename... Members>
  void fill(Members&... members) {
    (put(members), ...);
  }
  template <typename Enum>
  void pick(Enum& value, std::uint64_t count) {
    value = static_cast<Enum>(rng_.below(count));
  }
  std::size_t count(std::uint64_t most) { return static_cast<std::size_t>(rng_.below(most + 1)); }
  bool coin() { return rng_.below(2) == 1; }

 private:
  void put(bool& value) { value = coin(); }
  void put(double& value) { value = (rng_.unit() - 0.25) * 1e7; }
  // Ids, counts and times: what JSON's numbers carry, so not the sign of 64 bits.
  void put(std::uint64_t& value) { value = rng_.next() >> (1 + rng_.below(63)); }
  void put(std::int64_t& value) { value = static_cast<std::int64_t>(rng_.next() >> (1 + rng_.below(63))); }
  void put(std::uint32_t& value) { value = static_cast<std::uint32_t>(rng_.next()); }
  void put(std::int32_t& value) { value = static_cast<std::int32_t>(rng_.next()); }
  template <typename Tag, typename Number>
  void put(StrongId<Tag, Number>& id) {
    put(id.value);
  }
  void put(std::string& text) {
    static const std::string kPieces[] = {"a",  "è",    "日本", "😀",  "\"", "\\",
                                          "\n", "\x01", "\x7f", "</", " ",  "\xe6\x97"};
    text.clear();
    for (std::size_t i = count(6); i > 0; --i) text += kPieces[rng_.below(std::size(kPieces))];
  }
  template <typename Value>
  void put(std::vector<Value>& list) {
    list.resize(count(5));
    for (Value& one : list) put(one);
  }

  Rng rng_;
};

inline void fill(Filler& f, larder::Section& s) {
  auto& [kind, label, byte_begin, byte_end, token_begin, token_end] = s;
  f.pick(kind, 5);
  f.fill(label, byte_begin, byte_end, token_begin, token_end);
}

inline void fill(Filler& f, kv::Verdict& v) {
  auto& [kind, prompt, reused, copied, computed, saved, rate, lineage, foreign, tier, divergence, eviction, restored,
         identity_part] = v;
  f.pick(kind, 7);
  f.pick(lineage, kernels::kKvSchemes);
  f.fill(prompt, reused, copied, computed, saved, rate, foreign, tier, identity_part);
  if (f.coin()) {
    auto& [token, section, here, cached, here_run, cached_run, equal_after, by, owner] = divergence.emplace();
    f.fill(token, section, here, cached, here_run, cached_run, equal_after, by, owner);
  }
  if (f.coin()) {
    auto& [at, by_request, by_tenant, policy, lost, last_hit] = eviction.emplace();
    f.fill(at, by_request, by_tenant, policy, lost, last_hit);
  }
  auto& [tokens, promised, from, ms, estimate_ms, compute_ms, declined, declined_tokens, declined_read_ms,
         declined_compute_ms] = restored;
  f.fill(tokens, from, ms, estimate_ms, compute_ms, declined, declined_tokens, declined_read_ms, declined_compute_ms);
}

inline void fill(Filler& f, engine::TreeNode& n) {
  auto& [id, parent, tenant, model, first, tokens, blocks, bytes, device, host, disk, stored, ram, ram_bytes, pinned,
         in_use, growing, hits, created, last_hit, compute_ms, made_by, label, lineage] = n;
  f.fill(id, parent, tenant, model, first, tokens, blocks, bytes, device, host, disk, stored, ram, ram_bytes, pinned,
         in_use, growing, hits, created, last_hit, compute_ms, made_by, label, lineage);
}

inline void fill(Filler& f, engine::RequestRecord& r) {
  auto& [id, state, epoch, tenant, model, submitted, usage, timings, verdict, sections, error, here, cached,
         here_tokens, cached_tokens] = r;
  f.pick(state, 7);
  f.fill(id, epoch, tenant, model, submitted, error, here, cached, here_tokens, cached_tokens);
  auto& [prompt, reused, written] = usage;
  auto& [queue, prepare, match, prefill, first, total, rate] = timings;
  f.fill(prompt, reused, written, queue, prepare, match, prefill, first, total, rate);
  fill(f, verdict);
  sections.resize(f.count(4));
  for (larder::Section& section : sections) fill(f, section);
}

inline void fill(Filler& f, engine::TenantInfo& t) {
  auto& [id, name, blocks, bytes, pinned, quota, foreign, requests, prompt, cached, running, queued] = t;
  f.fill(id, name, blocks, bytes, pinned, quota, foreign, requests, prompt, cached, running, queued);
}

inline void fill(Filler& f, engine::KeyInfo& k) {
  auto& [id, tenant, prefix, label, admin, created, last_used] = k;
  f.fill(id, tenant, prefix, label, admin, created, last_used);
}

inline void fill(Filler& f, engine::PinInfo& p) {
  auto& [id, node, tenant, reason, blocks, bytes, created, expires] = p;
  f.fill(id, node, tenant, reason, blocks, bytes, created, expires);
}

inline void fill(Filler& f, engine::PoolInfo& p) {
  auto& [total, free, cached, in_use, pinned, block_bytes, budget, evicted, nodes, bytes, taken, pinned_bytes,
         all_bytes] = p;
  f.fill(total, free, cached, in_use, pinned, block_bytes, budget, evicted, nodes, bytes, taken, pinned_bytes,
         all_bytes);
}

inline void fill(Filler& f, engine::ModelInfo& m) {
  auto& [id, state, name, path, architecture, quantisation, file_bytes, weight_bytes, kv_bytes, context, longest,
         progress, arithmetic, device, identity, hashed, digest, digest_error, error, has_template, pool] = m;
  f.pick(state, 5);
  f.pick(identity, 3);
  f.fill(id, name, path, architecture, quantisation, file_bytes, weight_bytes, kv_bytes, context, longest, progress,
         arithmetic, device, hashed, digest, digest_error, error, has_template);
  fill(f, pool);
}

inline void fill(Filler& f, engine::StoreInfo& s) {
  auto& [used, reason, mode, blocks, on_disk, cap, keep_free, pinned, queued, queued_bytes, lag, stored, written, read,
         read_bytes, evicted, refused, missed, read_rate, write_rate, budget, spent, damaged, failed, last_failure,
         io_path, cipher, codec, note, error, rounded, rounded_bytes, restored, restored_tokens, restore_ms, slower,
         room, late, broken, stalled, unlisted, ram, ram_bytes, ram_cap, ram_reads, ram_damaged, ram_rate, mixed] = s;
  f.fill(used, reason, mode, blocks, on_disk, cap, keep_free, pinned, queued, queued_bytes, lag, stored, written, read,
         read_bytes, evicted, refused, missed, read_rate, write_rate, budget, spent, damaged, failed, last_failure,
         io_path, cipher, codec, note, error, rounded, rounded_bytes, restored, restored_tokens, restore_ms, slower,
         room, late, broken, stalled, unlisted, ram, ram_bytes, ram_cap, ram_reads, ram_damaged, ram_rate, mixed);
}

inline void fill(Filler& f, engine::Interval& i) {
  auto& [begin, requests, full, prompt, cached, written, evicted, used, pinned, saved, warm50, warm99, cold50, cold99] =
      i;
  f.fill(begin, requests, full, prompt, cached, written, evicted, used, pinned, saved, warm50, warm99, cold50, cold99);
}

inline void fill(Filler& f, engine::JobInfo& j) {
  auto& [id, verb, state, progress, done, error, node, to, dry_run, blocks_done, blocks_total, moved, tally, codec,
         detail, warning, started, ended] = j;
  f.pick(state, 5);
  f.fill(id, verb, progress, done, error, node, to, dry_run, blocks_done, blocks_total, moved, detail, warning, started,
         ended);
  auto& [written, read_up, left_pool, left_disk, computed, already, pinned, in_use, growing, below, refused, no_room,
         gone, good, damaged, missing, unread, refusal] = tally;
  f.fill(written, read_up, left_pool, left_disk, computed, already, pinned, in_use, growing, below, refused, no_room,
         gone, good, damaged, missing, unread, refusal);
  auto& [before, after, off, tokens, ms] = codec;
  f.fill(before, after, off, tokens, ms);
}

inline void fill(Filler& f, engine::EntryInfo& e) {
  auto& [id, node, tenant, name, tokens, bytes, pinned, hits, saved] = e;
  f.fill(id, node, tenant, name, tokens, bytes, pinned, hits, saved);
}

inline void fill(Filler& f, engine::PackInfo& p) {
  auto& [id, name, language, text, version, tokens, warm, pinned, node] = p;
  f.fill(id, name, language, text, version, tokens, warm, pinned, node);
}

template <typename Row>
void fillRows(Filler& f, std::vector<Row>& rows) {
  rows.resize(f.count(4));
  for (Row& row : rows) fill(f, row);
}

inline engine::Snapshot randomSnapshot(std::uint64_t seed) {
  Filler f(seed);
  engine::Snapshot made;
  auto& [epoch, since, at, started, version, device, pool, store, models, tenants, keys, pins, entries, packs, jobs,
         tree, requests, history, running, queued, decode, prefill, dropped, broken, last_broken, resident] = made;
  f.fill(epoch, at, started, version, device, running, queued, decode, prefill, dropped, broken, last_broken, resident);
  if (f.coin()) f.fill(since);
  fill(f, pool);
  fill(f, store);
  fillRows(f, models);
  fillRows(f, tenants);
  fillRows(f, keys);
  fillRows(f, pins);
  fillRows(f, entries);
  fillRows(f, packs);
  fillRows(f, jobs);
  fillRows(f, requests);
  fillRows(f, history);
  if (f.coin()) {
    auto nodes = std::make_shared<std::vector<engine::TreeNode>>();
    fillRows(f, *nodes);
    for (std::size_t i = 1; i < nodes->size(); ++i) {
      if (f.coin()) (*nodes)[i].parent = (*nodes)[i - 1].id;
    }
    tree = std::move(nodes);
  }
  return made;
}

}  // namespace larder::gui
