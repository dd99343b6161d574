// SPDX-License-Identifier: GPL-3.0-or-later
// Theme: colours, fonts and sizes of the window, read once from resources/theme/tokens.json. Colour of a fill means
// tier and nothing else; status colours always go with a glyph and a word.
// Ensures:  changed() after the palette of the application has been replaced; whoever caches a colour or a pixmap drops
//           it then.    Errors: a damaged tokens file ends the program at start with its name (it is compiled in).
// Threads:  GUI thread.    Owns: the application's palette, style and style sheet.
#pragma once

#include <QColor>
#include <QFont>
#include <QHash>
#include <QIcon>
#include <QObject>
#include <QPixmap>
#include <QString>
#include <array>
#include <memory>

class QBrush;

namespace larder::gui {

class IconStore;

enum class Tone : std::uint8_t {
  kWindow,
  kSurface,
  kSurfaceAlt,
  kNavigation,
  kBorder,
  kControl,
  kGrid,
  kText,
  kTextSecondary,
  kTextMuted,
  kAccent,
  kAccentSoft,
  kOnAccent,
  kOk,
  kOkSoft,
  kWarning,
  kWarningSoft,
  kError,
  kErrorSoft,
  kTrackFree,
  kNeutralFill,
  kCount
};

enum class Tier : std::uint8_t { kDevice, kHost, kDisk, kRemote, kCount };

// Hatches of fills: one per tier, plus tokens that were computed instead of reused.
enum class Hatch : std::uint8_t { kNone, kDiagonal, kDots, kCross, kComputed };

enum class TextSize : std::uint8_t { kAxis, kSmall, kBody, kEmphasis, kTitle, kHero, kKpi };

// Pixels, from tokens.json "size", "spacing" and "radius".
struct Metrics {
  int navigation = 176, navigation_collapsed = 48, toolbar = 48, status_bar = 26, inspector = 312, row = 28;
  int control = 28, tree_row = 40, tree_row_min = 20, icon = 16, padding = 16, gap = 16, radius_card = 6;
};

class Theme : public QObject {
  Q_OBJECT

 public:
  enum class Mode : std::uint8_t { kSystem, kLight, kDark };

  explicit Theme(QObject* parent = nullptr);
  ~Theme() override;

  void setMode(Mode mode);  // applies style, palette, font and style sheet to the application
  Mode mode() const { return mode_; }
  bool dark() const { return dark_; }

  QColor color(Tone tone) const { return colors_[dark_ ? 1 : 0][static_cast<std::size_t>(tone)]; }
  QColor tierFill(Tier tier) const;
  QColor tierText(Tier tier) const;
  Hatch tierHatch(Tier tier) const;
  // Texture of a hatch drawn in `ink`; paint it over the fill with the brush origin at the widget's.
  QBrush hatch(Hatch kind, const QColor& ink) const;
  // Lines of the charts that are told apart by hue; never for status or tier.
  QColor lost() const { return color(Tone::kError); }

  QFont font(TextSize size, bool bold = false) const;
  QFont monoFont(TextSize size) const;
  const Metrics& metrics() const { return metrics_; }

  // Line icon of resources/icons in one colour; `side` in device-independent pixels.
  QPixmap pixmap(const QString& name, const QColor& color, int side, qreal ratio) const;
  QIcon icon(const QString& name) const;  // text colour, muted when disabled
  QIcon icon(const QString& name, const QColor& color) const;
  QIcon appIcon() const;

  // True until the system says otherwise; animations are off under reduced motion.
  bool reducedMotion() const { return reduced_motion_; }
  void setReducedMotion(bool reduced) { reduced_motion_ = reduced; }

 Q_SIGNALS:
  void changed();

 private:
  struct TierTokens {
    std::array<QColor, 2> fill, text;  // light, dark
    Hatch hatch = Hatch::kNone;
  };

  void readTokens();
  void apply();

  std::array<std::array<QColor, static_cast<std::size_t>(Tone::kCount)>, 2> colors_;
  std::array<TierTokens, static_cast<std::size_t>(Tier::kCount)> tiers_;
  Metrics metrics_;
  QString family_, mono_family_;
  std::unique_ptr<IconStore> icons_;
  mutable QHash<quint64, QPixmap> hatches_;  // by kind and ink
  Mode mode_ = Mode::kSystem;
  bool dark_ = false;
  bool system_dark_ = false;
  bool reduced_motion_ = false;
};

// Contrast ratio of two opaque colours. Source: WCAG 2.1, relative luminance.
double contrast(const QColor& a, const QColor& b);
// `share` of `over` laid on `base`, opaque.
QColor mixed(const QColor& base, const QColor& over, double share);

}  // namespace larder::gui
