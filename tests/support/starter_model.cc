// SPDX-License-Identifier: Apache-2.0
#include "tests/support/starter_model.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace larder::test {

std::string starter_model_path() {
  if (const char* stated = std::getenv("LARDER_SMOLLM2"); stated != nullptr) return stated;
  std::string data_home;
  if (const char* xdg = std::getenv("XDG_DATA_HOME"); xdg != nullptr && *xdg != '\0') {
    data_home = xdg;
  } else if (const char* home = std::getenv("HOME"); home != nullptr) {
    data_home = std::string(home) + "/.local/share";
  }
  return data_home + "/larder/models/SmolLM2-135M-Instruct.Q4_1.gguf";
}

bool have_starter_model(const char* what) {
  const std::string path = starter_model_path();
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return true;
  std::fprintf(stderr, "DID NOT RUN: %s needs the starter model at %s; installer/run --no-open fetches it\n", what,
               path.c_str());
  const char* require = std::getenv("LARDER_REQUIRE_MODEL");
  if (require != nullptr && std::string_view(require) == "1") ADD_FAILURE() << "the starter model is required here";
  return false;
}

}  // namespace larder::test
