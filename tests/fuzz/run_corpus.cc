// SPDX-License-Identifier: Apache-2.0
// Runs a fuzzer's entry point over every file of the folders given, and over each file cut short and with bytes
// changed, where there is no libFuzzer. Fails when a folder holds nothing.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "runtime/base/rng.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kChangesPerFile = 200;

std::size_t run(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  larder::Rng rng(bytes.size());
  std::vector<std::uint8_t> changed;
  for (int i = 0; i < kChangesPerFile && !bytes.empty(); ++i) {
    changed.assign(bytes.begin(), bytes.end());
    for (std::uint64_t n = 1 + rng.below(4); n > 0; --n) {
      changed[rng.below(changed.size())] = static_cast<std::uint8_t>(rng.next());
    }
    if (rng.below(4) == 0) changed.resize(rng.below(changed.size()));
    LLVMFuzzerTestOneInput(changed.data(), changed.size());
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) files += run(path);
  }
  std::printf("%zu files of the corpus, %d changes of each\n", files, kChangesPerFile);
  return files == 0 ? 1 : 0;
}
