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

std::string moved_words(const TierOrder& order, const TierTally& tally, std::uint64_t block_bytes,
                        const std::string& pool) {
  const bool rounds = order.verb == TierVerb::kCompress;
  const bool back = order.verb == TierVerb::kDecompress;
  const auto with_bytes = [&](const std::string& words, std::uint64_t count) {
    return rounds || back ? words : words + " (" + bytes_words(count * block_bytes) + ")";
  };
  const std::string written = rounds ? std::string("rounded to ") + kernels::kv_scheme_name(order.scheme) + " on disk"
                              : back ? std::string("written to disk exact")
                                     : with_bytes("written to disk", tally.written);
  const std::string what = rounds ? " as exact ones" : back ? " as rounded ones" : "";
  return Sum()
      .add(tally.computed, "computed again")
      .add(tally.written, written)
      .add(tally.read_up, with_bytes("read into " + pool, tally.read_up))
      .add(tally.left_pool, with_bytes("leave " + pool + what, tally.left_pool))
      .add(tally.left_disk, with_bytes("leave the disk" + what, tally.left_disk))
      .add(tally.already, "there already")
      .add(tally.damaged, "damaged and dropped")
      .add(tally.missing, "missing on disk")
      .add(tally.unread, "that could not be read now")
      .text();
}

// "; 1.0 MiB before, 278.0 KiB after; int8 is off by 0.61 % on this model"
std::string codec_words(const CodecFigures& codec, bool dry_run) {
  std::string text = "; " + bytes_words(codec.bytes_before) + " before, " + bytes_words(codec.bytes_after) + " after";
  std::array<char, 96> number;
  if (codec.error > 0) {
    std::snprintf(number.data(), number.size(), "; the codec is off by %.2f %% on sampled blocks of this model",
                  codec.error * 100);
    text += number.data();
  }
  if (codec.compute_tokens == 0) return text;
  text += "; " + std::to_string(codec.compute_tokens) + (dry_run ? " tokens to compute" : " tokens computed");
  if (!dry_run || codec.compute_ms <= 0) return text;
  std::snprintf(number.data(), number.size(), ", about %.0f ms", codec.compute_ms);
  return text + number.data();
}

}  // namespace

std::string tier_words(const TierOrder& order, const TierTally& tally, const CodecFigures& codec, std::uint64_t blocks,
                       std::uint64_t block_bytes, const std::string& pool, bool dry_run) {
  std::string text = "of " + std::to_string(blocks) + " blocks: ";
  if (order.verb == TierVerb::kVerify) {
    text += verify_words(tally, dry_run);
  } else {
    const std::string done = moved_words(order, tally, block_bytes, pool);
    text += done.empty() ? "nothing to do" : done;
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
  if (order.verb == TierVerb::kCompress || order.verb == TierVerb::kDecompress) text += codec_words(codec, dry_run);
  return text;
}

std::string job_name(JobId id, const TierOrder& order) {
  return "job " + std::to_string(id.value) + " (" + tier_verb_name(order.verb) + " of run " +
         std::to_string(order.range.node.value) + ")";
}

}  // namespace larder::engine
