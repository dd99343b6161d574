// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/theme/theme.h"

#include <QApplication>
#include <QBrush>
#include <QFile>
#include <QFontDatabase>
#include <QFontMetrics>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPainter>
#include <QPalette>
#include <QStyle>
#include <QStyleFactory>
#include <algorithm>
#include <cmath>

#include "gui/theme/icon_store.h"
#include "gui/theme/style_sheet.h"

namespace larder::gui {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(Tone::kCount)> kToneNames = {
    "window", "surface",       "surfaceAlt",  "navigation", "border",     "control",   "grid",
    "text",   "textSecondary", "textMuted",   "accent",     "accentSoft", "onAccent",  "ok",
    "okSoft", "warning",       "warningSoft", "error",      "errorSoft",  "trackFree", "neutralFill"};
constexpr std::array<const char*, static_cast<std::size_t>(Tier::kCount)> kTierNames = {"device", "host", "disk",
                                                                                        "remote"};
constexpr std::array<Hatch, static_cast<std::size_t>(Tier::kCount)> kTierHatches = {Hatch::kNone, Hatch::kDiagonal,
                                                                                    Hatch::kDots, Hatch::kCross};

QString latin(const char* text) { return QString::fromLatin1(text); }

QColor readColor(const QJsonObject& object, const char* key) {
  const QColor color(object.value(latin(key)).toString());
  if (!color.isValid()) qFatal("resources/theme/tokens.json: no colour \"%s\"", key);
  return color;
}

bool hasTabularDigits(const QFont& font) {
  const QFontMetricsF metrics(font);
  const qreal one = metrics.horizontalAdvance(QLatin1Char('1'));
  for (char digit = '0'; digit <= '9'; ++digit) {
    if (std::abs(metrics.horizontalAdvance(QLatin1Char(digit)) - one) > 0.01) return false;
  }
  return true;
}

// The system's font when its digits are of one width, else one whose digits are: figures must not dance.
QString chooseFamily() {
  const QFont system = QFontDatabase::systemFont(QFontDatabase::GeneralFont);
  if (hasTabularDigits(system)) return system.family();
  const QStringList known = QFontDatabase::families();
  for (const QString& name : {QStringLiteral("Noto Sans"), QStringLiteral("DejaVu Sans")}) {
    if (known.contains(name)) return name;
  }
  return system.family();
}

double channel(double value) { return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4); }

double luminance(const QColor& color) {
  return 0.2126 * channel(color.redF()) + 0.7152 * channel(color.greenF()) + 0.0722 * channel(color.blueF());
}

void drawDiagonal(QPainter& painter, int period, bool falling) {
  for (int shift = -period; shift <= period; shift += period) {
    if (falling) {
      painter.drawLine(QPointF(shift - 1, -1), QPointF(shift + period + 1, period + 1));
    } else {
      painter.drawLine(QPointF(shift - 1, period + 1), QPointF(shift + period + 1, -1));
    }
  }
}

// One tile that continues into its neighbours. Source: resources/theme/tokens.json "tier", "computed".
QPixmap drawHatch(Hatch kind, const QColor& ink) {
  int period = 6;
  qreal stroke = 2;
  float alpha = 0.42F;
  if (kind == Hatch::kDots) period = 5, alpha = 0.5F;
  if (kind == Hatch::kCross) period = 7, stroke = 1.6, alpha = 0.45F;
  if (kind == Hatch::kComputed) period = 5, stroke = 1.4, alpha = 0.55F;
  QPixmap tile(period, period);
  tile.fill(Qt::transparent);
  QPainter painter(&tile);
  painter.setRenderHint(QPainter::Antialiasing, kind != Hatch::kDots);
  QColor drawn = ink;
  drawn.setAlphaF(alpha);
  if (kind == Hatch::kDots) {
    painter.fillRect(1, 1, 2, 2, drawn);
  } else {
    painter.setPen(QPen(drawn, stroke));
    if (kind != Hatch::kComputed) drawDiagonal(painter, period, false);
    if (kind != Hatch::kDiagonal) drawDiagonal(painter, period, true);
  }
  painter.end();
  return tile;
}

}  // namespace

double contrast(const QColor& a, const QColor& b) {
  const double la = luminance(a), lb = luminance(b);
  return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

QColor mixed(const QColor& base, const QColor& over, double share) {
  const float s = static_cast<float>(share);
  return QColor::fromRgbF(base.redF() * (1 - s) + over.redF() * s, base.greenF() * (1 - s) + over.greenF() * s,
                          base.blueF() * (1 - s) + over.blueF() * s);
}

Theme::Theme(QObject* parent) : QObject(parent), icons_(std::make_unique<IconStore>()) {
  system_dark_ = QApplication::palette().color(QPalette::Window).lightnessF() < 0.5F;
  readTokens();
  family_ = chooseFamily();
  mono_family_ = QFontDatabase::systemFont(QFontDatabase::FixedFont).family();
  QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  apply();
}

Theme::~Theme() = default;

void Theme::setMode(Mode mode) {
  if (mode == mode_) return;
  mode_ = mode;
  apply();
  Q_EMIT changed();
}

void Theme::readTokens() {
  QFile file(QStringLiteral(":/theme/tokens.json"));
  if (!file.open(QIODevice::ReadOnly)) qFatal("resources/theme/tokens.json is missing from the program");
  const QJsonObject tokens = QJsonDocument::fromJson(file.readAll()).object();
  const QJsonObject colour = tokens.value(latin("colour")).toObject();
  const QJsonObject tier = tokens.value(latin("tier")).toObject();
  const std::array<QString, 2> sides = {latin("light"), latin("dark")};
  for (std::size_t side = 0; side < sides.size(); ++side) {
    const QJsonObject set = colour.value(sides[side]).toObject();
    for (std::size_t i = 0; i < kToneNames.size(); ++i) colors_[side][i] = readColor(set, kToneNames[i]);
    for (std::size_t i = 0; i < kTierNames.size(); ++i) {
      const QJsonObject one = tier.value(latin(kTierNames[i])).toObject().value(sides[side]).toObject();
      tiers_[i].fill[side] = readColor(one, "fill");
      tiers_[i].text[side] = readColor(one, "text");
      tiers_[i].hatch = kTierHatches[i];
    }
  }
  const QJsonObject size = tokens.value(latin("size")).toObject();
  metrics_.navigation = size.value(latin("navigation")).toInt(metrics_.navigation);
  metrics_.navigation_collapsed = size.value(latin("navigationCollapsed")).toInt(metrics_.navigation_collapsed);
  metrics_.toolbar = size.value(latin("toolbar")).toInt(metrics_.toolbar);
  metrics_.status_bar = size.value(latin("statusBar")).toInt(metrics_.status_bar);
  metrics_.inspector = size.value(latin("inspector")).toInt(metrics_.inspector);
  metrics_.row = size.value(latin("row")).toInt(metrics_.row);
  metrics_.tree_row = size.value(latin("treeRow")).toInt(metrics_.tree_row);
}

QColor Theme::tierFill(Tier tier) const { return tiers_[static_cast<std::size_t>(tier)].fill[dark_ ? 1 : 0]; }
QColor Theme::tierText(Tier tier) const { return tiers_[static_cast<std::size_t>(tier)].text[dark_ ? 1 : 0]; }
Hatch Theme::tierHatch(Tier tier) const { return tiers_[static_cast<std::size_t>(tier)].hatch; }

QBrush Theme::hatch(Hatch kind, const QColor& ink) const {
  if (kind == Hatch::kNone) return QBrush(Qt::NoBrush);
  QPixmap& tile = hatches_[quint64{ink.rgba()} << 8 | static_cast<quint64>(kind)];
  if (tile.isNull()) tile = drawHatch(kind, ink);
  return QBrush(tile);
}

QFont Theme::font(TextSize size, bool bold) const {
  constexpr std::array<int, 7> kPixels = {11, 12, 13, 15, 17, 20, 24};
  QFont font(family_);
  font.setPixelSize(kPixels[static_cast<std::size_t>(size)]);
  font.setWeight(bold ? QFont::Bold : QFont::Normal);
  return font;
}

QFont Theme::monoFont(TextSize size) const {
  QFont font = this->font(size);
  font.setFamily(mono_family_);
  font.setStyleHint(QFont::Monospace);
  return font;
}

QPixmap Theme::pixmap(const QString& name, const QColor& color, int side, qreal ratio) const {
  return icons_->pixmap(name, color, side, ratio);
}

QIcon Theme::icon(const QString& name, const QColor& color) const {
  QIcon icon;
  for (const qreal ratio : {1.0, 2.0}) {
    icon.addPixmap(pixmap(name, color, metrics_.icon, ratio));
    icon.addPixmap(
        pixmap(name, mixed(this->color(Tone::kSurface), this->color(Tone::kTextMuted), 0.55), metrics_.icon, ratio),
        QIcon::Disabled);
  }
  return icon;
}

QIcon Theme::icon(const QString& name) const { return icon(name, color(Tone::kText)); }

QIcon Theme::appIcon() const {
  QIcon icon;
  for (const int side : {16, 24, 32, 64, 128}) icon.addPixmap(pixmap(QStringLiteral("larder-app"), Qt::black, side, 1));
  return icon;
}

void Theme::apply() {
  dark_ = mode_ == Mode::kDark || (mode_ == Mode::kSystem && system_dark_);
  QPalette palette;
  const auto set = [&](QPalette::ColorRole role, Tone tone) { palette.setColor(role, color(tone)); };
  set(QPalette::Window, Tone::kWindow);
  set(QPalette::WindowText, Tone::kText);
  set(QPalette::Base, Tone::kSurface);
  set(QPalette::AlternateBase, Tone::kSurfaceAlt);
  set(QPalette::Text, Tone::kText);
  set(QPalette::Button, Tone::kSurface);
  set(QPalette::ButtonText, Tone::kText);
  set(QPalette::ToolTipBase, Tone::kSurface);
  set(QPalette::ToolTipText, Tone::kText);
  set(QPalette::PlaceholderText, Tone::kTextMuted);
  set(QPalette::Highlight, Tone::kAccentSoft);
  set(QPalette::HighlightedText, Tone::kText);
  set(QPalette::Link, Tone::kAccent);
  set(QPalette::LinkVisited, Tone::kAccent);
  set(QPalette::Mid, Tone::kBorder);
  set(QPalette::Dark, Tone::kControl);
  set(QPalette::Light, Tone::kSurfaceAlt);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, color(Tone::kTextMuted));
  }
  QApplication::setPalette(palette);
  QApplication::setFont(font(TextSize::kBody));
  qApp->setStyleSheet(styleSheet(*this));
}

}  // namespace larder::gui
