// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/job_words.h"

#include <QCoreApplication>
#include <QLocale>

#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

struct JobWords {
  Q_DECLARE_TR_FUNCTIONS(JobWords)
};

}  // namespace

namespace {

using Facts = QVector<std::pair<QString, QString>>;

void codecFacts(Facts& facts, const JobInfo& job) {
  const CodecFigures& codec = job.codec;
  facts.push_back({JobWords::tr("Bytes before and after"),
                   QStringLiteral("%1 \u2192 %2").arg(bytesText(codec.bytes_before), bytesText(codec.bytes_after))});
  if (codec.error > 0) {
    facts.push_back({JobWords::tr("Rounding error"),
                     QStringLiteral("%1\u00a0%").arg(QLocale().toString(codec.error * 100, 'f', 2))});
  }
  if (codec.compute_tokens == 0) return;
  const QString tokens = countText(codec.compute_tokens);
  const bool timed = codec.compute_ms > 0;
  facts.push_back({job.dry_run ? JobWords::tr("Tokens to compute") : JobWords::tr("Tokens computed"),
                   timed ? JobWords::tr("%1, about %2").arg(tokens, durationText(codec.compute_ms)) : tokens});
}

}  // namespace

QString jobVerb(const JobInfo& job) {
  const bool down = job.to == QLatin1String("disk");
  if (job.verb == QLatin1String("move")) return down ? JobWords::tr("Move to disk") : JobWords::tr("Move to memory");
  if (job.verb == QLatin1String("copy")) return down ? JobWords::tr("Copy to disk") : JobWords::tr("Copy to memory");
  if (job.verb == QLatin1String("verify")) return JobWords::tr("Verify");
  if (job.verb == QLatin1String("compress")) return JobWords::tr("Compress to %1").arg(job.to);
  if (job.verb == QLatin1String("decompress")) return JobWords::tr("Compute exactly again");
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
  Facts facts;
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
  const bool rounds = job.verb == QLatin1String("compress");
  const bool back = job.verb == QLatin1String("decompress");
  if (rounds || back) codecFacts(facts, job);
  count(JobWords::tr("Blocks computed again"), tally.computed);
  if (rounds) {
    count(JobWords::tr("Blocks rounded on disk"), tally.written);
  } else {
    blocks(JobWords::tr("Written to disk"), tally.written);
  }
  blocks(JobWords::tr("Read into memory"), tally.read_up);
  blocks(JobWords::tr("Leave memory"), tally.left_pool);
  if (back) {  // smaller than blocks in memory are
    count(JobWords::tr("Rounded copies that leave the disk"), tally.left_disk);
  } else {
    blocks(JobWords::tr("Copies that leave the disk"), tally.left_disk);
  }
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
  return tally.written + tally.computed + tally.read_up + tally.left_pool + tally.left_disk > 0 ||
         tally.good + tally.damaged + tally.missing + tally.unread > 0;
}

}  // namespace larder::gui
