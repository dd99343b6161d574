// SPDX-License-Identifier: Apache-2.0
// Log lines to stderr (spdlog inside log.cc only). Never prompt text, keys or secrets: pass ids, counts and names.
// Threads: any; never blocks on the engine thread longer than one small write.
#pragma once

#include <string_view>

namespace larder::log {

enum class Level { kDebug, kInfo, kWarning, kError };

void set_level(Level level);
// `room` is the room that speaks ("engine", "http"), at most 16 characters.
void write(Level level, std::string_view room, std::string_view message);

inline void info(std::string_view room, std::string_view message) { write(Level::kInfo, room, message); }
inline void warning(std::string_view room, std::string_view message) { write(Level::kWarning, room, message); }
inline void error(std::string_view room, std::string_view message) { write(Level::kError, room, message); }

}  // namespace larder::log
