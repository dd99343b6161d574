// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/theme/numbers.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>
#include <array>
#include <cmath>

namespace larder::gui {
namespace {

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

QString countText(std::uint64_t count) { return QLocale().toString(static_cast<qulonglong>(count)); }

QString bytesText(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return Numbers::tr("%1 B").arg(QLocale().toString(static_cast<qulonglong>(bytes)));
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return QStringLiteral("%1 %2").arg(threeDigits(value), QString::fromLatin1(kUnits[unit]));
}

QString durationText(double ms) {
  if (!(ms >= 0)) return noData();
  if (ms < 0.995) return Numbers::tr("%1 ms").arg(QLocale().toString(ms, 'f', ms == 0 ? 0 : 2));
  if (ms < 999.5) return Numbers::tr("%1 ms").arg(threeDigits(ms));
  if (ms < 99'950) return Numbers::tr("%1 s").arg(threeDigits(ms / 1000));
  if (ms < 5'940'000) return Numbers::tr("%1 min").arg(threeDigits(ms / 60'000));
  return Numbers::tr("%1 h").arg(threeDigits(ms / 3'600'000));
}

QString percentText(double part, double whole) {
  if (!(whole > 0)) return noData();
  return Numbers::tr("%1 %").arg(QLocale().toString(100 * part / whole, 'f', 1));
}

QString rateText(double per_s, const QString& unit) {
  if (!(per_s > 0)) return noData();
  return QStringLiteral("%1 %2/s").arg(
      per_s >= 1000 ? countText(static_cast<std::uint64_t>(per_s)) : threeDigits(per_s), unit);
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

QString agoText(std::int64_t then, std::int64_t now) {
  if (then <= 0) return noData();
  const std::int64_t seconds = std::max<std::int64_t>(0, (now - then) / 1000);
  if (seconds < 60) return Numbers::tr("%1 s").arg(seconds);
  if (seconds < 3600) return Numbers::tr("%1 min").arg(seconds / 60);
  if (seconds < 86'400) return Numbers::tr("%1 h").arg(seconds / 3600);
  return Numbers::tr("%1 d").arg(seconds / 86'400);
}

Figure splitFigure(const QString& text) {
  const qsizetype gap = text.lastIndexOf(QLatin1Char(' '));
  if (gap < 0) return {text, QString()};
  return {text.left(gap), text.mid(gap + 1)};
}

}  // namespace larder::gui
