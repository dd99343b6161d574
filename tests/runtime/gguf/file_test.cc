// SPDX-License-Identifier: Apache-2.0
#include "runtime/gguf/file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "test_paths.h"
#include "tests/support/gguf_writer.h"

namespace larder::gguf {
namespace {

using test::GgufField;
using test::GgufImage;
using test::GgufWriter;

std::string stories(const char* kind) {
  return std::string(LARDER_TEST_DATA "/models-tiny/stories260K-") + kind + ".gguf";
}

GgufWriter small_writer() {
  GgufWriter writer;
  writer.set_string("general.architecture", "llama");
  writer.set_u32("llama.block_count", 2);
  writer.set_f32("eps", 1e-5f);
  writer.set_bool("flag", true);
  const std::vector<std::string> words{"a", "bc", ""};
  writer.set_string_array("words", words);
  const std::vector<float> first(64, 1.5f);
  writer.add_f32("first", {16, 4}, first);
  writer.add_f32("second", {8}, std::vector<float>(8, 2.0f));
  return writer;
}

Result<std::shared_ptr<const File>> parse(const GgufImage& image) { return File::parse(image.bytes, "test"); }

// The error of an image that must be refused.
Error refusal(const GgufImage& image) {
  auto file = parse(image);
  EXPECT_FALSE(file.ok());
  return file.ok() ? Error{} : file.error();
}

void expect_refused(const GgufImage& image, ErrorCode code, std::string_view part) {
  const Error error = refusal(image);
  EXPECT_EQ(error.code, code) << to_string(error);
  EXPECT_NE(error.message.find(part), std::string::npos) << to_string(error);
  EXPECT_NE(error.message.find("byte "), std::string::npos) << to_string(error);
}

TEST(GgufFile, OpensARealModelAndReadsItsKeys) {
  auto file = File::open(stories("f32"));
  ASSERT_TRUE(file.ok()) << to_string(file.error());
  const File& model = **file;
  EXPECT_EQ(model.version(), 3u);
  EXPECT_EQ(model.tensors().size(), 48u);
  EXPECT_EQ(model.find_string("general.architecture").value(), "llama");
  EXPECT_EQ(model.find_u32("llama.block_count").value(), 5u);
  EXPECT_EQ(model.find_string_array("tokenizer.ggml.tokens").value().size(), 512u);
  EXPECT_EQ(model.find_f32_array("tokenizer.ggml.scores").value().size(), 512u);
  EXPECT_EQ(model.find_i32_array("tokenizer.ggml.token_type").value().size(), 512u);
  EXPECT_EQ(model.stamp().bytes, std::filesystem::file_size(stories("f32")));
}

TEST(GgufFile, TensorsLieWhereTheTableSaysWithRowsFirst) {
  auto file = File::open(stories("f16"));
  ASSERT_TRUE(file.ok()) << to_string(file.error());
  const TensorInfo* tensor = (*file)->find_tensor("token_embd.weight");
  ASSERT_NE(tensor, nullptr);
  EXPECT_TRUE(tensor->supported());
  EXPECT_EQ(tensor->type(), kernels::WeightType::kF16);
  EXPECT_EQ(tensor->n_dims, 2u);
  EXPECT_EQ(tensor->dims[0], 64u);
  EXPECT_EQ(tensor->dims[1], 512u);
  EXPECT_EQ((*file)->tensor_bytes(*tensor).size(), 64u * 512u * 2u);
  EXPECT_EQ((*file)->find_tensor("no.such"), nullptr);
}

TEST(GgufFile, IntegersOfEveryWidthAreReadAndRangeChecked) {
  GgufWriter writer;
  writer.set_u8("u8", 200);
  writer.set_u16("u16", 65'535);
  writer.set_i32("i32", 7);
  writer.set_i32("negative", -1);
  writer.set_u64("u64", 1u << 20);
  writer.set_u64("huge", std::uint64_t{1} << 40);
  writer.set_i64("i64", 9);
  const GgufImage image = writer.build();
  auto file = parse(image);
  ASSERT_TRUE(file.ok()) << to_string(file.error());
  EXPECT_EQ((*file)->find_u32("u8").value(), 200u);
  EXPECT_EQ((*file)->find_u32("u16").value(), 65'535u);
  EXPECT_EQ((*file)->find_u32("i32").value(), 7u);
  EXPECT_EQ((*file)->find_u32("u64").value(), 1u << 20);
  EXPECT_EQ((*file)->find_u64("huge").value(), std::uint64_t{1} << 40);
  EXPECT_EQ((*file)->find_u32("i64").value(), 9u);
  const auto negative = (*file)->find_u32("negative");
  ASSERT_FALSE(negative.ok());
  EXPECT_EQ(negative.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(negative.error().message.find("'negative' is i32 -1"), std::string::npos) << negative.error().message;
  const auto huge = (*file)->find_u32("huge");
  ASSERT_FALSE(huge.ok());
  EXPECT_NE(huge.error().message.find("1099511627776"), std::string::npos) << huge.error().message;
}

TEST(GgufFile, AMissingKeyIsNamedAndAFallbackReplacesOnlyAMissingOne) {
  const GgufImage image = small_writer().build();
  auto file = parse(image);
  ASSERT_TRUE(file.ok()) << to_string(file.error());
  EXPECT_EQ((*file)->find_u32("absent").error().code, ErrorCode::kNotFound);
  EXPECT_NE((*file)->find_u32("absent").error().message.find("'absent'"), std::string::npos);
  EXPECT_EQ((*file)->find_u32("absent", 5).value(), 5u);
  EXPECT_EQ((*file)->find_string("absent", "x").value(), "x");
  EXPECT_EQ((*file)->find_u32("eps", 5).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ((*file)->find_bool("llama.block_count", true).error().code, ErrorCode::kInvalidArgument);
  EXPECT_FLOAT_EQ((*file)->find_f32("eps", 1.0f).value(), 1e-5f);
}

TEST(GgufFile, FloatsThatAreNotFiniteAreRefused) {
  GgufWriter writer;
  writer.set_f32("nan", std::numeric_limits<float>::quiet_NaN());
  writer.set_f64("big", 1e300);
  writer.set_f64("fine", 0.5);
  const GgufImage image = writer.build();
  auto file = parse(image);
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE((*file)->find_f32("nan").ok());
  EXPECT_FALSE((*file)->find_f32("big").ok());
  EXPECT_EQ((*file)->find_f32("fine").value(), 0.5f);
}

TEST(GgufFile, ArraysOfAnotherItemTypeAreRefused) {
  const GgufImage image = small_writer().build();
  auto file = parse(image);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->find_string_array("words").value(), (std::vector<std::string>{"a", "bc", ""}));
  EXPECT_EQ((*file)->find_i32_array("words").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ((*file)->find_f32_array("words").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ((*file)->find_string_array("eps").error().code, ErrorCode::kInvalidArgument);
}

TEST(GgufFile, VersionTwoLoadsAndOthersAreRefusedByName) {
  GgufWriter writer = small_writer();
  writer.set_version(2);
  const GgufImage second = writer.build();
  EXPECT_TRUE(parse(second).ok());
  for (const auto& [version, part] : {std::pair<std::uint32_t, const char*>{1, "version 1"},
                                      {4, "version 4"},
                                      {0, "version 0"},
                                      {0x03000000, "big-endian"}}) {
    GgufImage image = small_writer().build();
    image.put_u32(4, version);
    expect_refused(image, ErrorCode::kUnsupported, part);
  }
  GgufImage image = small_writer().build();
  image.bytes[0] = std::byte{'P'};
  expect_refused(image, ErrorCode::kCorrupt, "'PGUF'");
}

TEST(GgufFile, EveryCutOfTheFileIsRefused) {
  const GgufImage image = small_writer().build();
  for (std::size_t length = 0; length < image.bytes.size(); ++length) {
    std::vector<std::byte> cut(image.bytes.begin(), image.bytes.begin() + static_cast<std::ptrdiff_t>(length));
    const auto file = File::parse(cut, "cut");
    ASSERT_FALSE(file.ok()) << "length " << length;
    ASSERT_EQ(file.error().code, ErrorCode::kCorrupt) << "length " << length;
  }
}

TEST(GgufFile, ACutModelNamesTheTensorAndTheLengths) {
  GgufImage image = small_writer().build();
  image.bytes.resize(image.bytes.size() - 1);
  expect_refused(image, ErrorCode::kCorrupt, "'second' needs 32 bytes");
}

TEST(GgufFile, CountsAndLengthsThatTheFileCannotHoldAreRefused) {
  const GgufImage good = small_writer().build();
  const std::pair<std::uint64_t, const char*> cases[] = {
      {good.place(GgufField::kTensorCount).offset, "tensor count"},
      {good.place(GgufField::kEntryCount).offset, "key count"},
      {good.place(GgufField::kKeyLength, "eps").offset, "a key has"},
      {good.place(GgufField::kItemCount, "words").offset, "'words' has"},
      {good.place(GgufField::kStringLength, "words").offset, "'words' has"},
      {good.place(GgufField::kStringLength, "general.architecture").offset, "'general.architecture' has"},
      {good.place(GgufField::kTensorNameLength, "first").offset, "a tensor name has"},
      {good.place(GgufField::kTensorOffset, "second").offset, "'second'"},
      {good.place(GgufField::kDim, "first").offset, "'first'"},
  };
  for (const auto& [offset, part] : cases) {
    for (const std::uint64_t value : {std::uint64_t{1} << 30, std::uint64_t{1} << 40, std::uint64_t{1} << 63,
                                      ~std::uint64_t{0}, ~std::uint64_t{31}}) {
      GgufImage image = good;
      image.put_u64(offset, value);
      expect_refused(image, ErrorCode::kCorrupt, part);
    }
  }
}

TEST(GgufFile, TypesOutsideTheFormatAreRefused) {
  const GgufImage good = small_writer().build();
  for (const std::uint32_t type : {13u, 255u, 0xffffffffu}) {
    GgufImage image = good;
    image.put_u32(good.place(GgufField::kValueType, "eps").offset, type);
    expect_refused(image, ErrorCode::kCorrupt, "unknown value type");
    image = good;
    image.put_u32(good.place(GgufField::kItemType, "words").offset, type);
    expect_refused(image, ErrorCode::kCorrupt, "unknown item type");
  }
  GgufImage nested = good;
  nested.put_u32(good.place(GgufField::kItemType, "words").offset, 9);
  expect_refused(nested, ErrorCode::kUnsupported, "array of arrays");
  GgufImage flag = good;
  flag.bytes[good.place(GgufField::kValue, "flag").offset] = std::byte{2};
  expect_refused(flag, ErrorCode::kCorrupt, "bool 2");
}

TEST(GgufFile, DimensionsOutsideOneToFourOrOfSizeZeroAreRefused) {
  const GgufImage good = small_writer().build();
  for (const std::uint32_t count : {0u, 5u, 0x80000000u}) {
    GgufImage image = good;
    image.put_u32(good.place(GgufField::kDimCount, "second").offset, count);
    expect_refused(image, ErrorCode::kCorrupt, "dimensions");
  }
  GgufImage image = good;
  image.put_u64(good.place(GgufField::kDim, "second").offset, 0);
  expect_refused(image, ErrorCode::kCorrupt, "dimension 0 of size 0");
}

TEST(GgufFile, AnUnsupportedTensorTypeIsKeptWithItsName) {
  GgufWriter writer = small_writer();
  writer.add_tensor("k", 16, {256}, std::vector<std::byte>(66));
  writer.add_tensor("future", 137, {256}, std::vector<std::byte>(10));
  const GgufImage image = writer.build();
  auto file = parse(image);
  ASSERT_TRUE(file.ok()) << to_string(file.error());
  EXPECT_FALSE((*file)->find_tensor("k")->supported());
  EXPECT_EQ((*file)->find_tensor("k")->type_name(), "IQ2_XXS");
  EXPECT_EQ((*file)->find_tensor("k")->bytes, 66u);
  EXPECT_EQ((*file)->find_tensor("future")->type_name(), "type 137");
  EXPECT_EQ((*file)->find_tensor("future")->bytes, 0u);
}

TEST(GgufFile, ARowMustBeWholeBlocks) {
  GgufWriter writer = small_writer();
  writer.add_tensor("q", 2, {33}, std::vector<std::byte>(64));
  expect_refused(writer.build(), ErrorCode::kCorrupt, "whole number of Q4_0 blocks");
}

TEST(GgufFile, TensorsOverEachOtherOrOffTheAlignmentAreRefused) {
  const GgufImage good = small_writer().build();
  GgufImage over = good;
  over.put_u64(good.place(GgufField::kTensorOffset, "second").offset, 32);
  expect_refused(over, ErrorCode::kCorrupt, "lie over each other");
  GgufImage off = good;
  off.put_u64(good.place(GgufField::kTensorOffset, "first").offset, 4);
  expect_refused(off, ErrorCode::kCorrupt, "multiple of the alignment");
}

TEST(GgufFile, AlignmentIsAPowerOfTwoWithinBounds) {
  for (const std::uint64_t good : {8u, 64u, 4096u, 1u << 20}) {
    GgufWriter writer = small_writer();
    writer.set_alignment(good);
    const GgufImage image = writer.build();
    auto file = parse(image);
    ASSERT_TRUE(file.ok()) << to_string(file.error());
    EXPECT_EQ((*file)->alignment(), good);
    EXPECT_EQ((*file)->find_tensor("first")->offset % good, 0u);
  }
  for (const std::uint32_t bad : {0u, 1u, 3u, 48u, 1u << 21, 1u << 30}) {
    GgufWriter writer = small_writer();
    writer.set_u32("general.alignment", bad);
    expect_refused(writer.build(), ErrorCode::kCorrupt, "general.alignment " + std::to_string(bad));
  }
  GgufWriter writer = small_writer();
  writer.set_string("general.alignment", "32");
  EXPECT_EQ(refusal(writer.build()).code, ErrorCode::kInvalidArgument);
}

TEST(GgufFile, AKeyOrTensorThatStandsTwiceIsRefused) {
  GgufWriter keys = small_writer();
  keys.add_raw("eps", ValueType::kU8, ValueType::kU8, 1, {std::byte{1}});
  expect_refused(keys.build(), ErrorCode::kCorrupt, "key 'eps' stands in the file twice");
  GgufWriter tensors = small_writer();
  tensors.add_f32("first", {8}, std::vector<float>(8));
  expect_refused(tensors.build(), ErrorCode::kCorrupt, "tensor 'first' stands in the file twice");
}

TEST(GgufFile, ReadingAFileBackAndWritingItGivesTheSameBytes) {
  auto file = File::open(stories("f32"));
  ASSERT_TRUE(file.ok());
  const GgufImage image = GgufWriter::from(**file).build();
  const auto original = (*file)->bytes();
  ASSERT_EQ(image.bytes.size(), original.size());
  EXPECT_TRUE(std::equal(original.begin(), original.end(), image.bytes.begin()));
}

TEST(GgufFile, WhatIsNoModelFileIsRefusedWithItsPath) {
  const std::string missing = testing::TempDir() + "gguf_test_no_such_file";
  EXPECT_EQ(File::open(missing).error().code, ErrorCode::kIo);
  EXPECT_EQ(File::open(missing).error().context, missing);
  EXPECT_EQ(File::open(testing::TempDir()).error().code, ErrorCode::kInvalidArgument);
  const std::string empty = testing::TempDir() + "gguf_test_empty.gguf";
  std::ofstream(empty).flush();
  EXPECT_EQ(File::open(empty).error().code, ErrorCode::kCorrupt);
  std::filesystem::remove(empty);
}

TEST(GgufFile, TwentyThousandKeysAreReadInSortedTime) {
  GgufWriter writer;
  const std::vector<std::byte> value(4);
  for (int i = 0; i < 20'000; ++i) {
    writer.add_raw("key." + std::to_string(i), ValueType::kU32, ValueType::kU32, 1, value);
  }
  const GgufImage image = writer.build();
  auto file = parse(image);
  ASSERT_TRUE(file.ok()) << to_string(file.error());
  EXPECT_EQ((*file)->find_u32("key.19999").value(), 0u);
}

}  // namespace
}  // namespace larder::gguf
