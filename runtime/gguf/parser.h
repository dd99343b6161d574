// SPDX-License-Identifier: Apache-2.0
// Parser: fills a File from its bytes, or says where they break the format. Made for one call, then thrown away.
// Errors:  see file.h.    Threads: one owner.
// Source:  ggml-org/ggml docs/gguf.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/result.h"
#include "runtime/gguf/cursor.h"
#include "runtime/gguf/file.h"

namespace larder::gguf {

class Parser {
 public:
  // Requires: file.bytes_ set, everything else empty.
  explicit Parser(File& file) : file_(file), cursor_(file.bytes_) {}
  Status run();

 private:
  Status read_header();
  Status read_entries();
  Status read_entry();
  Status read_array(Entry& entry);
  Status take_strings(Entry& entry);
  Status check_bool(const Entry& entry);
  Status index_entries();
  Status read_alignment();
  Status read_tensors();
  Status read_tensor();
  Status read_dims(TensorInfo& tensor, std::uint64_t& values);
  Status index_tensors();
  Status place_data();
  Status place_tensor(TensorInfo& tensor);
  Status refuse_overlap();

  // Reads length and bytes of a string; `what` names it in errors.
  Status read_text(std::string_view what, std::uint64_t max_bytes, std::string_view& text);
  Error corrupt(std::uint64_t offset, const std::string& what) const;
  Error cut(std::string_view what) const;  // the file ends in the middle of `what`

  File& file_;
  Cursor cursor_;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t entry_count_ = 0;
};

// `text` for an error message: at most 80 characters, anything unprintable as '?'.
std::string quoted(std::string_view text);

}  // namespace larder::gguf
