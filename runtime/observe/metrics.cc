// SPDX-License-Identifier: Apache-2.0
#include "runtime/observe/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <set>

#include "runtime/base/mutex.h"

namespace larder::observe {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

const prometheus::Histogram::BucketBoundaries kFirstTokenBuckets{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                                                 1,     2.5,  5,     10,   30,  60};

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;
  Family<Counter>& requests;
  Family<Counter>& refused;
  Family<Counter>& tokens;
  Family<Counter>& saved;
  Family<Counter>& rows;
  Counter& steps;
  Counter& evicted;
  Counter& promises;
  Family<Histogram>& first_token;
  Family<Gauge>& blocks;
  Family<Gauge>& gauges;
  Mutex mutex;
  std::set<std::uint32_t> tenants GUARDED_BY(mutex);
  Levels last GUARDED_BY(mutex);

  Families()
      : requests(counter("larder_requests_total", "Requests that ended, by tenant, verdict and outcome")),
        refused(counter("larder_requests_refused_total", "Requests refused before they were queued, by error code")),
        tokens(counter("larder_tokens_total", "Tokens, by tenant and kind (prompt, cached, completion)")),
        saved(counter("larder_saved_seconds_total", "Prefill time saved by reuse, at the measured rate, by tenant")),
        rows(counter("larder_rows_total", "Rows computed, by phase")),
        steps(counter("larder_steps_total", "Steps run").Add({})),
        evicted(counter("larder_evicted_blocks_total", "Blocks that gave way to others").Add({})),
        promises(counter("larder_broken_promises_total", "KV brought up of which the next request reused under half")
                     .Add({})),
        first_token(prometheus::BuildHistogram()
                        .Name("larder_time_to_first_token_seconds")
                        .Help("From submission to the first token, warm (something was reused) and cold apart")
                        .Register(registry)),
        blocks(gauge("larder_blocks", "Blocks of the pool, by state")),
        gauges(gauge("larder_level", "Other levels, by name")) {}

  Family<Counter>& counter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  Family<Gauge>& gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  }
  std::string tenant_label(std::uint32_t tenant) {
    MutexLock lock(mutex);
    if (tenants.count(tenant) == 0) {
      if (tenants.size() >= kMaxTenantLabels) return "other";
      tenants.insert(tenant);
    }
    return std::to_string(tenant);
  }
};

Metrics::Metrics(std::string_view version) : families_(std::make_unique<Families>()) {
  families_->gauge("larder_build_info", "1, with the version as a label")
      .Add({{"version", std::string(version)}})
      .Set(1);
}

Metrics::~Metrics() = default;

void Metrics::request_done(const DoneRequest& request) {
  Families& f = *families_;
  const std::string tenant = f.tenant_label(request.tenant);
  f.requests
      .Add({{"tenant", tenant}, {"verdict", std::string(request.verdict)}, {"outcome", std::string(request.outcome)}})
      .Increment();
  f.tokens.Add({{"tenant", tenant}, {"kind", "prompt"}}).Increment(request.prompt_tokens);
  f.tokens.Add({{"tenant", tenant}, {"kind", "cached"}}).Increment(request.cached_tokens);
  f.tokens.Add({{"tenant", tenant}, {"kind", "completion"}}).Increment(request.completion_tokens);
  f.saved.Add({{"tenant", tenant}}).Increment(request.saved_s);
  if (request.first_token_s < 0) return;
  f.first_token.Add({{"start", request.warm ? "warm" : "cold"}}, kFirstTokenBuckets).Observe(request.first_token_s);
}

void Metrics::promise_broken() { families_->promises.Increment(); }

void Metrics::request_refused(std::string_view code) {
  families_->refused.Add({{"code", std::string(code)}}).Increment();
}

void Metrics::set_levels(const Levels& now) {
  Families& f = *families_;
  f.blocks.Add({{"state", "total"}}).Set(now.blocks_total);
  f.blocks.Add({{"state", "free"}}).Set(now.blocks_free);
  f.blocks.Add({{"state", "cached"}}).Set(now.blocks_cached);
  f.blocks.Add({{"state", "in_use"}}).Set(now.blocks_in_use);
  f.blocks.Add({{"state", "pinned"}}).Set(now.blocks_pinned);
  f.gauges.Add({{"name", "block_bytes"}}).Set(static_cast<double>(now.block_bytes));
  f.gauges.Add({{"name", "running"}}).Set(now.running);
  f.gauges.Add({{"name", "queued"}}).Set(now.queued);
  f.gauges.Add({{"name", "prefill_tokens_per_second"}}).Set(now.prefill_tokens_per_s);
  f.gauges.Add({{"name", "resident_bytes"}}).Set(static_cast<double>(now.resident_bytes));
  f.gauges.Add({{"name", "ready"}}).Set(now.ready ? 1 : 0);
  MutexLock lock(f.mutex);
  // Sums restart with a new pool or model; a counter goes on.
  const auto grown = [](std::uint64_t then, std::uint64_t total) {
    return static_cast<double>(total >= then ? total - then : total);
  };
  f.evicted.Increment(grown(f.last.evicted_blocks, now.evicted_blocks));
  f.steps.Increment(grown(f.last.steps, now.steps));
  f.rows.Add({{"phase", "prefill"}}).Increment(grown(f.last.prefill_rows, now.prefill_rows));
  f.rows.Add({{"phase", "decode"}}).Increment(grown(f.last.decode_rows, now.decode_rows));
  f.last = now;
}

std::string Metrics::text() const { return prometheus::TextSerializer().Serialize(families_->registry.Collect()); }

}  // namespace larder::observe
