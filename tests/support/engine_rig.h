// SPDX-License-Identifier: Apache-2.0
// EngineRig: a whole engine over a tiny model in a folder of its own, on the fake device or on the processor, with
// short words for what tests do: submit, collect, perform a verb and wait for its answer. Threads: one caller.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/engine/engine.h"
#include "tests/support/fake_device.h"

namespace larder::test {

struct EngineRigOptions {
  bool cpu = false;
  bool load_model = true;
  bool store = false;              // the disk tier, in the rig's folder
  bool chat_template = false;      // adds a small one to the rig's copy of the model
  std::uint32_t n_context = 8192;  // written into the rig's own copy of the model file; the file's own has 512
  std::vector<std::pair<std::string, std::string>> settings;
  std::string packs_dir;
  FakeDeviceOptions fake;
  engine::WeightsHasher hash_weights;  // empty: the real one
  engine::DiskOpener open_disk;        // empty: the real one
  engine::MemoryReader read_memory;    // empty: the real one
  const Clock* clock = nullptr;        // null: the system clock; outlives the rig
};

// One whole answer.
struct Collected {
  std::optional<engine::Started> started;
  std::vector<std::string> texts;          // per choice
  std::vector<std::vector<Token>> tokens;  // per choice, when logprobs were asked for
  std::vector<std::vector<float>> logprobs;
  std::vector<engine::FinishReason> reasons;
  std::optional<engine::Finished> finished;
  std::optional<Error> error;
  bool ok() const { return finished.has_value(); }
};

class EngineRig {
 public:
  explicit EngineRig(EngineRigOptions options = {});
  ~EngineRig();

  engine::Engine& engine() { return *engine_; }
  FakeDeviceKnobs& knobs() { return *knobs_; }
  const std::string& folder() const { return folder_; }
  const std::string& model_path() const { return model_path_; }
  // Closes the engine and opens it again over the same folder, with what options() was changed to.
  void reopen();
  EngineRigOptions& options() { return options_; }

  engine::Principal admin() const { return engine_->local_admin(); }
  // Another model file in the rig's folder, of weights in f16: other bits, other logits. Its path.
  std::string add_model(const std::string& stem, std::uint32_t n_context = 4096);
  // A new tenant's principal, through the verbs and a key.
  engine::Principal tenant(const std::string& name, bool admin = false);

  static engine::Request chat_request(const std::string& system, const std::vector<std::string>& turns,
                                      std::uint32_t max_tokens);
  static engine::Request text_request(const std::string& text, std::uint32_t max_tokens);
  static engine::Request token_request(std::vector<Token> tokens, std::uint32_t max_tokens);
  std::shared_ptr<engine::TokenStream> submit(const engine::Principal& who, engine::Request request);
  Collected collect(engine::TokenStream& stream);
  Collected ask(const engine::Principal& who, engine::Request request);
  Result<engine::VerbResult> perform(const engine::Principal& who, engine::Verb verb);

  // A snapshot made after this call.
  std::shared_ptr<const engine::Snapshot> fresh(const engine::Principal& who, std::uint64_t since = 0);
  // Looks at fresh snapshots until `seen` holds; false when nothing of requests, jobs or the disk moved for 90 s, as
  // long as a disk may need for a sync beside other programs' writes, or after 240 s.
  bool wait_until(const std::function<bool(const engine::Snapshot&)>& seen);
  // Everything ended, no block in use.
  bool wait_idle();

 private:
  void open();

  EngineRigOptions options_;
  std::string folder_;
  std::string model_path_;
  std::shared_ptr<FakeDeviceKnobs> knobs_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace larder::test
