// SPDX-License-Identifier: Apache-2.0
// Where tests look for the starter model (SmolLM2-135M-Instruct, Q4_1), which is too large to keep with the sources:
// LARDER_SMOLLM2, else ${XDG_DATA_HOME:-~/.local/share}/larder/models.
// Threads: any.
#pragma once

#include <string>

namespace larder::test {

// The path where the file is or should be.
std::string starter_model_path();

// True where the file is there. Otherwise says on stderr that `what` did not run; with LARDER_REQUIRE_MODEL=1 in the
// environment it also fails the running test. The caller then skips.
bool have_starter_model(const char* what);

}  // namespace larder::test
