// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/settings/setting_words.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>
#include <utility>

namespace larder::gui {
namespace {

constexpr SettingWord kWords[] = {
    {"engine.max_tokens", QT_TRANSLATE_NOOP("SettingTitle", "Longest request"),
     QT_TRANSLATE_NOOP(
         "SettingHelp",
         "Longest request, prompt and answer together; the model's context and half the pool bound it too.")},
    {"engine.threads", QT_TRANSLATE_NOOP("SettingTitle", "Compute threads"),
     QT_TRANSLATE_NOOP(
         "SettingHelp",
         "Compute threads; 0 uses one per core and leaves one to the desktop where there are more than two.")},
    {"engine.isa", QT_TRANSLATE_NOOP("SettingTitle", "Vector instructions"),
     QT_TRANSLATE_NOOP("SettingHelp",
                       "Vector instructions of the CPU kernels. Another choice computes other bits: cached blocks then "
                       "no longer fit.")},
    {"engine.arithmetic", QT_TRANSLATE_NOOP("SettingTitle", "Arithmetic"),
     QT_TRANSLATE_NOOP(
         "SettingHelp",
         "How activations meet quantised weights: int8 rounds them in groups of 32, which is fastest; precise keeps "
         "them as they are; auto takes int8 where the kernels have it. Cached blocks of one do not fit the other.")},
    {"engine.device", QT_TRANSLATE_NOOP("SettingTitle", "Where models run"),
     QT_TRANSLATE_NOOP("SettingHelp", "Where models run; auto takes a usable card, else the processor.")},
    {"engine.process", QT_TRANSLATE_NOOP("SettingTitle", "Where the engine runs"),
     QT_TRANSLATE_NOOP("SettingHelp",
                       "auto attaches to whoever serves the data folder, else runs the engine in the window's process; "
                       "child runs larderd beside it.")},
    {"engine.step_ms", QT_TRANSLATE_NOOP("SettingTitle", "Longest step"),
     QT_TRANSLATE_NOOP("SettingHelp", "Longest time one step holds the device while other answers are being written.")},
    {"engine.max_batch", QT_TRANSLATE_NOOP("SettingTitle", "Answers at the same time"),
     QT_TRANSLATE_NOOP("SettingHelp", "Answers computed at the same time; more wait in the queue.")},
    {"engine.max_models", QT_TRANSLATE_NOOP("SettingTitle", "Models at the same time"),
     QT_TRANSLATE_NOOP("SettingHelp",
                       "Models that may be loaded at the same time; one more takes the place of the idle one used "
                       "longest ago.")},
    {"engine.prefill_chunk", QT_TRANSLATE_NOOP("SettingTitle", "Prompt tokens of one step"),
     QT_TRANSLATE_NOOP("SettingHelp", "Prompt tokens of one step when nothing else runs.")},
    {"engine.queue_limit", QT_TRANSLATE_NOOP("SettingTitle", "Longest queue"),
     QT_TRANSLATE_NOOP("SettingHelp", "Requests that may wait; one more is answered with 429.")},
    {"engine.request_history", QT_TRANSLATE_NOOP("SettingTitle", "Requests in the list"),
     QT_TRANSLATE_NOOP("SettingHelp", "Finished requests kept for the request list.")},
    {"engine.record_texts", QT_TRANSLATE_NOOP("SettingTitle", "Keep the words around a difference"),
     QT_TRANSLATE_NOOP("SettingHelp",
                       "Keep, in memory only, the few tokens around a difference, so that a miss can be explained.")},
    {"pool.bytes", QT_TRANSLATE_NOOP("SettingTitle", "Memory of the pool"),
     QT_TRANSLATE_NOOP(
         "SettingHelp",
         "Memory for cached prompts; 0 takes a quarter of RAM, at most half of what is free after the weights.")},
    {"pool.kv_type", QT_TRANSLATE_NOOP("SettingTitle", "Number format"),
     QT_TRANSLATE_NOOP("SettingHelp", "Number format of cached prompts; f32 needs twice the memory.")},
    {"pool.policy", QT_TRANSLATE_NOOP("SettingTitle", "What gives way first"),
     QT_TRANSLATE_NOOP("SettingHelp", "Which cached blocks give way first when the pool is full.")},
    {"pins.budget_percent", QT_TRANSLATE_NOOP("SettingTitle", "Share for pins"),
     QT_TRANSLATE_NOOP("SettingHelp", "Share of the pool that pins may hold.")},
    {"store.mode", QT_TRANSLATE_NOOP("SettingTitle", "Cached prompts on disk"),
     QT_TRANSLATE_NOOP("SettingHelp",
                       "Cached prompts on disk: on keeps and serves them; frozen serves what is there; bypass does "
                       "neither for now; off leaves the folder alone from the next start.")},
    {"store.restore", QT_TRANSLATE_NOOP("SettingTitle", "Reading back from disk"),
     QT_TRANSLATE_NOOP(
         "SettingHelp",
         "When cached prompts are read back from disk: auto where that is measured to be faster than computing them.")},
    {"store.codec", QT_TRANSLATE_NOOP("SettingTitle", "Form on disk"),
     QT_TRANSLATE_NOOP("SettingHelp",
                       "How cached prompts are kept on disk from now on: exact gives the same answers bit for bit; "
                       "int8 takes about half the room and int4 less than a third, rounded, and each answer from them "
                       "says so. Pinned ones stay exact.")},
    {"store.cap_bytes", QT_TRANSLATE_NOOP("SettingTitle", "Room on disk"),
     QT_TRANSLATE_NOOP("SettingHelp",
                       "Room on disk for cached prompts, counted in real bytes; what was used longest ago gives way.")},
    {"store.keep_free_bytes", QT_TRANSLATE_NOOP("SettingTitle", "Kept free on the disk"),
     QT_TRANSLATE_NOOP("SettingHelp",
                       "Room on the disk that is never used; 0 keeps the larger of 5 % and 1 GiB free.")},
    {"store.write_budget_bytes", QT_TRANSLATE_NOOP("SettingTitle", "Written in one day"),
     QT_TRANSLATE_NOOP("SettingHelp",
                       "Most that is written in one day, to spare the disk; above half of it only prompts that others "
                       "shared are kept.")},
    {"store.tree_blocks", QT_TRANSLATE_NOOP("SettingTitle", "Blocks on disk known in memory"),
     QT_TRANSLATE_NOOP("SettingHelp",
                       "Blocks that lie on disk only and are known in memory, about 600 bytes each; "
                       "pinned ones and those used last come first.")},
    {"store.ram_bytes", QT_TRANSLATE_NOOP("SettingTitle", "Memory for copies"),
     QT_TRANSLATE_NOOP("SettingHelp",
                       "Memory for copies of what is on disk, in the form in which it lies there, so that what left "
                       "the pool comes back without the disk; 0 keeps none. With store.codec it holds two to three "
                       "times as much as the pool would.")},
    {"tenants.max", QT_TRANSLATE_NOOP("SettingTitle", "Most tenants"),
     QT_TRANSLATE_NOOP("SettingHelp", "Tenants that may exist.")},
    {"api.listen", QT_TRANSLATE_NOOP("SettingTitle", "Address and port"),
     QT_TRANSLATE_NOOP("SettingHelp", "Address and port of the API; port 0 picks a free one.")},
    {"api.lan", QT_TRANSLATE_NOOP("SettingTitle", "Serve other machines"),
     QT_TRANSLATE_NOOP("SettingHelp", "Allow listening beyond this machine; every request then needs a key.")},
    {"api.keyless_loopback", QT_TRANSLATE_NOOP("SettingTitle", "Serve this machine without a key"),
     QT_TRANSLATE_NOOP("SettingHelp",
                       "Serve programs on this machine without a key, as the tenant `local`, without admin right.")},
    {"api.max_body_bytes", QT_TRANSLATE_NOOP("SettingTitle", "Largest request"),
     QT_TRANSLATE_NOOP("SettingHelp", "Largest request body.")},
    {"api.max_depth", QT_TRANSLATE_NOOP("SettingTitle", "Deepest nesting"),
     QT_TRANSLATE_NOOP("SettingHelp", "Deepest nesting of a JSON body.")},
    {"api.max_connections", QT_TRANSLATE_NOOP("SettingTitle", "Most connections"),
     QT_TRANSLATE_NOOP("SettingHelp", "Open connections; one more is answered with 503.")},
    {"api.header_timeout_ms", QT_TRANSLATE_NOOP("SettingTitle", "Wait for the head of a request"),
     QT_TRANSLATE_NOOP("SettingHelp", "Time a client has to send a request's head.")},
    {"api.body_timeout_ms", QT_TRANSLATE_NOOP("SettingTitle", "Wait for the body of a request"),
     QT_TRANSLATE_NOOP("SettingHelp", "Time a client has to send a request's body.")},
    {"api.idle_timeout_ms", QT_TRANSLATE_NOOP("SettingTitle", "Wait on a silent connection"),
     QT_TRANSLATE_NOOP("SettingHelp", "Time a kept-alive connection may stay silent.")},
    {"api.write_timeout_ms", QT_TRANSLATE_NOOP("SettingTitle", "Wait on an unread answer"),
     QT_TRANSLATE_NOOP("SettingHelp", "Time a client may leave an answer unread before it is cut off.")},
    {"api.threads", QT_TRANSLATE_NOOP("SettingTitle", "Threads of the API"),
     QT_TRANSLATE_NOOP("SettingHelp", "Threads that serve the API.")},
    {"api.allowed_origins", QT_TRANSLATE_NOOP("SettingTitle", "Web origins"),
     QT_TRANSLATE_NOOP("SettingHelp", "Web origins that may call the API, separated by spaces; empty allows none.")},
    {"api.allowed_hosts", QT_TRANSLATE_NOOP("SettingTitle", "Names of this machine"),
     QT_TRANSLATE_NOOP("SettingHelp",
                       "Further names by which clients reach this machine, separated by spaces; localhost and "
                       "addresses always work.")},
    {"log.level", QT_TRANSLATE_NOOP("SettingTitle", "What is logged"),
     QT_TRANSLATE_NOOP("SettingHelp", "What is written to the log; never prompt text.")},
    {"ui.language", QT_TRANSLATE_NOOP("SettingTitle", "Language"),
     QT_TRANSLATE_NOOP("SettingHelp", "Language of the window.")},
    {"ui.theme", QT_TRANSLATE_NOOP("SettingTitle", "Colours"),
     QT_TRANSLATE_NOOP("SettingHelp", "Colours of the window.")},
    {"ui.refresh_ms", QT_TRANSLATE_NOOP("SettingTitle", "Refresh"),
     QT_TRANSLATE_NOOP("SettingHelp", "How often the window looks.")},
    {"ui.close", QT_TRANSLATE_NOOP("SettingTitle", "Closing the window"),
     QT_TRANSLATE_NOOP("SettingHelp", "What closing the window does while programs are being served.")},
    {"ui.animations", QT_TRANSLATE_NOOP("SettingTitle", "Animations"),
     QT_TRANSLATE_NOOP("SettingHelp", "Moving transitions in the window.")},
    {"ui.wizard_done", QT_TRANSLATE_NOOP("SettingTitle", "First-run guide finished"),
     QT_TRANSLATE_NOOP("SettingHelp", "The first-run guide was finished.")},
};

[[maybe_unused]] constexpr const char* kUnits[] = {
    QT_TRANSLATE_NOOP("SettingUnit", "tokens"),   QT_TRANSLATE_NOOP("SettingUnit", "threads"),
    QT_TRANSLATE_NOOP("SettingUnit", "ms"),       QT_TRANSLATE_NOOP("SettingUnit", "sequences"),
    QT_TRANSLATE_NOOP("SettingUnit", "requests"), QT_TRANSLATE_NOOP("SettingUnit", "bytes"),
    QT_TRANSLATE_NOOP("SettingUnit", "percent"),  QT_TRANSLATE_NOOP("SettingUnit", "tenants"),
    QT_TRANSLATE_NOOP("SettingUnit", "levels"),   QT_TRANSLATE_NOOP("SettingUnit", "connections"),
    QT_TRANSLATE_NOOP("SettingUnit", "blocks"),   QT_TRANSLATE_NOOP("SettingUnit", "models"),
};

// Choices that are words; the others are names of things.
constexpr std::pair<const char*, const char*> kChoices[] = {
    {"auto", QT_TRANSLATE_NOOP("SettingChoice", "automatic")},
    {"child", QT_TRANSLATE_NOOP("SettingChoice", "beside the window")},
    {"portable", QT_TRANSLATE_NOOP("SettingChoice", "portable")},
    {"cpu", QT_TRANSLATE_NOOP("SettingChoice", "processor")},
    {"cuda", QT_TRANSLATE_NOOP("SettingChoice", "graphics card (CUDA)")},
    {"lru", QT_TRANSLATE_NOOP("SettingChoice", "what was used longest ago")},
    {"on", QT_TRANSLATE_NOOP("SettingChoice", "on")},
    {"frozen", QT_TRANSLATE_NOOP("SettingChoice", "frozen: read only")},
    {"bypass", QT_TRANSLATE_NOOP("SettingChoice", "bypass: neither read nor write")},
    {"off", QT_TRANSLATE_NOOP("SettingChoice", "off")},
    {"precise", QT_TRANSLATE_NOOP("SettingChoice", "precise")},
    {"exact", QT_TRANSLATE_NOOP("SettingChoice", "exact")},
    {"int8", QT_TRANSLATE_NOOP("SettingChoice", "rounded to 8 bits (int8)")},
    {"int4", QT_TRANSLATE_NOOP("SettingChoice", "rounded to 4 bits (int4)")},
    {"always", QT_TRANSLATE_NOOP("SettingChoice", "always")},
    {"debug", QT_TRANSLATE_NOOP("SettingChoice", "everything, for finding faults")},
    {"info", QT_TRANSLATE_NOOP("SettingChoice", "what happens")},
    {"warning", QT_TRANSLATE_NOOP("SettingChoice", "warnings and errors")},
    {"error", QT_TRANSLATE_NOOP("SettingChoice", "errors only")},
    {"en", "English"},  // a language is named in itself
    {"it", "Italiano"},
    {"light", QT_TRANSLATE_NOOP("SettingChoice", "light")},
    {"dark", QT_TRANSLATE_NOOP("SettingChoice", "dark")},
    {"ask", QT_TRANSLATE_NOOP("SettingChoice", "ask")},
    {"tray", QT_TRANSLATE_NOOP("SettingChoice", "keep serving in the tray")},
    {"stop", QT_TRANSLATE_NOOP("SettingChoice", "stop serving")},
};

}  // namespace

std::span<const SettingWord> settingWords() { return kWords; }

QString settingTitle(const SettingRow& row) {
  const auto word = std::find_if(std::begin(kWords), std::end(kWords),
                                 [&](const SettingWord& one) { return row.name == QLatin1String(one.name); });
  return word == std::end(kWords) ? row.name : QCoreApplication::translate("SettingTitle", word->title);
}

QString settingHelp(const SettingRow& row) {
  return QCoreApplication::translate("SettingHelp", row.help.toUtf8().constData());
}

QString settingUnit(const SettingRow& row) {
  return row.unit.isEmpty() ? QString() : QCoreApplication::translate("SettingUnit", row.unit.toUtf8().constData());
}

QString settingChoice(const QString& value) {
  const auto word = std::find_if(std::begin(kChoices), std::end(kChoices),
                                 [&](const auto& one) { return value == QLatin1String(one.first); });
  return word == std::end(kChoices) ? value : QCoreApplication::translate("SettingChoice", word->second);
}

}  // namespace larder::gui
