// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/job_words.h"

#include <QCoreApplication>

#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

struct JobWords {
  Q_DECLARE_TR_FUNCTIONS(JobWords)
};

}  // namespace

QString jobVerb(const JobInfo& job) {
  const bool down = job.to == QLatin1String("disk");
  if (job.verb == QLatin1String("move")) return down ? JobWords::tr("Move to disk") : JobWords::tr("Move to memory");
  if (job.verb == QLatin1String("copy")) return down ? JobWords::tr("Copy to disk") : JobWords::tr("Copy to memory");
  if (job.verb == QLatin1String("verify")) return JobWords::tr("Verify");
  return job.verb;
}

QString jobState(const JobInfo& job) {
  switch (job.state) {
    case JobInfo::State::kQueued:
      return JobWords::tr("waits");
    case JobInfo::State::kRunning:
      return percentText(job.progress * 1000, 1000);
    case JobInfo::State::kDone:
      return JobWords::tr("done");
    case JobInfo::State::kFailed:
      return JobWords::tr("failed");
    case JobInfo::State::kCancelled:
      return JobWords::tr("cancelled");
  }
  return {};
}

QVector<std::pair<QString, QString>> jobFacts(const JobInfo& job, std::uint64_t block_bytes) {
  QVector<std::pair<QString, QString>> facts;
  const auto blocks = [&](const QString& name, std::uint64_t count) {
    if (count == 0) return;
    facts.push_back(
        {name,
         JobWords::tr("%Ln blocks \u00b7 %1", nullptr, static_cast<int>(count)).arg(bytesText(count * block_bytes))});
  };
  const auto count = [&](const QString& name, std::uint64_t number) {
    if (number > 0) facts.push_back({name, countText(number)});
  };
  const TierTally& tally = job.tally;
  blocks(JobWords::tr("Written to disk"), tally.written);
  blocks(JobWords::tr("Read into memory"), tally.read_up);
  blocks(JobWords::tr("Leave memory"), tally.left_pool);
  blocks(JobWords::tr("Copies that leave the disk"), tally.left_disk);
  count(JobWords::tr("There already"), tally.already);
  const bool planned_verify = job.dry_run && job.verb == QLatin1String("verify");
  count(JobWords::tr("Good copies"), tally.good);
  count(JobWords::tr("Damaged and dropped"), tally.damaged);
  count(JobWords::tr("Missing on disk"), tally.missing);
  count(planned_verify ? JobWords::tr("Copies to read and prove") : JobWords::tr("Could not be read"), tally.unread);
  count(JobWords::tr("Stay: pinned"), tally.pinned);
  count(JobWords::tr("Stay: in use"), tally.in_use);
  count(JobWords::tr("Stay: still growing"), tally.growing);
  count(JobWords::tr("Stay: others hang on them"), tally.below);
  count(JobWords::tr("Stay: the disk takes no copy"), tally.refused);
  count(JobWords::tr("Stay: no room in memory"), tally.no_room);
  count(JobWords::tr("Gone meanwhile"), tally.gone);
  return facts;
}

bool doesSomething(const JobInfo& job) {
  const TierTally& tally = job.tally;
  return tally.written + tally.read_up + tally.left_pool + tally.left_disk + tally.good + tally.damaged +
             tally.missing + tally.unread >
         0;
}

}  // namespace larder::gui
