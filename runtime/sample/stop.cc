// SPDX-License-Identifier: Apache-2.0
#include "runtime/sample/stop.h"

#include <algorithm>
#include <utility>

namespace larder::sample {
namespace {

// Bytes at the end of `text` that begin a stop string, the longest such run.
std::size_t possible_start(std::string_view text, const std::vector<std::string>& stops) {
  std::size_t longest = 0;
  for (const std::string& stop : stops) {
    if (stop.empty()) continue;
    for (std::size_t length = std::min(text.size(), stop.size() - 1); length > longest; --length) {
      if (text.substr(text.size() - length) == std::string_view(stop).substr(0, length)) {
        longest = length;
        break;
      }
    }
  }
  return longest;
}

}  // namespace

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {}

StopMatcher::Out StopMatcher::push(std::string_view piece) {
  Out out;
  out.stopped = stopped_;
  if (stopped_) return out;
  held_ += piece;
  std::size_t best_end = std::string::npos;
  std::size_t best_begin = 0;
  for (std::size_t index = 0; index < stops_.size(); ++index) {
    if (stops_[index].empty()) continue;
    const std::size_t begin = held_.find(stops_[index]);
    if (begin == std::string::npos) continue;
    const std::size_t end = begin + stops_[index].size();
    if (end < best_end || (end == best_end && begin < best_begin)) {
      best_end = end;
      best_begin = begin;
      out.stop_index = index;
    }
  }
  if (best_end != std::string::npos) {
    stopped_ = out.stopped = true;
    out.text = held_.substr(0, best_begin);
    held_.clear();
    return out;
  }
  const std::size_t ready = held_.size() - possible_start(held_, stops_);
  out.text = held_.substr(0, ready);
  held_.erase(0, ready);
  return out;
}

std::string StopMatcher::finish() { return std::exchange(held_, {}); }

}  // namespace larder::sample
