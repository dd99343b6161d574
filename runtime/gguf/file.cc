// SPDX-License-Identifier: Apache-2.0
#include "runtime/gguf/file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "runtime/base/invariant.h"
#include "runtime/gguf/cursor.h"
#include "runtime/gguf/mapped_file.h"
#include "runtime/gguf/parser.h"

namespace larder::gguf {
namespace {

template <typename To, typename From>
bool fit(From value, To& out) {
  if constexpr (std::is_integral_v<From>) {
    if (!std::in_range<To>(value)) return false;
    out = static_cast<To>(value);
    return true;
  } else {
    return false;
  }
}

template <typename From, typename To>
bool read_as(Cursor& cursor, To& out) {
  From value{};
  return cursor.read(value) && fit(value, out);
}

// The next integer of `type`, when it is one and fits.
template <typename To>
bool read_integer(Cursor& cursor, ValueType type, To& out) {
  switch (type) {
    case ValueType::kU8:
      return read_as<std::uint8_t>(cursor, out);
    case ValueType::kI8:
      return read_as<std::int8_t>(cursor, out);
    case ValueType::kU16:
      return read_as<std::uint16_t>(cursor, out);
    case ValueType::kI16:
      return read_as<std::int16_t>(cursor, out);
    case ValueType::kU32:
      return read_as<std::uint32_t>(cursor, out);
    case ValueType::kI32:
      return read_as<std::int32_t>(cursor, out);
    case ValueType::kU64:
      return read_as<std::uint64_t>(cursor, out);
    case ValueType::kI64:
      return read_as<std::int64_t>(cursor, out);
    default:
      return false;
  }
}

bool read_float(Cursor& cursor, ValueType type, float& out) {
  double wide = 0;
  if (type == ValueType::kF32) {
    if (!cursor.read(out)) return false;
  } else if (type == ValueType::kF64) {
    if (!cursor.read(wide) || !(std::abs(wide) <= double{std::numeric_limits<float>::max()})) return false;
    out = static_cast<float>(wide);
  } else {
    return false;
  }
  return std::isfinite(out);
}

bool read_string(Cursor& cursor, std::string& out) {
  std::uint64_t length = 0;
  std::span<const std::byte> bytes;
  if (!cursor.read(length) || !cursor.take(length, bytes)) return false;
  out = as_text(bytes);
  return true;
}

template <typename T>
Result<T> or_else(Result<T> found, T if_missing) {
  if (!found.ok() && found.error().code == ErrorCode::kNotFound) return if_missing;
  return found;
}

}  // namespace

File::File() = default;
File::~File() = default;

Result<std::shared_ptr<const File>> File::open(const std::string& path) {
  ASSIGN_OR_RETURN(auto mapping, MappedFile::open(path));
  std::shared_ptr<File> file(new File());
  file->path_ = path;
  file->stamp_ = mapping->stamp();
  file->bytes_ = mapping->bytes();
  file->mapping_ = std::move(mapping);
  RETURN_IF_ERROR(Parser(*file).run());
  return std::shared_ptr<const File>(std::move(file));
}

Result<std::shared_ptr<const File>> File::parse(std::span<const std::byte> bytes, std::string name) {
  std::shared_ptr<File> file(new File());
  file->path_ = std::move(name);
  file->stamp_.bytes = bytes.size();
  file->bytes_ = bytes;
  RETURN_IF_ERROR(Parser(*file).run());
  return std::shared_ptr<const File>(std::move(file));
}

Status File::read(std::uint64_t offset, std::span<std::byte> out) const {
  INVARIANT(offset <= bytes_.size() && out.size() <= bytes_.size() - offset);
  if (mapping_ != nullptr) return mapping_->read(offset, out);
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  return {};
}

Status File::check_unchanged() const { return mapping_ == nullptr ? Status{} : mapping_->check_unchanged(); }

const Entry* File::find_entry(std::string_view key) const {
  const auto place = std::lower_bound(entries_by_key_.begin(), entries_by_key_.end(), key,
                                      [&](std::uint32_t i, std::string_view k) { return entries_[i].key < k; });
  return place != entries_by_key_.end() && entries_[*place].key == key ? &entries_[*place] : nullptr;
}

const TensorInfo* File::find_tensor(std::string_view name) const {
  const auto place = std::lower_bound(tensors_by_name_.begin(), tensors_by_name_.end(), name,
                                      [&](std::uint32_t i, std::string_view n) { return tensors_[i].name < n; });
  return place != tensors_by_name_.end() && tensors_[*place].name == name ? &tensors_[*place] : nullptr;
}

std::span<const std::byte> File::tensor_bytes(const TensorInfo& tensor) const {
  return bytes_.subspan(tensor.offset, tensor.bytes);
}

void File::leave_pages(std::span<const std::byte> bytes) const {
  if (mapping_ != nullptr) mapping_->leave_pages(bytes);
}

Error File::missing(std::string_view key) const {
  return {ErrorCode::kNotFound, "the file has no key " + quoted(key) + "; get a complete conversion of the model",
          path_};
}

Error File::wrong(const Entry& entry, std::string_view wanted) const {
  std::string found(value_type_name(entry.type));
  if (entry.type == ValueType::kArray) {
    found += " of " + std::to_string(entry.items) + " " + std::string(value_type_name(entry.item_type));
  } else if (std::int64_t number = 0; entry.type != ValueType::kString) {
    Cursor cursor(entry.value);
    if (read_integer(cursor, entry.type, number)) found += " " + std::to_string(number);
  }
  return {ErrorCode::kInvalidArgument,
          "byte " + std::to_string(entry.offset) + ": key " + quoted(entry.key) + " is " + found + ", wanted is " +
              std::string(wanted),
          path_};
}

Result<std::uint32_t> File::find_u32(std::string_view key) const {
  const Entry* entry = find_entry(key);
  if (entry == nullptr) return missing(key);
  Cursor cursor(entry->value);
  std::uint32_t value = 0;
  if (!read_integer(cursor, entry->type, value)) return wrong(*entry, "an integer from 0 to 4294967295");
  return value;
}

Result<std::uint64_t> File::find_u64(std::string_view key) const {
  const Entry* entry = find_entry(key);
  if (entry == nullptr) return missing(key);
  Cursor cursor(entry->value);
  std::uint64_t value = 0;
  if (!read_integer(cursor, entry->type, value)) return wrong(*entry, "an integer not below 0");
  return value;
}

Result<float> File::find_f32(std::string_view key) const {
  const Entry* entry = find_entry(key);
  if (entry == nullptr) return missing(key);
  Cursor cursor(entry->value);
  float value = 0;
  if (!read_float(cursor, entry->type, value)) return wrong(*entry, "a finite f32");
  return value;
}

Result<bool> File::find_bool(std::string_view key) const {
  const Entry* entry = find_entry(key);
  if (entry == nullptr) return missing(key);
  Cursor cursor(entry->value);
  std::uint8_t value = 0;
  if (entry->type != ValueType::kBool || !cursor.read(value)) return wrong(*entry, "a bool");
  return value != 0;
}

Result<std::string> File::find_string(std::string_view key) const {
  const Entry* entry = find_entry(key);
  if (entry == nullptr) return missing(key);
  Cursor cursor(entry->value);
  std::string value;
  if (entry->type != ValueType::kString || !read_string(cursor, value)) return wrong(*entry, "a string");
  return value;
}

Result<std::uint32_t> File::find_u32(std::string_view key, std::uint32_t if_missing) const {
  return or_else(find_u32(key), if_missing);
}
Result<std::uint64_t> File::find_u64(std::string_view key, std::uint64_t if_missing) const {
  return or_else(find_u64(key), if_missing);
}
Result<float> File::find_f32(std::string_view key, float if_missing) const {
  return or_else(find_f32(key), if_missing);
}
Result<bool> File::find_bool(std::string_view key, bool if_missing) const {
  return or_else(find_bool(key), if_missing);
}
Result<std::string> File::find_string(std::string_view key, std::string_view if_missing) const {
  return or_else(find_string(key), std::string(if_missing));
}

template <typename T, typename ReadItem>
Result<std::vector<T>> File::find_array(std::string_view key, std::string_view wanted, ReadItem read_item) const {
  const Entry* entry = find_entry(key);
  if (entry == nullptr) return missing(key);
  // Before memory is taken: a string is 32 bytes here, and a byte array would make it 32 times the file.
  const bool strings = std::is_same_v<T, std::string>;
  if (entry->type != ValueType::kArray || (entry->item_type == ValueType::kString) != strings) {
    return wrong(*entry, wanted);
  }
  Cursor cursor(entry->value);
  std::vector<T> values(entry->items);
  for (T& value : values) {
    if (!read_item(cursor, entry->item_type, value)) return wrong(*entry, wanted);
  }
  return values;
}

Result<std::vector<std::string>> File::find_string_array(std::string_view key) const {
  return find_array<std::string>(key, "an array of strings", [](Cursor& cursor, ValueType type, std::string& value) {
    return type == ValueType::kString && read_string(cursor, value);
  });
}

Result<std::vector<float>> File::find_f32_array(std::string_view key) const {
  return find_array<float>(key, "an array of finite f32", read_float);
}

Result<std::vector<std::int32_t>> File::find_i32_array(std::string_view key) const {
  return find_array<std::int32_t>(key, "an array of i32", read_integer<std::int32_t>);
}

Result<std::vector<std::uint32_t>> File::find_u32_array(std::string_view key) const {
  return find_array<std::uint32_t>(key, "an array of u32", read_integer<std::uint32_t>);
}

}  // namespace larder::gguf
