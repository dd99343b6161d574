// SPDX-License-Identifier: Apache-2.0
// GgufWriter: builds GGUF files for tests: tiny models, files read back and changed, and files that are wrong on
// purpose. It never refuses: whatever it is told is written. For tests only. Ensures:  build() lists every field with
// its place, so that a test can spoil exactly one of them. Threads:  one owner. Source:   ggml-org/ggml docs/gguf.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/gguf/file.h"

namespace larder::test {

enum class GgufField : std::uint8_t {
  kMagic,
  kVersion,
  kTensorCount,
  kEntryCount,
  kKeyLength,
  kKey,
  kValueType,
  kItemType,
  kItemCount,
  kStringLength,  // of a string value or of one item
  kString,
  kValue,  // one number, or all numbers of an array
  kTensorNameLength,
  kTensorName,
  kDimCount,
  kDim,
  kTensorType,
  kTensorOffset,
  kPadding,
  kTensorData,
};

struct GgufPlace {
  GgufField field;
  std::string of;  // the key or tensor it belongs to; "" in the header
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct GgufImage {
  std::vector<std::byte> bytes;
  std::vector<GgufPlace> places;  // in file order

  // The first place of that kind and owner; the test fails (aborts) when there is none.
  const GgufPlace& place(GgufField field, std::string_view of = "") const;
  void put_u32(std::uint64_t offset, std::uint32_t value);
  void put_u64(std::uint64_t offset, std::uint64_t value);
  // Writes the file; answers false when that failed.
  bool save(const std::string& path) const;
};

class GgufWriter {
 public:
  GgufWriter() = default;
  // All keys and tensors of a file that was read, in its order.
  static GgufWriter from(const gguf::File& file);

  // Setting a key again replaces its value in place; add_raw writes it a second time.
  void set_u8(std::string key, std::uint8_t value);
  void set_u16(std::string key, std::uint16_t value);
  void set_u32(std::string key, std::uint32_t value);
  void set_i32(std::string key, std::int32_t value);
  void set_u64(std::string key, std::uint64_t value);
  void set_i64(std::string key, std::int64_t value);
  void set_f32(std::string key, float value);
  void set_f64(std::string key, double value);
  void set_bool(std::string key, bool value);
  void set_string(std::string key, std::string_view value);
  void set_string_array(std::string key, std::span<const std::string> values);
  void set_f32_array(std::string key, std::span<const float> values);
  void set_i32_array(std::string key, std::span<const std::int32_t> values);
  void set_u32_array(std::string key, std::span<const std::uint32_t> values);
  void remove(std::string_view key);
  // `value` as it stands after the type fields (see gguf::Entry).
  void add_raw(std::string key, gguf::ValueType type, gguf::ValueType item_type, std::uint64_t items,
               std::vector<std::byte> value);

  // dims[0] is contiguous. `data` is written as it is, whatever the dims say.
  void add_tensor(std::string name, std::uint32_t type_id, std::vector<std::uint64_t> dims,
                  std::vector<std::byte> data);
  // The same for f32 values.
  void add_f32(std::string name, std::vector<std::uint64_t> dims, std::span<const float> values);
  void remove_tensor(std::string_view name);

  // Written as general.alignment when it is not 32, and used for the layout.
  void set_alignment(std::uint64_t alignment) { alignment_ = alignment; }
  void set_version(std::uint32_t version) { version_ = version; }
  // Tensor data in reversed order with `gap_bytes` between (rounded up to the alignment): legal, and unusual.
  void set_layout(bool reversed, std::uint64_t gap_bytes) {
    reversed_ = reversed;
    gap_bytes_ = gap_bytes;
  }
  void reverse_entries();

  GgufImage build() const;

 private:
  struct KeyValue {
    std::string key;
    gguf::ValueType type;
    gguf::ValueType item_type;
    std::uint64_t items;
    std::vector<std::byte> value;
  };
  struct Tensor {
    std::string name;
    std::uint32_t type_id;
    std::vector<std::uint64_t> dims;
    std::vector<std::byte> data;
  };
  class Output;
  void set_raw(std::string key, gguf::ValueType type, gguf::ValueType item_type, std::uint64_t items,
               std::vector<std::byte> value);
  void write_entry(Output& out, const KeyValue& entry) const;

  std::vector<KeyValue> entries_;
  std::vector<Tensor> tensors_;
  std::uint64_t alignment_ = gguf::kDefaultAlignment;
  std::uint32_t version_ = 3;
  bool reversed_ = false;
  std::uint64_t gap_bytes_ = 0;
};

}  // namespace larder::test
