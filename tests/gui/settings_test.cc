// SPDX-License-Identifier: GPL-3.0-or-later
// The Settings page over literal rows: groups, search, checks before saving, refusals, undo, theme.
#include "runtime/settings/settings.h"

#include <QAccessible>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTranslator>
#include <QtTest>

#include "gui/pages/settings/setting_editor.h"
#include "gui/pages/settings/setting_rules.h"
#include "gui/pages/settings/setting_words.h"
#include "gui/pages/settings/settings_page.h"
#include "gui/widgets/search_field.h"
#include "tests/gui/support/page_shell.h"
#include "tests/gui/support/scripted_client.h"

namespace larder::gui {
namespace {

using Type = SettingRow::Type;

SettingRow integerRow() {
  SettingRow row;
  row.name = QStringLiteral("engine.prefill_chunk");
  row.type = Type::kInteger;
  row.value = row.default_value = QStringLiteral("512");
  row.unit = QStringLiteral("tokens");
  row.help = QStringLiteral("Prompt tokens of one step when nothing else runs.");
  row.minimum = 32;
  row.maximum = 2048;
  return row;
}

SettingRow bytesRow() {
  SettingRow row = integerRow();
  row.name = QStringLiteral("pool.bytes");
  row.value = row.default_value = QStringLiteral("0");
  row.unit = QStringLiteral("bytes");
  row.help = QStringLiteral("Memory for cached prompts.");
  row.minimum = 0;
  row.maximum = std::int64_t{1} << 46;
  row.needs_restart = true;
  return row;
}

SettingRow choiceRow(const char* name, const QVector<QString>& choices) {
  SettingRow row;
  row.name = QString::fromLatin1(name);
  row.type = Type::kChoice;
  row.value = row.default_value = choices[0];
  row.choices = choices;
  row.help = QStringLiteral("Colours of the window.");
  return row;
}

QVector<SettingRow> sampleRows() {
  SettingRow flag = integerRow();
  flag.name = QStringLiteral("api.lan");
  flag.type = Type::kFlag;
  flag.value = flag.default_value = QStringLiteral("false");
  flag.unit.clear();
  flag.help = QStringLiteral("Allow listening beyond this machine; every request then needs a key.");
  flag.needs_restart = true;
  SettingRow text = flag;
  text.name = QStringLiteral("api.listen");
  text.type = Type::kText;
  text.value = text.default_value = QStringLiteral("127.0.0.1:4114");
  text.minimum = 3;
  text.maximum = 256;
  text.help = QStringLiteral("Address and port of the API; port 0 picks a free one.");
  text.overridden = true;
  return {integerRow(),
          bytesRow(),
          flag,
          text,
          choiceRow("ui.theme", {QStringLiteral("auto"), QStringLiteral("light"), QStringLiteral("dark")}),
          choiceRow("ui.language", {QStringLiteral("auto"), QStringLiteral("en"), QStringLiteral("it")})};
}

}  // namespace

class SettingsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init();
  void cleanup();
  void wordsAndTableAgree();
  void everyRowHasItsItalian();
  void anotherVersionsRowIsShownAsItCame();
  void numbersAreChecked_data();
  void numbersAreChecked();
  void everyRowSaysDefaultRangeAndEffect();
  void legalEntryIsSaved();
  void illegalEntryIsNotSaved();
  void refusalStandsBelowTheEntry();
  void themeChangesAtOnce();
  void undoSetsTheOldValue();
  void flagAsksForARestart();
  void searchFindsByHelpAndName();
  void typedTextSurvivesARefresh();
  void everyControlHasAName();
  void picturesInBothThemes();

 private:
  SettingEditor* editor(const char* name) const {
    return page_->findChild<SettingEditor*>(QStringLiteral("setting-") + QString::fromLatin1(name));
  }
  template <typename Control>
  Control* control(const char* name) const {
    return editor(name)->findChild<Control*>(QStringLiteral("settingControl"));
  }
  const command::SetSetting& sent(std::size_t at) const {
    return std::get<command::SetSetting>(client_->commands.at(at));
  }

  std::unique_ptr<Theme> theme_;
  std::unique_ptr<ScriptedClient> client_;
  std::unique_ptr<PageShell> shell_;
  std::unique_ptr<SettingsPage> page_;
};

void SettingsTest::init() {
  QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
  theme_ = std::make_unique<Theme>();
  theme_->setMode(Theme::Mode::kLight);
  client_ = std::make_unique<ScriptedClient>();
  client_->settings = sampleRows();
  client_->next.ok = true;
  shell_ = std::make_unique<PageShell>();
  page_ = std::make_unique<SettingsPage>(QStringLiteral("Settings"), PageContext{*theme_, *client_, *shell_});
  page_->resize(1264, 780);
  page_->show();
  QVERIFY(QTest::qWaitForWindowExposed(page_.get()));
}

void SettingsTest::cleanup() {
  page_.reset();
  client_.reset();
  theme_.reset();
}

void SettingsTest::wordsAndTableAgree() {
  const auto table = settings::table();
  const auto words = settingWords();
  QCOMPARE(words.size(), table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    QCOMPARE(QByteArray(words[i].name), QByteArray::fromStdString(std::string(table[i].name)));
    QCOMPARE(QByteArray(words[i].help), QByteArray::fromStdString(std::string(table[i].help)));
  }
}

void SettingsTest::everyRowHasItsItalian() {
  QTranslator italian;
  QVERIFY(italian.load(QStringLiteral(":/i18n/larder_it.qm")));
  QCoreApplication::installTranslator(&italian);
  // Names of things have no language.
  const QStringList names{QStringLiteral("avx2"), QStringLiteral("avx512"), QStringLiteral("f16"),
                          QStringLiteral("f32")};
  for (const settings::SettingRow& from : settings::table()) {
    SettingRow row;
    row.name = QString::fromStdString(std::string(from.name));
    row.help = QString::fromStdString(std::string(from.help));
    row.unit = QString::fromStdString(std::string(from.unit));
    const SettingWord& word = settingWords()[static_cast<std::size_t>(from.key)];
    QVERIFY2(settingTitle(row) != QString::fromUtf8(word.title), qPrintable(row.name));
    QVERIFY2(settingHelp(row) != row.help, qPrintable(row.name));
    const QByteArray unit = row.unit.toUtf8();
    QVERIFY2(row.unit.isEmpty() || !italian.translate("SettingUnit", unit.constData()).isEmpty(), unit.constData());
    for (const QString& choice :
         QString::fromStdString(std::string(from.choices)).split(QLatin1Char('|'), Qt::SkipEmptyParts)) {
      QVERIFY2(names.contains(choice) || settingChoice(choice) != choice, qPrintable(choice));
    }
  }
  QCoreApplication::removeTranslator(&italian);
}

void SettingsTest::anotherVersionsRowIsShownAsItCame() {
  SettingRow row = integerRow();
  row.name = QStringLiteral("engine.unheard_of");
  row.help = QStringLiteral("What a later version can do.");
  row.unit = QStringLiteral("parsecs");
  QCOMPARE(settingTitle(row), row.name);
  QCOMPARE(settingHelp(row), row.help);
  QCOMPARE(settingUnit(row), row.unit);
  QCOMPARE(settingChoice(QStringLiteral("sideways")), QStringLiteral("sideways"));
}

void SettingsTest::numbersAreChecked_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("value");
  QTest::newRow("plain") << QStringLiteral("chunk") << QStringLiteral(" 1024 ") << QStringLiteral("1024");
  QTest::newRow("grouped") << QStringLiteral("chunk") << QStringLiteral("1,024") << QStringLiteral("1024");
  QTest::newRow("least") << QStringLiteral("chunk") << QStringLiteral("32") << QStringLiteral("32");
  QTest::newRow("below") << QStringLiteral("chunk") << QStringLiteral("31") << QString();
  QTest::newRow("above") << QStringLiteral("chunk") << QStringLiteral("2049") << QString();
  QTest::newRow("words") << QStringLiteral("chunk") << QStringLiteral("many") << QString();
  QTest::newRow("empty") << QStringLiteral("chunk") << QString() << QString();
  QTest::newRow("GiB") << QStringLiteral("bytes") << QStringLiteral("2 GiB") << QStringLiteral("2147483648");
  QTest::newRow("overflow") << QStringLiteral("bytes") << QStringLiteral("9223372036854775807 TiB") << QString();
}

void SettingsTest::numbersAreChecked() {
  QFETCH(QString, name);
  QFETCH(QString, text);
  QFETCH(QString, value);
  const CheckedEntry checked = checkEntry(name == QStringLiteral("bytes") ? bytesRow() : integerRow(), text);
  QCOMPARE(checked.value, value);
  QCOMPARE(checked.error.isEmpty(), !value.isEmpty());
}

void SettingsTest::everyRowSaysDefaultRangeAndEffect() {
  QCOMPARE(rangeText(integerRow()),
           QStringLiteral("default: 512 \u00b7 from 32 to 2,048 tokens \u00b7 takes effect at once"));
  QCOMPARE(rangeText(bytesRow()), QStringLiteral("default: 0\u00a0B \u00b7 from 0\u00a0B to 64.0\u00a0TiB \u00b7 takes "
                                                 "effect after a restart"));
  QCOMPARE(page_->findChildren<SettingEditor*>().size(), 6);
}

void SettingsTest::legalEntryIsSaved() {
  auto* line = control<QLineEdit>("engine.prefill_chunk");
  line->setFocus();
  line->selectAll();
  QTest::keyClicks(line, QStringLiteral("1024"));
  QTest::keyClick(line, Qt::Key_Return);
  QCOMPARE(client_->commands.size(), std::size_t{1});
  QCOMPARE(sent(0).key, QStringLiteral("engine.prefill_chunk"));
  QCOMPARE(sent(0).value, QStringLiteral("1024"));
  QVERIFY(shell_->toast.contains(QStringLiteral("1,024")));
}

void SettingsTest::illegalEntryIsNotSaved() {
  auto* line = control<QLineEdit>("engine.prefill_chunk");
  line->setFocus();
  line->selectAll();
  QTest::keyClicks(line, QStringLiteral("9999"));
  QTest::keyClick(line, Qt::Key_Return);
  QVERIFY(client_->commands.empty());
  QVERIFY(editor("engine.prefill_chunk")->error().contains(QStringLiteral("2,048")));
}

void SettingsTest::refusalStandsBelowTheEntry() {
  client_->next.ok = false;
  client_->next.message = QStringLiteral("config.toml cannot be written: no space left.");
  QTest::mouseClick(control<QCheckBox>("api.lan"), Qt::LeftButton, Qt::NoModifier, QPoint(8, 8));
  QCOMPARE(editor("api.lan")->error(), client_->next.message);
  QVERIFY(!control<QCheckBox>("api.lan")->isChecked());
}

void SettingsTest::themeChangesAtOnce() {
  auto* choice = control<QComboBox>("ui.theme");
  choice->setFocus();
  QTest::keyClick(choice, Qt::Key_End);
  QCOMPARE(sent(0).value, QStringLiteral("dark"));
  QVERIFY(theme_->dark());
}

void SettingsTest::undoSetsTheOldValue() {
  auto* choice = control<QComboBox>("ui.theme");
  choice->setFocus();
  QTest::keyClick(choice, Qt::Key_End);
  QCOMPARE(shell_->toast_action, QStringLiteral("Undo"));
  shell_->undo();
  QCOMPARE(sent(1).value, QStringLiteral("auto"));
}

void SettingsTest::flagAsksForARestart() {
  client_->next.restart_needed = true;
  QTest::mouseClick(control<QCheckBox>("api.lan"), Qt::LeftButton, Qt::NoModifier, QPoint(8, 8));
  QCOMPARE(sent(0).value, QStringLiteral("true"));
  QVERIFY(shell_->toast.contains(QStringLiteral("restart")));
}

void SettingsTest::searchFindsByHelpAndName() {
  auto* search = page_->findChild<SearchField*>(QStringLiteral("settingSearch"));
  QTest::keyClicks(search, QStringLiteral("cached prompts"));
  QVERIFY(editor("pool.bytes")->isVisible());
  QVERIFY(!editor("api.lan")->isVisible());
  search->setText(QStringLiteral("nothing like it"));
  QVERIFY(page_->findChild<QLabel*>(QStringLiteral("settingMessage"))->isVisible());
  QTest::keyClick(search, Qt::Key_Escape);
  QVERIFY(editor("api.lan")->isVisible());
}

void SettingsTest::typedTextSurvivesARefresh() {
  auto* line = control<QLineEdit>("engine.prefill_chunk");
  line->setFocus();
  line->selectAll();
  QTest::keyClicks(line, QStringLiteral("77"));
  client_->settings[0].value = QStringLiteral("600");
  page_->refreshNow();
  QCOMPARE(line->text(), QStringLiteral("77"));
  client_->settings[1].value = QStringLiteral("4096");
  page_->refreshNow();
  QCOMPARE(control<QLineEdit>("pool.bytes")->text(), QStringLiteral("4,096"));
}

void SettingsTest::everyControlHasAName() {
  for (QWidget* widget : page_->findChildren<QWidget*>()) {
    if (!(widget->focusPolicy() & Qt::TabFocus) || !widget->isVisible()) continue;
    QAccessibleInterface* accessible = QAccessible::queryAccessibleInterface(widget);
    QVERIFY2(accessible != nullptr && !accessible->text(QAccessible::Name).isEmpty(),
             qPrintable(widget->objectName() + QString::fromLatin1(widget->metaObject()->className())));
  }
}

void SettingsTest::picturesInBothThemes() {
  client_->settings[0].value = QStringLiteral("1024");
  client_->settings[2].value = QStringLiteral("true");
  client_->settings[2].restart_pending = true;
  page_->refreshNow();
  editor("pool.bytes")->showError(QStringLiteral("\u201cmany\u201d cannot be used: enter a whole number."));
  for (const auto mode : {Theme::Mode::kLight, Theme::Mode::kDark}) {
    theme_->setMode(mode);
    QVERIFY(!page_->grab().isNull());
    keepPicture(*page_,
                mode == Theme::Mode::kDark ? QStringLiteral("settings-dark") : QStringLiteral("settings-light"));
  }
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::SettingsTest)
#include "settings_test.moc"
