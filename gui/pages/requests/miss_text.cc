// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/requests/miss_text.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>
#include <algorithm>

#include "gui/models/words.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

struct MissText {
  Q_DECLARE_TR_FUNCTIONS(MissText)
};

QString sectionAt(const RequestRecord& record, const Divergence& divergence) {
  const auto at = static_cast<qsizetype>(divergence.section);
  return at < record.sections.size() ? sectionLabel(record.sections[at]) : MissText::tr("the prompt");
}

QString rateOf(const Verdict& verdict) { return rateText(verdict.prefill_tokens_per_s, MissText::tr("tok")); }

// What `tokens` cost at the measured rate; a dash while no rate is known.
QString costText(const Verdict& verdict, std::uint32_t tokens) {
  if (verdict.prefill_tokens_per_s <= 0) return noData();
  return durationText(1000.0 * tokens / verdict.prefill_tokens_per_s);
}

QString computedAgain(const Verdict& verdict) {
  return MissText::tr("%1 tokens were computed. That cost %2.")
      .arg(countText(verdict.computed_tokens), costText(verdict, verdict.computed_tokens));
}

QString divergedSentence(const RequestRecord& record) {
  const Verdict& verdict = record.verdict;
  if (!verdict.divergence) return MissText::tr("Another text on the way: %1").arg(computedAgain(verdict));
  const Divergence& at = *verdict.divergence;
  const QString where = sectionAt(record, at);
  if (at.cached < 0) {
    return MissText::tr("What was cached ends at token %1, in \u201c%2\u201d; the rest is new text: %3")
        .arg(countText(at.token), where, computedAgain(verdict));
  }
  const int place = differingPlace(at);
  QString change = MissText::tr("Token %1, in \u201c%2\u201d, is another one").arg(countText(at.token + 1), where);
  if (place >= 0 && place < record.here_tokens.size() && place < record.cached_tokens.size()) {
    const QString here = record.here_tokens[place].simplified();
    const QString cached = record.cached_tokens[place].simplified();
    if (!here.isEmpty() && !cached.isEmpty() && here != cached) {
      change =
          MissText::tr("\u201c%1\u201d stands where \u201c%2\u201d stood in \u201c%3\u201d").arg(here, cached, where);
    }
  }
  if (at.equal_after > 0) {
    return MissText::tr("%1, so the %2 equal tokens after it were computed again. That cost %3.")
        .arg(change, countText(at.equal_after), costText(verdict, at.equal_after));
  }
  return MissText::tr("%1; from there on %2").arg(change, computedAgain(verdict));
}

QString evictedSentence(const SnapshotView& view, const Verdict& verdict) {
  if (!verdict.eviction) return MissText::tr("It was cached and gave way: %1").arg(computedAgain(verdict));
  const Eviction& out = *verdict.eviction;
  const QString tokens = countText(out.lost_tokens);
  const QString cost = costText(verdict, out.lost_tokens);
  if (out.policy == QLatin1String("demoted")) {
    return MissText::tr("These %1 tokens lay on disk only. Computing them costs %2.").arg(tokens, cost);
  }
  if (out.policy == QLatin1String("disk_lru")) {
    return MissText::tr(
               "These %1 tokens were cached until %2, when their copy on disk gave way. Computing them again "
               "cost %3.")
        .arg(tokens, clockText(out.at), cost);
  }
  QString why = MissText::tr("%1 needed room").arg(evictorText(view, out));
  if (out.policy == QLatin1String("deleted")) why = MissText::tr("they were deleted");
  if (out.policy == QLatin1String("unloaded")) why = MissText::tr("the model was unloaded");
  if (out.policy == QLatin1String("resized")) why = MissText::tr("the pool was made smaller");
  if (out.policy == QLatin1String("damaged")) why = MissText::tr("they were found damaged in memory");
  if (out.policy == QLatin1String("compressed")) why = MissText::tr("they were rounded, and the rounded copy is gone");
  return MissText::tr("These %1 tokens were cached until %2, when %3. Computing them again cost %4.")
      .arg(tokens, clockText(out.at), why, cost);
}

QString fromTier(const QString& tier) {
  if (tier == QLatin1String("disk")) return MissText::tr("from disk");
  if (tier == QLatin1String("ram")) return MissText::tr("from copies in memory");
  if (tier == QLatin1String("host")) return MissText::tr("from memory");
  if (tier == QLatin1String("remote")) return MissText::tr("from another machine");
  return MissText::tr("from a lower tier");
}

// Why what could have been restored was computed; empty for a word of a newer engine.
QString declinedReason(const Restored& restored) {
  if (restored.declined == QLatin1String("slower")) {
    return MissText::tr("restoring would take %1, computing %2")
        .arg(durationText(restored.declined_read_ms), durationText(restored.declined_compute_ms));
  }
  if (restored.declined == QLatin1String("stalled")) {
    return MissText::tr("reading fell behind and would have taken about %1 more, computing %2")
        .arg(durationText(restored.declined_read_ms), durationText(restored.declined_compute_ms));
  }
  if (restored.declined == QLatin1String("mixed")) {
    return MissText::tr("the rest was read meanwhile, about %1 in all, where reading everything would take %2")
        .arg(durationText(restored.declined_compute_ms), durationText(restored.declined_read_ms));
  }
  if (restored.declined == QLatin1String("no_room")) return MissText::tr("memory had no room for them in time");
  if (restored.declined == QLatin1String("late")) return MissText::tr("another request was still reading them");
  if (restored.declined == QLatin1String("damaged")) {
    return MissText::tr("what was read did not pass its checks and was dropped");
  }
  return {};
}

void addRestored(QStringList& sentences, const Restored& r) {
  if (r.tokens > 0) {
    const QString done =
        MissText::tr("Restored %1 tokens %2 in %3").arg(countText(r.tokens), fromTier(r.tier), durationText(r.ms));
    sentences.push_back(r.compute_ms > 0
                            ? MissText::tr("%1; computing them would take %2.").arg(done, durationText(r.compute_ms))
                            : done + QLatin1Char('.'));
  }
  if (r.declined_tokens > 0 && !r.declined.isEmpty()) {
    const QString instead = MissText::tr("%1 tokens were computed though they could be restored %2")
                                .arg(countText(r.declined_tokens), fromTier(r.tier));
    const QString why = declinedReason(r);
    sentences.push_back((why.isEmpty() ? instead : instead + QStringLiteral(": ") + why) + QLatin1Char('.'));
  }
}

QString identityText(const QString& part) {
  if (part == QLatin1String("weights")) return MissText::tr("another model file");
  if (part == QLatin1String("rope")) return MissText::tr("other position settings");
  if (part == QLatin1String("kv_type")) return MissText::tr("another number format");
  if (part == QLatin1String("layout")) return MissText::tr("another block layout");
  if (part == QLatin1String("adapter")) return MissText::tr("another adapter");
  if (part == QLatin1String("arithmetic")) return MissText::tr("other arithmetic");
  if (part == QLatin1String("lineage")) return MissText::tr("another lineage (exact, or rounded to a smaller form)");
  return MissText::tr("another identity");
}

std::uint64_t blockTokens(const SnapshotView& view, const RequestRecord& record) {
  const ModelInfo* model = findModel(view, record.model);
  if (model == nullptr || model->kv_bytes_per_token == 0) return 0;
  return model->pool.block_bytes / model->kv_bytes_per_token;
}

QString evictionFact(const SnapshotView& view, const RequestRecord& record) {
  if (!record.verdict.eviction) return MissText::tr("nobody, eviction is not the cause");
  const QString& policy = record.verdict.eviction->policy;
  if (policy == QLatin1String("demoted")) return MissText::tr("nobody, it lay on disk only");
  if (policy == QLatin1String("disk_lru")) return MissText::tr("nobody, its copy on disk gave way");
  if (policy == QLatin1String("damaged")) return MissText::tr("nobody, it was found damaged in memory");
  const QString ago = agoText(record.verdict.eviction->at, record.submitted);
  return MissText::tr("%1, %2 before").arg(evictorText(view, *record.verdict.eviction), ago);
}

// How often the same cause struck in what is kept, and what it cost in all.
QString sameCause(const SnapshotView& view, const RequestRecord& record) {
  const QString cause = causeSentence(view, record);
  int times = 0;
  double lost = 0;
  for (const RequestPtr& other : view.requests) {
    if (other->tenant != record.tenant || other->verdict.kind != record.verdict.kind || lostMs(*other) <= 0) continue;
    if (causeSentence(view, *other) != cause) continue;
    ++times;
    lost += lostMs(*other);
  }
  if (times == 0) return noData();
  return MissText::tr("%1 \u00d7 in what is kept, %2")
      .arg(countText(static_cast<std::uint64_t>(times)), durationText(lost));
}

QString ruleText(const QString& policy) {
  if (policy == QLatin1String("lru")) return MissText::tr("least recently used");
  if (policy == QLatin1String("quota_lru")) return MissText::tr("least recently used, over its quota");
  if (policy == QLatin1String("demoted")) return MissText::tr("lay on disk only");
  if (policy == QLatin1String("disk_lru")) return MissText::tr("its copy on disk gave way");
  if (policy == QLatin1String("damaged")) return MissText::tr("found damaged in memory");
  if (policy == QLatin1String("deleted")) return MissText::tr("deleted by hand");
  if (policy == QLatin1String("unloaded")) return MissText::tr("model unloaded");
  if (policy == QLatin1String("resized")) return MissText::tr("pool made smaller");
  return policy.isEmpty() ? noData() : policy;
}

}  // namespace

bool hasVerdict(const RequestRecord& record) { return record.verdict.prompt_tokens > 0; }

int differingPlace(const Divergence& divergence) {
  const qsizetype both = std::min(divergence.here_run.size(), divergence.cached_run.size());
  for (qsizetype i = 0; i < both; ++i) {
    if (divergence.here_run[i] != divergence.cached_run[i]) return static_cast<int>(i);
  }
  return divergence.here_run.size() == divergence.cached_run.size() ? -1 : static_cast<int>(both);
}

QString evictorText(const SnapshotView& view, const Eviction& eviction) {
  if (eviction.by_request.value == 0) return MissText::tr("another request");
  const TenantInfo* tenant = findTenant(view, eviction.by_tenant);
  return MissText::tr("request #%1 of %2")
      .arg(eviction.by_request.value)
      .arg(tenant != nullptr ? tenant->name : MissText::tr("another tenant"));
}

QString missSentence(const SnapshotView& view, const RequestRecord& record) {
  const Verdict& verdict = record.verdict;
  if (record.state == RequestRecord::State::kFailed) {
    return MissText::tr("The request failed: %1").arg(record.error.isEmpty() ? noData() : record.error);
  }
  if (!hasVerdict(record)) return MissText::tr("This request has not been looked up yet.");
  switch (verdict.kind) {
    case VerdictKind::kDiverged:
      return divergedSentence(record);
    case VerdictKind::kEvicted:
      return evictedSentence(view, verdict);
    case VerdictKind::kOtherIdentity:
      return MissText::tr("The same tokens are cached under %1, whose numbers are not the same: %2")
          .arg(identityText(verdict.identity_part), computedAgain(verdict));
    case VerdictKind::kCold:
      return MissText::tr("Nothing that is cached starts like this prompt: %1").arg(computedAgain(verdict));
    case VerdictKind::kTooShort:
      return MissText::tr("A prompt of %n tokens is shorter than can be reused; the last token is always computed.",
                          nullptr, static_cast<int>(verdict.prompt_tokens));
    case VerdictKind::kBypassed:
      return MissText::tr("The request asked for no reuse: %1").arg(computedAgain(verdict));
    case VerdictKind::kFullPrefix:
      return MissText::tr("Everything before the last message was reused: %1 of %2 tokens. That saved %3.")
          .arg(countText(verdict.reused_tokens), countText(verdict.prompt_tokens),
               verdict.saved_ms > 0 ? durationText(verdict.saved_ms) : noData());
  }
  return {};
}

QString restoreText(const Verdict& verdict) {
  QStringList sentences;
  if (verdict.restored) addRestored(sentences, *verdict.restored);
  if (isForeign(verdict.lineage)) {
    sentences.push_back(
        MissText::tr("The reused tokens, or their start, were computed on another device or instruction set."));
  }
  if (isRounded(verdict.lineage)) {
    sentences.push_back(MissText::tr("The reused tokens were kept rounded to %1.").arg(verdict.lineage));
  }
  return sentences.join(QLatin1Char(' '));
}

QString positionText(const SnapshotView& view, const RequestRecord& record) {
  if (!hasVerdict(record)) return {};
  if (!record.verdict.divergence) {
    if (record.verdict.kind != VerdictKind::kEvicted) return {};
    return MissText::tr("No token differs: the text is the same, its numbers were no longer there.");
  }
  const Divergence& at = *record.verdict.divergence;
  QString text = MissText::tr("First difference: token %1 of %2")
                     .arg(countText(at.token + 1), countText(record.verdict.prompt_tokens));
  if (const std::uint64_t size = blockTokens(view, record); size > 0) {
    text += MissText::tr(" \u00b7 block %1, token %2 of %3")
                .arg(countText(at.token / size + 1), countText(at.token % size + 1), countText(size));
  }
  return text + MissText::tr(" \u00b7 section \u201c%1\u201d").arg(sectionAt(record, at));
}

QVector<Fact> missFacts(const SnapshotView& view, const RequestRecord& record) {
  const Verdict& verdict = record.verdict;
  if (!hasVerdict(record)) return {};
  QString reused = MissText::tr("%1 of %2").arg(countText(verdict.reused_tokens), countText(verdict.prompt_tokens));
  if (const std::uint64_t size = blockTokens(view, record); size > 0 && verdict.reused_tokens > 0) {
    const std::uint64_t shared = verdict.reused_tokens - std::min(verdict.copied_tokens, verdict.reused_tokens);
    reused += MissText::tr(" = %1 blocks + %2 copied").arg(countText(shared / size), countText(verdict.copied_tokens));
  }
  QVector<Fact> facts{{MissText::tr("Reused"), reused}};
  facts.push_back({MissText::tr("Evicted by"), evictionFact(view, record)});
  facts.push_back({MissText::tr("Computed"),
                   MissText::tr("%1 at %2, measured").arg(countText(verdict.computed_tokens), rateOf(verdict))});
  if (verdict.eviction) {
    facts.push_back({MissText::tr("Rule"), ruleText(verdict.eviction->policy)});
    facts.push_back({MissText::tr("Lost"), MissText::tr("%1 tokens").arg(countText(verdict.eviction->lost_tokens))});
    facts.push_back({MissText::tr("Last hit"),
                     verdict.eviction->last_hit > 0 ? clockText(verdict.eviction->last_hit) : MissText::tr("never")});
  } else {
    facts.push_back({MissText::tr("Same cause"), sameCause(view, record)});
  }
  if (verdict.reused_tokens > 0) {
    facts.push_back({MissText::tr("Saved"), verdict.saved_ms > 0
                                                ? MissText::tr("%1 at that rate").arg(durationText(verdict.saved_ms))
                                                : noData()});
  }
  return facts;
}

QString reportWithoutText(const SnapshotView& view, const RequestRecord& record) {
  const Verdict& verdict = record.verdict;
  QStringList lines{MissText::tr("Request #%1, %2").arg(record.id.value).arg(dateTimeText(record.submitted))};
  lines.push_back(MissText::tr("Verdict: %1").arg(verdictWord(verdict.kind)));
  if (const QString position = positionText(view, record); !position.isEmpty()) lines.push_back(position);
  if (const QString restored = restoreText(verdict); !restored.isEmpty()) lines.push_back(restored);
  if (verdict.divergence) {
    lines.push_back(MissText::tr("Token ids: %1 here, %2 cached (request #%3)")
                        .arg(verdict.divergence->here)
                        .arg(verdict.divergence->cached)
                        .arg(verdict.divergence->cached_by.value));
  }
  for (const Fact& fact : missFacts(view, record)) lines.push_back(fact.name + QStringLiteral(": ") + fact.value);
  for (const Section& section : record.sections) {
    lines.push_back(MissText::tr("Section %1: tokens %2 to %3")
                        .arg(sectionLabel(section), countText(section.token_begin + 1), countText(section.token_end)));
  }
  const Timings& t = record.timings;
  lines.push_back(MissText::tr("Times: prepare %1, queue %2, look up %3, prefill %4, first token after %5")
                      .arg(durationText(t.prepare_ms), durationText(t.queue_ms), durationText(t.match_ms),
                           durationText(t.prefill_ms), durationText(t.first_token_ms)));
  return lines.join(QLatin1Char('\n'));
}

}  // namespace larder::gui
