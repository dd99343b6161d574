// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as people read them, by the application's QLocale, always with their unit, which stays on the line of its
// number. What is not known is an en dash, never a zero.
// Units:   as each function says; moments in ms since 1970 UTC.    Threads: any.
#pragma once

#include <QString>
#include <cstdint>

namespace larder::gui {

QString noData();                                              // "–"
QString withUnit(const QString& number, const QString& unit);  // a no-break space between them
QString countText(std::uint64_t count);                        // "576,453"
QString bytesText(std::uint64_t bytes);                        // "1.38 GiB": three digits that count
QString durationText(double ms);                               // "81 ms", "2.05 s", "37.2 min"; negative: no data
QString percentText(double part, double whole);                // "86.5 %"; whole 0: no data
QString rateText(double per_s, const QString& unit);           // "41 tok/s"
QString clockText(std::int64_t at);                            // "22:41:20", local time
QString minuteText(std::int64_t at);                           // "22:41"
QString dateTimeText(std::int64_t at);
QString spanText(std::int64_t ms);                     // whole: "19 s", "2 min", "1 h", "3 d"
QString agoText(std::int64_t then, std::int64_t now);  // as spanText; then 0: no data

// Splits "81 ms" into figure and unit for cards that set them apart.
struct Figure {
  QString number, unit;
};
Figure splitFigure(const QString& text);

}  // namespace larder::gui
