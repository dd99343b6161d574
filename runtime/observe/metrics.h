// SPDX-License-Identifier: Apache-2.0
// Metrics: counters and gauges named larder_*, and their Prometheus text. Counters only grow; a scrape never waits for
// the engine thread.
// Bounds:   labels come from closed sets, but for tenants: the first kMaxTenantLabels by id, all further ones are
//           "other". No label ever holds prompt text or a key.
// Threads:  any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace larder::observe {

inline constexpr std::size_t kMaxTenantLabels = 64;

struct DoneRequest {
  std::uint32_t tenant = 0;
  std::string_view verdict;  // verdict_name
  std::string_view outcome;  // "done", "cancelled", "failed"
  std::uint32_t prompt_tokens = 0;
  std::uint32_t cached_tokens = 0;
  std::uint32_t completion_tokens = 0;
  double saved_s = 0;
  double first_token_s = -1;
  bool warm = false;
};

struct Levels {
  std::uint32_t blocks_total = 0, blocks_free = 0, blocks_cached = 0, blocks_in_use = 0, blocks_pinned = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t evicted_blocks = 0;  // since the pool was made
  std::uint32_t running = 0, queued = 0;
  std::uint64_t prefill_rows = 0, decode_rows = 0, steps = 0;  // since the model was loaded
  double prefill_tokens_per_s = 0;
  std::uint64_t resident_bytes = 0;
  bool ready = false;
};

class Metrics {
 public:
  explicit Metrics(std::string_view version);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void request_done(const DoneRequest& request);
  void request_refused(std::string_view code);  // error_code_name
  void promise_broken();  // what was brought up was not reused
  void set_levels(const Levels& levels);
  std::string text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace larder::observe
