// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/theme/style_sheet.h"

#include <QHash>

#include "gui/theme/theme.h"

namespace larder::gui {
namespace {

// @name@ stands for a colour of the theme.
constexpr const char* kSheet = R"(
QPushButton, QComboBox, QLineEdit, QSpinBox, QPlainTextEdit, QTextEdit {
  background: @surface@; color: @text@; border: 1px solid @control@; border-radius: 4px; }
QPushButton { padding: 5px 10px; min-height: 16px; }
QPushButton:hover { background: @surfaceAlt@; }
QPushButton:pressed { background: @accentSoft@; }
QPushButton:focus, QComboBox:focus, QLineEdit:focus, QSpinBox:focus, QPlainTextEdit:focus, QTextEdit:focus {
  border: 2px solid @accent@; }
QPushButton:focus { padding: 4px 9px; }
QPushButton:disabled, QComboBox:disabled, QLineEdit:disabled { color: @textMuted@; border-color: @border@; }
QPushButton[role="primary"] { background: @accent@; color: @onAccent@; border-color: @accent@; font-weight: bold; }
QPushButton[role="primary"]:focus { border: 2px solid @text@; }
QPushButton[role="primary"]:disabled { background: @neutral@; color: @surface@; border-color: @neutral@; }
QPushButton[role="danger"] { color: @error@; border-color: @error@; font-weight: bold; }
QPushButton[role="danger"]:disabled { color: @textMuted@; border-color: @border@; }
QPushButton[role="quiet"] { border-color: @border@; }
QPushButton[role="quiet"]:focus { border-color: @accent@; }
QPushButton[role="flat"] { border-color: transparent; background: transparent; }
QPushButton[role="flat"]:hover { background: @surfaceAlt@; }
QPushButton[role="flat"]:focus { border-color: @accent@; }
QPushButton[role="link"] { border-color: transparent; background: transparent; color: @accent@; padding: 2px 4px; }
QPushButton[role="link"]:focus { border: 2px solid @accent@; padding: 1px 3px; }
QPushButton[role="verb"] { text-align: left; border-color: @border@; padding: 8px 10px; }
QPushButton[role="verb"]:focus { border: 2px solid @accent@; padding: 7px 9px; }
QPushButton[segment="first"] { border-top-right-radius: 0; border-bottom-right-radius: 0; }
QPushButton[segment="middle"] { border-radius: 0; border-left: 0; }
QPushButton[segment="last"] { border-top-left-radius: 0; border-bottom-left-radius: 0; border-left: 0; }
QPushButton[segment]:checked { background: @accentSoft@; color: @accent@; font-weight: bold; }
QLineEdit { padding: 4px 8px; min-height: 18px; selection-background-color: @accent@; selection-color: @onAccent@; }
QLineEdit:focus { padding: 3px 7px; }
QSpinBox { padding: 0 8px; }
QSpinBox:focus { padding: 0 7px; }
QPlainTextEdit, QTextEdit { padding: 6px; selection-background-color: @accent@; selection-color: @onAccent@; }
QComboBox { padding: 4px 8px; min-height: 18px; }
QComboBox::drop-down { border: 0; width: 22px; }
QComboBox::down-arrow { image: url(:/icons/combo-@side@.svg); width: 12px; height: 12px; }
QComboBox:focus { padding: 3px 7px; }
QComboBox QAbstractItemView { background: @surface@; border: 1px solid @control@;
  selection-background-color: @accentSoft@; selection-color: @text@; }
QToolButton { border: 1px solid transparent; border-radius: 4px; padding: 4px; background: transparent; }
QToolButton:hover { background: @surfaceAlt@; }
QToolButton:focus { border: 2px solid @accent@; padding: 3px; }
QFrame[role="card"] { background: @surface@; border: 1px solid @border@; border-radius: 6px; }
QFrame[role="card"]:focus { border: 2px solid @accent@; }
QAbstractItemView { background: @surface@; border: 1px solid @border@; border-radius: 6px; outline: 0;
  alternate-background-color: @surfaceAlt@; selection-background-color: @accentSoft@; selection-color: @text@; }
QAbstractItemView:focus { border: 2px solid @accent@; }
QHeaderView { background: @surfaceAlt@; border: 0; border-top-left-radius: 6px; border-top-right-radius: 6px; }
QHeaderView::section { background: @surfaceAlt@; color: @textSecondary@; border: 0;
  border-bottom: 1px solid @border@; padding: 4px 8px; }
QScrollBar:vertical { background: transparent; width: 12px; margin: 2px; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 2px; }
QScrollBar::handle { background: @neutral@; border-radius: 4px; min-height: 24px; min-width: 24px; }
QScrollBar::handle:hover { background: @control@; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QToolTip { background: @surface@; color: @text@; border: 1px solid @control@; padding: 6px; }
QMenu { background: @surface@; border: 1px solid @control@; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 12px; border-radius: 4px; }
QMenu::item:selected { background: @accentSoft@; color: @text@; }
QMenu::separator { height: 1px; background: @border@; margin: 4px; }
QProgressBar { background: @track@; border: 0; border-radius: 3px; height: 6px; text-align: center; }
QProgressBar::chunk { background: @accent@; border-radius: 3px; }
QSlider::groove:horizontal { height: 2px; background: @control@; }
QSlider::handle:horizontal { width: 12px; height: 12px; margin: -6px 0; border-radius: 7px; background: @surface@;
  border: 2px solid @accent@; }
QSlider:focus { border: 1px solid @accent@; border-radius: 4px; }
QSplitter::handle { background: transparent; }
)";

}  // namespace

QString styleSheet(const Theme& theme) {
  const QHash<QString, Tone> names = {{QStringLiteral("@surface@"), Tone::kSurface},
                                      {QStringLiteral("@surfaceAlt@"), Tone::kSurfaceAlt},
                                      {QStringLiteral("@text@"), Tone::kText},
                                      {QStringLiteral("@textSecondary@"), Tone::kTextSecondary},
                                      {QStringLiteral("@textMuted@"), Tone::kTextMuted},
                                      {QStringLiteral("@control@"), Tone::kControl},
                                      {QStringLiteral("@border@"), Tone::kBorder},
                                      {QStringLiteral("@accent@"), Tone::kAccent},
                                      {QStringLiteral("@accentSoft@"), Tone::kAccentSoft},
                                      {QStringLiteral("@onAccent@"), Tone::kOnAccent},
                                      {QStringLiteral("@error@"), Tone::kError},
                                      {QStringLiteral("@neutral@"), Tone::kNeutralFill},
                                      {QStringLiteral("@track@"), Tone::kTrackFree}};
  QString sheet = QString::fromLatin1(kSheet);
  sheet.replace(QStringLiteral("@side@"), theme.dark() ? QStringLiteral("dark") : QStringLiteral("light"));
  for (auto it = names.cbegin(); it != names.cend(); ++it) sheet.replace(it.key(), theme.color(it.value()).name());
  return sheet;
}

}  // namespace larder::gui
