// SPDX-License-Identifier: Apache-2.0
// Pack: a versioned household instruction set, read from a file: front matter between two `---` lines (`key: value`:
// id, name, language, version, licence), then the text, which is the system message of whoever uses the pack.
// Bounds:   kMaxPackBytes a file, kMaxPacks a folder.
// Errors:   kInvalidArgument (form, a missing key), kResourceExhausted (too large); context: the file's name.
// Threads:  pure; read_packs reads files, so not on the engine thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"

namespace larder::entry {

inline constexpr std::size_t kMaxPackBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxPacks = 64;

struct Pack {
  std::string id;  // "casa-it"
  std::string name;
  std::string language;  // "it"
  std::string licence;
  std::uint32_t version = 1;
  std::string text;
};

Result<Pack> parse_pack(std::string_view file, std::string_view name);

struct PacksRead {
  std::vector<Pack> packs;     // by id
  std::vector<Error> refused;  // files that are not packs
};
// Every *.md of the folder; a missing folder has none.
PacksRead read_packs(const std::string& folder);

// Where the packs that come with the program lie: ../share/larder/packs beside an installed program, or the source
// tree's resources/packs above a build folder's bin/. Empty when there is neither.
std::string find_packs_folder(const std::string& executable);

}  // namespace larder::entry
