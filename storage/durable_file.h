// SPDX-License-Identifier: Apache-2.0
// Small files that are read whole and replaced whole: write to NAME.tmp, fsync, rename, fsync of the folder. A crash
// leaves the old file or the new one, and at most a NAME.tmp, which the next replace overwrites.
// Errors:   kIo with the system's reason and the path; kNotFound (read); kCorrupt (longer than max_bytes).
// Bounds:   max_bytes.    Threads: any, one writer per path.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"

namespace larder::storage {

Result<std::vector<std::uint8_t>> read_small_file(const std::string& path, std::size_t max_bytes);

// Called before each of its system steps ("open", "write", "fsync", "rename", "fsync_dir"); a false answer stops there
// as a crash would. Tests give one; the program gives none.
using WriteGate = std::function<bool(const char* step)>;

// Mode 0600.
Status replace_file(const std::string& path, std::span<const std::uint8_t> bytes, const WriteGate& gate = {});

// "what: reason (path)" from errno.
Error system_error(const char* what, const std::string& path);

}  // namespace larder::storage
