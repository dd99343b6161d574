// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/digest_cache.h"

#include <charconv>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <vector>

#include "runtime/model/digest.h"

namespace larder::model {
namespace {

constexpr std::string_view kHeader = "larder-digests 1";
constexpr std::size_t kMaxLineBytes = 512;

std::uint32_t fnv1a(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

std::string stamp_text(const gguf::FileStamp& stamp) {
  return std::to_string(stamp.device) + ' ' + std::to_string(stamp.inode) + ' ' + std::to_string(stamp.bytes) + ' ' +
         std::to_string(stamp.modified_ns) + ' ' + std::to_string(stamp.changed_ns) + ' ';
}

// Splits "… check" and answers the part before the check when it holds.
std::optional<std::string_view> checked_part(std::string_view line) {
  const std::size_t space = line.rfind(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view check = line.substr(space + 1);
  std::uint32_t stated = 0;
  const auto read = std::from_chars(check.data(), check.data() + check.size(), stated, 16);
  const std::string_view part = line.substr(0, space);
  if (check.size() != 8 || read.ec != std::errc{} || read.ptr != check.data() + 8 || stated != fnv1a(part)) {
    return std::nullopt;
  }
  return part;
}

// Whole lines that hold, without their checks, oldest first.
std::vector<std::string> read_lines(const std::string& cache_path) {
  std::vector<std::string> lines;
  std::ifstream in(cache_path);
  std::string line;
  if (!std::getline(in, line) || line != kHeader) return lines;
  while (lines.size() < kMaxDigestCacheEntries && std::getline(in, line)) {
    if (line.size() > kMaxLineBytes) return lines;
    if (const auto part = checked_part(line)) lines.emplace_back(*part);
  }
  return lines;
}

std::optional<Digest256> parse_digest(std::string_view hex) {
  Digest256 digest;
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const char* const begin = hex.data() + 2 * i;
    const auto read = std::from_chars(begin, begin + 2, digest[i], 16);
    if (read.ec != std::errc{} || read.ptr != begin + 2) return std::nullopt;
  }
  return digest;
}

std::string with_check(const std::string& part) {
  char check[16];
  std::snprintf(check, sizeof check, " %08x\n", static_cast<unsigned>(fnv1a(part)));
  return part + check;
}

}  // namespace

std::optional<Digest256> find_cached_digest(const std::string& cache_path, const gguf::FileStamp& stamp) {
  const std::string wanted = stamp_text(stamp);
  for (const std::string& line : read_lines(cache_path)) {
    if (line.compare(0, wanted.size(), wanted) == 0) {
      return parse_digest(std::string_view(line).substr(wanted.size()));
    }
  }
  return std::nullopt;
}

void store_cached_digest(const std::string& cache_path, const gguf::FileStamp& stamp, const Digest256& digest) {
  const std::string wanted = stamp_text(stamp);
  std::vector<std::string> lines = read_lines(cache_path);
  std::erase_if(lines, [&](const std::string& line) { return line.compare(0, wanted.size(), wanted) == 0; });
  if (lines.size() >= kMaxDigestCacheEntries) lines.erase(lines.begin());
  lines.push_back(wanted + to_hex(digest));
  const std::string fresh_path = cache_path + ".new";
  {
    std::ofstream out(fresh_path, std::ios::trunc);
    out << kHeader << '\n';
    for (const std::string& line : lines) out << with_check(line);
    out.flush();
    if (!out) {
      std::remove(fresh_path.c_str());
      return;
    }
  }
  if (std::rename(fresh_path.c_str(), cache_path.c_str()) != 0) std::remove(fresh_path.c_str());
}

}  // namespace larder::model
