// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "runtime/settings/settings.h"

namespace larder::settings {
namespace {

constexpr std::size_t kMaxFileBytes = 1 << 20;

Error io_error(const std::string& what, const std::string& path) {
  return {ErrorCode::kIo, what + " " + path + ": " + std::generic_category().message(errno), path};
}

Result<std::string> value_text(const std::string& name, const toml::node& node) {
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* flag = node.as_boolean()) return std::string(flag->get() ? "true" : "false");
  if (const auto* text = node.as_string()) return text->get();
  return Error{ErrorCode::kInvalidArgument, name + " has a type that no setting has: use a number, true or a text",
               name};
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

Status read_group(const std::string& group, const toml::table& table, Pairs& out) {
  for (const auto& [key, node] : table) {
    const std::string name = group + "." + std::string(key.str());
    ASSIGN_OR_RETURN(std::string text, value_text(name, node));
    out.emplace_back(name, std::move(text));
  }
  return {};
}

std::string toml_text(const Pairs& values) {
  toml::table root;
  for (const auto& [name, text] : values) {
    const SettingRow* found = find_row(name);
    const std::size_t dot = name.find('.');
    if (found == nullptr || dot == std::string::npos) continue;
    const std::string group = name.substr(0, dot);
    if (!root.contains(group)) root.insert(group, toml::table{});
    toml::table& table = *root[group].as_table();
    const std::string key = name.substr(dot + 1);
    if (found->type == ValueType::kInteger) {
      table.insert_or_assign(key, static_cast<std::int64_t>(std::strtoll(text.c_str(), nullptr, 10)));
    } else if (found->type == ValueType::kFlag) {
      table.insert_or_assign(key, text == "true");
    } else {
      table.insert_or_assign(key, text);
    }
  }
  std::ostringstream out;
  out << "# Larder's settings that differ from their defaults; the window and larderctl write this file.\n"
      << root << "\n";
  return out.str();
}

Status write_whole(int file, const std::string& text, const std::string& path) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(file, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error("cannot write", path);
    written += static_cast<std::size_t>(n);
  }
  if (::fsync(file) != 0) return io_error("cannot write", path);
  return {};
}

}  // namespace

Result<Pairs> read_config_file(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return Pairs{};
  const auto bytes = std::filesystem::file_size(path, failed);
  if (failed || bytes > kMaxFileBytes) {
    return Error{ErrorCode::kCorrupt,
                 "config.toml is not a settings file (larger than 1 MiB or not a file): move it away", path};
  }
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) return io_error("cannot read", path);
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    return Error{ErrorCode::kCorrupt,
                 "config.toml line " + std::to_string(parsed.error().source().begin.line) + ": " +
                     std::string(parsed.error().description()) + ": mend or remove it",
                 path};
  }
  Pairs values;
  for (const auto& [group, node] : parsed.table()) {
    const std::string name(group.str());
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      return Error{ErrorCode::kInvalidArgument, "unknown setting " + name + ": settings stand in groups, as [engine]",
                   name};
    }
    RETURN_IF_ERROR(read_group(name, *table, values));
  }
  return values;
}

Status write_config_file(const std::string& path, std::span<const std::pair<std::string, std::string>> values) {
  const std::string text = toml_text(Pairs(values.begin(), values.end()));
  const std::string next = path + ".next";
  const int file = ::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return io_error("cannot write", next);
  const Status written = write_whole(file, text, next);
  ::close(file);
  RETURN_IF_ERROR(written);
  if (::rename(next.c_str(), path.c_str()) != 0) return io_error("cannot replace", path);
  return {};
}

}  // namespace larder::settings
