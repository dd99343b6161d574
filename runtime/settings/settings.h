// SPDX-License-Identifier: Apache-2.0
// Settings: every knob of the project, once. A row of the table (table.cc) gives a key its type, default, range, unit,
// whether it needs a restart, and one sentence of help; the window, the command line, the API and config.toml follow
// from that row. Code names a knob by `Key`, never by its text.
// Order:    default, then config.toml, then --set overrides, then what was set since.
// Errors:   kInvalidArgument (unknown key, naming the nearest one; wrong type; out of range, with the range),
//           kIo (config.toml cannot be read or written), kCorrupt (it is not TOML).
// Threads:  all methods from any; set writes a small file, so not on the engine thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/base/result.h"

namespace larder::settings {

// In the order of the table.
enum class Key : std::uint8_t {
  kEngineMaxTokens,
  kEngineThreads,
  kEngineIsa,
  kEngineArithmetic,
  kEngineDevice,
  kEngineProcess,
  kEngineStepMs,
  kEngineMaxBatch,
  kEngineMaxModels,
  kEnginePrefillChunk,
  kEngineQueueLimit,
  kEngineRequestHistory,
  kEngineRecordTexts,
  kPoolBytes,
  kPoolKvType,
  kPoolPolicy,
  kPinsBudgetPercent,
  kStoreMode,
  kStoreRestore,
  kStoreCodec,
  kStoreCapBytes,
  kStoreKeepFreeBytes,
  kStoreWriteBudgetBytes,
  kStoreTreeBlocks,
  kStoreRamBytes,
  kTenantsMax,
  kApiListen,
  kApiLan,
  kApiKeylessLoopback,
  kApiMaxBodyBytes,
  kApiMaxDepth,
  kApiMaxConnections,
  kApiHeaderTimeoutMs,
  kApiBodyTimeoutMs,
  kApiIdleTimeoutMs,
  kApiWriteTimeoutMs,
  kApiThreads,
  kApiAllowedOrigins,
  kApiAllowedHosts,
  kLogLevel,
  kUiLanguage,
  kUiTheme,
  kUiRefreshMs,
  kUiClose,
  kUiAnimations,
  kUiWizardDone,
  kCount
};

enum class ValueType : std::uint8_t { kInteger, kFlag, kText, kChoice };

struct SettingRow {
  Key key;
  std::string_view name;  // "engine.max_tokens": group.name
  ValueType type;
  std::string_view default_value;  // as text: "true", "32768", "auto"
  std::int64_t min;                // kInteger: inclusive range; kText: length in bytes
  std::int64_t max;
  std::string_view unit;     // "tokens", "ms", "bytes", "percent", ""
  std::string_view choices;  // kChoice: "auto|en|it"
  bool needs_restart;
  std::string_view help;
};

std::span<const SettingRow> table();
const SettingRow& row(Key key);
const SettingRow* find_row(std::string_view name);
// The table's name that looks most like `name`.
std::string_view nearest_name(std::string_view name);
// Ensures: `text` is a legal value of the row, in its one canonical spelling ("yes" becomes "true").
Result<std::string> checked_value(const SettingRow& row, std::string_view text);

class Settings {
 public:
  Settings() = default;  // all defaults, no file

  // Reads `path` (a missing file is all defaults; empty path: no file is ever written), then applies the overrides.
  static Result<std::unique_ptr<Settings>> load(const std::string& path,
                                                std::span<const std::pair<std::string, std::string>> overrides);

  std::int64_t integer(Key key) const EXCLUDES(mutex_);
  bool flag(Key key) const EXCLUDES(mutex_);
  std::string text(Key key) const EXCLUDES(mutex_);  // any type, canonical spelling

  struct Shown {
    const SettingRow* row = nullptr;
    std::string value;
    bool is_default = true;
    bool overridden = false;       // by --set
    bool restart_pending = false;  // set since the start and read only at start
  };
  std::vector<Shown> all() const EXCLUDES(mutex_);

  // Checks, keeps and saves one value; false: it applies at once; true: only after a restart.
  Result<bool> set(std::string_view name, std::string_view value) EXCLUDES(mutex_);

 private:
  std::string path_;
  mutable Mutex mutex_;
  std::map<Key, std::string> saved_ GUARDED_BY(mutex_);      // as in the file
  std::map<Key, std::string> overrides_ GUARDED_BY(mutex_);  // from --set, not saved
  std::map<Key, std::string> at_start_ GUARDED_BY(mutex_);   // value in force of rows that need a restart
  std::string value_locked(Key key) const REQUIRES(mutex_);
};

// file.cc: config.toml to (name, text) pairs and back. Unknown keys in a file are an error as anywhere.
Result<std::vector<std::pair<std::string, std::string>>> read_config_file(const std::string& path);
Status write_config_file(const std::string& path, std::span<const std::pair<std::string, std::string>> values);

}  // namespace larder::settings
