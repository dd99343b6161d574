// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/words.h"

#include <QCoreApplication>

#include "gui/bridge/tree_rows.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(Words)
};

QString evictedCause(const SnapshotView& view, const Verdict& verdict) {
  if (!verdict.eviction) return Words::tr("It was here and gave way");
  const Eviction& out = *verdict.eviction;
  if (out.by_request.value != 0) {
    const TenantInfo* by = findTenant(view, out.by_tenant);
    return Words::tr("%1 #%2 pushed it out at %3")
        .arg(by != nullptr ? by->name : Words::tr("another tenant"))
        .arg(out.by_request.value)
        .arg(minuteText(out.at));
  }
  if (out.policy == QLatin1String("demoted")) return Words::tr("It lay on disk only");
  if (out.policy == QLatin1String("disk_lru")) return Words::tr("Its copy on disk gave way");
  if (out.policy == QLatin1String("damaged")) return Words::tr("It was found damaged");
  if (out.policy == QLatin1String("compressed")) return Words::tr("It was rounded, and the rounded copy is gone");
  return Words::tr("It was here and gave way");
}

}  // namespace

QString tenantName(const SnapshotView& view, TenantId id) {
  const TenantInfo* tenant = findTenant(view, id);
  return tenant != nullptr ? tenant->name : noData();
}

Label verdictLabel(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kFullPrefix:
      return {Words::tr("full prefix"), QStringLiteral("ok"), Mood::kOk};
    case VerdictKind::kCold:
      return {Words::tr("new text"), QStringLiteral("plus"), Mood::kNeutral};
    case VerdictKind::kDiverged:
      return {Words::tr("diverged"), QStringLiteral("diverged"), Mood::kWarning};
    case VerdictKind::kEvicted:
      return {Words::tr("evicted"), QStringLiteral("evicted"), Mood::kError};
    case VerdictKind::kOtherIdentity:
      return {Words::tr("other identity"), QStringLiteral("error"), Mood::kWarning};
    case VerdictKind::kTooShort:
      return {Words::tr("short"), QStringLiteral("right"), Mood::kNeutral};
    case VerdictKind::kBypassed:
      return {Words::tr("bypassed"), QStringLiteral("pause"), Mood::kNeutral};
  }
  return {};
}

Label stateLabel(RequestRecord::State state) {
  using State = RequestRecord::State;
  switch (state) {
    case State::kPreparing:
      return {Words::tr("preparing"), QStringLiteral("requests"), Mood::kNeutral};
    case State::kQueued:
      return {Words::tr("queued"), QStringLiteral("pause"), Mood::kNeutral};
    case State::kPrefill:
      return {Words::tr("reading"), QStringLiteral("play"), Mood::kOk};
    case State::kDecode:
      return {Words::tr("writing"), QStringLiteral("play"), Mood::kOk};
    case State::kDone:
      return {Words::tr("done"), QStringLiteral("ok"), Mood::kOk};
    case State::kFailed:
      return {Words::tr("failed"), QStringLiteral("error"), Mood::kError};
    case State::kCancelled:
      return {Words::tr("cancelled"), QStringLiteral("close"), Mood::kNeutral};
  }
  return {};
}

Label modelStateLabel(ModelInfo::State state) {
  using State = ModelInfo::State;
  switch (state) {
    case State::kFile:
      return {Words::tr("on disk"), QStringLiteral("down"), Mood::kNeutral};
    case State::kLoading:
      return {Words::tr("loading"), QStringLiteral("play"), Mood::kNeutral};
    case State::kReady:
      return {Words::tr("ready"), QStringLiteral("ok"), Mood::kOk};
    case State::kUnloading:
      return {Words::tr("unloading"), QStringLiteral("pause"), Mood::kNeutral};
    case State::kFailed:
      return {Words::tr("refused"), QStringLiteral("error"), Mood::kError};
  }
  return {};
}

QString sectionLabel(const Section& section) {
  if (!section.label.isEmpty()) return labelInWords(section.label);
  switch (section.kind) {
    case SectionKind::kTemplate:
      return Words::tr("template");
    case SectionKind::kSystem:
      return Words::tr("system");
    case SectionKind::kTool:
      return Words::tr("tool");
    case SectionKind::kDocument:
      return Words::tr("document");
    case SectionKind::kMessage:
      return Words::tr("message");
  }
  return {};
}

QString causeSentence(const SnapshotView& view, const RequestRecord& record) {
  const Verdict& verdict = record.verdict;
  switch (verdict.kind) {
    case VerdictKind::kDiverged:
      if (verdict.divergence) {
        const auto at = static_cast<qsizetype>(verdict.divergence->section);
        const QString where = at < record.sections.size() ? sectionLabel(record.sections[at]) : Words::tr("the prompt");
        return Words::tr("Another text at token %1, in \u201c%2\u201d")
            .arg(countText(verdict.divergence->token), where);
      }
      return Words::tr("Another text on the way");
    case VerdictKind::kEvicted:
      return evictedCause(view, verdict);
    case VerdictKind::kOtherIdentity:
      return Words::tr("Cached under other %1").arg(verdict.identity_part);
    case VerdictKind::kCold:
      return Words::tr("Never asked before");
    case VerdictKind::kTooShort:
      return Words::tr("Shorter than can be reused");
    case VerdictKind::kBypassed:
      return Words::tr("The request asked for no reuse");
    case VerdictKind::kFullPrefix:
      return Words::tr("Everything before the last message was reused");
  }
  return {};
}

double lostMs(const RequestRecord& record) {
  const Verdict& verdict = record.verdict;
  if (verdict.prefill_tokens_per_s <= 0) return 0;
  std::uint32_t could = 0;
  if (verdict.kind == VerdictKind::kEvicted && verdict.eviction) {
    could = verdict.eviction->lost_tokens;
  } else if (verdict.kind == VerdictKind::kDiverged && verdict.divergence) {
    could = verdict.divergence->equal_after;
  } else if (verdict.kind == VerdictKind::kOtherIdentity) {
    could = verdict.computed_tokens;
  }
  return 1000.0 * could / verdict.prefill_tokens_per_s;
}

Tier poolTier(const SnapshotView& view) {
  const ModelInfo* model = readyModel(view);
  const bool processor =
      model == nullptr || model->arithmetic_id.startsWith(QLatin1String("cpu")) || model->arithmetic_id.isEmpty();
  return processor ? Tier::kHost : Tier::kDevice;
}

}  // namespace larder::gui
