// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/tiers/tier_facts.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "gui/bridge/tree_rows.h"
#include "gui/models/words.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

struct TierText {
  Q_DECLARE_TR_FUNCTIONS(TierText)
};

QString blocksText(std::uint64_t blocks) { return TierText::tr("%1 blocks").arg(countText(blocks)); }

// A rate that was never measured is not zero.
QString speedText(double bytes_per_s) {
  return bytes_per_s > 0 ? TierText::tr("%1/s").arg(bytesText(static_cast<std::uint64_t>(bytes_per_s))) : noData();
}

QString ofText(std::uint64_t used, std::uint64_t whole) {
  return TierText::tr("%1 of %2").arg(bytesText(used), bytesText(whole));
}

QString contentText(std::uint64_t blocks, std::uint64_t pinned_blocks) {
  return pinned_blocks == 0 ? blocksText(blocks)
                            : TierText::tr("%1, %2 pinned").arg(blocksText(blocks), countText(pinned_blocks));
}

// Blocks beyond the bound of the tree are on disk and not found.
QString diskContentText(const StoreInfo& store) {
  const QString content = contentText(store.blocks, store.pinned_blocks);
  return store.unlisted_blocks == 0
             ? content
             : TierText::tr("%1, %2 beyond the tree's bound").arg(content, countText(store.unlisted_blocks));
}

// How many requests computed what lay on disk, and the reasons that occurred.
QString declinedText(const StoreInfo& store) {
  QStringList parts;
  const auto add = [&parts](std::uint64_t count, const QString& text) {
    if (count > 0) parts.push_back(text.arg(countText(count)));
  };
  add(store.declined_slower, TierText::tr("%1 faster computed"));
  add(store.declined_room, TierText::tr("%1 without room"));
  add(store.declined_late, TierText::tr("%1 still being read"));
  add(store.declined_damaged, TierText::tr("%1 damaged"));
  add(store.declined_stalled, TierText::tr("%1 read too slowly"));
  add(store.mixed_restores, TierText::tr("%1 in part, while the rest was read"));
  return parts.isEmpty() ? TierText::tr("none") : parts.join(QStringLiteral(", "));
}

QString writeBudgetText(const StoreInfo& store) {
  if (store.budget_bytes == 0) return TierText::tr("nothing may be written");
  return TierText::tr("%1 (%2)").arg(
      ofText(store.budget_spent, store.budget_bytes),
      percentText(static_cast<double>(store.budget_spent), static_cast<double>(store.budget_bytes)));
}

QVector<CaptionedFigure> diskFigures(const StoreInfo& store) {
  const bool waits = store.queued_blocks > 0;
  return {
      {TierText::tr("Read"), speedText(store.read_bytes_per_s)},
      {TierText::tr("Written"), speedText(store.write_bytes_per_s)},
      {TierText::tr("On the way down"),
       waits ? TierText::tr("%1, %2").arg(blocksText(store.queued_blocks), bytesText(store.queued_bytes))
             : TierText::tr("nothing")},
      {TierText::tr("Oldest of them waits"), waits ? durationText(store.lag_ms) : noData()},
      {TierText::tr("Restored"), TierText::tr("%1 tokens").arg(countText(store.restored_tokens))},
      {TierText::tr("Requests waited for it"), store.restored_blocks > 0 ? durationText(store.restore_ms) : noData()},
      {TierText::tr("Computed instead, requests"), declinedText(store)},
      {TierText::tr("Written today"), writeBudgetText(store)},
      {TierText::tr("Rounded"), store.rounded_blocks > 0 ? TierText::tr("%1, %2").arg(blocksText(store.rounded_blocks),
                                                                                     bytesText(store.rounded_bytes))
                                                         : TierText::tr("nothing")},
      {TierText::tr("Gave way here"), blocksText(store.evicted_blocks)},
      {TierText::tr("Not taken"), blocksText(store.refused_blocks)},
      {TierText::tr("Read and not found"), blocksText(store.missed_reads)},
      {TierText::tr("Left free on the disk"),
       store.keep_free_bytes > 0 ? bytesText(store.keep_free_bytes) : TierText::tr("5 %, at least 1 GiB")},
  };
}

void setDiskHealth(const StoreInfo& store, TierFacts& to) {
  const std::uint64_t faults = store.damaged_blocks + store.failed_io;
  if (faults > 0) {
    to.health = {TierText::tr("%1 damaged, %2 failed").arg(countText(store.damaged_blocks), countText(store.failed_io)),
                 QStringLiteral("error"), Mood::kError};
    to.health_text = store.last_failure;
  } else if (store.mode == QLatin1String("frozen")) {
    to.health = {TierText::tr("frozen"), QStringLiteral("pause"), Mood::kWarning};
    to.health_text = TierText::tr("What is on disk is served; nothing is written.");
  } else if (store.mode == QLatin1String("bypass")) {
    to.health = {TierText::tr("bypassed"), QStringLiteral("pause"), Mood::kWarning};
    to.health_text = TierText::tr("The disk is neither read nor written for now.");
  } else {
    to.health = {TierText::tr("checked, 0 faults"), QStringLiteral("ok"), Mood::kOk};
  }
}

// The engine's own reason, or what the setting says in the language of the window.
void setUnused(const StoreInfo& store, TierFacts& to) {
  if (store.mode == QLatin1String("off")) {
    to.health = {TierText::tr("off"), QStringLiteral("pause"), Mood::kNeutral};
    to.health_text = TierText::tr("It is turned off in the settings.");
  } else if (store.reason.isEmpty()) {
    to.health = {TierText::tr("not open yet"), QStringLiteral("pause"), Mood::kNeutral};
    to.health_text = TierText::tr("It is opened with the model.");
  } else {
    to.health = {TierText::tr("not used"), QStringLiteral("warning"), Mood::kWarning};
    to.health_text = store.reason;
  }
}

}  // namespace

std::optional<TierFacts> poolFacts(const SnapshotView& view) {
  const PoolInfo& pool = view.pool;
  if (pool.blocks_total == 0) return std::nullopt;
  const std::uint64_t used = pool.blocks_total - std::min(pool.blocks_free, pool.blocks_total);
  TierFacts to;
  to.tier = poolTier(view);
  to.note = view.device;
  to.used = static_cast<double>(pool.bytes_taken);
  to.capacity = static_cast<double>(pool.bytes_total);
  to.pinned = static_cast<double>(pool.bytes_pinned);
  to.amount = ofText(pool.bytes_taken, pool.bytes_total);
  to.content = contentText(used, pool.blocks_pinned);
  to.figures = {{TierText::tr("In use now"), blocksText(pool.blocks_in_use)},
                {TierText::tr("Kept for later"), blocksText(pool.blocks_cached)},
                {TierText::tr("Gave way here"), blocksText(pool.evicted_blocks)}};
  if (view.store.used) {
    const TreeSums& all = view.tree->rows[0].all;
    const std::uint64_t both = all.stored_blocks - std::min(all.disk_blocks, all.stored_blocks);
    to.figures.push_back({TierText::tr("With a copy on disk"), blocksText(both)});
  }
  return to;
}

std::optional<TierFacts> ramFacts(const SnapshotView& view) {
  const StoreInfo& store = view.store;
  if (!store.used || store.ram_cap_bytes == 0) return std::nullopt;
  TierFacts to;
  to.tier = Tier::kHost;
  to.name = TierText::tr("Copies in memory");
  to.note = TierText::tr("of what lies on disk, sealed and in the same form");
  to.used = static_cast<double>(store.ram_bytes);
  to.capacity = static_cast<double>(store.ram_cap_bytes);
  to.amount = ofText(store.ram_bytes, store.ram_cap_bytes);
  to.content = blocksText(store.ram_blocks);
  to.figures = {{TierText::tr("Read"), speedText(store.ram_bytes_per_s)},
                {TierText::tr("Read instead of the disk"), blocksText(store.ram_reads)},
                {TierText::tr("Damaged, and read from disk"), blocksText(store.ram_damaged)}};
  return to;
}

std::optional<TierFacts> diskFacts(const SnapshotView& view) {
  const StoreInfo& store = view.store;
  if (!store.used && store.reason.isEmpty() && store.mode.isEmpty()) return std::nullopt;
  TierFacts to;
  to.tier = Tier::kDisk;
  if (!store.used) {
    setUnused(store, to);
    return to;
  }
  QStringList made_of;
  if (!store.io_path.isEmpty()) made_of.push_back(store.io_path);
  if (!store.cipher.isEmpty()) made_of.push_back(TierText::tr("sealed with %1").arg(store.cipher));
  to.note = made_of.join(QStringLiteral(" \u00b7 "));
  to.used = static_cast<double>(store.bytes_on_disk);
  to.capacity = static_cast<double>(store.cap_bytes);
  if (store.blocks > 0) {
    to.pinned =
        to.used * static_cast<double>(std::min(store.pinned_blocks, store.blocks)) / static_cast<double>(store.blocks);
  }
  to.amount = ofText(store.bytes_on_disk, store.cap_bytes);
  to.content = diskContentText(store);
  to.figures = diskFigures(store);
  setDiskHealth(store, to);
  return to;
}

}  // namespace larder::gui
