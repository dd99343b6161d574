// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace larder::log {
namespace {

spdlog::level::level_enum level_of(Level level) {
  switch (level) {
    case Level::kDebug: return spdlog::level::debug;
    case Level::kInfo: return spdlog::level::info;
    case Level::kWarning: return spdlog::level::warn;
    case Level::kError: return spdlog::level::err;
  }
  return spdlog::level::err;
}

// The one logger of the process; made at first use, so that tests need no set-up.
spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> shared = [] {
    auto made = std::make_shared<spdlog::logger>("larder", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v");
    return made;
  }();
  return *shared;
}

}  // namespace

void set_level(Level level) { logger().set_level(level_of(level)); }

void write(Level level, std::string_view room, std::string_view message) {
  logger().log(level_of(level), "{}: {}", room, message);
}

}  // namespace larder::log
