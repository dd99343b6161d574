// SPDX-License-Identifier: GPL-3.0-or-later
// SettingsPage: every knob of the settings table by group, found by search, checked before it is saved. A change can be
// taken back for a few seconds.
// Threads: GUI thread.
#pragma once

#include <QVector>

#include "gui/pages/page.h"

class QLabel;
class QVBoxLayout;

namespace larder::gui {

class Card;
class SearchField;
class SettingEditor;

class SettingsPage final : public Page {
  Q_OBJECT

 public:
  SettingsPage(const QString& title, PageContext context);
  ~SettingsPage() override;
  void openWith(const QVariant& argument) override;  // a search: "api.listen"
  void focusSearch() override;

 protected:
  void showSnapshot(const SnapshotView& view) override;
  int refreshMs() const override { return 2000; }  // --set and the API change settings too
  void themeChanged() override;

 private:
  void showRows(const QVector<SettingRow>& rows);
  void build(const QVector<SettingRow>& rows);
  void search();
  void change(const QString& name, const QString& value);
  void changed(const QString& name, const QString& before, const QString& value, const CommandOutcome& outcome);
  SettingEditor* editorOf(const QString& name) const;

  SearchField* search_;
  QLabel* message_;
  QVBoxLayout* groups_;
  QVector<Card*> cards_;
  QVector<SettingEditor*> editors_;
  int changing_ = 0;  // changes on their way: rows fetched meanwhile may be old
};

}  // namespace larder::gui
