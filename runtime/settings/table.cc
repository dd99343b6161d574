// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "runtime/settings/settings.h"

namespace larder::settings {
namespace {

constexpr std::int64_t kTiB = std::int64_t{1} << 40;
constexpr auto kInt = ValueType::kInteger;
constexpr auto kFlag = ValueType::kFlag;
constexpr auto kText = ValueType::kText;
constexpr auto kChoice = ValueType::kChoice;

using Table = std::array<SettingRow, static_cast<std::size_t>(Key::kCount)>;
constexpr Table kTable{{
    {Key::kEngineMaxTokens, "engine.max_tokens", kInt, "32768", 64, 1 << 20, "tokens", "", true,
     "Longest request, prompt and answer together; the model's context and half the pool bound it too."},
    {Key::kEngineThreads, "engine.threads", kInt, "0", 0, 256, "threads", "", true,
     "Compute threads; 0 uses one per core and leaves one to the desktop where there are more than two."},
    {Key::kEngineIsa, "engine.isa", kChoice, "auto", 0, 0, "", "auto|portable|avx2|avx512", true,
     "Vector instructions of the CPU kernels. Another choice computes other bits: cached blocks then no longer fit."},
    {Key::kEngineArithmetic, "engine.arithmetic", kChoice, "auto", 0, 0, "", "auto|precise|int8", true,
     "How activations meet quantised weights: int8 rounds them in groups of 32, which is fastest; precise keeps them "
     "as they are; auto takes int8 where the kernels have it. Cached blocks of one do not fit the other."},
    {Key::kEngineDevice, "engine.device", kChoice, "auto", 0, 0, "", "auto|cpu|cuda", true,
     "Where models run; auto takes a usable card, else the processor."},
    {Key::kEngineProcess, "engine.process", kChoice, "auto", 0, 0, "", "auto|child", true,
     "auto attaches to whoever serves the data folder, else runs the engine in the window's process; child runs "
     "larderd beside it."},
    {Key::kEngineStepMs, "engine.step_ms", kInt, "50", 5, 2000, "ms", "", false,
     "Longest time one step holds the device while other answers are being written."},
    {Key::kEngineMaxBatch, "engine.max_batch", kInt, "32", 1, 256, "sequences", "", false,
     "Answers computed at the same time; more wait in the queue."},
    {Key::kEngineMaxModels, "engine.max_models", kInt, "3", 1, 16, "models", "", false,
     "Models that may be loaded at the same time; one more takes the place of the idle one used longest ago."},
    {Key::kEnginePrefillChunk, "engine.prefill_chunk", kInt, "512", 32, 2048, "tokens", "", false,
     "Prompt tokens of one step when nothing else runs."},
    {Key::kEngineQueueLimit, "engine.queue_limit", kInt, "256", 1, 4096, "requests", "", false,
     "Requests that may wait; one more is answered with 429."},
    {Key::kEngineRequestHistory, "engine.request_history", kInt, "500", 10, 10000, "requests", "", true,
     "Finished requests kept for the request list."},
    {Key::kEngineRecordTexts, "engine.record_texts", kFlag, "true", 0, 0, "", "", false,
     "Keep, in memory only, the few tokens around a difference, so that a miss can be explained."},
    {Key::kPoolBytes, "pool.bytes", kInt, "0", 0, 64 * kTiB, "bytes", "", false,
     "Memory for cached prompts; 0 takes a quarter of RAM, at most half of what is free after the weights."},
    {Key::kPoolKvType, "pool.kv_type", kChoice, "f16", 0, 0, "", "f16|f32", true,
     "Number format of cached prompts; f32 needs twice the memory."},
    {Key::kPoolPolicy, "pool.policy", kChoice, "lru", 0, 0, "", "lru", true,
     "Which cached blocks give way first when the pool is full."},
    {Key::kPinsBudgetPercent, "pins.budget_percent", kInt, "25", 0, 90, "percent", "", false,
     "Share of the pool that pins may hold."},
    {Key::kStoreMode, "store.mode", kChoice, "on", 0, 0, "", "on|frozen|bypass|off", false,
     "Cached prompts on disk: on keeps and serves them; frozen serves what is there; bypass does neither for now; off "
     "leaves the folder alone from the next start."},
    {Key::kStoreRestore, "store.restore", kChoice, "auto", 0, 0, "", "auto|always", false,
     "When cached prompts are read back from disk: auto where that is measured to be faster than computing them."},
    {Key::kStoreCodec, "store.codec", kChoice, "exact", 0, 0, "", "exact|int8|int4", false,
     "How cached prompts are kept on disk from now on: exact gives the same answers bit for bit; int8 takes about half "
     "the room and int4 less than a third, rounded, and each answer from them says so. Pinned ones stay exact."},
    {Key::kStoreCapBytes, "store.cap_bytes", kInt, "53687091200", std::int64_t{64} << 20, 64 * kTiB, "bytes", "", false,
     "Room on disk for cached prompts, counted in real bytes; what was used longest ago gives way."},
    {Key::kStoreKeepFreeBytes, "store.keep_free_bytes", kInt, "0", 0, 64 * kTiB, "bytes", "", false,
     "Room on the disk that is never used; 0 keeps the larger of 5 % and 1 GiB free."},
    {Key::kStoreWriteBudgetBytes, "store.write_budget_bytes", kInt, "42949672960", 0, 64 * kTiB, "bytes", "", false,
     "Most that is written in one day, to spare the disk; above half of it only prompts that others shared are kept."},
    {Key::kStoreTreeBlocks, "store.tree_blocks", kInt, "262144", 16, 4'194'304, "blocks", "", true,
     "Blocks that lie on disk only and are known in memory, about 600 bytes each; pinned ones and those used last come "
     "first."},
    {Key::kStoreRamBytes, "store.ram_bytes", kInt, "0", 0, 64 * kTiB, "bytes", "", false,
     "Memory for copies of what is on disk, in the form in which it lies there, so that what left the pool comes back "
     "without the disk; 0 keeps none. With store.codec it holds two to three times as much as the pool would."},
    {Key::kTenantsMax, "tenants.max", kInt, "256", 1, 10000, "tenants", "", false, "Tenants that may exist."},
    {Key::kApiListen, "api.listen", kText, "127.0.0.1:4114", 3, 256, "", "", true,
     "Address and port of the API; port 0 picks a free one."},
    {Key::kApiLan, "api.lan", kFlag, "false", 0, 0, "", "", true,
     "Allow listening beyond this machine; every request then needs a key."},
    {Key::kApiKeylessLoopback, "api.keyless_loopback", kFlag, "false", 0, 0, "", "", false,
     "Serve programs on this machine without a key, as the tenant `local`, without admin right."},
    {Key::kApiMaxBodyBytes, "api.max_body_bytes", kInt, "16777216", 1024, std::int64_t{1} << 30, "bytes", "", false,
     "Largest request body."},
    {Key::kApiMaxDepth, "api.max_depth", kInt, "64", 4, 512, "levels", "", false, "Deepest nesting of a JSON body."},
    {Key::kApiMaxConnections, "api.max_connections", kInt, "256", 1, 4096, "connections", "", false,
     "Open connections; one more is answered with 503."},
    {Key::kApiHeaderTimeoutMs, "api.header_timeout_ms", kInt, "10000", 100, 600000, "ms", "", false,
     "Time a client has to send a request's head."},
    {Key::kApiBodyTimeoutMs, "api.body_timeout_ms", kInt, "30000", 100, 3600000, "ms", "", false,
     "Time a client has to send a request's body."},
    {Key::kApiIdleTimeoutMs, "api.idle_timeout_ms", kInt, "60000", 100, 3600000, "ms", "", false,
     "Time a kept-alive connection may stay silent."},
    {Key::kApiWriteTimeoutMs, "api.write_timeout_ms", kInt, "60000", 100, 3600000, "ms", "", false,
     "Time a client may leave an answer unread before it is cut off."},
    {Key::kApiThreads, "api.threads", kInt, "2", 1, 16, "threads", "", true, "Threads that serve the API."},
    {Key::kApiAllowedOrigins, "api.allowed_origins", kText, "", 0, 4096, "", "", true,
     "Web origins that may call the API, separated by spaces; empty allows none."},
    {Key::kApiAllowedHosts, "api.allowed_hosts", kText, "", 0, 4096, "", "", true,
     "Further names by which clients reach this machine, separated by spaces; localhost and addresses always work."},
    {Key::kLogLevel, "log.level", kChoice, "info", 0, 0, "", "debug|info|warning|error", false,
     "What is written to the log; never prompt text."},
    {Key::kUiLanguage, "ui.language", kChoice, "auto", 0, 0, "", "auto|en|it", true, "Language of the window."},
    {Key::kUiTheme, "ui.theme", kChoice, "auto", 0, 0, "", "auto|light|dark", false, "Colours of the window."},
    {Key::kUiRefreshMs, "ui.refresh_ms", kInt, "200", 100, 5000, "ms", "", false, "How often the window looks."},
    {Key::kUiClose, "ui.close", kChoice, "ask", 0, 0, "", "ask|tray|stop", false,
     "What closing the window does while programs are being served."},
    {Key::kUiAnimations, "ui.animations", kFlag, "true", 0, 0, "", "", false, "Moving transitions in the window."},
    {Key::kUiWizardDone, "ui.wizard_done", kFlag, "false", 0, 0, "", "", false, "The first-run guide was finished."},
}};

// Edits that turn a into b (insert, delete, replace).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

Error bad_value(const SettingRow& row, std::string_view text, const std::string& wanted) {
  return {ErrorCode::kInvalidArgument,
          std::string(row.name) + " = " + std::string(text.substr(0, 64)) + ": use " + wanted, std::string(row.name)};
}

Result<std::string> checked_integer(const SettingRow& row, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool parsed = error == std::errc() && end == text.data() + text.size() && !text.empty();
  if (!parsed || value < row.min || value > row.max) {
    return bad_value(row, text,
                     "a whole number from " + std::to_string(row.min) + " to " + std::to_string(row.max) +
                         (row.unit.empty() ? "" : " " + std::string(row.unit)));
  }
  return std::to_string(value);
}

Result<std::string> checked_choice(const SettingRow& row, std::string_view text) {
  std::string_view rest = row.choices;
  while (!rest.empty()) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    if (rest.substr(0, bar) == text) return std::string(text);
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return bad_value(row, text, "one of " + std::string(row.choices));
}

}  // namespace

std::span<const SettingRow> table() { return kTable; }

const SettingRow& row(Key key) { return kTable[static_cast<std::size_t>(key)]; }

const SettingRow* find_row(std::string_view name) {
  const auto found = std::find_if(kTable.begin(), kTable.end(), [&](const SettingRow& r) { return r.name == name; });
  return found == kTable.end() ? nullptr : &*found;
}

std::string_view nearest_name(std::string_view name) {
  name = name.substr(0, 128);
  return std::min_element(kTable.begin(), kTable.end(),
                          [&](const SettingRow& a, const SettingRow& b) {
                            return edit_distance(a.name, name) < edit_distance(b.name, name);
                          })
      ->name;
}

Result<std::string> checked_value(const SettingRow& row, std::string_view text) {
  switch (row.type) {
    case ValueType::kInteger:
      return checked_integer(row, text);
    case ValueType::kFlag:
      if (text == "true" || text == "yes" || text == "on" || text == "1") return std::string("true");
      if (text == "false" || text == "no" || text == "off" || text == "0") return std::string("false");
      return bad_value(row, text, "true or false");
    case ValueType::kChoice:
      return checked_choice(row, text);
    case ValueType::kText:
      if (static_cast<std::int64_t>(text.size()) < row.min || static_cast<std::int64_t>(text.size()) > row.max) {
        return bad_value(row, text,
                         "a text of " + std::to_string(row.min) + " to " + std::to_string(row.max) + " bytes");
      }
      return std::string(text);
  }
  return bad_value(row, text, "a known type");
}

}  // namespace larder::settings
