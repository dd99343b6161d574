// SPDX-License-Identifier: GPL-3.0-or-later
// RequestFilter: the text of the filter field as conditions, and the proxy that keeps the rows which meet them all.
// Words:    tenant:X model:X verdict:X state:X (start of the word), #N, ttft>N (ms, or with s), prompt>N, reused>N (%);
//           > may be <; any other word stands somewhere in the tenant's, the model's or the verdict's name.
// Errors:   a sentence for people that names the word; the last valid filter stays.    Threads: GUI thread.
#pragma once

#include <QSortFilterProxyModel>
#include <QString>
#include <QVector>

#include "gui/models/request_model.h"

namespace larder::gui {

struct RequestFilter {
  enum class Field : std::uint8_t { kAny, kTenant, kModel, kVerdict, kState, kId, kFirstToken, kPrompt, kReused };
  struct Term {
    Field field = Field::kAny;
    QString text;       // lower case
    double number = 0;  // ms, tokens, percent or an id
    bool above = true;
    bool operator==(const Term&) const = default;
  };
  QVector<Term> terms;

  bool matches(const RequestRow& row) const;
  bool operator==(const RequestFilter&) const = default;
};

struct ParsedFilter {
  RequestFilter filter;
  QString error;  // empty: valid
};
ParsedFilter parseRequestFilter(const QString& text);

class RequestProxy final : public QSortFilterProxyModel {
  Q_OBJECT

 public:
  explicit RequestProxy(RequestModel* model);
  // Requests submitted before `begin` are left out, but for `kept`, which always shows.
  void show(const RequestFilter& filter, WallTime begin, std::uint64_t kept);

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  RequestModel* model_;
  RequestFilter filter_;
  WallTime begin_ = 0;
  std::uint64_t kept_ = 0;
};

}  // namespace larder::gui
