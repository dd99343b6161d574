// SPDX-License-Identifier: Apache-2.0
// JsonWriter: writes JSON text in the order it is told. It cannot write broken JSON from broken text: bytes that are
// not UTF-8 become U+FFFD, numbers that are not finite become null.
// Requires: begin and end calls are paired; inside an object every value follows a key.
// Threads:  one.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace larder::http {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& text(std::string_view value);
  JsonWriter& number(double value);
  JsonWriter& flag(bool value) { return raw(value ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  JsonWriter& raw(std::string_view json);  // one whole JSON value

  template <std::integral T>
  JsonWriter& integer(T value) {
    return raw(std::to_string(value));
  }

  // key and value in one; an empty optional text is left to the caller.
  JsonWriter& member(std::string_view name, std::string_view value) { return key(name).text(value); }
  JsonWriter& member(std::string_view name, const char* value) { return key(name).text(value); }
  JsonWriter& member(std::string_view name, bool value) { return key(name).flag(value); }
  JsonWriter& member(std::string_view name, double value) { return key(name).number(value); }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  JsonWriter& member(std::string_view name, T value) {
    return key(name).integer(value);
  }

  std::string take() { return std::move(out_); }
  std::size_t size() const { return out_.size(); }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();

  std::string out_;
  bool needs_comma_ = false;
};

// `text` with JSON's escapes and without quotes, as above.
void append_escaped(std::string& out, std::string_view text);

}  // namespace larder::http
