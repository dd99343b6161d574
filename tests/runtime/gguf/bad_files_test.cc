// SPDX-License-Identifier: Apache-2.0
// The bad-file campaign: 2,000 full-length files that each have one bad field or byte range, and 50 that are unusual
// but right, all made from stories260K and loaded as the engine loads a model.
#include <gtest/gtest.h>
#include <time.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "runtime/engine/vocab_from_gguf.h"
#include "runtime/gguf/file.h"
#include "runtime/model/model.h"
#include "runtime/tokenizer/tokenizer.h"
#include "test_paths.h"
#include "tests/runtime/gguf/spoil.h"
#include "tests/support/gguf_writer.h"

namespace larder::test {
namespace {

constexpr std::size_t kBadFiles = 2000;
constexpr double kMaxMs = 100;

Status load(const std::string& path) {
  ASSIGN_OR_RETURN(const auto model, model::Model::load(path, {}));
  ASSIGN_OR_RETURN(auto vocab, engine::read_vocab(model->file()));
  ASSIGN_OR_RETURN(const auto tokenizer, tokenizer::Tokenizer::create(std::move(vocab)));
  return {};
}

GgufWriter stories(const char* kind = "f32") {
  auto file = gguf::File::open(std::string(LARDER_TEST_DATA "/models-tiny/stories260K-") + kind + ".gguf");
  EXPECT_TRUE(file.ok());
  return GgufWriter::from(**file);
}

// One file that is spoiled and mended in place; nothing maps it in between.
class WorkFile {
 public:
  explicit WorkFile(const GgufImage& good) : path_(testing::TempDir() + "bad_files_test.gguf"), good_(good) {
    EXPECT_TRUE(good.save(path_));
  }
  ~WorkFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }
  void put(std::uint64_t offset, std::span<const std::byte> bytes) {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.flush();
    EXPECT_TRUE(file.good());
  }
  void mend(const Spoil& spoil) { put(spoil.offset, std::span(good_.bytes).subspan(spoil.offset, spoil.bytes.size())); }

 private:
  std::string path_;
  const GgufImage& good_;
};

// Processor time of this thread: other programs on the machine must not decide this test.
double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

bool typed(ErrorCode code) {
  return code == ErrorCode::kCorrupt || code == ErrorCode::kUnsupported || code == ErrorCode::kInvalidArgument ||
         code == ErrorCode::kNotFound;
}

TEST(BadFiles, TwoThousandFilesWithOneBadFieldAreRefusedInTime) {
  const GgufImage good = stories().build();
  WorkFile file(good);
  ASSERT_TRUE(load(file.path()).ok());
  Rng rng(2024);
  std::set<std::pair<std::uint64_t, std::vector<std::byte>>> seen;
  std::map<ErrorCode, std::size_t> codes;
  double slowest_ms = 0;
  for (std::size_t i = 0; seen.size() < kBadFiles; ++i) {
    const Spoil spoil = make_spoil(i % spoil_kinds(), good, rng);
    if (!seen.emplace(spoil.offset, spoil.bytes).second) continue;
    file.put(spoil.offset, spoil.bytes);
    const double begin = thread_ms();
    const Status status = load(file.path());
    const double took_ms = thread_ms() - begin;
    file.mend(spoil);
    slowest_ms = std::max(slowest_ms, took_ms);
    ASSERT_FALSE(status.ok()) << "file " << i << " loads: " << spoil.what << " at byte " << spoil.offset;
    EXPECT_TRUE(typed(status.error().code)) << spoil.what << ": " << to_string(status.error());
    EXPECT_FALSE(status.error().message.empty());
    EXPECT_LE(took_ms, kMaxMs) << spoil.what;
    ++codes[status.error().code];
  }
  EXPECT_TRUE(load(file.path()).ok());
  std::printf("%zu bad files of %zu kinds refused, slowest %.2f ms of processor time;", seen.size(), spoil_kinds(),
              slowest_ms);
  for (const auto& [code, count] : codes) std::printf(" %s %zu", std::string(error_code_name(code)).c_str(), count);
  std::printf("\n");
}

struct Variant {
  std::string what;
  GgufImage image;
};

class Variants {
 public:
  void add(std::string what, const std::function<void(GgufWriter&)>& change, const char* kind = "f32") {
    GgufWriter writer = stories(kind);
    change(writer);
    all_.push_back({std::move(what), writer.build()});
  }
  const std::vector<Variant>& all() const { return all_; }

 private:
  std::vector<Variant> all_;
};

void add_layouts(Variants& variants) {
  for (const char* kind : {"f32", "f16"}) {
    for (const std::uint64_t alignment : {8u, 16u, 64u, 256u, 4096u, 1u << 16}) {
      variants.add(
          "alignment " + std::to_string(alignment), [&](GgufWriter& w) { w.set_alignment(alignment); }, kind);
    }
    variants.add(
        "as it is", [](GgufWriter&) {}, kind);
    variants.add(
        "version 2", [](GgufWriter& w) { w.set_version(2); }, kind);
    variants.add(
        "reversed data", [](GgufWriter& w) { w.set_layout(true, 0); }, kind);
    variants.add(
        "gaps", [](GgufWriter& w) { w.set_layout(false, 100); }, kind);
    variants.add(
        "reversed data, gaps", [](GgufWriter& w) { w.set_layout(true, 5000); }, kind);
    variants.add(
        "reversed keys", [](GgufWriter& w) { w.reverse_entries(); }, kind);
  }
}

void add_widths(Variants& variants) {
  variants.add("u8", [](GgufWriter& w) { w.set_u8("llama.block_count", 5); });
  variants.add("u16", [](GgufWriter& w) { w.set_u16("llama.embedding_length", 64); });
  variants.add("i32", [](GgufWriter& w) { w.set_i32("llama.attention.head_count", 8); });
  variants.add("u64", [](GgufWriter& w) { w.set_u64("llama.context_length", 512); });
  variants.add("i64", [](GgufWriter& w) { w.set_i64("llama.feed_forward_length", 172); });
  variants.add("f64", [](GgufWriter& w) { w.set_f64("llama.attention.layer_norm_rms_epsilon", 1e-5); });
  variants.add("u64 id", [](GgufWriter& w) { w.set_u64("tokenizer.ggml.bos_token_id", 1); });
  variants.add("counts by layer", [](GgufWriter& w) {
    w.set_u32_array("llama.attention.head_count_kv", std::vector<std::uint32_t>(5, 4));
    w.set_i32_array("llama.feed_forward_length", std::vector<std::int32_t>(5, 172));
  });
  variants.add("no id is all bits set",
               [](GgufWriter& w) { w.set_u32("tokenizer.ggml.padding_token_id", 0xffffffffu); });
}

void add_missing(Variants& variants) {
  for (const char* key :
       {"general.name", "general.license", "general.file_type", "llama.rope.dimension_count", "llama.rope.freq_base",
        "llama.vocab_size", "tokenizer.ggml.pre", "tokenizer.ggml.add_bos_token", "tokenizer.ggml.token_type"}) {
    variants.add(std::string("without ") + key, [&](GgufWriter& w) { w.remove(key); });
  }
  variants.add("tied embedding", [](GgufWriter& w) { w.remove_tensor("output.weight"); });
}

void add_additions(Variants& variants) {
  variants.add("a string of 1 MiB", [](GgufWriter& w) { w.set_string("x.text", std::string(1 << 20, 'x')); });
  variants.add("an empty array", [](GgufWriter& w) { w.set_string_array("x.none", {}); });
  variants.add("a name in Unicode", [](GgufWriter& w) { w.set_string("general.name", "Modello così \xE2\x9C\x93"); });
  variants.add("a thousand unknown keys", [](GgufWriter& w) {
    for (int i = 0; i < 1000; ++i) w.set_bool("x." + std::to_string(i), i % 2 == 0);
  });
  variants.add("one part of one", [](GgufWriter& w) { w.set_u16("split.count", 1); });
  variants.add("RoPE divisors",
               [](GgufWriter& w) { w.add_f32("rope_freqs.weight", {4}, std::vector<float>(4, 1.0f)); });
  variants.add("linear RoPE", [](GgufWriter& w) {
    w.set_string("llama.rope.scaling.type", "linear");
    w.set_f32("llama.rope.scaling.factor", 2.0f);
  });
}

TEST(BadFiles, FiftyUnusualFilesLoad) {
  Variants variants;
  add_layouts(variants);
  add_widths(variants);
  add_missing(variants);
  add_additions(variants);
  ASSERT_EQ(variants.all().size(), 50u);
  const std::string path = testing::TempDir() + "good_files_test.gguf";
  for (const Variant& variant : variants.all()) {
    ASSERT_TRUE(variant.image.save(path));
    const Status status = load(path);
    EXPECT_TRUE(status.ok()) << variant.what << ": " << to_string(status.error());
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace larder::test
