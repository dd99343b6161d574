// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/support/scripted_client.h"

#include <random>

namespace larder::gui {
namespace {

constexpr WallTime kNow = 1'760'000'000'000;
constexpr std::uint64_t kBlockBytes = 720'896;  // 32 tokens of a small model
constexpr double kTokensPerSecond = 820;

void addTenants(SnapshotView& view) {
  const char* names[] = {"home", "Open WebUI", "famiglia"};
  for (std::uint32_t i = 0; i < 3; ++i) {
    TenantInfo tenant;
    tenant.id = TenantId{i + 1};
    tenant.name = QString::fromLatin1(names[i]);
    for (const TreeNode& node : std::as_const(view.tree->nodes)) {
      if (node.tenant != tenant.id) continue;
      tenant.blocks += node.blocks;
      tenant.bytes += node.bytes;
      if (node.pinned) tenant.pinned_bytes += node.bytes;
    }
    view.tenants.push_back(tenant);
    view.keys.push_back({KeyId{i + 1}, tenant.id, QStringLiteral("lk_%1abc").arg(i), QStringLiteral("key %1").arg(i),
                         i == 0, kNow - 3'600'000, kNow - 60'000});
  }
}

RequestRecord makeRequest(std::uint64_t id, int of, std::mt19937& random) {
  RequestRecord record;
  record.id = RequestId{id};
  record.state = RequestRecord::State::kDone;
  record.tenant = TenantId{static_cast<std::uint32_t>(id % 3 + 1)};
  record.model = ModelId{1};
  record.submitted = kNow - (of - static_cast<int>(id - 5000)) * 40'000;
  record.usage.prompt_tokens = static_cast<std::uint32_t>(600 + random() % 3000);
  Verdict& verdict = record.verdict;
  verdict.prompt_tokens = record.usage.prompt_tokens;
  verdict.prefill_tokens_per_s = kTokensPerSecond;
  verdict.tier = QStringLiteral("host");
  verdict.kind = id % 5 == 1   ? VerdictKind::kDiverged
                 : id % 7 == 2 ? VerdictKind::kEvicted
                 : id < 5003   ? VerdictKind::kCold
                               : VerdictKind::kFullPrefix;
  const double share = verdict.kind == VerdictKind::kFullPrefix ? 0.96
                       : verdict.kind == VerdictKind::kDiverged ? 0.2
                                                                : 0;
  verdict.reused_tokens = static_cast<std::uint32_t>(share * record.usage.prompt_tokens);
  verdict.computed_tokens = record.usage.prompt_tokens - verdict.reused_tokens;
  verdict.saved_ms = 1000.0 * verdict.reused_tokens / kTokensPerSecond;
  record.usage.cached_tokens = verdict.reused_tokens;
  record.usage.completion_tokens = 64;
  record.sections = {{SectionKind::kSystem, QStringLiteral("system"), 0, 900, 0, 220},
                     {SectionKind::kMessage, QStringLiteral("user message 1"), 900, 1800, 220, 600}};
  if (verdict.kind == VerdictKind::kDiverged) {
    verdict.divergence = Divergence{verdict.reused_tokens, 0, 12, 13, {1, 2, 12}, {1, 2, 13}, 380, RequestId{id - 1}};
    record.here_tokens = {QStringLiteral("At"), QStringLiteral(" 22:41")};
    record.cached_tokens = {QStringLiteral("At"), QStringLiteral(" 22:40")};
  }
  if (verdict.kind == VerdictKind::kEvicted) {
    verdict.eviction =
        Eviction{record.submitted - 90'000,        RequestId{id - 2},         TenantId{2}, QStringLiteral("lru"),
                 record.usage.prompt_tokens - 200, record.submitted - 600'000};
  }
  record.timings.first_token_ms = 30 + 1000.0 * verdict.computed_tokens / kTokensPerSecond;
  record.timings.prefill_ms = record.timings.first_token_ms - 20;
  record.timings.total_ms = record.timings.first_token_ms + 1600;
  record.timings.decode_tokens_per_s = 41;
  return record;
}

void addHistory(SnapshotView& view) {
  for (int i = 0; i < 360; ++i) {
    Interval interval;
    interval.begin = kNow - (360 - i) * 5000;
    interval.blocks_used = static_cast<std::uint32_t>(400 + i);
    interval.blocks_pinned = 120;
    for (const RequestPtr& request : std::as_const(view.requests)) {
      if (request->submitted < interval.begin || request->submitted >= interval.begin + 5000) continue;
      const bool warm = request->verdict.kind == VerdictKind::kFullPrefix;
      ++interval.requests;
      interval.full_prefix += warm ? 1 : 0;
      interval.prompt_tokens += request->usage.prompt_tokens;
      interval.cached_tokens += request->usage.cached_tokens;
      interval.saved_ms += request->verdict.saved_ms;
      interval.evicted_blocks += request->verdict.kind == VerdictKind::kEvicted ? 30 : 0;
      (warm ? interval.warm_p50_ms : interval.cold_p50_ms) = request->timings.first_token_ms;
      (warm ? interval.warm_p99_ms : interval.cold_p99_ms) = 1.6 * request->timings.first_token_ms;
    }
    view.history.push_back(interval);
  }
}

}  // namespace

void ScriptedClient::perform(Command command, QObject*, Done done) {
  commands.push_back(std::move(command));
  if (done) done(next);
}

AnswerStream* ScriptedClient::ask(Ask ask, QObject* owner) {
  asks.push_back(std::move(ask));
  if (!answering) return new RefusedStream(QStringLiteral("scripted"), owner);
  stream = new ScriptedStream(owner);
  return stream;
}

QVector<TreeNode> sampleNodes(int runs) {
  const char* labels[] = {"Casa v4 (it)", "Attrezzi di casa (9)", "restic manual", "Ricetta lasagne", "Assist system"};
  std::mt19937 random(7);
  QVector<TreeNode> nodes;
  for (int i = 0; i < runs; ++i) {
    TreeNode node;
    node.id = NodeId{static_cast<std::uint64_t>(i + 1)};
    const int parent = i < 3 ? -1 : static_cast<int>(random() % static_cast<unsigned>(i));
    node.parent = NodeId{parent < 0 ? 0 : static_cast<std::uint64_t>(parent + 1)};
    node.tenant = parent < 0 ? TenantId{static_cast<std::uint32_t>(i + 1)} : nodes[parent].tenant;
    node.model = ModelId{1};
    node.first_position = parent < 0 ? 0 : nodes[parent].first_position + nodes[parent].tokens;
    node.blocks = 1 + static_cast<std::uint32_t>(random() % (i < 8 ? 60 : 16));
    node.tokens = node.blocks * 32;
    node.bytes = node.blocks * kBlockBytes;
    node.host_blocks = node.blocks;
    node.pinned = i < 2;
    node.hits = random() % 300;
    node.created = kNow - 7'200'000;
    node.last_hit = node.hits == 0 ? 0 : kNow - static_cast<WallTime>(random() % 7'000'000);
    node.compute_ms = 1000.0 * node.tokens / kTokensPerSecond;
    node.made_by = RequestId{5000};
    node.label = QString::fromLatin1(labels[static_cast<std::size_t>(i) % 5]) + QStringLiteral(" %1").arg(i + 1);
    nodes.push_back(node);
  }
  return nodes;
}

void sumPool(SnapshotView& view) {
  PoolInfo& pool = view.pool;
  pool.bytes_total = pool.blocks_total * pool.block_bytes;
  pool.bytes_taken = (pool.blocks_total - std::min(pool.blocks_free, pool.blocks_total)) * pool.block_bytes;
  pool.bytes_pinned = pool.blocks_pinned * pool.block_bytes;
  if (!view.models.isEmpty()) view.models[0].pool = pool;
}

std::shared_ptr<SnapshotView> sampleView(int runs, int requests) {
  auto view = std::make_shared<SnapshotView>();
  view->epoch = 1;
  view->at = kNow;
  view->started = kNow - 3'600'000;
  view->tree = buildTreeRows(sampleNodes(runs));
  addTenants(*view);
  ModelInfo model;
  model.id = ModelId{1};
  model.state = ModelInfo::State::kReady;
  model.name = QStringLiteral("SmolLM2-135M-Instruct");
  model.path = QStringLiteral("/models/smollm2.gguf");
  model.arithmetic_id = QStringLiteral("cpu/avx512/1");
  model.has_chat_template = true;
  view->models = {model};
  std::uint32_t used = 0;
  for (const TreeNode& node : std::as_const(view->tree->nodes)) used += node.blocks;
  view->pool.block_bytes = kBlockBytes;
  view->pool.blocks_total = used + 400;
  view->pool.blocks_free = 400;
  view->pool.blocks_cached = used;
  view->pool.blocks_pinned = view->tree->nodes[0].blocks + view->tree->nodes[1].blocks;
  view->pool.pin_budget_bytes = 512ull << 20;
  sumPool(*view);
  std::mt19937 random(11);
  for (int i = 0; i < requests; ++i) {
    view->requests.push_back(
        std::make_shared<const RequestRecord>(makeRequest(static_cast<std::uint64_t>(5000 + i), requests, random)));
  }
  addHistory(*view);
  view->decode_tokens_per_s = 41;
  view->prefill_tokens_per_s = kTokensPerSecond;
  view->running = 2;
  return view;
}

}  // namespace larder::gui
