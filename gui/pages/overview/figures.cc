// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/overview/figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "gui/models/words.h"

namespace larder::gui {
namespace {

void joinInterval(Bucket& bucket, const Interval& interval) {
  bucket.asked += interval.prompt_tokens;
  bucket.reused += std::min(interval.cached_tokens, interval.prompt_tokens);
  bucket.evicted += interval.evicted_blocks;
  bucket.requests += interval.requests;
  bucket.saved_ms += interval.saved_ms;
  bucket.blocks_used = interval.blocks_used;
  bucket.blocks_pinned = interval.blocks_pinned;
  // Of several intervals in one bucket the worst stands for it.
  bucket.warm_p50_ms = std::max(bucket.warm_p50_ms, interval.warm_p50_ms);
  bucket.warm_p99_ms = std::max(bucket.warm_p99_ms, interval.warm_p99_ms);
  bucket.cold_p50_ms = std::max(bucket.cold_p50_ms, interval.cold_p50_ms);
  bucket.cold_p99_ms = std::max(bucket.cold_p99_ms, interval.cold_p99_ms);
  bucket.known = true;
}

// Requests with the same cause of the same tenant; numbers, so that the sentence is made once per cause.
using Cause = std::tuple<std::uint32_t, VerdictKind, std::uint64_t, std::uint64_t>;

Cause causeOf(const RequestRecord& request) {
  const Verdict& verdict = request.verdict;
  std::uint64_t where = 0, who = 0;
  if (verdict.divergence) {
    where = verdict.divergence->token;
    who = verdict.divergence->section;
  } else if (verdict.eviction) {
    where = static_cast<std::uint64_t>(verdict.eviction->at / 60'000);
    who = verdict.eviction->by_request.value;
  }
  return {request.tenant.value, verdict.kind, where, who};
}

void countRequests(const SnapshotView& view, WallTime begin, OverviewFigures& out) {
  QVector<double> warm, cold;
  std::map<Cause, qsizetype> by_cause;
  for (const RequestPtr& request : view.requests) {
    if (request->submitted < begin) continue;
    if (request->timings.first_token_ms > 0) {
      (request->verdict.kind == VerdictKind::kFullPrefix ? warm : cold).push_back(request->timings.first_token_ms);
    }
    const double lost = lostMs(*request);
    if (lost <= 0) continue;
    const auto [at, fresh] = by_cause.try_emplace(causeOf(*request), out.misses.size());
    if (fresh) out.misses.push_back({request->verdict.kind, request->tenant, QString(), request->id, 0, 0});
    Miss& miss = out.misses[at->second];
    miss.newest = std::max(miss.newest, request->id);
    ++miss.count;
    miss.lost_ms += lost;
    out.lost_ms += lost;
  }
  out.warm = {percentile(warm, 0.5), percentile(warm, 0.99), static_cast<int>(warm.size())};
  out.cold = {percentile(cold, 0.5), percentile(cold, 0.99), static_cast<int>(cold.size())};
  std::stable_sort(out.misses.begin(), out.misses.end(),
                   [](const Miss& a, const Miss& b) { return a.lost_ms > b.lost_ms; });
  for (qsizetype i = 0; i < std::min<qsizetype>(kMissesNamed, out.misses.size()); ++i) {
    if (const RequestPtr newest = findRequest(view, out.misses[i].newest)) {
      out.misses[i].sentence = causeSentence(view, *newest);
    }
  }
}

}  // namespace

double percentile(QVector<double>& values, double share) {
  if (values.isEmpty()) return -1;
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<qsizetype>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::clamp<qsizetype>(rank - 1, 0, values.size() - 1)];
}

OverviewFigures countFigures(const SnapshotView& view, std::int64_t range_ms, int buckets) {
  OverviewFigures out;
  const WallTime end = view.at;
  const WallTime begin = end - range_ms;
  buckets = std::max(1, buckets);
  out.buckets.resize(buckets);
  for (int i = 0; i < buckets; ++i) out.buckets[i].begin = begin + range_ms * i / buckets;
  for (const Interval& interval : view.history) {
    if (interval.begin < begin || interval.begin > end) continue;
    const std::int64_t width = std::max<std::int64_t>(1, range_ms);
    const auto at = std::min<std::int64_t>(buckets - 1, (interval.begin - begin) * buckets / width);
    joinInterval(out.buckets[static_cast<qsizetype>(at)], interval);
    out.asked += interval.prompt_tokens;
    out.reused += std::min(interval.cached_tokens, interval.prompt_tokens);
    out.evicted += interval.evicted_blocks;
    out.requests += interval.requests;
    out.saved_ms += interval.saved_ms;
  }
  countRequests(view, begin, out);
  return out;
}

}  // namespace larder::gui
