// SPDX-License-Identifier: Apache-2.0
// Digest cache: a small text file that remembers which file on this machine has which weights digest.
// Format:  a line "larder-digests 1", then one line per file, oldest first: device inode bytes modified_ns changed_ns
//          digest (64 hex digits) check (8 hex digits, FNV-1a of the line before it).
// Errors:  none; a missing, foreign or damaged line is a miss, and a file that cannot be written is left as it was.
// Threads: one writer at a time (the data folder's lock); the file is replaced by rename.
// Source:  FNV-1a, Fowler, Noll & Vo 1991.
#pragma once

#include <optional>
#include <string>

#include "runtime/base/ids.h"
#include "runtime/gguf/file.h"

namespace larder::model {

std::optional<Digest256> find_cached_digest(const std::string& cache_path, const gguf::FileStamp& stamp);
void store_cached_digest(const std::string& cache_path, const gguf::FileStamp& stamp, const Digest256& digest);

}  // namespace larder::model
