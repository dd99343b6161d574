// SPDX-License-Identifier: GPL-3.0-or-later
// The Tenants page over literal snapshots: figures, a key shown once, deletes that name what goes.
#include "gui/pages/tenants/tenants_page.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>
#include <QtTest>

#include "gui/pages/tenants/tenant_dialogs.h"
#include "gui/theme/roles.h"
#include "gui/widgets/figure_grid.h"
#include "tests/gui/support/page_rig.h"

namespace larder::gui {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

std::shared_ptr<SnapshotView> twoTenants() {
  auto view = std::make_shared<SnapshotView>();
  view->epoch = 1;
  view->at = 1'760'000'000'000;
  view->tree = buildTreeRows({});
  view->pool = {1000, 800, 200, 0, 10, kMiB, 256 * kMiB, 0, 0};
  TenantInfo home;
  home.id = TenantId{1};
  home.name = QStringLiteral("home");
  home.blocks = 150;
  home.bytes = 150 * kMiB;
  home.pinned_bytes = 10 * kMiB;
  home.requests = 40;
  home.prompt_tokens = 576'453;
  home.cached_tokens = 498'522;
  home.running = 2;
  home.queued = 1;
  TenantInfo coder;
  coder.id = TenantId{2};
  coder.name = QStringLiteral("coder");
  coder.blocks = 50;
  coder.bytes = 50 * kMiB;
  coder.quota_bytes = 512 * kMiB;
  view->tenants = {home, coder};
  view->keys = {{KeyId{1}, TenantId{1}, QStringLiteral("lk_7Qf2"), QStringLiteral("laptop"), true, view->at - 9000, 0},
                {KeyId{2}, TenantId{1}, QStringLiteral("lk_pX0m"), QStringLiteral("tablet"), false, view->at - 8000,
                 view->at - 120'000}};
  sumPool(*view);
  return view;
}

QString textOf(QWidget* dialog, const char* name) {
  return dialog->findChild<QLabel*>(QString::fromLatin1(name))->text();
}

}  // namespace

class TenantsPageTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void figuresSayWhatTheyAreMadeOf();
  void tenantsAreToldByShape();
  void keysAreThoseOfTheChosenTenant();
  void newTenantCarriesNameAndLimit();
  void whetherForeignKvIsReusedIsShownAndSet();
  void refusedTenantKeepsTheDialog();
  void newTenantIsChosenWhenItArrives();
  void keyIsShownOnceAndCopied();
  void revokeAsksFirst();
  void deleteNeedsTheTypedName();
  void selectionSurvivesASnapshot();
};

void TenantsPageTest::figuresSayWhatTheyAreMadeOf() {
  PageRig<TenantsPage> rig;
  rig.show(twoTenants());
  const auto* grid = rig.page->findChild<FigureGrid*>();
  QCOMPARE(grid->figureOf(QStringLiteral("Kept")),
           QStringLiteral("150\u00a0MiB of the pool of 1,000\u00a0MiB")
               .replace(QStringLiteral("1,000\u00a0MiB"), QStringLiteral("0.98\u00a0GiB")));
  QCOMPARE(grid->figureOf(QStringLiteral("Prompt tokens reused")), QStringLiteral("498,522 of 576,453, 86.5\u00a0%"));
  QCOMPARE(grid->figureOf(QStringLiteral("Pinned")), QStringLiteral("10.0\u00a0MiB"));
  rig.find<QTableView>("tenantTable")->selectRow(1);
  QCOMPARE(grid->figureOf(QStringLiteral("Kept")), QStringLiteral("50.0\u00a0MiB of its limit of 512\u00a0MiB"));
  QCOMPARE(grid->figureOf(QStringLiteral("Prompt tokens reused")), QStringLiteral("\u2013"));
  QCOMPARE(grid->figureOf(QStringLiteral("Pinned")), QStringLiteral("\u2013"));
}

void TenantsPageTest::tenantsAreToldByShape() {
  PageRig<TenantsPage> rig;
  rig.show(twoTenants());
  const QAbstractItemModel* rows = rig.find<QTableView>("tenantTable")->model();
  QVERIFY(rows->index(0, 0).data(kMarkRole).isValid());
  QVERIFY(rows->index(0, 0).data(kMarkRole) != rows->index(1, 0).data(kMarkRole));
}

void TenantsPageTest::keysAreThoseOfTheChosenTenant() {
  PageRig<TenantsPage> rig;
  rig.show(twoTenants());
  const QAbstractItemModel* keys = rig.find<QTableView>("keyTable")->model();
  QCOMPARE(keys->rowCount(), 2);
  rig.find<QTableView>("tenantTable")->selectRow(1);
  QCOMPARE(keys->rowCount(), 0);
  QVERIFY(!rig.find<QPushButton>("keyRevoke")->isEnabled());
}

void TenantsPageTest::newTenantCarriesNameAndLimit() {
  PageRig<TenantsPage> rig;
  rig.show(twoTenants());
  QTest::mouseClick(rig.find<QPushButton>("tenantCreate"), Qt::LeftButton);
  auto* dialog = rig.find<QDialog>("newTenant");
  auto* act = dialog->findChild<QPushButton*>(QStringLiteral("formAct"));
  QVERIFY(!act->isEnabled());
  auto* name = dialog->findChild<QLineEdit*>(QStringLiteral("tenantName"));
  QTest::keyClicks(name, QStringLiteral("Home/Assistant"));  // the slash is not taken
  dialog->findChild<QSpinBox*>(QStringLiteral("tenantLimit"))->setValue(384);
  QTest::mouseClick(act, Qt::LeftButton);
  const auto& made = std::get<command::CreateTenant>(rig.client.commands.at(0));
  QCOMPARE(made.name, QStringLiteral("HomeAssistant"));
  QCOMPARE(made.quota_bytes, 384 * kMiB);
}

void TenantsPageTest::whetherForeignKvIsReusedIsShownAndSet() {
  PageRig<TenantsPage> rig;
  rig.show(twoTenants());
  auto* box = rig.find<QCheckBox>("tenantForeign");
  QVERIFY(!box->isChecked());
  box->click();
  const auto& set = std::get<command::SetTenant>(rig.client.commands.at(0));
  QCOMPARE(set.tenant, TenantId{1});
  QVERIFY(set.foreign);
  auto view = twoTenants();
  view->tenants[0].foreign = true;
  rig.show(view);
  QVERIFY(box->isChecked());
  rig.client.next.ok = false;
  box->click();
  QVERIFY(!std::get<command::SetTenant>(rig.client.commands.at(1)).foreign);
  QVERIFY2(box->isChecked(), "a refusal leaves what is so");
}

void TenantsPageTest::refusedTenantKeepsTheDialog() {
  PageRig<TenantsPage> rig;
  rig.show(twoTenants());
  rig.client.next.ok = false;
  rig.client.next.message = QStringLiteral("there is a tenant home already");
  QTest::mouseClick(rig.find<QPushButton>("tenantCreate"), Qt::LeftButton);
  auto* dialog = rig.find<QDialog>("newTenant");
  dialog->findChild<QLineEdit*>(QStringLiteral("tenantName"))->setText(QStringLiteral("home"));
  QTest::mouseClick(dialog->findChild<QPushButton*>(QStringLiteral("formAct")), Qt::LeftButton);
  QVERIFY(dialog->isVisible());
  QCOMPARE(textOf(dialog, "formRefusal"), rig.client.next.message);
}

void TenantsPageTest::newTenantIsChosenWhenItArrives() {
  PageRig<TenantsPage> rig;
  rig.show(twoTenants());
  rig.client.next.tenant = TenantId{7};
  QTest::mouseClick(rig.find<QPushButton>("tenantCreate"), Qt::LeftButton);
  auto* dialog = rig.find<QDialog>("newTenant");
  dialog->findChild<QLineEdit*>(QStringLiteral("tenantName"))->setText(QStringLiteral("garage"));
  QTest::mouseClick(dialog->findChild<QPushButton*>(QStringLiteral("formAct")), Qt::LeftButton);
  auto view = twoTenants();
  TenantInfo garage;
  garage.id = TenantId{7};
  garage.name = QStringLiteral("garage");
  view->tenants.push_back(garage);
  rig.show(view);
  QCOMPARE(rig.find<QLabel>("tenantTitle")->text(), QStringLiteral("garage"));
}

void TenantsPageTest::keyIsShownOnceAndCopied() {
  PageRig<TenantsPage> rig;
  rig.show(twoTenants());
  rig.client.next.secret = QStringLiteral("lk_0123456789abcdef0123456789abcdef");
  QTest::mouseClick(rig.find<QPushButton>("keyCreate"), Qt::LeftButton);
  auto* dialog = rig.find<QDialog>("newKey");
  dialog->findChild<QLineEdit*>(QStringLiteral("keyLabel"))->setText(QStringLiteral("kitchen"));
  dialog->findChild<QCheckBox*>(QStringLiteral("keyAdmin"))->setChecked(true);
  QTest::mouseClick(dialog->findChild<QPushButton*>(QStringLiteral("formAct")), Qt::LeftButton);
  const auto& made = std::get<command::CreateKey>(rig.client.commands.at(0));
  QCOMPARE(made.tenant, TenantId{1});
  QCOMPARE(made.label, QStringLiteral("kitchen"));
  QVERIFY(made.admin);
  auto* shown = rig.find<QDialog>("keyShown");
  QVERIFY(shown->isVisible());
  auto* secret = shown->findChild<QLineEdit*>(QStringLiteral("keySecret"));
  QCOMPARE(secret->text(), rig.client.next.secret);
  QVERIFY(secret->isReadOnly());
  QTest::mouseClick(shown->findChild<QPushButton*>(QStringLiteral("keyCopy")), Qt::LeftButton);
  QCOMPARE(QApplication::clipboard()->text(), rig.client.next.secret);
  QTest::mouseClick(shown->findChild<QPushButton*>(QStringLiteral("keyClose")), Qt::LeftButton);
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  QVERIFY(rig.find<QDialog>("keyShown") == nullptr);
}

void TenantsPageTest::revokeAsksFirst() {
  PageRig<TenantsPage> rig;
  rig.show(twoTenants());
  rig.find<QTableView>("keyTable")->selectRow(1);
  QTest::mouseClick(rig.find<QPushButton>("keyRevoke"), Qt::LeftButton);
  QVERIFY(rig.client.commands.empty());
  auto* dialog = rig.find<QDialog>("confirmDialog");
  QVERIFY(textOf(dialog, "confirmText").contains(QStringLiteral("last used 2\u00a0min ago")));
  QTest::mouseClick(dialog->findChild<QPushButton*>(QStringLiteral("confirmAct")), Qt::LeftButton);
  QCOMPARE(std::get<command::RevokeKey>(rig.client.commands.at(0)).key, KeyId{2});
}

void TenantsPageTest::deleteNeedsTheTypedName() {
  PageRig<TenantsPage> rig;
  rig.show(twoTenants());
  QTest::mouseClick(rig.find<QPushButton>("tenantDelete"), Qt::LeftButton);
  auto* dialog = rig.find<QDialog>("confirmDialog");
  const QString text = textOf(dialog, "confirmText");
  QVERIFY2(text.contains(QStringLiteral("150\u00a0MiB in 150 blocks")), qPrintable(text));
  QVERIFY2(text.contains(QStringLiteral("10.0\u00a0MiB of it is pinned")), qPrintable(text));
  QVERIFY2(text.contains(QStringLiteral("3 requests")), qPrintable(text));
  auto* act = dialog->findChild<QPushButton*>(QStringLiteral("confirmAct"));
  auto* typed = dialog->findChild<QLineEdit*>(QStringLiteral("confirmName"));
  QVERIFY(!act->isEnabled());
  QTest::keyClicks(typed, QStringLiteral("hom"));
  QVERIFY(!act->isEnabled());
  QTest::keyClicks(typed, QStringLiteral("e"));
  QVERIFY(act->isEnabled());
  QTest::mouseClick(act, Qt::LeftButton);
  QCOMPARE(std::get<command::DeleteTenant>(rig.client.commands.at(0)).tenant, TenantId{1});
}

void TenantsPageTest::selectionSurvivesASnapshot() {
  PageRig<TenantsPage> rig;
  rig.show(twoTenants());
  rig.page->openWith(QVariant::fromValue<uint>(2));
  QCOMPARE(rig.find<QLabel>("tenantTitle")->text(), QStringLiteral("coder"));
  auto view = twoTenants();
  view->tenants.removeFirst();
  rig.show(view);
  QCOMPARE(rig.find<QLabel>("tenantTitle")->text(), QStringLiteral("coder"));
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::TenantsPageTest)
#include "tenants_page_test.moc"
