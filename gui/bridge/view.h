// SPDX-License-Identifier: GPL-3.0-or-later
// SnapshotView: the whole engine as the window sees it, in Qt values. It is merged from deltas off the GUI thread and
// never changes once published. Members bear the names of runtime/engine/snapshot.h, where their meaning is stated;
// this header only says what differs. Units:   tokens, bytes, ms; WallTime in ms since 1970 UTC.    Threads: values
// behind shared_ptr<const>, any thread. Bounds:  kMaxRequests records, kMaxIntervals intervals, kMaxTreeNodes nodes (a
// larger remote answer is refused).
#pragma once

#include <QMetaType>
#include <QString>
#include <QVector>
#include <cstdint>
#include <memory>
#include <optional>

#include "gui/bridge/job_info.h"
#include "gui/bridge/store_info.h"
#include "runtime/base/clock.h"
#include "runtime/base/ids.h"

namespace larder::gui {

inline constexpr int kMaxRequests = 5000;
inline constexpr int kMaxIntervals = 720;
inline constexpr int kMaxTreeNodes = 1'000'000;

enum class SectionKind : std::uint8_t { kTemplate, kSystem, kTool, kDocument, kMessage };

struct Section {
  SectionKind kind = SectionKind::kTemplate;
  QString label;
  std::uint32_t byte_begin = 0, byte_end = 0;
  std::uint32_t token_begin = 0, token_end = 0;
  bool operator==(const Section&) const = default;
};

enum class VerdictKind : std::uint8_t { kFullPrefix, kCold, kDiverged, kEvicted, kOtherIdentity, kTooShort, kBypassed };

struct Divergence {
  std::uint32_t token = 0;
  std::uint32_t section = 0;
  Token here = -1, cached = -1;
  QVector<Token> here_run, cached_run;
  std::uint32_t equal_after = 0;
  RequestId cached_by{};
  bool operator==(const Divergence&) const = default;
};

struct Eviction {
  WallTime at = 0;
  RequestId by_request{};
  TenantId by_tenant{};
  QString policy;
  std::uint32_t lost_tokens = 0;
  WallTime last_hit = 0;
  bool operator==(const Eviction&) const = default;
};

struct Restored {
  std::uint32_t tokens = 0;
  QString tier;
  double ms = 0, estimate_ms = 0, compute_ms = 0;
  QString declined;
  std::uint32_t declined_tokens = 0;
  double declined_read_ms = 0, declined_compute_ms = 0;
  bool operator==(const Restored&) const = default;
};

// Computed by another arithmetic of the same model?
inline bool isForeign(const QString& lineage) { return lineage == QLatin1String("foreign"); }
// Is this the lineage of tokens that were rounded on the way?
inline bool isRounded(const QString& lineage) {
  return !lineage.isEmpty() && lineage != QLatin1String("exact") && !isForeign(lineage);
}

struct Verdict {
  VerdictKind kind = VerdictKind::kCold;
  std::uint32_t prompt_tokens = 0, reused_tokens = 0, copied_tokens = 0, computed_tokens = 0;
  double saved_ms = 0;
  double prefill_tokens_per_s = 0;
  QString tier;
  QString lineage;  // of the reused tokens: "exact", or the form to which they were rounded
  std::optional<Divergence> divergence;
  std::optional<Eviction> eviction;
  std::optional<Restored> restored;  // nothing: no lower tier held any of this prompt
  QString identity_part;
  bool operator==(const Verdict&) const = default;
};

struct Usage {
  std::uint32_t prompt_tokens = 0, cached_tokens = 0, completion_tokens = 0;
  bool operator==(const Usage&) const = default;
};

struct Timings {
  double queue_ms = 0, prepare_ms = 0, match_ms = 0, prefill_ms = 0, first_token_ms = 0, total_ms = 0;
  double decode_tokens_per_s = 0;
  bool operator==(const Timings&) const = default;
};

struct RequestRecord {
  enum class State : std::uint8_t { kPreparing, kQueued, kPrefill, kDecode, kDone, kFailed, kCancelled };
  RequestId id{};
  State state = State::kQueued;
  std::uint64_t epoch = 0;
  TenantId tenant{};
  ModelId model{};
  WallTime submitted = 0;
  Usage usage;
  Timings timings;
  Verdict verdict;
  QVector<Section> sections;
  QString error;
  QString diverged_here, diverged_cached;
  QVector<QString> here_tokens, cached_tokens;
  bool operator==(const RequestRecord&) const = default;
};
using RequestPtr = std::shared_ptr<const RequestRecord>;

struct TenantInfo {
  TenantId id{};
  QString name;
  std::uint64_t blocks = 0, bytes = 0, pinned_bytes = 0, quota_bytes = 0;
  std::uint64_t requests = 0, prompt_tokens = 0, cached_tokens = 0;
  std::uint32_t running = 0, queued = 0;
  bool foreign = false;  // may reuse what another device or instruction set computed
  bool operator==(const TenantInfo&) const = default;
};

struct KeyInfo {
  KeyId id{};
  TenantId tenant{};
  QString prefix, label;
  bool admin = false;
  WallTime created = 0, last_used = 0;
  bool operator==(const KeyInfo&) const = default;
};

struct PinInfo {
  PinId id{};
  NodeId node{};
  TenantId tenant{};
  QString reason;
  std::uint32_t blocks = 0;
  std::uint64_t bytes = 0;
  WallTime created = 0, expires = 0;
  bool operator==(const PinInfo&) const = default;
};

// Of all models, or of one; bytes are the sums of blocks of different sizes.
struct PoolInfo {
  std::uint32_t blocks_total = 0, blocks_free = 0, blocks_cached = 0, blocks_in_use = 0, blocks_pinned = 0;
  std::uint64_t block_bytes = 0, pin_budget_bytes = 0, evicted_blocks = 0, tree_nodes = 0;
  std::uint64_t bytes_total = 0, bytes_taken = 0, bytes_pinned = 0, budget_bytes = 0;
  bool operator==(const PoolInfo&) const = default;
};

struct ModelInfo {
  enum class State : std::uint8_t { kFile, kLoading, kReady, kUnloading, kFailed };
  enum class Identity : std::uint8_t { kPending, kKnown, kFailed };
  ModelId id{};
  State state = State::kFile;
  QString name, path, architecture, quantisation;
  std::uint64_t file_bytes = 0, weight_bytes = 0, kv_bytes_per_token = 0;
  std::uint32_t n_context = 0, max_request_tokens = 0;
  double progress = 0;
  QString arithmetic_id, device;
  Identity identity = Identity::kPending;
  double digest_progress = 0;
  QString digest, digest_error, error;
  bool has_chat_template = false;
  PoolInfo pool;  // of a model that is loaded
  bool operator==(const ModelInfo&) const = default;
};

struct Interval {
  WallTime begin = 0;
  std::uint32_t requests = 0, full_prefix = 0;
  std::uint64_t prompt_tokens = 0, cached_tokens = 0, completion_tokens = 0, evicted_blocks = 0;
  std::uint32_t blocks_used = 0, blocks_pinned = 0;
  double saved_ms = 0;
  double warm_p50_ms = -1, warm_p99_ms = -1, cold_p50_ms = -1, cold_p99_ms = -1;
  bool operator==(const Interval&) const = default;
};

struct EntryInfo {
  EntryId id{};
  NodeId node{};
  TenantId tenant{};
  QString name;
  std::uint32_t tokens = 0;
  std::uint64_t bytes = 0;
  bool pinned = false;
  std::uint64_t hits = 0;
  double saved_ms = 0;
  bool operator==(const EntryInfo&) const = default;
};

struct PackInfo {
  QString id, name, language, text;
  std::uint32_t version = 1, tokens = 0;
  bool warm = false, pinned = false;
  NodeId node{};
  bool operator==(const PackInfo&) const = default;
};

struct TreeRows;  // gui/bridge/tree_rows.h

struct SnapshotView {
  std::uint64_t epoch = 0;
  WallTime at = 0, started = 0;
  QString version, device;
  PoolInfo pool;
  StoreInfo store;
  QVector<ModelInfo> models;
  QVector<TenantInfo> tenants;
  QVector<KeyInfo> keys;
  QVector<PinInfo> pins;
  QVector<EntryInfo> entries;
  QVector<PackInfo> packs;
  QVector<JobInfo> jobs;
  std::shared_ptr<const TreeRows> tree;  // never null once published
  QVector<RequestPtr> requests;          // all that are kept, by id, newest last
  QVector<Interval> history;             // oldest first
  std::uint32_t running = 0, queued = 0;
  double decode_tokens_per_s = 0, prefill_tokens_per_s = 0;
  std::uint64_t dropped_events = 0, resident_bytes = 0;
};
using SnapshotPtr = std::shared_ptr<const SnapshotView>;

// Nothing where the id is unknown.
const TenantInfo* findTenant(const SnapshotView& view, TenantId id);
// The place of a tenant in the order of creation: its shape in the window.
int tenantMark(const SnapshotView& view, TenantId id);
const ModelInfo* findModel(const SnapshotView& view, ModelId id);
RequestPtr findRequest(const SnapshotView& view, RequestId id);
// The model that answers requests now, or nothing.
const ModelInfo* readyModel(const SnapshotView& view);

// Stable words of the API ("full_prefix"); sentences are made by gui/models/words.h.
QString verdictWord(VerdictKind kind);

}  // namespace larder::gui

Q_DECLARE_METATYPE(larder::gui::SnapshotPtr)
