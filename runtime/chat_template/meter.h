// SPDX-License-Identifier: Apache-2.0
// Meter: what one render may still spend, so that no template and no conversation runs for long or grows without end.
// Units:   steps: one evaluated node, one visited element, or 64 bytes of text made or searched.
// Errors:  kResourceExhausted.    Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/result.h"

namespace larder::chat_template {

class Meter {
 public:
  Meter(std::uint64_t max_steps, std::uint32_t max_depth, std::uint64_t max_text_bytes)
      : steps_left_(max_steps), max_depth_(max_depth), max_text_bytes_(max_text_bytes) {}

  Status charge(std::uint64_t steps) {
    if (steps > steps_left_) {
      steps_left_ = 0;
      return Error{ErrorCode::kResourceExhausted, "the chat template ran over its step limit", "steps"};
    }
    steps_left_ -= steps;
    return {};
  }

  Status check_text(std::uint64_t bytes) const {
    if (bytes <= max_text_bytes_) return {};
    return Error{ErrorCode::kResourceExhausted,
                 "the chat template made a text of over " + std::to_string(max_text_bytes_) + " bytes", "text"};
  }

  // One text of this size is made or read.
  Status charge_text(std::uint64_t bytes) {
    RETURN_IF_ERROR(check_text(bytes));
    return charge(1 + bytes / 64);
  }

  Status charge_search(std::uint64_t text_bytes, std::uint64_t pattern_bytes) {
    return charge(1 + text_bytes / 64 + (text_bytes / 64) * (pattern_bytes / 64));
  }

  Status enter() {
    if (depth_ >= max_depth_) {
      return Error{ErrorCode::kResourceExhausted,
                   "the chat template is nested more than " + std::to_string(max_depth_) + " evaluations deep",
                   "depth"};
    }
    ++depth_;
    return charge(1);
  }
  void leave() { --depth_; }

 private:
  std::uint64_t steps_left_;
  std::uint32_t depth_ = 0;
  std::uint32_t max_depth_;
  std::uint64_t max_text_bytes_;
};

}  // namespace larder::chat_template
