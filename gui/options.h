// SPDX-License-Identifier: GPL-3.0-or-later
// Options of the program `larder`: the same as larderd's, plus attaching and pictures.
// Errors:  kInvalidArgument with the sentence to print.    Threads: values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/base/result.h"

namespace larder::gui {

struct Options {
  std::string model, data, attach, key_file, screenshots;
  std::vector<std::pair<std::string, std::string>> overrides;  // --set and --listen
  bool print_key = false;
  bool help = false, version = false;
  std::string help_text;
};

Result<Options> parseOptions(int argc, const char* const* argv);

// The first line of a key file, without its end. Errors: kIo, kInvalidArgument (empty).
Result<std::string> readKeyFile(const std::string& path);

}  // namespace larder::gui
