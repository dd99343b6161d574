// SPDX-License-Identifier: Apache-2.0
#include "runtime/larderd/options.h"

#include <CLI/CLI.hpp>

#include "runtime/settings/settings.h"

namespace larder::larderd {
namespace {

Result<std::pair<std::string, std::string>> key_value(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Error{ErrorCode::kInvalidArgument, "--set " + text + ": write it as --set KEY=VALUE", text};
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace

Result<Options> parse_options(int argc, const char* const* argv) {
  Options options;
  std::string listen;
  std::vector<std::string> sets;
  CLI::App app("larderd: keeps a household's prompts warm and serves them over a loopback API", "larderd");
  app.add_option("--model", options.model, "model file (GGUF) to load before it is ready");
  app.add_option("--data", options.data, "data folder; else XDG_DATA_HOME/larder");
  app.add_option("--listen", listen, "ADDR:PORT of the API; port 0 picks a free one");
  app.add_option("--set", sets, "KEY=VALUE, a setting for this run; may be given several times")
      ->expected(1)
      ->take_all();
  app.add_flag("--print-key", options.print_key, "print a new admin key of the tenant home, valid for this process");
  app.add_flag("--version", options.version, "print the version");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.help = true;
    options.text = app.help();
    return options;
  } catch (const CLI::ParseError& error) {
    return Error{ErrorCode::kInvalidArgument, std::string(error.what()) + ": see larderd --help", ""};
  }
  for (const std::string& set : sets) {
    ASSIGN_OR_RETURN(auto pair, key_value(set));
    options.overrides.push_back(std::move(pair));
  }
  if (!listen.empty()) options.overrides.emplace_back("api.listen", listen);
  // A mistake in the settings is a mistake of usage, whatever state the data folder is in.
  const auto checked = settings::Settings::load("", options.overrides);
  if (!checked.ok()) return checked.error();
  return options;
}

}  // namespace larder::larderd
