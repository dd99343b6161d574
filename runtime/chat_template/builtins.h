// SPDX-License-Identifier: Apache-2.0
// Builtins: the filters, tests and methods of the subset, looked up by name at parse time.
// Errors:  kInvalidArgument (a value or argument of the wrong kind), kResourceExhausted (a limit).
// Threads: the tables are constant; a call belongs to its render.
// Source:  "List of Builtin Filters" and "List of Builtin Tests" of the Jinja 3.1 documentation, Python's str and dict.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/chat_template/ast.h"
#include "runtime/chat_template/value.h"

namespace larder::chat_template {

struct Args {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  // The argument at this place or of this name; null when it was not given.
  const Value* get(std::size_t place, std::string_view name) const;
  Args behind(std::size_t count) const;  // without the first positional ones
};

FilterFn find_filter(std::string_view name);  // null: not in the subset
TestFn find_test(std::string_view name);
MethodFn find_method(std::string_view name);
// Whether naming this attribute of such a value without calling it gives a method, as Python does.
bool is_method_of(Kind kind, std::string_view name);

Error wrong_type(std::string_view what, const Value& value, std::string_view wanted);
Result<std::int64_t> integer_arg(const Value* value, std::int64_t otherwise, std::string_view what);
Result<bool> flag_arg(const Value* value, bool otherwise);
// A str, or the text of anything else.
Result<MarkedString> text_of(Interpreter& run, const Value& value);

// filters_sequence.cc
Result<Value> filter_map(Interpreter& run, const Value& input, const Args& args);
Result<Value> filter_select(Interpreter& run, const Value& input, const Args& args);
Result<Value> filter_reject(Interpreter& run, const Value& input, const Args& args);
Result<Value> filter_selectattr(Interpreter& run, const Value& input, const Args& args);
Result<Value> filter_rejectattr(Interpreter& run, const Value& input, const Args& args);
Result<Value> filter_sort(Interpreter& run, const Value& input, const Args& args);
Result<Value> filter_dictsort(Interpreter& run, const Value& input, const Args& args);
Result<Value> filter_unique(Interpreter& run, const Value& input, const Args& args);
Result<Value> filter_batch(Interpreter& run, const Value& input, const Args& args);
Result<Value> filter_join(Interpreter& run, const Value& input, const Args& args);
Result<Value> filter_first(Interpreter& run, const Value& input, const Args& args);
Result<Value> filter_last(Interpreter& run, const Value& input, const Args& args);
Result<Value> filter_list(Interpreter& run, const Value& input, const Args& args);
Result<Value> filter_items(Interpreter& run, const Value& input, const Args& args);

}  // namespace larder::chat_template
