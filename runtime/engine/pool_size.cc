// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/pool_size.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>

namespace larder::engine {
namespace {

constexpr std::uint32_t kLeastBlocks = 8;  // two requests of up to 128 tokens

std::optional<std::uint64_t> read_number(const std::string& path) {
  std::ifstream in(path);
  std::string word;
  if (!(in >> word)) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failed != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::uint64_t meminfo_bytes(const std::string& key) {
  std::ifstream in("/proc/meminfo");
  std::string name;
  std::uint64_t kib = 0;
  std::string unit;
  while (in >> name >> kib) {
    std::getline(in, unit);
    if (name == key + ":") return kib * 1024;
  }
  return 0;
}

}  // namespace

MemoryFacts read_memory_facts() {
  MemoryFacts facts;
  facts.total = meminfo_bytes("MemTotal");
  facts.available = meminfo_bytes("MemAvailable");
  // Control groups version 2, then 1; "max" does not parse and means no limit.
  const std::pair<const char*, const char*> groups[] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  for (const auto& [limit_path, used_path] : groups) {
    const std::optional<std::uint64_t> limit = read_number(limit_path);
    if (!limit || *limit >= facts.total) continue;
    facts.total = *limit;
    const std::uint64_t used = read_number(used_path).value_or(0);
    facts.available = std::min(facts.available, *limit > used ? *limit - used : 0);
  }
  std::ifstream statm("/proc/self/statm");
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;
  if (statm >> resident >> resident >> shared) {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    facts.resident = resident * page;
    facts.own = (resident - std::min(resident, shared)) * page;
  }
  return facts;
}

std::uint64_t default_pool_bytes(const MemoryFacts& memory, std::uint64_t weight_bytes) {
  const std::uint64_t after_weights = memory.available > weight_bytes ? memory.available - weight_bytes : 0;
  return std::min(memory.total / 4, after_weights / 2);
}

bool weights_can_be_packed(const MemoryFacts& memory, std::uint64_t weight_bytes, std::uint64_t pool_bytes) {
  // Packed weights are up to an eighth larger.
  const std::uint64_t packed = weight_bytes + weight_bytes / 8;
  return memory.available > packed && memory.available - packed >= pool_bytes;
}

Result<PoolPlan> plan_pool(const PoolWish& wish) {
  PoolPlan plan;
  plan.blocks = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(wish.pool_bytes / std::max<std::uint64_t>(1, wish.block_bytes), 0x7fffffff));
  if (plan.blocks < kLeastBlocks) {
    return Error{ErrorCode::kResourceExhausted,
                 "the pool of " + std::to_string(wish.pool_bytes) + " bytes holds " + std::to_string(plan.blocks) +
                     " blocks of " + std::to_string(wish.block_bytes) + " bytes and needs at least " +
                     std::to_string(kLeastBlocks) + ": raise pool.bytes, or free memory",
                 "pool.bytes"};
  }
  const std::uint64_t half = std::uint64_t{plan.blocks / 2} * kernels::kBlockTokens;
  plan.max_request_tokens =
      static_cast<std::uint32_t>(std::min({half, std::uint64_t{wish.model_context}, std::uint64_t{wish.max_tokens}}));
  return plan;
}

}  // namespace larder::engine
