// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/settings/setting_rules.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>
#include <limits>

#include "gui/pages/settings/setting_words.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

struct SettingText {
  Q_DECLARE_TR_FUNCTIONS(SettingText)
};

QString numberText(qint64 value) { return QLocale().toString(static_cast<qlonglong>(value)); }

// Takes the unit off the end and returns what it multiplies by.
qint64 takeByteUnit(QString& text) {
  constexpr const char* kUnits[] = {"kib", "mib", "gib", "tib"};
  qint64 factor = 1024;
  for (const char* unit : kUnits) {
    if (text.endsWith(QLatin1String(unit), Qt::CaseInsensitive)) {
      text.chop(3);
      text = text.trimmed();
      return factor;
    }
    factor *= 1024;
  }
  return 1;
}

CheckedEntry checkInteger(const SettingRow& row, QString text) {
  const qint64 factor = row.unit == QLatin1String("bytes") ? takeByteUnit(text) : 1;
  bool read = false;
  qint64 number = text.toLongLong(&read);
  if (!read) number = QLocale().toLongLong(text, &read);
  const bool fits = read && number <= std::numeric_limits<qint64>::max() / factor &&
                    number >= std::numeric_limits<qint64>::min() / factor;
  if (fits && number * factor >= row.minimum && number * factor <= row.maximum) {
    return {QString::number(number * factor), QString()};
  }
  const QString unit = row.unit.isEmpty() ? QString() : QLatin1Char(' ') + settingUnit(row);
  return {QString(), SettingText::tr("\u201c%1\u201d cannot be used: enter a whole number from %2 to %3%4.")
                         .arg(text.left(64), numberText(row.minimum), numberText(row.maximum), unit)};
}

}  // namespace

CheckedEntry checkEntry(const SettingRow& row, const QString& text) {
  const QString trimmed = text.trimmed();
  switch (row.type) {
    case SettingRow::Type::kInteger:
      return checkInteger(row, trimmed);
    case SettingRow::Type::kText: {
      const qsizetype bytes = trimmed.toUtf8().size();
      if (bytes >= row.minimum && bytes <= row.maximum) return {trimmed, QString()};
      return {QString(), SettingText::tr("This text has %1 bytes; from %2 to %3 can be used.")
                             .arg(numberText(bytes), numberText(row.minimum), numberText(row.maximum))};
    }
    case SettingRow::Type::kFlag:
    case SettingRow::Type::kChoice:
      break;
  }
  return {trimmed, QString()};
}

QString shownValue(const SettingRow& row, const QString& value) {
  switch (row.type) {
    case SettingRow::Type::kInteger: {
      bool read = false;
      const qint64 number = value.toLongLong(&read);
      return read ? numberText(number) : value;
    }
    case SettingRow::Type::kFlag:
      return value == QLatin1String("true") ? SettingText::tr("on") : SettingText::tr("off");
    case SettingRow::Type::kText:
      return value.isEmpty() ? SettingText::tr("empty") : value;
    case SettingRow::Type::kChoice:
      break;
  }
  return settingChoice(value);
}

QString rangeText(const SettingRow& row) {
  const bool bytes = row.unit == QLatin1String("bytes");
  const QString standard = bytes ? bytesText(row.default_value.toULongLong()) : shownValue(row, row.default_value);
  QStringList parts{SettingText::tr("default: %1").arg(standard)};
  if (bytes) {
    parts.push_back(SettingText::tr("from %1 to %2")
                        .arg(bytesText(static_cast<std::uint64_t>(row.minimum)),
                             bytesText(static_cast<std::uint64_t>(row.maximum))));
  } else if (row.type == SettingRow::Type::kInteger) {
    parts.push_back(SettingText::tr("from %1 to %2").arg(numberText(row.minimum), numberText(row.maximum)) +
                    (row.unit.isEmpty() ? QString() : QLatin1Char(' ') + settingUnit(row)));
  }
  if (row.type == SettingRow::Type::kText) {
    parts.push_back(SettingText::tr("at most %1 bytes").arg(numberText(row.maximum)));
  }
  parts.push_back(row.needs_restart ? SettingText::tr("takes effect after a restart")
                                    : SettingText::tr("takes effect at once"));
  return parts.join(QStringLiteral(" \u00b7 "));
}

QString groupOf(const SettingRow& row) { return row.name.section(QLatin1Char('.'), 0, 0); }

QString groupTitle(const QString& group) {
  if (group == QLatin1String("ui")) return SettingText::tr("Window: look and language");
  if (group == QLatin1String("engine")) return SettingText::tr("Engine");
  if (group == QLatin1String("pool")) return SettingText::tr("Block pool");
  if (group == QLatin1String("pins")) return SettingText::tr("Pins");
  if (group == QLatin1String("store")) return SettingText::tr("Disk tier");
  if (group == QLatin1String("tenants")) return SettingText::tr("Tenants");
  if (group == QLatin1String("api")) return SettingText::tr("API");
  if (group == QLatin1String("log")) return SettingText::tr("Log");
  return group;
}

bool settingMatches(const SettingRow& row, const QString& search) {
  for (const QString& word : search.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    const bool found =
        row.name.contains(word, Qt::CaseInsensitive) || settingTitle(row).contains(word, Qt::CaseInsensitive) ||
        settingHelp(row).contains(word, Qt::CaseInsensitive) || row.value.contains(word, Qt::CaseInsensitive) ||
        groupTitle(groupOf(row)).contains(word, Qt::CaseInsensitive);
    if (!found) return false;
  }
  return true;
}

}  // namespace larder::gui
