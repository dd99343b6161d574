// SPDX-License-Identifier: GPL-3.0-or-later
// Every sentence of the window has its finished Italian, with both plural forms and the same placeholders; English has
// its plurals. The sentences are read anew from gui/ by lupdate, so that a new one without its translation fails here.
#include <QFile>
#include <QLocale>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTranslator>
#include <QXmlStreamReader>
#include <QtTest>

#include "test_paths.h"

namespace larder::gui {
namespace {

struct Entry {
  QString context, source, state;  // state: empty, "unfinished", "vanished"
  QStringList forms;               // one, or one per plural form
  bool plural = false;
};

QVector<Entry> entriesOf(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return {};
  QXmlStreamReader xml(&file);
  QVector<Entry> entries;
  QString context;
  while (!xml.atEnd()) {
    if (!xml.readNextStartElement()) continue;
    const auto name = xml.name();
    if (name == QLatin1String("name")) {
      context = xml.readElementText();
    } else if (name == QLatin1String("message")) {
      Entry entry;
      entry.context = context;
      entry.plural = xml.attributes().value(QLatin1String("numerus")) == QLatin1String("yes");
      entries.push_back(entry);
    } else if (name == QLatin1String("source") && !entries.isEmpty()) {
      entries.back().source = xml.readElementText();
    } else if (name == QLatin1String("translation") && !entries.isEmpty()) {
      entries.back().state = xml.attributes().value(QLatin1String("type")).toString();
      if (!entries.back().plural) entries.back().forms = QStringList{xml.readElementText()};
    } else if (name == QLatin1String("numerusform") && !entries.isEmpty()) {
      entries.back().forms.push_back(xml.readElementText());
    }
  }
  return entries;
}

// The file `language` brought up to date with the sources, in a folder of its own.
QVector<Entry> renewed(const QTemporaryDir& folder, const QString& language, const QStringList& options) {
  const QString name = QStringLiteral("larder_%1.ts").arg(language);
  const QString path = folder.filePath(name);
  const QString root = QStringLiteral(LARDER_SOURCE_DIR);
  if (!QFile::copy(root + QStringLiteral("/resources/translations/") + name, path)) return {};
  QFile(path).setPermissions(QFile::ReadOwner | QFile::WriteOwner);
  QProcess lupdate;
  lupdate.setWorkingDirectory(root);
  lupdate.start(
      QStringLiteral(LARDER_LUPDATE),
      options + QStringList{QStringLiteral("-silent"), QStringLiteral("-I"), root, QStringLiteral("-locations"),
                            QStringLiteral("none"), QStringLiteral("gui"), QStringLiteral("-ts"), path});
  if (!lupdate.waitForFinished(120'000) || lupdate.exitCode() != 0) {
    qWarning("%s", lupdate.readAllStandardError().constData());
    return {};
  }
  return entriesOf(path);
}

QStringList placeholders(const QString& text) {
  static const QRegularExpression kMark(QStringLiteral("%(?:L?[0-9]+|n)"));
  QStringList marks;
  for (auto it = kMark.globalMatch(text); it.hasNext();) marks.push_back(it.next().captured());
  marks.sort();
  return marks;
}

// A blank after an ampersand: an "and", not a mnemonic.
int mnemonics(const QString& text) {
  static const QRegularExpression kMnemonic(QStringLiteral("&[^\\s&]"));
  return static_cast<int>(text.count(kMnemonic));
}

QString where(const Entry& entry) { return entry.context + QStringLiteral(": ") + entry.source; }

}  // namespace

class TranslationsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everySentenceHasItsItalian();
  void englishHasItsPlurals();
  void placeholdersAndMnemonicsAreKept();
  void italianIsLoadedByLocale();
};

void TranslationsTest::everySentenceHasItsItalian() {
  const QTemporaryDir folder;
  const QVector<Entry> entries = renewed(folder, QStringLiteral("it"), {});
  QVERIFY(entries.size() > 300);
  QStringList open;
  for (const Entry& entry : entries) {
    const bool empty = entry.forms.isEmpty() || entry.forms.contains(QString());
    if (!entry.state.isEmpty() || empty) open.push_back(entry.state + QStringLiteral(" ") + where(entry));
  }
  QVERIFY2(open.isEmpty(), qPrintable(open.join(QLatin1Char('\n'))));
}

void TranslationsTest::englishHasItsPlurals() {
  const QTemporaryDir folder;
  const QVector<Entry> entries = renewed(folder, QStringLiteral("en"), {QStringLiteral("-pluralonly")});
  QVERIFY(entries.size() > 10);
  for (const Entry& entry : entries) {
    QVERIFY2(entry.plural && entry.state.isEmpty() && entry.forms.size() == 2 && !entry.forms.contains(QString()),
             qPrintable(where(entry)));
  }
}

void TranslationsTest::placeholdersAndMnemonicsAreKept() {
  for (const char* language : {"it", "en"}) {
    const QVector<Entry> entries = entriesOf(
        QStringLiteral(LARDER_SOURCE_DIR "/resources/translations/larder_%1.ts").arg(QString::fromLatin1(language)));
    QVERIFY(!entries.isEmpty());
    for (const Entry& entry : entries) {
      if (entry.plural) QVERIFY2(entry.forms.size() == 2, qPrintable(where(entry)));
      for (const QString& form : entry.forms) {
        QVERIFY2(placeholders(form) == placeholders(entry.source), qPrintable(where(entry)));
        QVERIFY2(mnemonics(form) == mnemonics(entry.source), qPrintable(where(entry)));
      }
    }
  }
}

void TranslationsTest::italianIsLoadedByLocale() {
  QTranslator italian;
  QVERIFY(italian.load(QLocale(QLocale::Italian, QLocale::Italy), QStringLiteral("larder"), QStringLiteral("_"),
                       QStringLiteral(":/i18n")));
  QCoreApplication::installTranslator(&italian);
  QCOMPARE(QCoreApplication::translate("PageList", "Overview"), QStringLiteral("Panoramica"));
  QCOMPARE(QCoreApplication::translate("larder::gui::TenantsPage", "%n keys", nullptr, 1), QStringLiteral("1 chiave"));
  QCOMPARE(QCoreApplication::translate("larder::gui::TenantsPage", "%n keys", nullptr, 2), QStringLiteral("2 chiavi"));
  QCoreApplication::removeTranslator(&italian);
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::TranslationsTest)
#include "translations_test.moc"
