// SPDX-License-Identifier: Apache-2.0
#include "tests/support/engine_rig.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>

#include "runtime/gguf/file.h"
#include "runtime/model/model.h"
#include "test_paths.h"

namespace larder::test {
namespace {

constexpr const char* kChatTemplate =
    "{{ bos_token }}{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}";

void append_u32(std::string& out, std::uint32_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_text(std::string& out, const std::string& text) {
  const std::uint64_t size = text.size();
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += text;
}

// The same file with one more text key behind its last one; the tensor data moves to the next border.
std::string with_key(const std::string& bytes, const std::string& path, const std::string& key,
                     const std::string& value) {
  const auto file = gguf::File::open(path);
  INVARIANT(file.ok());
  std::uint64_t keys_end = 0;
  for (const gguf::Entry& entry : (*file)->entries()) {
    keys_end = std::max(keys_end, entry.offset + entry.value.size());
  }
  const std::uint64_t data = (*file)->data_offset();
  std::uint64_t count = (*file)->entries().size() + 1;
  std::string out = bytes.substr(0, keys_end);
  std::memcpy(out.data() + 16, &count, sizeof count);  // magic, version, tensor count, key count
  append_text(out, key);
  append_u32(out, 8);
  append_text(out, value);
  std::uint64_t tensors_end = keys_end;
  {
    // Behind the keys come the tensor infos; their end is where the padding before the data begins at the latest.
    std::uint64_t at = keys_end;
    for (std::size_t i = 0; i < (*file)->tensors().size(); ++i) {
      std::uint64_t name = 0;
      std::memcpy(&name, bytes.data() + at, sizeof name);
      std::uint32_t dims = 0;
      std::memcpy(&dims, bytes.data() + at + 8 + name, sizeof dims);
      at += 8 + name + 4 + std::uint64_t{dims} * 8 + 4 + 8;
    }
    tensors_end = at;
  }
  out += bytes.substr(keys_end, tensors_end - keys_end);
  while (out.size() % (*file)->alignment() != 0) out += '\0';
  out += bytes.substr(data);
  return out;
}

// The tiny model with another context length, so that long prompts fit, and a chat template when asked for.
void copy_model(const std::string& from, const std::string& to, const EngineRigOptions& options) {
  std::ifstream in(from, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (options.chat_template) bytes = with_key(bytes, from, "tokenizer.chat_template", kChatTemplate);
  const std::string key = "llama.context_length";
  const std::size_t at = bytes.find(key);
  INVARIANT(at != std::string::npos);
  // Behind the value's type.
  std::memcpy(bytes.data() + at + key.size() + 4, &options.n_context, sizeof options.n_context);
  std::ofstream(to, std::ios::binary) << bytes;
}

// Changes as long as requests, jobs or the disk go on.
std::vector<std::uint64_t> what_moves(const engine::Snapshot& seen) {
  std::vector<std::uint64_t> all{seen.running,
                                 seen.queued,
                                 seen.pool.blocks_cached,
                                 seen.store.blocks,
                                 seen.store.stored_blocks,
                                 seen.store.written_bytes,
                                 seen.store.queued_blocks,
                                 seen.store.read_blocks,
                                 seen.store.refused_blocks,
                                 seen.store.missed_reads};
  for (const engine::JobInfo& job : seen.jobs) all.push_back(job.blocks_done + (job.done ? 1 : 0));
  return all;
}

std::string fresh_folder() {
  static std::atomic<int> next{0};
  const std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                       ("larder_engine_" + std::to_string(getpid()) + "_" + std::to_string(next++));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder.string();
}

}  // namespace

EngineRig::EngineRig(EngineRigOptions options)
    : options_(std::move(options)),
      folder_(fresh_folder()),
      model_path_(folder_ + "/stories260K.gguf"),
      knobs_(std::make_shared<FakeDeviceKnobs>()) {
  copy_model(std::string(LARDER_TEST_DATA) + "/models-tiny/stories260K-f32.gguf", model_path_, options_);
  open();
}

EngineRig::~EngineRig() {
  knobs_->release();
  engine_.reset();
  std::filesystem::remove_all(folder_);
}

void EngineRig::open() {
  engine::EngineOptions options;
  options.data_dir = folder_ + "/data";
  options.packs_dir = options_.packs_dir;
  options.overrides = options_.settings;
  options.hash_weights = options_.hash_weights;
  options.open_disk = options_.open_disk;
  options.read_memory = options_.read_memory;
  options.clock = options_.clock;
  const auto named = [&](const char* key) {
    for (const auto& [name, value] : options.overrides) {
      if (name == key) return true;
    }
    return false;
  };
  if (!named("store.mode")) options.overrides.emplace_back("store.mode", options_.store ? "on" : "off");
  if (!named("pool.bytes")) options.overrides.emplace_back("pool.bytes", "33554432");
  if (!named("engine.threads")) options.overrides.emplace_back("engine.threads", "2");
  if (!options_.cpu) {
    options.make_executor = [knobs = knobs_, fake = options_.fake](
                                std::shared_ptr<const model::Model> model, exec::ExecutorOptions executor,
                                exec::StepDone done) -> Result<std::unique_ptr<exec::Executor>> {
      return std::unique_ptr<exec::Executor>(
          std::make_unique<FakeDevice>(model->config(), executor, fake, knobs, std::move(done)));
    };
  }
  auto opened = engine::Engine::open(std::move(options));
  if (!opened.ok()) invariant_failed(to_string(opened.error()).c_str(), __FILE__, __LINE__);
  engine_ = std::move(opened).value();
  if (!options_.load_model) return;
  const auto loaded = perform(admin(), engine::LoadModel{model_path_});
  if (!loaded.ok()) invariant_failed(to_string(loaded.error()).c_str(), __FILE__, __LINE__);
}

void EngineRig::reopen() {
  engine_.reset();
  open();
}

std::string EngineRig::add_model(const std::string& stem, std::uint32_t n_context) {
  EngineRigOptions changed = options_;
  changed.n_context = n_context;
  std::string path = folder_ + "/" + stem + ".gguf";
  copy_model(std::string(LARDER_TEST_DATA) + "/models-tiny/stories260K-f16.gguf", path, changed);
  return path;
}

engine::Principal EngineRig::tenant(const std::string& name, bool is_admin) {
  const auto made = perform(admin(), engine::CreateTenant{name, 0});
  INVARIANT(made.ok());
  const auto key = perform(admin(), engine::CreateKey{made->tenant, "test", is_admin, true});
  INVARIANT(key.ok());
  auto principal = engine_->authenticate(key->secret);
  INVARIANT(principal.ok());
  return std::move(principal).value();
}

engine::Request EngineRig::text_request(const std::string& text, std::uint32_t max_tokens) {
  engine::Request request;
  request.prompt = engine::TextPrompt{text};
  request.max_tokens = max_tokens;
  request.sampling.temperature = 0;
  request.sampling.logprobs = true;
  request.sampling.top_logprobs = 5;
  request.ignore_eos = true;
  return request;
}

engine::Request EngineRig::chat_request(const std::string& system, const std::vector<std::string>& turns,
                                        std::uint32_t max_tokens) {
  engine::Request request = text_request("", max_tokens);
  engine::ChatPrompt chat;
  const auto say = [&](const char* role, const std::string& text) {
    engine::ChatMessage message;
    message.role = role;
    message.content = text;
    chat.messages.push_back(std::move(message));
  };
  if (!system.empty()) say("system", system);
  for (std::size_t i = 0; i < turns.size(); ++i) say(i % 2 == 0 ? "user" : "assistant", turns[i]);
  request.prompt = std::move(chat);
  return request;
}

engine::Request EngineRig::token_request(std::vector<Token> tokens, std::uint32_t max_tokens) {
  engine::Request request = text_request("", max_tokens);
  request.prompt = engine::TokenPrompt{std::move(tokens)};
  return request;
}

std::shared_ptr<engine::TokenStream> EngineRig::submit(const engine::Principal& who, engine::Request request) {
  auto stream = engine_->submit(who, std::move(request));
  if (!stream.ok()) invariant_failed(to_string(stream.error()).c_str(), __FILE__, __LINE__);
  return std::move(stream).value();
}

Collected EngineRig::collect(engine::TokenStream& stream) {
  Collected all;
  const auto choice = [&](std::uint32_t index) {
    if (all.texts.size() <= index) {
      all.texts.resize(index + 1);
      all.tokens.resize(index + 1);
      all.logprobs.resize(index + 1);
      all.reasons.resize(index + 1);
    }
  };
  while (true) {
    std::optional<engine::StreamEvent> event = stream.next(60'000);
    if (!event) return all;
    if (auto* started = std::get_if<engine::Started>(&*event)) all.started = std::move(*started);
    if (auto* piece = std::get_if<engine::Piece>(&*event)) {
      choice(piece->choice);
      all.texts[piece->choice] += piece->text;
      for (const engine::TokenText& token : piece->tokens) {
        all.tokens[piece->choice].push_back(token.token);
        all.logprobs[piece->choice].push_back(token.logprob);
        for (const auto& other : token.top) all.logprobs[piece->choice].push_back(other.second);
      }
    }
    if (auto* done = std::get_if<engine::ChoiceDone>(&*event)) {
      choice(done->choice);
      all.reasons[done->choice] = done->reason;
    }
    if (auto* finished = std::get_if<engine::Finished>(&*event)) {
      all.finished = std::move(*finished);
      return all;
    }
    if (auto* error = std::get_if<Error>(&*event)) {
      all.error = std::move(*error);
      return all;
    }
  }
}

Collected EngineRig::ask(const engine::Principal& who, engine::Request request) {
  return collect(*submit(who, std::move(request)));
}

Result<engine::VerbResult> EngineRig::perform(const engine::Principal& who, engine::Verb verb) {
  auto promise = std::make_shared<std::promise<Result<engine::VerbResult>>>();
  auto future = promise->get_future();
  engine_->perform(who, std::move(verb),
                   [promise](Result<engine::VerbResult> result) { promise->set_value(std::move(result)); });
  if (future.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
    return Error{ErrorCode::kDeadlineExceeded, "the verb was not answered within a minute", ""};
  }
  return future.get();
}

std::shared_ptr<const engine::Snapshot> EngineRig::fresh(const engine::Principal& who, std::uint64_t since) {
  const std::uint64_t before = engine_->snapshot(who, 0)->epoch;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (true) {
    // The first one after `before` may have been begun before this call; the second was not.
    auto snapshot = engine_->snapshot(who, since);
    if (snapshot->epoch >= before + 2 || std::chrono::steady_clock::now() > deadline) return snapshot;
    std::this_thread::yield();
  }
}

bool EngineRig::wait_until(const std::function<bool(const engine::Snapshot&)>& seen) {
  using Time = std::chrono::steady_clock;
  const auto begun = Time::now();
  auto moved = begun;
  std::vector<std::uint64_t> last;
  while (Time::now() < std::min(moved + std::chrono::seconds(90), begun + std::chrono::seconds(240))) {
    const auto snapshot = fresh(admin());
    if (seen(*snapshot)) return true;
    std::vector<std::uint64_t> now = what_moves(*snapshot);
    if (now != last) moved = Time::now();
    last = std::move(now);
  }
  return false;
}

bool EngineRig::wait_idle() {
  return wait_until([](const engine::Snapshot& snapshot) {
    return snapshot.running == 0 && snapshot.queued == 0 && snapshot.pool.blocks_in_use == 0;
  });
}

}  // namespace larder::test
