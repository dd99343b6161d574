// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/theme/numbers.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>
#include <array>
#include <cmath>

namespace larder::gui {
namespace {

constexpr QChar kNoBreakSpace(0x00A0);

// Three digits that count: 1.38, 37.2, 640.
QString threeDigits(double value) {
  const double size = std::abs(value);
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return QLocale().toString(value, 'f', decimals);
}

struct Numbers {
  Q_DECLARE_TR_FUNCTIONS(Numbers)
};

}  // namespace

QString noData() { return QStringLiteral("\u2013"); }

QString withUnit(const QString& number, const QString& unit) { return number + kNoBreakSpace + unit; }

QString countText(std::uint64_t count) { return QLocale().toString(static_cast<qulonglong>(count)); }

QString bytesText(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return withUnit(countText(bytes), Numbers::tr("B"));
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return withUnit(threeDigits(value), QString::fromLatin1(kUnits[unit]));
}

QString durationText(double ms) {
  if (!(ms >= 0)) return noData();
  if (ms < 0.995) return withUnit(QLocale().toString(ms, 'f', ms == 0 ? 0 : 2), Numbers::tr("ms"));
  if (ms < 999.5) return withUnit(threeDigits(ms), Numbers::tr("ms"));
  if (ms < 99'950) return withUnit(threeDigits(ms / 1000), Numbers::tr("s"));
  if (ms < 5'940'000) return withUnit(threeDigits(ms / 60'000), Numbers::tr("min"));
  return withUnit(threeDigits(ms / 3'600'000), Numbers::tr("h"));
}

QString percentText(double part, double whole) {
  if (!(whole > 0)) return noData();
  return withUnit(QLocale().toString(100 * part / whole, 'f', 1), QStringLiteral("%"));
}

QString rateText(double per_s, const QString& unit) {
  if (!(per_s > 0)) return noData();
  return withUnit(per_s >= 1000 ? countText(static_cast<std::uint64_t>(per_s)) : threeDigits(per_s),
                  unit + QStringLiteral("/s"));
}

QString clockText(std::int64_t at) {
  return at <= 0 ? noData() : QDateTime::fromMSecsSinceEpoch(at).toString(QStringLiteral("HH:mm:ss"));
}

QString minuteText(std::int64_t at) {
  return at <= 0 ? noData() : QDateTime::fromMSecsSinceEpoch(at).toString(QStringLiteral("HH:mm"));
}

QString dateTimeText(std::int64_t at) {
  return at <= 0 ? noData() : QLocale().toString(QDateTime::fromMSecsSinceEpoch(at), QLocale::ShortFormat);
}

QString agoText(std::int64_t then, std::int64_t now) { return then <= 0 ? noData() : spanText(now - then); }

QString spanText(std::int64_t ms) {
  const std::int64_t seconds = std::max<std::int64_t>(0, ms / 1000);
  if (seconds < 60) return withUnit(QString::number(seconds), Numbers::tr("s"));
  if (seconds < 3600) return withUnit(QString::number(seconds / 60), Numbers::tr("min"));
  if (seconds < 86'400) return withUnit(QString::number(seconds / 3600), Numbers::tr("h"));
  return withUnit(countText(static_cast<std::uint64_t>(seconds / 86'400)), Numbers::tr("d"));
}

Figure splitFigure(const QString& text) {
  const qsizetype gap = text.lastIndexOf(kNoBreakSpace);
  if (gap < 0) return {text, QString()};
  return {text.left(gap), text.mid(gap + 1)};
}

}  // namespace larder::gui
