// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/tier_words.h"

#include <array>
#include <cstdio>

namespace larder::engine {
namespace {

std::string bytes_words(std::uint64_t bytes) {
  std::array<char, 48> out;
  double size = static_cast<double>(bytes);
  const char* unit = "B";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (size < 1024) break;
    size /= 1024;
    unit = next;
  }
  std::snprintf(out.data(), out.size(), unit[0] == 'B' ? "%.0f %s" : "%.1f %s", size, unit);
  return out.data();
}

// "3 pinned, 1 in use": those that are not 0.
class Sum {
 public:
  Sum& add(std::uint64_t count, const std::string& words) {
    if (count > 0) text_ += (text_.empty() ? "" : ", ") + std::to_string(count) + " " + words;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string verify_words(const TierTally& tally, bool dry_run) {
  if (dry_run) return std::to_string(tally.unread) + " copies to read and prove";
  if (tally.good + tally.damaged + tally.missing + tally.unread == 0) return "no copy was read";
  return Sum()
      .add(tally.good + tally.damaged + tally.missing + tally.unread, "copies read")
      .add(tally.good, "good")
      .add(tally.damaged, "damaged and dropped")
      .add(tally.missing, "missing on disk")
      .add(tally.unread, "that could not be read now")
      .text();
}

}  // namespace

std::string tier_words(const TierOrder& order, const TierTally& tally, std::uint64_t blocks, std::uint64_t block_bytes,
                       const std::string& pool, bool dry_run) {
  const auto with_bytes = [&](const std::string& words, std::uint64_t count) {
    return words + " (" + bytes_words(count * block_bytes) + ")";
  };
  std::string text = "of " + std::to_string(blocks) + " blocks: ";
  if (order.verb == TierVerb::kVerify) {
    text += verify_words(tally, dry_run);
  } else {
    Sum done;
    done.add(tally.written, with_bytes("written to disk", tally.written))
        .add(tally.read_up, with_bytes("read into " + pool, tally.read_up))
        .add(tally.left_pool, with_bytes("leave " + pool, tally.left_pool))
        .add(tally.left_disk, with_bytes("leave the disk", tally.left_disk))
        .add(tally.already, "there already")
        .add(tally.damaged, "damaged and dropped")
        .add(tally.missing, "missing on disk")
        .add(tally.unread, "that could not be read now");
    text += done.text().empty() ? "nothing to do" : done.text();
  }
  std::string refused = "that the disk tier took no copy of";
  if (!tally.refusal.empty()) refused += " (" + tally.refusal + ")";
  const std::string stays = Sum()
                                .add(tally.pinned, "pinned")
                                .add(tally.in_use, "in use")
                                .add(tally.growing, "still growing")
                                .add(tally.below, "that others of the tree hang on or they on others")
                                .add(tally.refused, refused)
                                .add(tally.no_room, "for which " + pool + " has no room")
                                .text();
  if (!stays.empty()) text += "; they stay: " + stays;
  if (tally.gone > 0) text += "; " + std::to_string(tally.gone) + " gone meanwhile";
  return text;
}

}  // namespace larder::engine
