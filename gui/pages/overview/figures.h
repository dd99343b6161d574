// SPDX-License-Identifier: GPL-3.0-or-later
// Figures: what the Overview shows of one time range, counted from a view. Pure, so that every number on the page can
// be counted again in a test. Units:    tokens, blocks, ms; -1: no data.    Ensures: reused + computed = asked.
// Threads: any.
#pragma once

#include <QString>
#include <QVector>
#include <cstdint>

#include "gui/bridge/view.h"

namespace larder::gui {

struct LatencyFigures {
  double p50_ms = -1, p99_ms = -1;
  int requests = 0;
};

struct Bucket {
  WallTime begin = 0;
  std::uint64_t asked = 0, reused = 0, evicted = 0, requests = 0;
  std::uint32_t blocks_used = 0, blocks_pinned = 0;
  double saved_ms = 0;
  double warm_p50_ms = -1, warm_p99_ms = -1, cold_p50_ms = -1, cold_p99_ms = -1;
  bool known = false;  // an interval of the history lies in it
};

// The dearest misses have their sentence; the page shows no more.
inline constexpr int kMissesNamed = 8;

struct Miss {
  VerdictKind kind = VerdictKind::kCold;
  TenantId tenant{};
  QString sentence;
  RequestId newest{};
  int count = 0;
  double lost_ms = 0;
};

struct OverviewFigures {
  std::uint64_t asked = 0, reused = 0, evicted = 0, requests = 0;
  double saved_ms = 0;
  LatencyFigures warm, cold;
  QVector<Bucket> buckets;  // oldest first, equal widths, the whole range
  QVector<Miss> misses;     // most lost first
  double lost_ms = 0;       // of all misses
};

OverviewFigures countFigures(const SnapshotView& view, std::int64_t range_ms, int buckets);

// Nearest rank. Requires: share in 0..1. Sorts `values`; -1 when empty.
double percentile(QVector<double>& values, double share);

}  // namespace larder::gui
