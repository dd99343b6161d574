// SPDX-License-Identifier: Apache-2.0
// StopMatcher: finds stop strings in text that arrives in pieces, across the pieces' borders. It gives text out as soon
// as no stop string can still begin in it, and holds back the rest.
// Requires: pieces and stop strings of whole UTF-8 characters, so that nothing is ever cut inside one; at most 16 stop
//           strings of 1..256 bytes (the codec checks).
// Owns:     its held text (under 256 bytes).
// Errors:   none.    Threads: one at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace larder::sample {

class StopMatcher {
 public:
  explicit StopMatcher(std::vector<std::string> stops);

  struct Out {
    std::string text;      // may be given to the client now
    bool stopped = false;  // a stop string was found; it and everything after it are dropped, and later pieces too
    std::size_t stop_index = 0;  // which one, when stopped
  };

  // The match that is complete first wins, of those that end together the longest: how text is cut into pieces never
  // changes what is given out.
  Out push(std::string_view piece);

  // The end of the text: what was held back.
  std::string finish();

  bool stopped() const { return stopped_; }
  std::size_t held_bytes() const { return held_.size(); }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace larder::sample
