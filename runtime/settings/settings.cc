// SPDX-License-Identifier: Apache-2.0
#include "runtime/settings/settings.h"

#include <cstdlib>

namespace larder::settings {
namespace {

Result<const SettingRow*> known_row(std::string_view name) {
  if (const SettingRow* found = find_row(name)) return found;
  return Error{
      ErrorCode::kInvalidArgument,
      "unknown setting " + std::string(name.substr(0, 128)) + ": did you mean " + std::string(nearest_name(name)) + "?",
      std::string(name.substr(0, 128))};
}

Status merge_values(std::map<Key, std::string>& into, std::span<const std::pair<std::string, std::string>> values) {
  for (const auto& [name, value] : values) {
    ASSIGN_OR_RETURN(const SettingRow* found, known_row(name));
    ASSIGN_OR_RETURN(into[found->key], checked_value(*found, value));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Settings>> Settings::load(const std::string& path,
                                                 std::span<const std::pair<std::string, std::string>> overrides) {
  auto loaded = std::make_unique<Settings>();
  loaded->path_ = path;
  MutexLock lock(loaded->mutex_);
  if (!path.empty()) {
    ASSIGN_OR_RETURN(const auto from_file, read_config_file(path));
    if (Status applied = merge_values(loaded->saved_, from_file); !applied.ok()) {
      return Error{applied.error().code, applied.error().message + " in " + path, path};
    }
  }
  RETURN_IF_ERROR(merge_values(loaded->overrides_, overrides));
  for (const SettingRow& each : table()) {
    if (each.needs_restart) loaded->at_start_[each.key] = loaded->value_locked(each.key);
  }
  return loaded;
}

std::string Settings::value_locked(Key key) const {
  if (const auto start = at_start_.find(key); start != at_start_.end()) return start->second;
  if (const auto over = overrides_.find(key); over != overrides_.end()) return over->second;
  if (const auto saved = saved_.find(key); saved != saved_.end()) return saved->second;
  return std::string(row(key).default_value);
}

std::string Settings::text(Key key) const {
  MutexLock lock(mutex_);
  return value_locked(key);
}

std::int64_t Settings::integer(Key key) const { return std::strtoll(text(key).c_str(), nullptr, 10); }

bool Settings::flag(Key key) const { return text(key) == "true"; }

std::vector<Settings::Shown> Settings::all() const {
  MutexLock lock(mutex_);
  std::vector<Shown> shown;
  for (const SettingRow& each : table()) {
    Shown one;
    one.row = &each;
    one.value = value_locked(each.key);
    one.overridden = overrides_.count(each.key) != 0;
    if (each.needs_restart && !one.overridden) {
      const auto saved = saved_.find(each.key);
      const std::string next = saved != saved_.end() ? saved->second : std::string(each.default_value);
      one.restart_pending = next != one.value;
      one.value = next;
    }
    one.is_default = one.value == each.default_value;
    shown.push_back(std::move(one));
  }
  return shown;
}

Result<bool> Settings::set(std::string_view name, std::string_view value) {
  ASSIGN_OR_RETURN(const SettingRow* found, known_row(name));
  ASSIGN_OR_RETURN(const std::string checked, checked_value(*found, value));
  MutexLock lock(mutex_);
  std::map<Key, std::string> next = saved_;
  next[found->key] = checked;
  if (checked == found->default_value) next.erase(found->key);
  if (!path_.empty()) {
    std::vector<std::pair<std::string, std::string>> values;
    for (const auto& [key, text] : next) values.emplace_back(std::string(row(key).name), text);
    RETURN_IF_ERROR(write_config_file(path_, values));
  }
  saved_ = std::move(next);
  overrides_.erase(found->key);
  return found->needs_restart && at_start_.count(found->key) != 0 && at_start_.at(found->key) != checked;
}

}  // namespace larder::settings
