// SPDX-License-Identifier: Apache-2.0
#include "runtime/entry/pack.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace larder::entry {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return trimmed(line);
}

Status set_key(Pack& pack, std::string_view key, std::string_view value, const std::string& name) {
  if (key == "id") {
    pack.id = value;
  } else if (key == "name") {
    pack.name = value;
  } else if (key == "language") {
    pack.language = value;
  } else if (key == "licence") {
    pack.licence = value;
  } else if (key == "version") {
    const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), pack.version);
    if (failed != std::errc() || end != value.data() + value.size()) {
      return Error{ErrorCode::kInvalidArgument, "version is not a whole number", name};
    }
  }
  return {};
}

}  // namespace

Result<Pack> parse_pack(std::string_view file, std::string_view name) {
  const std::string file_name(name);
  if (file.size() > kMaxPackBytes) {
    return Error{ErrorCode::kResourceExhausted, "a pack has at most " + std::to_string(kMaxPackBytes) + " bytes",
                 file_name};
  }
  std::string_view rest = file;
  if (take_line(rest) != "---") {
    return Error{ErrorCode::kInvalidArgument, "a pack begins with a line `---`", file_name};
  }
  Pack pack;
  while (true) {
    if (rest.empty()) return Error{ErrorCode::kInvalidArgument, "the front matter has no closing `---`", file_name};
    const std::string_view line = take_line(rest);
    if (line == "---") break;
    if (line.empty()) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      return Error{ErrorCode::kInvalidArgument, "a line of the front matter is not `key: value`", file_name};
    }
    RETURN_IF_ERROR(set_key(pack, trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)), file_name));
  }
  pack.text = trimmed(rest);
  if (pack.id.empty() || pack.name.empty() || pack.text.empty()) {
    return Error{ErrorCode::kInvalidArgument, "a pack needs an id, a name and a text", file_name};
  }
  return pack;
}

PacksRead read_packs(const std::string& folder) {
  PacksRead read;
  std::error_code failed;
  std::vector<std::filesystem::path> files;
  if (folder.empty()) return read;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".md" && entry.is_regular_file(failed)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& path : files) {
    if (read.packs.size() >= kMaxPacks) break;
    std::ifstream in(path, std::ios::binary);
    std::string text(kMaxPackBytes + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    Result<Pack> pack = parse_pack(text, path.filename().string());
    if (!pack.ok()) {
      read.refused.push_back(pack.error());
      continue;
    }
    const auto same = [&](const Pack& other) { return other.id == pack->id; };
    if (std::any_of(read.packs.begin(), read.packs.end(), same)) {
      read.refused.push_back(
          {ErrorCode::kConflict, "a pack with the id " + pack->id + " exists already", path.filename().string()});
      continue;
    }
    read.packs.push_back(std::move(pack).value());
  }
  return read;
}

std::string find_packs_folder(const std::string& executable) {
  const std::filesystem::path bin = std::filesystem::path(executable).parent_path();
  std::error_code failed;
  for (const char* place : {"../share/larder/packs", "../../../resources/packs"}) {
    const std::filesystem::path folder = (bin / place).lexically_normal();
    if (std::filesystem::is_directory(folder, failed)) return folder.string();
  }
  return {};
}

}  // namespace larder::entry
