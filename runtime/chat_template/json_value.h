// SPDX-License-Identifier: Apache-2.0
// JSON text to Values and back. Key order is kept, numbers keep their kind (an integer beyond 64 bits keeps its
// digits), and every text carries the source of the JSON it stood in. Not for request bodies: the codecs parse those.
// Units:   at most kMaxJsonBytes bytes, kMaxJsonValues values, kMaxJsonDepth levels.
// Errors:  kInvalidArgument naming the byte, kResourceExhausted for the limits.    Threads: one at a time.
// Source:  RFC 8259; output as Python's json.dumps writes it.
#pragma once

#include <cstddef>
#include <string_view>

#include "runtime/base/result.h"
#include "runtime/chat_template/meter.h"
#include "runtime/chat_template/value.h"

namespace larder::chat_template {

inline constexpr std::size_t kMaxJsonBytes = std::size_t{8} << 20;
inline constexpr std::size_t kMaxJsonValues = 500'000;
inline constexpr int kMaxJsonDepth = 64;

Result<Value> parse_json(std::string_view text, Source source, Heap& heap);

struct JsonStyle {
  int indent = -1;  // below 0: one line
  bool ascii = false;
  bool sort_keys = false;
  MarkedString item_separator{", "};
  MarkedString key_separator{": "};
};

// Brackets and separators carry the source of the texts next to them, so that a tool's JSON is one untrusted range.
Result<MarkedString> dump_json(Meter& meter, const Value& value, const JsonStyle& style);

}  // namespace larder::chat_template
