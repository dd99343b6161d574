// SPDX-License-Identifier: GPL-3.0-or-later
// RequestsPage: the requests of the time range with what each reused and how long its first token took; for the
// selected one where the time went and why it reused no more.
// Threads: GUI thread.
#pragma once

#include "gui/pages/page.h"
#include "gui/pages/requests/request_filter.h"

class QLabel;
class QStackedWidget;
class QTableView;

namespace larder::gui {

class Card;
class EmptyState;
class MissCard;
class SearchField;
class Waterfall;

class RequestsPage final : public Page {
  Q_OBJECT

 public:
  RequestsPage(const QString& title, PageContext context);
  void openWith(const QVariant& argument) override;  // the id of a request, or a filter
  void focusSearch() override;

 protected:
  void showSnapshot(const SnapshotView& view) override;
  void themeChanged() override;

 private:
  enum State { kEmpty, kList };

  QWidget* buildList();
  QWidget* buildDetail();
  void buildTable();
  void filterEdited(const QString& text);
  void applyFilter();
  void selectRequest(std::uint64_t id);
  void followSelection();
  void showSelected();
  void showTimes(const RequestRecord& record);
  void showEmpty(const SnapshotView& view);
  void showCount();
  RequestPtr selected() const;

  RequestModel* model_;
  RequestProxy* proxy_;
  QTableView* table_;
  SearchField* filter_field_;
  QLabel* filter_error_;
  QLabel* none_;
  QStackedWidget* states_;
  QWidget* detail_ = nullptr;
  EmptyState* empty_;
  Card* times_card_ = nullptr;
  QLabel* times_title_ = nullptr;
  Waterfall* times_ = nullptr;
  QLabel* lost_ = nullptr;
  MissCard* miss_ = nullptr;
  RequestFilter filter_;
  std::uint64_t selected_ = 0;
  bool updating_ = false;  // rows move under the selection; it is not the user's
};

}  // namespace larder::gui
