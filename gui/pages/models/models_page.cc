// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/models/models_page.h"

#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include "gui/models/model_table.h"
#include "gui/pages/models/memory_ledger.h"
#include "gui/pages/models/model_card.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/card.h"
#include "gui/widgets/column_fit.h"
#include "gui/widgets/confirm_dialog.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/row_delegate.h"

namespace larder::gui {
namespace {

constexpr int kFilesHeight = 200;

// What an unload takes out of memory: all that the pool keeps for the model.
QString lossText(const ModelInfo& model) { return bytesText(model.pool.bytes_taken); }

}  // namespace

ModelsPage::ModelsPage(const QString& title, PageContext context)
    : Page(title, Body::kScrolling, context),
      files_model_(new ModelTable(this)),
      files_(new QTableView),
      folder_(new QLabel),
      cost_(new QLabel),
      load_(new QPushButton(tr("&Load"))),
      ledger_(new MemoryLedger(context.theme)),
      empty_(new EmptyState(context.theme, EmptyState::Outline::kNone)),
      cards_at_(new QVBoxLayout) {
  auto* choose = new QPushButton(theme().icon(QStringLiteral("plus")), QLatin1Char(' ') + tr("Load a &file\u2026"));
  choose->setObjectName(QStringLiteral("modelChoose"));
  connect(choose, &QPushButton::clicked, this, [this] { shell().chooseModel(); });
  titleRow()->addWidget(choose);
  body()->addWidget(ledger_);
  cards_at_->setSpacing(theme().metrics().gap);
  body()->addLayout(cards_at_);
  empty_->setMinimumHeight(300);
  body()->addWidget(empty_);
  connect(empty_, &EmptyState::primaryWanted, this, [this] { shell().chooseModel(); });
  buildFiles();
  body()->addStretch(1);
  connect(&client(), &EngineClient::linkChanged, this, &ModelsPage::refreshNow);
}

ModelsPage::~ModelsPage() = default;

void ModelsPage::buildFiles() {
  auto* card = new Card(theme(), tr("Files"));
  folder_->setEnabled(false);
  folder_->setFont(theme().font(TextSize::kSmall));
  card->titleLine()->insertWidget(1, folder_);
  files_->setModel(files_model_);
  files_->setObjectName(QStringLiteral("modelFiles"));
  files_->setAccessibleName(tr("Model files"));
  setUpTable(theme(), *files_);
  files_->setMinimumHeight(kFilesHeight);
  stretchColumn(*files_, ModelTable::kName);
  card->body()->addWidget(files_);
  auto* row = new QHBoxLayout;
  cost_->setTextFormat(Qt::PlainText);
  cost_->setWordWrap(true);
  cost_->setObjectName(QStringLiteral("loadCost"));
  load_->setProperty("role", QStringLiteral("primary"));
  load_->setObjectName(QStringLiteral("modelLoad"));
  row->addWidget(cost_, 1);
  row->addWidget(load_);
  card->body()->addLayout(row);
  body()->addWidget(card);
  const auto loadChosen = [this] {
    if (const ModelInfo* file = chosen()) load(file->path);
  };
  connect(load_, &QPushButton::clicked, this, loadChosen);
  connect(files_, &QTableView::activated, this, [this, loadChosen] {
    if (load_->isEnabled()) loadChosen();
  });
  connect(files_->selectionModel(), &QItemSelectionModel::currentChanged, this, &ModelsPage::showChoice);
}

bool ModelsPage::canAsk() const { return client().linkState() == LinkState::kConnected; }

const ModelInfo* ModelsPage::chosen() const {
  const QModelIndex at = files_->currentIndex();
  return at.isValid() ? &files_model_->row(at.row()).info : nullptr;
}

void ModelsPage::showSnapshot(const SnapshotView& view) {
  files_model_->setView(view);
  growColumns(*files_);
  if (!files_->currentIndex().isValid() && files_model_->rowCount() > 0) files_->selectRow(0);
  ledger_->showView(view);
  showCards(view);
  QString folder;
  int files = 0, loaded = 0;
  for (const ModelInfo& model : view.models) {
    loaded += model.state == ModelInfo::State::kReady ? 1 : 0;
    if (model.state != ModelInfo::State::kFile) continue;
    ++files;
    folder = QFileInfo(model.path).path();
  }
  if (folder.startsWith(QDir::homePath() + QLatin1Char('/')))
    folder.replace(0, QDir::homePath().size(), QStringLiteral("~"));
  folder_->setText(files == 0 ? tr("no other file in the models folder")
                              : tr("%n in %1, and what was loaded from elsewhere", nullptr, files).arg(folder));
  setSubtitle(loaded == 0 ? tr("no model answers")
                          : tr("%1 of %2 loaded")
                                .arg(countText(static_cast<std::uint64_t>(loaded)),
                                     countText(static_cast<std::uint64_t>(view.models.size()))));
  showChoice();
}

void ModelsPage::showCards(const SnapshotView& view) {
  QVector<const ModelInfo*> shown;
  for (const ModelInfo& model : view.models) {
    if (model.state != ModelInfo::State::kFile) shown.push_back(&model);
  }
  while (cards_.size() < shown.size()) {
    auto* card = new ModelCard(theme());
    connect(card, &ModelCard::stopWanted, this, &ModelsPage::stop);
    connect(card, &ModelCard::retryWanted, this, &ModelsPage::load);
    cards_at_->addWidget(card);
    cards_.push_back(card);
  }
  for (int i = 0; i < cards_.size(); ++i) {
    cards_[i]->setVisible(i < shown.size());
    if (i < shown.size()) cards_[i]->showModel(view, *shown[i], canAsk());
  }
  empty_->setVisible(shown.isEmpty());
  ledger_->setVisible(!ledgerParts(view).isEmpty());
  if (!shown.isEmpty()) return;
  empty_->setText(tr("No model loaded"), tr("Requests are answered with 503 until one is."));
  empty_->setActions(tr("Choose a model\u2026"));
  empty_->setDropHint(tr("or drop a .gguf file anywhere on this window"),
                      tr("It is used where it lies and checked before it answers."));
}

void ModelsPage::showChoice() {
  const ModelInfo* file = chosen();
  const bool loadable = file != nullptr && !file->path.isEmpty() &&
                        (file->state == ModelInfo::State::kFile || file->state == ModelInfo::State::kFailed);
  bool busy = false;
  for (const ModelInfo& model : client().view()->models) busy = busy || model.state == ModelInfo::State::kLoading;
  load_->setEnabled(loadable && !busy && canAsk());
  QString cost;
  if (file == nullptr) {
    cost = tr("Put .gguf files into the models folder, or drop one on this window.");
  } else if (busy) {
    cost = tr("One load at a time: wait, or cancel it above.");
  } else if (!loadable) {
    cost = tr("%1 is in memory.").arg(file->name);
  } else if (const ModelInfo* now = readyModel(*client().view())) {
    cost = tr("Reads %1 from disk. It answers beside %2; where there is no room for both, the idle one used longest "
              "ago is unloaded.")
               .arg(bytesText(file->file_bytes), now->name);
  } else {
    cost = tr("Reads %1 from disk.").arg(bytesText(file->file_bytes));
  }
  cost_->setText(cost);
}

void ModelsPage::load(const QString& path) {
  const QString name = QFileInfo(path).fileName();
  client().perform(command::LoadModel{path}, this, [this, name](const CommandOutcome& outcome) {
    if (outcome.ok) {
      shell().showToast(tr("%1 is loaded").arg(name));
    } else if (outcome.code == QLatin1String("cancelled")) {
      shell().showToast(tr("Loading %1 was cancelled").arg(name));
    } else {
      shell().showProblem(tr("%1 was not loaded").arg(name), outcome.message);
    }
  });
}

void ModelsPage::stop(ModelId id) {
  const ModelInfo* model = findModel(*client().view(), id);
  if (model == nullptr) return;
  switch (model->state) {
    case ModelInfo::State::kLoading:
      perform(id, tr("Loading %1 was not cancelled").arg(model->name), QString());
      return;
    case ModelInfo::State::kFailed:
      perform(id, tr("%1 was not put away").arg(model->name), QString());
      return;
    case ModelInfo::State::kReady:
      unload(*model);
      return;
    case ModelInfo::State::kFile:
    case ModelInfo::State::kUnloading:
      return;
  }
}

void ModelsPage::unload(const ModelInfo& model) {
  const SnapshotView& view = *client().view();
  const QString text =
      tr("%1 of weights and %2 kept in the pool are given back; what has no copy on disk must be computed again. Up "
         "to %n running requests are ended.",
         nullptr, static_cast<int>(view.running))
          .arg(bytesText(model.weight_bytes), lossText(model));
  auto* dialog = new ConfirmDialog(theme(), {tr("Unload %1?").arg(model.name), text, tr("&Unload"), QString()}, this);
  connect(dialog, &QDialog::accepted, this, [this, id = model.id, name = model.name] {
    perform(id, tr("%1 was not unloaded").arg(name), tr("%1 is unloaded").arg(name));
  });
  dialog->open();
}

void ModelsPage::perform(ModelId id, const QString& refused, const QString& done) {
  client().perform(command::UnloadModel{id}, this, [this, refused, done](const CommandOutcome& outcome) {
    if (!outcome.ok) {
      shell().showProblem(refused, outcome.message);
    } else if (!done.isEmpty()) {
      shell().showToast(done);
    }
  });
}

}  // namespace larder::gui
