// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/tree/job_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QStringList>
#include <QVBoxLayout>

#include "gui/bridge/tree_rows.h"
#include "gui/models/job_words.h"
#include "gui/theme/theme.h"
#include "gui/widgets/fact_rows.h"

namespace larder::gui {
namespace {

// Those that go on, oldest first, then the one that ended last.
QVector<const JobInfo*> shownJobs(const SnapshotView& view) {
  QVector<const JobInfo*> shown;
  const JobInfo* ended = nullptr;
  for (const JobInfo& job : view.jobs) {
    if (job.node.value == 0) continue;
    if (job.done) {
      ended = &job;
    } else if (shown.size() < kJobsShown) {
      shown.push_back(&job);
    }
  }
  if (ended != nullptr && shown.size() < kJobsShown) shown.push_back(ended);
  return shown;
}

QString runLabel(const SnapshotView& view, NodeId node) {
  const int index = view.tree->indexOfNode(node);
  return index < 0 ? QString() : view.tree->labelOf(view.tree->rows[static_cast<std::size_t>(index)], view);
}

}  // namespace

JobPanel::JobPanel(const Theme& theme, QWidget* parent)
    : QWidget(parent), theme_(theme), head_(new QLabel(tr("Jobs"))) {
  setObjectName(QStringLiteral("jobPanel"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  column->addWidget(head_);
  for (int i = 0; i < kJobsShown; ++i) {
    rows_.push_back(makeRow());
    column->addWidget(rows_.back().box);
  }
  connect(&theme, &Theme::changed, this, &JobPanel::restyle);
  restyle();
  hide();
}

JobPanel::Row JobPanel::makeRow() {
  Row row;
  row.box = new QWidget;
  row.title = new QLabel;
  row.title->setWordWrap(true);
  row.title->setTextFormat(Qt::PlainText);
  row.state = new QLabel;
  row.bar = new QProgressBar;
  row.bar->setRange(0, 1000);
  row.bar->setTextVisible(false);
  row.cancel = new QPushButton(tr("Stop"));
  row.cancel->setObjectName(QStringLiteral("jobCancel"));
  row.facts = new FactRows(theme_, TextSize::kSmall);
  row.facts->setObjectName(QStringLiteral("jobFacts"));
  row.remarks = new QLabel;
  row.remarks->setObjectName(QStringLiteral("jobRemarks"));
  row.remarks->setWordWrap(true);
  row.remarks->setTextFormat(Qt::PlainText);
  row.remarks->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* column = new QVBoxLayout(row.box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  auto* top = new QHBoxLayout;
  top->addWidget(row.title, 1);
  top->addWidget(row.state, 0, Qt::AlignTop);
  column->addLayout(top);
  auto* middle = new QHBoxLayout;
  middle->addWidget(row.bar, 1);
  middle->addWidget(row.cancel);
  column->addLayout(middle);
  column->addWidget(row.facts);
  column->addWidget(row.remarks);
  connect(row.cancel, &QPushButton::clicked, this,
          [this, button = row.cancel] { Q_EMIT cancelWanted(button->property("job").toULongLong()); });
  row.box->hide();
  return row;
}

void JobPanel::showRow(Row& row, const JobInfo& job, const SnapshotView& view, bool verbs) {
  const QString label = runLabel(view, job.node);
  const QString title = label.isEmpty() ? jobVerb(job) : tr("%1: \u201c%2\u201d").arg(jobVerb(job), label);
  row.title->setText(title);
  row.state->setText(jobState(job));
  row.bar->setVisible(!job.done);
  row.bar->setValue(static_cast<int>(1000 * job.progress));
  row.bar->setAccessibleName(title);
  row.cancel->setVisible(!job.done);
  row.cancel->setEnabled(verbs);
  row.cancel->setAccessibleName(tr("Stop: %1").arg(title));
  row.cancel->setProperty("job", QVariant::fromValue(static_cast<qulonglong>(job.id.value)));
  const FactRows::Facts facts = jobFacts(job, blockBytesOf(view, job.node));
  row.facts->setFacts(facts);
  row.facts->setVisible(!facts.isEmpty());
  QStringList lines;
  if (job.done && facts.isEmpty() && job.error.isEmpty()) lines.push_back(tr("There was nothing to do."));
  if (!job.error.isEmpty()) lines.push_back(job.error);
  if (!job.warning.isEmpty()) {
    lines.push_back(tr("The next request reused less than half of it:") + QLatin1Char('\n') + job.warning);
  }
  row.remarks->setText(lines.join(QLatin1Char('\n')));
  row.remarks->setVisible(!lines.isEmpty());
  row.box->show();
}

void JobPanel::showJobs(const SnapshotView& view, bool verbs) {
  const QVector<const JobInfo*> shown = shownJobs(view);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (i < static_cast<std::size_t>(shown.size())) {
      showRow(rows_[i], *shown[static_cast<qsizetype>(i)], view, verbs);
    } else {
      rows_[i].box->hide();
    }
  }
  setVisible(!shown.isEmpty());
}

void JobPanel::restyle() {
  head_->setFont(theme_.font(TextSize::kSmall));
  head_->setEnabled(false);
  for (const Row& row : rows_) {
    row.title->setFont(theme_.font(TextSize::kBody));
    row.state->setFont(theme_.font(TextSize::kBody, true));
    row.remarks->setFont(theme_.font(TextSize::kSmall));
  }
}

}  // namespace larder::gui
