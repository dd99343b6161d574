// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/gguf/spoil.h"

#include <cstring>
#include <limits>
#include <span>

namespace larder::test {
namespace {

using Places = std::vector<const GgufPlace*>;

template <typename T>
T pick(std::span<const T> from, Rng& rng) {
  return from[rng.below(from.size())];
}

Places places_of(const GgufImage& good, GgufField field, std::string_view of_part = "") {
  Places places;
  for (const GgufPlace& place : good.places) {
    if (place.field == field && place.of.find(of_part) != std::string::npos) places.push_back(&place);
  }
  return places;
}

const GgufPlace& any_place(const GgufImage& good, GgufField field, Rng& rng, std::string_view of_part = "") {
  return *pick<const GgufPlace*>(places_of(good, field, of_part), rng);
}

template <typename T>
Spoil put(std::string what, std::uint64_t offset, T value) {
  Spoil spoil{std::move(what), offset, std::vector<std::byte>(sizeof value)};
  std::memcpy(spoil.bytes.data(), &value, sizeof value);
  return spoil;
}

template <typename T>
T value_at(const GgufImage& good, std::uint64_t offset) {
  T value;
  std::memcpy(&value, good.bytes.data() + offset, sizeof value);
  return value;
}

// Another number than the one there: near it, a power of two, or anything.
template <typename T>
T other_number(const GgufImage& good, std::uint64_t offset, Rng& rng) {
  const T old = value_at<T>(good, offset);
  T value = old;
  while (value == old) {
    switch (rng.below(3)) {
      case 0:
        value = static_cast<T>(old + static_cast<T>(rng.below(17)) - 8);
        break;
      case 1:
        value = static_cast<T>(T{1} << rng.below(sizeof(T) * 8));
        break;
      default:
        value = static_cast<T>(rng.next());
        break;
    }
  }
  return value;
}

template <typename T>
Spoil other_count(const char* what, GgufField field, const GgufImage& good, Rng& rng) {
  const GgufPlace& place = any_place(good, field, rng);
  return put<T>(std::string(what) + " " + place.of, place.offset, other_number<T>(good, place.offset, rng));
}

Spoil magic(const GgufImage& good, Rng& rng) {
  const std::uint64_t offset = rng.below(4);
  return put("magic", offset, other_number<std::uint8_t>(good, offset, rng));
}

Spoil version(const GgufImage&, Rng& rng) {
  constexpr std::uint32_t kOther[] = {0, 1, 4, 0x03000000};
  const bool listed = rng.below(2) == 0;
  return put("version", 4,
             listed ? pick<std::uint32_t>(kOther, rng) : 5 + static_cast<std::uint32_t>(rng.below(0xfffffff0u)));
}

Spoil tensor_count(const GgufImage& good, Rng& rng) {
  return other_count<std::uint64_t>("tensor count", GgufField::kTensorCount, good, rng);
}
Spoil entry_count(const GgufImage& good, Rng& rng) {
  return other_count<std::uint64_t>("key count", GgufField::kEntryCount, good, rng);
}
Spoil key_length(const GgufImage& good, Rng& rng) {
  return other_count<std::uint64_t>("length of key", GgufField::kKeyLength, good, rng);
}
Spoil item_count(const GgufImage& good, Rng& rng) {
  return other_count<std::uint64_t>("item count of", GgufField::kItemCount, good, rng);
}
Spoil tensor_name_length(const GgufImage& good, Rng& rng) {
  return other_count<std::uint64_t>("name length of tensor", GgufField::kTensorNameLength, good, rng);
}
Spoil dim_count(const GgufImage& good, Rng& rng) {
  return other_count<std::uint32_t>("dimensions of", GgufField::kDimCount, good, rng);
}
Spoil dim(const GgufImage& good, Rng& rng) {
  return other_count<std::uint64_t>("dimension of", GgufField::kDim, good, rng);
}
Spoil tensor_offset(const GgufImage& good, Rng& rng) {
  return other_count<std::uint64_t>("offset of", GgufField::kTensorOffset, good, rng);
}

Spoil key_character(const GgufImage& good, Rng& rng) {
  const GgufPlace& place = any_place(good, GgufField::kKey, rng);
  const auto high = static_cast<std::uint8_t>(0x7f + rng.below(0x81));
  const auto low = static_cast<std::uint8_t>(rng.below(0x20));
  return put("character of key " + place.of, place.offset + rng.below(place.bytes), rng.below(2) != 0 ? high : low);
}

Spoil needed_key(const GgufImage& good, Rng& rng) {
  constexpr const char* kNeeded[] = {"general.architecture",  "llama.block_count",         "llama.embedding_length",
                                     "llama.context_length",  "llama.feed_forward_length", "llama.attention.head_count",
                                     "tokenizer.ggml.tokens", "tokenizer.ggml.scores",     "tokenizer.ggml.model"};
  const char* key = pick<const char*>(kNeeded, rng);
  const GgufPlace& place = good.place(GgufField::kKey, key);
  const std::uint64_t last = place.offset + place.bytes - 1 - rng.below(6);
  return put("name of needed key " + place.of, last, static_cast<std::uint8_t>('A' + rng.below(26)));
}

Spoil value_type(const GgufImage& good, Rng& rng) {
  const GgufPlace& place = any_place(good, GgufField::kValueType, rng);
  return put("type of key " + place.of, place.offset, 13 + static_cast<std::uint32_t>(rng.below(0xfffffff0u)));
}

Spoil item_type(const GgufImage& good, Rng& rng) {
  const GgufPlace& place = any_place(good, GgufField::kItemType, rng);
  const auto unknown = 13 + static_cast<std::uint32_t>(rng.below(0xfffffff0u));
  return put("item type of key " + place.of, place.offset, rng.below(8) == 0 ? 9u : unknown);
}

Spoil string_length(const GgufImage& good, Rng& rng) {
  const GgufPlace& place = any_place(good, GgufField::kStringLength, rng);
  const std::uint64_t huge = good.bytes.size() + (rng.next() >> rng.below(44));
  return put("length of a string of " + place.of, place.offset, huge);
}

Spoil boolean(const GgufImage& good, Rng& rng) {
  const GgufPlace& place = any_place(good, GgufField::kValue, rng, "add_");
  return put("bool " + place.of, place.offset, static_cast<std::uint8_t>(2 + rng.below(254)));
}

Spoil size(const GgufImage& good, Rng& rng) {
  constexpr const char* kSizes[] = {
      "llama.block_count",          "llama.embedding_length",        "llama.feed_forward_length",
      "llama.attention.head_count", "llama.attention.head_count_kv", "llama.vocab_size"};
  const GgufPlace& place = good.place(GgufField::kValue, pick<const char*>(kSizes, rng));
  return put("number " + place.of, place.offset, other_number<std::uint32_t>(good, place.offset, rng));
}

Spoil context_or_rotation(const GgufImage& good, Rng& rng) {
  if (rng.below(2) == 0) {
    const std::uint32_t high = 0x01000001u + static_cast<std::uint32_t>(rng.below(0xfe000000u));
    return put("number llama.context_length", good.place(GgufField::kValue, "llama.context_length").offset,
               rng.below(8) == 0 ? 0u : high);
  }
  const auto odd_or_high =
      static_cast<std::uint32_t>(rng.below(2) == 0 ? 1 + 2 * rng.below(3) : 9 + rng.below(1u << 30));
  return put("number llama.rope.dimension_count", good.place(GgufField::kValue, "llama.rope.dimension_count").offset,
             odd_or_high);
}

Spoil real_number(const GgufImage& good, Rng& rng) {
  constexpr const char* kReals[] = {"llama.attention.layer_norm_rms_epsilon", "llama.rope.freq_base"};
  const GgufPlace& place = good.place(GgufField::kValue, pick<const char*>(kReals, rng));
  const float kWrong[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(), 0.0f,
                          -static_cast<float>(rng.unit()),         3e12f + 1e20f * static_cast<float>(rng.unit())};
  return put("number " + place.of, place.offset, pick<float>(kWrong, rng));
}

Spoil score(const GgufImage& good, Rng& rng) {
  const std::uint64_t begin = good.place(GgufField::kValue, "tokenizer.ggml.scores").offset;
  // Every pattern with this exponent is an infinity or not a number.
  return put("score", begin + 4 * rng.below(512), 0x7f800000u | static_cast<std::uint32_t>(rng.below(0x800000u)));
}

Spoil token_type(const GgufImage& good, Rng& rng) {
  const std::uint64_t begin = good.place(GgufField::kValue, "tokenizer.ggml.token_type").offset;
  // 3 to 258 are the byte tokens; a word that claims to be one is refused, too.
  if (rng.below(4) == 0) return put("byte type of a word", begin + 4 * (259 + rng.below(253)), std::int32_t{6});
  const auto outside = static_cast<std::int32_t>(7 + rng.below(0x7ffffff0u));
  return put("token type", begin + 4 * rng.below(512), rng.below(2) == 0 ? -outside : outside);
}

Spoil special_id(const GgufImage& good, Rng& rng) {
  const GgufPlace& place = any_place(good, GgufField::kValue, rng, "_token_id");
  return put("id " + place.of, place.offset, 512 + static_cast<std::uint32_t>(rng.below(0xfffffff0u - 512)));
}

Spoil byte_token(const GgufImage& good, Rng& rng) {
  const Places tokens = places_of(good, GgufField::kString, "tokenizer.ggml.tokens");
  const GgufPlace& place = *tokens[3 + rng.below(256)];
  constexpr char kNoHex[] = {'-', '+', ' ', 'g', 'x', '\0', '\x7f'};
  return put("spelling of a byte token", place.offset + 3 + rng.below(2), pick<char>(kNoHex, rng));
}

Spoil architecture(const GgufImage& good, Rng& rng) {
  const GgufPlace& place =
      good.place(GgufField::kString, rng.below(2) == 0 ? "general.architecture" : "tokenizer.ggml.model");
  const std::uint64_t offset = place.offset + rng.below(place.bytes);
  return put("text of " + place.of, offset, other_number<std::uint8_t>(good, offset, rng));
}

Spoil tensor_name(const GgufImage& good, Rng& rng) {
  const GgufPlace& place = any_place(good, GgufField::kTensorName, rng);
  const std::uint64_t offset = place.offset + rng.below(place.bytes);
  return put("name of tensor " + place.of, offset, other_number<std::uint8_t>(good, offset, rng));
}

Spoil tensor_type(const GgufImage& good, Rng& rng) {
  constexpr std::uint32_t kOther[] = {4, 5, 9, 15, 16, 17, 18, 19, 21, 22, 24, 26, 28, 29, 34, 35, 40, 41};
  const GgufPlace& place = any_place(good, GgufField::kTensorType, rng);
  const auto unknown = 42 + static_cast<std::uint32_t>(rng.below(0xffffff00u));
  return put("type of tensor " + place.of, place.offset,
             rng.below(2) == 0 ? unknown : pick<std::uint32_t>(kOther, rng));
}

Spoil norm_value(const GgufImage& good, Rng& rng) {
  const GgufPlace& place = any_place(good, GgufField::kTensorData, rng, "norm");
  return put("value of " + place.of, place.offset + 4 * rng.below(place.bytes / 4),
             0x7f800000u | static_cast<std::uint32_t>(rng.below(0x800000u)));
}

// A range that begins at a length: all bits set, or none.
Spoil range(const GgufImage& good, Rng& rng) {
  constexpr GgufField kLengths[] = {GgufField::kKeyLength, GgufField::kItemCount, GgufField::kTensorNameLength,
                                    GgufField::kDimCount};
  const GgufPlace& place = any_place(good, pick<GgufField>(kLengths, rng), rng);
  const std::byte fill = rng.below(2) == 0 ? std::byte{0} : std::byte{0xff};
  return {"range at " + place.of, place.offset, std::vector<std::byte>(16 + rng.below(49), fill)};
}

using Maker = Spoil (*)(const GgufImage&, Rng&);
constexpr Maker kMakers[] = {
    magic,       version,   tensor_count, entry_count,   key_length,    key_character, needed_key,
    value_type,  item_type, item_count,   string_length, boolean,       size,          context_or_rotation,
    real_number, score,     token_type,   special_id,    byte_token,    architecture,  tensor_name_length,
    tensor_name, dim_count, dim,          tensor_type,   tensor_offset, norm_value,    range};

bool changes(const GgufImage& good, const Spoil& spoil) {
  return std::memcmp(good.bytes.data() + spoil.offset, spoil.bytes.data(), spoil.bytes.size()) != 0;
}

}  // namespace

std::size_t spoil_kinds() { return std::size(kMakers); }

Spoil make_spoil(std::size_t kind, const GgufImage& good, Rng& rng) {
  Spoil spoil = kMakers[kind](good, rng);
  while (!changes(good, spoil)) spoil = kMakers[kind](good, rng);
  return spoil;
}

}  // namespace larder::test
