// SPDX-License-Identifier: Apache-2.0
// Cursor: reads little-endian values from untrusted bytes and never past their end. A read that does not fit answers
// false and leaves the place where it was; the caller makes the error, because it knows what it was reading.
// Threads: one owner.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace larder::gguf {

static_assert(std::endian::native == std::endian::little,
              "GGUF is little-endian; this reader copies values as they lie");

class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes, std::uint64_t offset = 0) : bytes_(bytes), offset_(offset) {}

  std::uint64_t offset() const { return offset_; }
  std::uint64_t left() const { return bytes_.size() - offset_; }

  template <typename T>
  [[nodiscard]] bool read(T& value) {
    if (left() < sizeof(T)) return false;
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return true;
  }

  [[nodiscard]] bool take(std::uint64_t count, std::span<const std::byte>& taken) {
    if (left() < count) return false;
    taken = bytes_.subspan(offset_, count);
    offset_ += count;
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t offset_;  // never past the end
};

// a * b, or false when it does not fit.
[[nodiscard]] inline bool checked_multiply(std::uint64_t a, std::uint64_t b, std::uint64_t& product) {
  return !__builtin_mul_overflow(a, b, &product);
}
[[nodiscard]] inline bool checked_add(std::uint64_t a, std::uint64_t b, std::uint64_t& sum) {
  return !__builtin_add_overflow(a, b, &sum);
}

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Bytes of one number of that type; 0 for strings, arrays and unknown ids.
inline std::uint64_t value_bytes(std::uint32_t type_id) {
  constexpr std::uint8_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return type_id < sizeof kBytes ? kBytes[type_id] : 0;
}

}  // namespace larder::gguf
