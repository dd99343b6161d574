// SPDX-License-Identifier: Apache-2.0
// Engine: the front door of the runtime. Embeds everything between a prompt and its tokens: preparation, prefix tree,
// pool, scheduler, executor, tenants. larderd, the window and the tests hold one of these and nothing below it.
// What it is not: it speaks no HTTP, no JSON and no Qt, and it writes no sentence for people.
// Threads:  every method from any thread; none blocks on the engine thread or on a model. Callbacks run on the engine
//           thread and must return at once.
// Owns:     the engine thread, the preparation pool (2 threads), the loader, clerk and hasher threads, the data
//           folder's lock.
// Errors:   as Result; codes as in runtime/base/result.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/result.h"
#include "runtime/engine/pool_size.h"
#include "runtime/engine/request.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/token_stream.h"
#include "runtime/engine/verbs.h"
#include "runtime/exec/executor.h"

namespace larder::gguf {
class File;
}
namespace larder::model {
struct DigestOptions;
}
namespace larder::settings {
class Settings;
}
namespace larder::storage {
class Disk;
}

namespace larder::engine {

using ExecutorFactory = std::function<Result<std::unique_ptr<exec::Executor>>(std::shared_ptr<const model::Model>,
                                                                              exec::ExecutorOptions, exec::StepDone)>;

using DiskOpener = std::function<Result<std::unique_ptr<storage::Disk>>()>;

using MemoryReader = std::function<MemoryFacts()>;

using WeightsHasher = std::function<Result<Digest256>(const gguf::File&, const model::DigestOptions&)>;

struct EngineOptions {
  std::string data_dir;                                        // created when missing; locked while the engine lives
  std::string packs_dir;                                       // resources/packs, read only
  std::string model_path;                                      // loaded in the background after open; empty: none
  std::vector<std::pair<std::string, std::string>> overrides;  // --set KEY=VALUE
  const Clock* clock = nullptr;                                // null: the system clock; outlives the engine
  ExecutorFactory make_executor;                               // empty: CUDA where usable, else CPU
  WeightsHasher hash_weights;                                  // empty: model::weights_digest
  DiskOpener open_disk;                                        // of the disk tier; empty: io_uring, else threads
  MemoryReader read_memory;                                    // empty: /proc and the control group
};

class Engine {
 public:
  // Errors: kIo, kConflict (another process holds the folder), kCorrupt (newer or damaged keyring), kInvalidArgument
  // (a setting). Returns before the model is loaded; watch ModelInfo::state.
  static Result<std::unique_ptr<Engine>> open(EngineOptions options);
  ~Engine();  // cancels what runs, seals, closes; within 5 s

  // Answers a stream at once; a refusal (unknown model, queue full, too long) is its only event or an error here. A
  // request that names no model goes to the one loaded last.
  // Errors: kNotFound (model), kUnavailable (still loading), kResourceExhausted (queue full), kInvalidArgument.
  Result<std::shared_ptr<TokenStream>> submit(const Principal& who, Request request);

  // `done` is called once. The window and HTTP use the same verbs.
  void perform(const Principal& who, Verb verb, std::function<void(Result<VerbResult>)> done);

  // The newest snapshot, as `who` may see it; asks the engine thread for a fresh one (at most 10 a second) and never
  // waits for it. since: epoch of the caller's last one, 0 for all.
  std::shared_ptr<const Snapshot> snapshot(const Principal& who, std::uint64_t since);

  // Errors: kUnauthorized. An empty key is the tenant `local` when api.keyless_loopback is set, else kUnauthorized.
  Result<Principal> authenticate(std::string_view key) const;
  // The admin who sits at this machine's window.
  Principal local_admin() const;

  // Tokens and text with the model loaded last, without running it (counts, tools). On the caller's thread.
  Result<std::vector<Token>> tokenize(std::string_view text, bool parse_special) const;
  Result<std::uint32_t> count_chat_tokens(const ChatPrompt& prompt) const;

  const settings::Settings& settings() const;
  // Prometheus text of all counters (observe), as an admin sees it.
  std::string metrics_text() const;
  bool ready() const;  // a model is loaded and answers
  // Tells whoever asks the data folder's socket where this engine is served (http://ADDR:PORT; empty: nowhere).
  void announce(std::string_view url);

 private:
  class Core;
  explicit Engine(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace larder::engine
