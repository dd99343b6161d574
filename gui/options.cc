// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/options.h"

#include <CLI/CLI.hpp>
#include <fstream>

#include "runtime/settings/settings.h"

namespace larder::gui {

Result<Options> parseOptions(int argc, const char* const* argv) {
  Options options;
  std::string listen;
  std::vector<std::string> sets;
  CLI::App app("larder: the window of Larder, with the engine inside or attached to one", "larder");
  app.add_option("--model", options.model, "model file (GGUF) to load");
  app.add_option("--data", options.data, "data folder; else XDG_DATA_HOME/larder");
  app.add_option("--listen", listen, "ADDR:PORT of the API; port 0 picks a free one");
  app.add_option("--set", sets, "KEY=VALUE, a setting for this run; may be given several times")
      ->expected(1)
      ->take_all();
  app.add_flag("--print-key", options.print_key, "print a new admin key of the tenant home, valid for this process");
  app.add_option("--attach", options.attach, "URL of a running larderd or window to look at instead");
  app.add_option("--key-file", options.key_file, "file whose first line is the key for --attach");
  app.add_option("--screenshots", options.screenshots, "folder for a picture of every page; then ends");
  app.add_flag("--version", options.version, "print the version");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.help = true;
    options.help_text = app.help();
    return options;
  } catch (const CLI::ParseError& error) {
    return Error{ErrorCode::kInvalidArgument, std::string(error.what()) + ": see larder --help", ""};
  }
  for (const std::string& set : sets) {
    const std::size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{ErrorCode::kInvalidArgument, "--set " + set + ": write it as --set KEY=VALUE", set};
    }
    options.overrides.emplace_back(set.substr(0, equals), set.substr(equals + 1));
  }
  if (!listen.empty()) options.overrides.emplace_back("api.listen", listen);
  const auto checked = settings::Settings::load("", options.overrides);
  if (!checked.ok()) return checked.error();
  return options;
}

Result<std::string> readKeyFile(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) {
    return Error{ErrorCode::kIo, "cannot read the key in " + path + ": check the file and its rights", path};
  }
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  if (line.empty()) return Error{ErrorCode::kInvalidArgument, path + " is empty: put the key on its first line", path};
  return line;
}

}  // namespace larder::gui
