// SPDX-License-Identifier: Apache-2.0
#include "tests/support/gguf_writer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "runtime/gguf/cursor.h"

namespace larder::test {
namespace {

using gguf::ValueType;

std::vector<std::byte> bytes_of(const void* data, std::size_t bytes) {
  std::vector<std::byte> out(bytes);
  if (bytes != 0) std::memcpy(out.data(), data, bytes);
  return out;
}

template <typename T>
std::vector<std::byte> bytes_of_number(T value) {
  return bytes_of(&value, sizeof value);
}

void append(std::vector<std::byte>& to, const void* data, std::size_t bytes) {
  const auto more = bytes_of(data, bytes);
  to.insert(to.end(), more.begin(), more.end());
}

void append_string(std::vector<std::byte>& to, std::string_view text) {
  const std::uint64_t length = text.size();
  append(to, &length, sizeof length);
  append(to, text.data(), text.size());
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

class GgufWriter::Output {
 public:
  template <typename T>
  void put(GgufField field, const std::string& of, T value) {
    put_bytes(field, of, &value, sizeof value);
  }
  void put_bytes(GgufField field, const std::string& of, const void* data, std::size_t bytes) {
    image_.places.push_back({field, of, image_.bytes.size(), bytes});
    append(image_.bytes, data, bytes);
  }
  void put_text(GgufField length_field, GgufField field, const std::string& of, std::string_view text) {
    put<std::uint64_t>(length_field, of, text.size());
    put_bytes(field, of, text.data(), text.size());
  }
  void pad_to(std::uint64_t offset) {
    if (offset <= image_.bytes.size()) return;
    image_.places.push_back({GgufField::kPadding, "", image_.bytes.size(), offset - image_.bytes.size()});
    image_.bytes.resize(offset);
  }
  std::uint64_t size() const { return image_.bytes.size(); }
  GgufImage take() { return std::move(image_); }

 private:
  GgufImage image_;
};

const GgufPlace& GgufImage::place(GgufField field, std::string_view of) const {
  const auto found = std::find_if(places.begin(), places.end(),
                                  [&](const GgufPlace& p) { return p.field == field && p.of == of; });
  if (found == places.end()) {
    std::fprintf(stderr, "GgufImage: no field %d of '%.*s'\n", static_cast<int>(field), static_cast<int>(of.size()),
                 of.data());
    std::abort();
  }
  return *found;
}

void GgufImage::put_u32(std::uint64_t offset, std::uint32_t value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

void GgufImage::put_u64(std::uint64_t offset, std::uint64_t value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

bool GgufImage::save(const std::string& path) const {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.flush();
  return out.good();
}

GgufWriter GgufWriter::from(const gguf::File& file) {
  GgufWriter writer;
  writer.version_ = file.version();
  writer.alignment_ = file.alignment();
  for (const gguf::Entry& entry : file.entries()) {
    if (entry.key == "general.alignment") continue;
    writer.add_raw(std::string(entry.key), entry.type, entry.item_type, entry.items,
                   {entry.value.begin(), entry.value.end()});
  }
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    const auto data = file.tensor_bytes(tensor);
    writer.add_tensor(std::string(tensor.name), tensor.type_id,
                      {tensor.dims.begin(), tensor.dims.begin() + tensor.n_dims}, {data.begin(), data.end()});
  }
  return writer;
}

void GgufWriter::set_raw(std::string key, ValueType type, ValueType item_type, std::uint64_t items,
                         std::vector<std::byte> value) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const KeyValue& e) { return e.key == key; });
  KeyValue entry{std::move(key), type, item_type, items, std::move(value)};
  if (found != entries_.end()) {
    *found = std::move(entry);
  } else {
    entries_.push_back(std::move(entry));
  }
}

void GgufWriter::add_raw(std::string key, ValueType type, ValueType item_type, std::uint64_t items,
                         std::vector<std::byte> value) {
  entries_.push_back({std::move(key), type, item_type, items, std::move(value)});
}

void GgufWriter::set_u8(std::string key, std::uint8_t value) {
  set_raw(std::move(key), ValueType::kU8, ValueType::kU8, 1, bytes_of_number(value));
}
void GgufWriter::set_u16(std::string key, std::uint16_t value) {
  set_raw(std::move(key), ValueType::kU16, ValueType::kU16, 1, bytes_of_number(value));
}
void GgufWriter::set_u32(std::string key, std::uint32_t value) {
  set_raw(std::move(key), ValueType::kU32, ValueType::kU32, 1, bytes_of_number(value));
}
void GgufWriter::set_i32(std::string key, std::int32_t value) {
  set_raw(std::move(key), ValueType::kI32, ValueType::kI32, 1, bytes_of_number(value));
}
void GgufWriter::set_u64(std::string key, std::uint64_t value) {
  set_raw(std::move(key), ValueType::kU64, ValueType::kU64, 1, bytes_of_number(value));
}
void GgufWriter::set_i64(std::string key, std::int64_t value) {
  set_raw(std::move(key), ValueType::kI64, ValueType::kI64, 1, bytes_of_number(value));
}
void GgufWriter::set_f32(std::string key, float value) {
  set_raw(std::move(key), ValueType::kF32, ValueType::kF32, 1, bytes_of_number(value));
}
void GgufWriter::set_f64(std::string key, double value) {
  set_raw(std::move(key), ValueType::kF64, ValueType::kF64, 1, bytes_of_number(value));
}
void GgufWriter::set_bool(std::string key, bool value) {
  set_raw(std::move(key), ValueType::kBool, ValueType::kBool, 1, bytes_of_number<std::uint8_t>(value ? 1 : 0));
}

void GgufWriter::set_string(std::string key, std::string_view value) {
  std::vector<std::byte> bytes;
  append_string(bytes, value);
  set_raw(std::move(key), ValueType::kString, ValueType::kString, 1, std::move(bytes));
}

void GgufWriter::set_string_array(std::string key, std::span<const std::string> values) {
  std::vector<std::byte> bytes;
  for (const std::string& value : values) append_string(bytes, value);
  set_raw(std::move(key), ValueType::kArray, ValueType::kString, values.size(), std::move(bytes));
}
void GgufWriter::set_f32_array(std::string key, std::span<const float> values) {
  set_raw(std::move(key), ValueType::kArray, ValueType::kF32, values.size(),
          bytes_of(values.data(), values.size_bytes()));
}
void GgufWriter::set_i32_array(std::string key, std::span<const std::int32_t> values) {
  set_raw(std::move(key), ValueType::kArray, ValueType::kI32, values.size(),
          bytes_of(values.data(), values.size_bytes()));
}
void GgufWriter::set_u32_array(std::string key, std::span<const std::uint32_t> values) {
  set_raw(std::move(key), ValueType::kArray, ValueType::kU32, values.size(),
          bytes_of(values.data(), values.size_bytes()));
}

void GgufWriter::remove(std::string_view key) {
  std::erase_if(entries_, [&](const KeyValue& entry) { return entry.key == key; });
}

void GgufWriter::add_tensor(std::string name, std::uint32_t type_id, std::vector<std::uint64_t> dims,
                            std::vector<std::byte> data) {
  tensors_.push_back({std::move(name), type_id, std::move(dims), std::move(data)});
}

void GgufWriter::add_f32(std::string name, std::vector<std::uint64_t> dims, std::span<const float> values) {
  add_tensor(std::move(name), 0, std::move(dims), bytes_of(values.data(), values.size_bytes()));
}

void GgufWriter::remove_tensor(std::string_view name) {
  std::erase_if(tensors_, [&](const Tensor& tensor) { return tensor.name == name; });
}

void GgufWriter::reverse_entries() { std::reverse(entries_.begin(), entries_.end()); }

void GgufWriter::write_entry(Output& out, const KeyValue& entry) const {
  out.put_text(GgufField::kKeyLength, GgufField::kKey, entry.key, entry.key);
  out.put(GgufField::kValueType, entry.key, static_cast<std::uint32_t>(entry.type));
  if (entry.type == ValueType::kArray) {
    out.put(GgufField::kItemType, entry.key, static_cast<std::uint32_t>(entry.item_type));
    out.put(GgufField::kItemCount, entry.key, entry.items);
  }
  if (entry.item_type != ValueType::kString) {
    out.put_bytes(GgufField::kValue, entry.key, entry.value.data(), entry.value.size());
    return;
  }
  gguf::Cursor cursor(entry.value);
  std::uint64_t length = 0;
  std::span<const std::byte> text;
  while (cursor.read(length) && cursor.take(length, text)) {
    out.put_text(GgufField::kStringLength, GgufField::kString, entry.key, gguf::as_text(text));
  }
}

GgufImage GgufWriter::build() const {
  Output out;
  out.put_bytes(GgufField::kMagic, "", "GGUF", 4);
  out.put(GgufField::kVersion, "", version_);
  const bool names_alignment = alignment_ != gguf::kDefaultAlignment;
  out.put<std::uint64_t>(GgufField::kTensorCount, "", tensors_.size());
  out.put<std::uint64_t>(GgufField::kEntryCount, "", entries_.size() + (names_alignment ? 1 : 0));
  if (names_alignment) {
    write_entry(out, {"general.alignment", ValueType::kU32, ValueType::kU32, 1,
                      bytes_of_number(static_cast<std::uint32_t>(alignment_))});
  }
  for (const KeyValue& entry : entries_) write_entry(out, entry);

  std::vector<std::uint64_t> offsets(tensors_.size());
  std::vector<std::size_t> order(tensors_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = reversed_ ? order.size() - 1 - i : i;
  std::uint64_t next = 0;
  for (const std::size_t i : order) {
    offsets[i] = next;
    next = round_up(next + tensors_[i].data.size() + gap_bytes_, alignment_);
  }
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& tensor = tensors_[i];
    out.put_text(GgufField::kTensorNameLength, GgufField::kTensorName, tensor.name, tensor.name);
    out.put(GgufField::kDimCount, tensor.name, static_cast<std::uint32_t>(tensor.dims.size()));
    for (const std::uint64_t dim : tensor.dims) out.put(GgufField::kDim, tensor.name, dim);
    out.put(GgufField::kTensorType, tensor.name, tensor.type_id);
    out.put(GgufField::kTensorOffset, tensor.name, offsets[i]);
  }
  out.pad_to(round_up(out.size(), alignment_));
  const std::uint64_t data_begin = out.size();
  for (const std::size_t i : order) {
    out.pad_to(data_begin + offsets[i]);
    out.put_bytes(GgufField::kTensorData, tensors_[i].name, tensors_[i].data.data(), tensors_[i].data.size());
  }
  return out.take();
}

}  // namespace larder::test
