// SPDX-License-Identifier: Apache-2.0
// Turns: which model's step is next where several models share a device. It sees only what each has to do and what the
// last steps did; a model's own Scheduler decides what its step holds.
// Rules:    after a step with prompt rows every model that writes answers comes first, with those alone where others
//           write too; then one model's prompt rows have their turn, the model first that had it longest ago. While
//           others write answers, a model's prompt rows keep to the step time as beside its own.
// Ensures:  between two rows of an answer lies at most one step with prompt rows, of whichever model, and one step of
//           answers of each other model. A model that is alone is left to itself.
// Bounds:   two numbers per model.    Threads: engine thread.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/base/ids.h"

namespace larder::sched {

// What a model has to do.
struct Demand {
  bool decodes = false;   // answers whose readers read
  bool prefills = false;  // prompt rows, or somebody in its queue
};

struct Contender {
  ModelId model{};
  Demand demand;
  bool admits = true;
};

// How a model's step is to be built.
struct Turn {
  bool others_decode = false;  // prompt rows keep to the step time
  bool decode_only = false;    // no prompt rows in this one
  bool admits = true;          // else nobody leaves its queue now
};

struct ModelTurn {
  ModelId model{};
  Turn turn;
};

class Turns {
 public:
  // In the order in which they are to be tried, until one has a step; a model may be named twice.
  std::vector<ModelTurn> order(std::span<const Contender> contenders) const;
  // The model's step was handed out, with rows of these kinds.
  void ran(ModelId model, Demand rows);
  void forget(ModelId model) { last_.erase(model); }

 private:
  struct Last {
    std::uint64_t decoded = 0;    // the step, counted over all models
    std::uint64_t prefilled = 0;
  };
  Last last_of(ModelId model) const;

  std::unordered_map<ModelId, Last> last_;
  std::uint64_t step_ = 0;
  std::uint64_t last_prefill_ = 0;  // of any model
};

}  // namespace larder::sched
