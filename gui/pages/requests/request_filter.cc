// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/requests/request_filter.h"

#include <QCoreApplication>
#include <QStringList>
#include <array>

#include "gui/models/words.h"
#include "gui/theme/roles.h"

namespace larder::gui {
namespace {

using Field = RequestFilter::Field;
using Term = RequestFilter::Term;

struct FilterText {
  Q_DECLARE_TR_FUNCTIONS(RequestFilter)
};

struct Name {
  const char* word;
  Field field;
};
constexpr std::array<Name, 4> kNames = {
    {{"tenant", Field::kTenant}, {"model", Field::kModel}, {"verdict", Field::kVerdict}, {"state", Field::kState}}};
constexpr std::array<Name, 3> kFigures = {
    {{"ttft", Field::kFirstToken}, {"prompt", Field::kPrompt}, {"reused", Field::kReused}}};

constexpr std::array<VerdictKind, 7> kVerdicts = {
    VerdictKind::kFullPrefix,    VerdictKind::kCold,     VerdictKind::kDiverged, VerdictKind::kEvicted,
    VerdictKind::kOtherIdentity, VerdictKind::kTooShort, VerdictKind::kBypassed};

bool verdictStarts(VerdictKind kind, const QString& text) {
  return verdictLabel(kind).text.startsWith(text, Qt::CaseInsensitive) || verdictWord(kind).startsWith(text);
}

bool stateStarts(RequestRecord::State state, const QString& text) {
  return stateLabel(state).text.startsWith(text, Qt::CaseInsensitive);
}

QString checkedWord(const Term& term) {
  if (term.text.isEmpty()) return FilterText::tr("a word is missing after the colon");
  QStringList known;
  if (term.field == Field::kVerdict) {
    for (const VerdictKind kind : kVerdicts) {
      if (verdictStarts(kind, term.text)) return {};
      known.push_back(verdictWord(kind));
    }
    return FilterText::tr("there is no verdict \u201c%1\u201d; use %2")
        .arg(term.text, known.join(QStringLiteral(", ")));
  }
  if (term.field != Field::kState) return {};
  for (int i = 0; i <= static_cast<int>(RequestRecord::State::kCancelled); ++i) {
    const auto state = static_cast<RequestRecord::State>(i);
    if (stateStarts(state, term.text)) return {};
    known.push_back(stateLabel(state).text);
  }
  return FilterText::tr("there is no state \u201c%1\u201d; use %2").arg(term.text, known.join(QStringLiteral(", ")));
}

// "500", "500ms", "2s", "60%"
bool readFigure(QString text, double& number) {
  double scale = 1;
  if (text.endsWith(QLatin1String("ms")) || text.endsWith(QLatin1String("tok"))) {
    text.chop(text.endsWith(QLatin1Char('s')) ? 2 : 3);
  } else if (text.endsWith(QLatin1Char('s'))) {
    text.chop(1);
    scale = 1000;
  } else if (text.endsWith(QLatin1Char('%'))) {
    text.chop(1);
  }
  bool read = false;
  number = scale * text.toDouble(&read);
  return read && number >= 0;
}

QString readWord(const QString& word, Term& term) {
  if (word.startsWith(QLatin1Char('#'))) {
    bool read = false;
    term = {Field::kId, word, static_cast<double>(word.mid(1).toULongLong(&read)), true};
    return read ? QString() : FilterText::tr("\u201c%1\u201d is no number of a request, write #5127").arg(word);
  }
  for (const Name& name : kNames) {
    const QString key = QString::fromLatin1(name.word) + QLatin1Char(':');
    if (!word.startsWith(key)) continue;
    term = {name.field, word.mid(key.size()), 0, true};
    return checkedWord(term);
  }
  for (const Name& name : kFigures) {
    const QString key = QString::fromLatin1(name.word);
    if (!word.startsWith(key) || word.size() <= key.size()) continue;
    const QChar sign = word[key.size()];
    if (sign != QLatin1Char('>') && sign != QLatin1Char('<')) continue;
    term = {name.field, QString(), 0, sign == QLatin1Char('>')};
    if (readFigure(word.mid(key.size() + 1), term.number)) return {};
    return FilterText::tr("\u201c%1\u201d needs a number, as in %2>500").arg(word, key);
  }
  if (const qsizetype colon = word.indexOf(QLatin1Char(':')); colon > 0) {
    return FilterText::tr("there is no field \u201c%1\u201d; use tenant:, model:, verdict:, state:")
        .arg(word.left(colon));
  }
  term = {Field::kAny, word, 0, true};
  return {};
}

bool beyond(const Term& term, double value) { return term.above ? value > term.number : value < term.number; }

bool termMatches(const Term& term, const RequestRow& row) {
  const RequestRecord& record = *row.record;
  const bool looked_up = record.verdict.prompt_tokens > 0;
  switch (term.field) {
    case Field::kTenant:
      return row.tenant.startsWith(term.text, Qt::CaseInsensitive);
    case Field::kModel:
      return row.model.startsWith(term.text, Qt::CaseInsensitive);
    case Field::kVerdict:
      return looked_up && verdictStarts(record.verdict.kind, term.text);
    case Field::kState:
      return stateStarts(record.state, term.text);
    case Field::kId:
      return static_cast<double>(record.id.value) == term.number;
    case Field::kFirstToken:
      return record.timings.first_token_ms > 0 && beyond(term, record.timings.first_token_ms);
    case Field::kPrompt:
      return record.usage.prompt_tokens > 0 && beyond(term, record.usage.prompt_tokens);
    case Field::kReused:
      return looked_up && beyond(term, 100.0 * record.verdict.reused_tokens / record.verdict.prompt_tokens);
    case Field::kAny:
      return row.tenant.contains(term.text, Qt::CaseInsensitive) ||
             row.model.contains(term.text, Qt::CaseInsensitive) ||
             (looked_up && verdictLabel(record.verdict.kind).text.contains(term.text, Qt::CaseInsensitive));
  }
  return false;
}

}  // namespace

bool RequestFilter::matches(const RequestRow& row) const {
  for (const Term& term : terms) {
    if (!termMatches(term, row)) return false;
  }
  return true;
}

ParsedFilter parseRequestFilter(const QString& text) {
  ParsedFilter out;
  for (const QString& word : text.toLower().split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    Term term;
    out.error = readWord(word, term);
    if (!out.error.isEmpty()) return out;
    out.filter.terms.push_back(term);
  }
  return out;
}

RequestProxy::RequestProxy(RequestModel* model) : QSortFilterProxyModel(model), model_(model) {
  setSourceModel(model);
  setSortRole(kSortRole);
  sort(RequestModel::kId, Qt::DescendingOrder);
}

void RequestProxy::show(const RequestFilter& filter, WallTime begin, std::uint64_t kept) {
  filter_ = filter;
  begin_ = begin;
  kept_ = kept;
  invalidateFilter();
}

bool RequestProxy::filterAcceptsRow(int row, const QModelIndex& parent) const {
  if (parent.isValid() || row >= model_->rowCount()) return false;
  const RequestRow& at = model_->row(row);
  if (at.record->id.value == kept_) return true;
  return at.record->submitted >= begin_ && filter_.matches(at);
}

}  // namespace larder::gui
