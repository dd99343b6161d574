// SPDX-License-Identifier: Apache-2.0
// The command line of larderd: what the user asked for, checked.
// Errors:   kInvalidArgument with one line that says what to do (exit code 2).
// Threads:  values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/base/result.h"

namespace larder::larderd {

enum ExitCode : int { kOk = 0, kUsage = 2, kModelRefused = 3, kPortTaken = 4, kDataRefused = 5 };

struct Options {
  std::string model;                                           // empty: none
  std::string data;                                            // empty: the default data folder
  std::vector<std::pair<std::string, std::string>> overrides;  // --set, and --listen as api.listen
  bool print_key = false;
  bool help = false;  // `text` is the help
  bool version = false;
  std::string text;
};

Result<Options> parse_options(int argc, const char* const* argv);

}  // namespace larder::larderd
