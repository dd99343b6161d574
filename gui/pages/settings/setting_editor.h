// SPDX-License-Identifier: GPL-3.0-or-later
// SettingEditor: one row of the settings table: title, name, help, the control that fits its type, default and range,
// what is wrong with an entry, and a way back to the default. Threads: GUI thread.
#pragma once

#include <QWidget>

#include "gui/bridge/command.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace larder::gui {

class Chip;
class Theme;

class SettingEditor final : public QWidget {
  Q_OBJECT

 public:
  SettingEditor(const Theme& theme, const SettingRow& row, QWidget* parent = nullptr);
  ~SettingEditor() override;
  const SettingRow& row() const { return row_; }
  void showRow(const SettingRow& row);  // what is being typed stays
  void showError(const QString& error);
  QString error() const;

 Q_SIGNALS:
  void changeWanted(const QString& name, const QString& value);

 private:
  QWidget* buildControl();
  void showValue();
  void entered(const QString& text);
  void restyle();

  const Theme& theme_;
  SettingRow row_;
  QLabel* title_;
  QLabel* name_;  // as config.toml and --set write it
  QLabel* help_;
  QLabel* range_;
  QLabel* error_;
  Chip* chip_;
  QPushButton* reset_;
  QLineEdit* line_ = nullptr;
  QCheckBox* flag_ = nullptr;
  QComboBox* choice_ = nullptr;
};

}  // namespace larder::gui
