// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "runtime/chat_template/builtins.h"
#include "runtime/chat_template/interpreter.h"

namespace larder::chat_template {
namespace {

Error failure(std::string message) { return Error{ErrorCode::kInvalidArgument, std::move(message), {}}; }

// The text of an attribute path argument; empty: no attribute.
Result<std::string> path_arg(const Value* value) {
  if (value == nullptr || value->is(Kind::kNone)) return std::string();
  if (value->is_integral()) return std::to_string(value->as_int());
  if (!value->is(Kind::kString)) return wrong_type("an attribute", *value, "a str");
  return value->as_text().bytes();
}

// select, reject, selectattr, rejectattr: which elements (or attributes of them) hold a test, truth by default.
Result<Value> filter_by_test(Interpreter& run, const Value& input, const Args& args, bool attribute, bool wanted) {
  ASSIGN_OR_RETURN(const std::vector<Value> items, elements(run.meter(), input));
  std::string path;
  if (attribute) {
    if (args.positional.empty()) return failure("selectattr and rejectattr need an attribute");
    ASSIGN_OR_RETURN(path, path_arg(&args.positional[0]));
  }
  const std::size_t test_place = attribute ? 1 : 0;
  TestFn test = nullptr;
  if (args.positional.size() > test_place) {
    const Value& name = args.positional[test_place];
    if (!name.is(Kind::kString)) return wrong_type("the name of a test", name, "a str");
    test = find_test(name.as_text().bytes());
    if (test == nullptr) {
      return Error{ErrorCode::kUnsupported, "a test of this name is not supported in select or reject", {}};
    }
  }
  const Args test_args = args.behind(test_place + 1);
  std::vector<Value> kept;
  for (const Value& item : items) {
    RETURN_IF_ERROR(run.meter().charge(1));
    Value tested = item;
    if (attribute) {
      ASSIGN_OR_RETURN(tested, run.attribute_path(item, path));
    }
    bool holds = truthy(tested);
    if (test != nullptr) {
      ASSIGN_OR_RETURN(holds, test(run, tested, test_args));
    }
    if (holds == wanted) kept.push_back(item);
  }
  return run.heap().list(std::move(kept));
}

struct Keyed {
  Value key;
  Value item;
};

// Strings compare without case unless asked.
Result<Value> sort_key(Interpreter& run, const Value& item, const std::string& path, bool case_sensitive) {
  Value key = item;
  if (!path.empty()) {
    ASSIGN_OR_RETURN(key, run.attribute_path(item, path));
  }
  if (key.is(Kind::kString)) RETURN_IF_ERROR(run.meter().charge_text(key.as_text().size() * 8));
  if (key.is(Kind::kString) && !case_sensitive) return Value::text(change_case(key.as_text(), Case::kLower));
  return key;
}

// Stable; a pair without an order ends the sort with its error.
Status sort_keyed(Interpreter& run, std::vector<Keyed>& keyed, bool reverse) {
  Status status;
  std::vector<std::size_t> order(keyed.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto before = [&](std::size_t a, std::size_t b) {
    if (!status.ok()) return a < b;
    Result<int> result = compare(run.meter(), keyed[a].key, keyed[b].key);
    if (!result.ok()) {
      status = std::move(result).error();
      return a < b;
    }
    return reverse ? *result > 0 : *result < 0;
  };
  // A merge sort by hand: std::stable_sort may not be given an order that changes when an error is met.
  std::vector<std::size_t> merged(order.size());
  for (std::size_t width = 1; width < order.size(); width *= 2) {
    for (std::size_t begin = 0; begin < order.size(); begin += 2 * width) {
      const std::size_t middle = std::min(begin + width, order.size());
      const std::size_t end = std::min(begin + 2 * width, order.size());
      std::size_t left = begin;
      std::size_t right = middle;
      for (std::size_t at = begin; at < end; ++at) {
        const bool take_right = left >= middle || (right < end && before(order[right], order[left]));
        merged[at] = take_right ? order[right++] : order[left++];
      }
    }
    order.swap(merged);
  }
  if (!status.ok()) return status;
  std::vector<Keyed> sorted;
  for (std::size_t place : order) sorted.push_back(std::move(keyed[place]));
  keyed = std::move(sorted);
  return {};
}

}  // namespace

Result<Value> filter_map(Interpreter& run, const Value& input, const Args& args) {
  ASSIGN_OR_RETURN(const std::vector<Value> items, elements(run.meter(), input));
  std::vector<Value> mapped;
  if (args.positional.empty()) {
    ASSIGN_OR_RETURN(const std::string path, path_arg(args.get(0, "attribute")));
    if (path.empty()) return failure("map needs a filter or an attribute");
    const Value* otherwise = args.get(1, "default");
    for (const Value& item : items) {
      RETURN_IF_ERROR(run.meter().charge(1));
      ASSIGN_OR_RETURN(Value value, run.attribute_path(item, path));
      mapped.push_back(value.is(Kind::kUndefined) && otherwise != nullptr ? *otherwise : std::move(value));
    }
    return run.heap().list(std::move(mapped));
  }
  if (!args.positional[0].is(Kind::kString)) return wrong_type("map", args.positional[0], "the name of a filter");
  const FilterFn filter = find_filter(args.positional[0].as_text().bytes());
  if (filter == nullptr) return Error{ErrorCode::kUnsupported, "a filter of this name is not supported in map", {}};
  const Args rest = args.behind(1);
  RETURN_IF_ERROR(run.meter().enter());  // map may name itself
  for (const Value& item : items) {
    RETURN_IF_ERROR(run.meter().charge(1));
    ASSIGN_OR_RETURN(Value value, filter(run, item, rest));
    mapped.push_back(std::move(value));
  }
  run.meter().leave();
  return run.heap().list(std::move(mapped));
}

Result<Value> filter_select(Interpreter& run, const Value& input, const Args& args) {
  return filter_by_test(run, input, args, false, true);
}
Result<Value> filter_reject(Interpreter& run, const Value& input, const Args& args) {
  return filter_by_test(run, input, args, false, false);
}
Result<Value> filter_selectattr(Interpreter& run, const Value& input, const Args& args) {
  return filter_by_test(run, input, args, true, true);
}
Result<Value> filter_rejectattr(Interpreter& run, const Value& input, const Args& args) {
  return filter_by_test(run, input, args, true, false);
}

Result<Value> filter_sort(Interpreter& run, const Value& input, const Args& args) {
  ASSIGN_OR_RETURN(const std::vector<Value> items, elements(run.meter(), input));
  ASSIGN_OR_RETURN(const bool reverse, flag_arg(args.get(0, "reverse"), false));
  ASSIGN_OR_RETURN(const bool case_sensitive, flag_arg(args.get(1, "case_sensitive"), false));
  ASSIGN_OR_RETURN(const std::string path, path_arg(args.get(2, "attribute")));
  std::vector<Keyed> keyed;
  for (const Value& item : items) {
    ASSIGN_OR_RETURN(Value key, sort_key(run, item, path, case_sensitive));
    keyed.push_back(Keyed{std::move(key), item});
  }
  RETURN_IF_ERROR(sort_keyed(run, keyed, reverse));
  std::vector<Value> sorted;
  for (Keyed& one : keyed) sorted.push_back(std::move(one.item));
  return run.heap().list(std::move(sorted));
}

Result<Value> filter_dictsort(Interpreter& run, const Value& input, const Args& args) {
  if (!input.is(Kind::kDict)) return wrong_type("dictsort", input, "a dict");
  ASSIGN_OR_RETURN(const bool case_sensitive, flag_arg(args.get(0, "case_sensitive"), false));
  const Value* by = args.get(1, "by");
  ASSIGN_OR_RETURN(const bool reverse, flag_arg(args.get(2, "reverse"), false));
  const bool by_value = by != nullptr && by->is(Kind::kString) && by->as_text().bytes() == "value";
  std::vector<Keyed> keyed;
  for (const auto& [key, value] : input.as_dict().entries) {
    ASSIGN_OR_RETURN(Value order, sort_key(run, by_value ? value : key, {}, case_sensitive));
    keyed.push_back(Keyed{std::move(order), run.heap().list({key, value}, Kind::kTuple)});
  }
  RETURN_IF_ERROR(sort_keyed(run, keyed, reverse));
  std::vector<Value> sorted;
  for (Keyed& one : keyed) sorted.push_back(std::move(one.item));
  return run.heap().list(std::move(sorted));
}

Result<Value> filter_unique(Interpreter& run, const Value& input, const Args& args) {
  ASSIGN_OR_RETURN(const std::vector<Value> items, elements(run.meter(), input));
  ASSIGN_OR_RETURN(const bool case_sensitive, flag_arg(args.get(0, "case_sensitive"), false));
  ASSIGN_OR_RETURN(const std::string path, path_arg(args.get(1, "attribute")));
  Dict seen;
  std::vector<Value> kept;
  for (const Value& item : items) {
    ASSIGN_OR_RETURN(Value key, sort_key(run, item, path, case_sensitive));
    if (seen.find(key) != nullptr) continue;
    RETURN_IF_ERROR(seen.set(std::move(key), Value::none()));
    kept.push_back(item);
  }
  return run.heap().list(std::move(kept));
}

Result<Value> filter_batch(Interpreter& run, const Value& input, const Args& args) {
  ASSIGN_OR_RETURN(const std::vector<Value> items, elements(run.meter(), input));
  ASSIGN_OR_RETURN(const std::int64_t size, integer_arg(args.get(0, "linecount"), 0, "the size of a batch"));
  const Value* fill = args.get(1, "fill_with");
  if (size < 1 || size > 100'000) return failure("batch: the size must lie between 1 and 100000");
  std::vector<Value> batches;
  std::vector<Value> batch;
  for (const Value& item : items) {
    if (static_cast<std::int64_t>(batch.size()) == size) {
      batches.push_back(run.heap().list(std::move(batch)));
      batch.clear();
    }
    batch.push_back(item);
  }
  if (!batch.empty()) {
    if (fill != nullptr && !fill->is(Kind::kNone)) {
      RETURN_IF_ERROR(run.meter().charge(static_cast<std::uint64_t>(size)));
      batch.resize(static_cast<std::size_t>(size), *fill);
    }
    batches.push_back(run.heap().list(std::move(batch)));
  }
  return run.heap().list(std::move(batches));
}

Result<Value> filter_join(Interpreter& run, const Value& input, const Args& args) {
  ASSIGN_OR_RETURN(const std::vector<Value> items, elements(run.meter(), input));
  MarkedString separator;
  if (const Value* given = args.get(0, "d"); given != nullptr) {
    ASSIGN_OR_RETURN(separator, text_of(run, *given));
  }
  ASSIGN_OR_RETURN(const std::string path, path_arg(args.get(1, "attribute")));
  MarkedString joined;
  for (std::size_t i = 0; i < items.size(); ++i) {
    Value item = items[i];
    if (!path.empty()) {
      ASSIGN_OR_RETURN(item, run.attribute_path(item, path));
    }
    ASSIGN_OR_RETURN(const MarkedString text, text_of(run, item));
    if (i > 0) joined.append(separator);
    joined.append(text);
    RETURN_IF_ERROR(run.meter().charge_text(separator.size()));
    RETURN_IF_ERROR(run.meter().check_text(joined.size()));
  }
  return Value::text(std::move(joined));
}

Result<Value> filter_first(Interpreter& run, const Value& input, const Args&) {
  ASSIGN_OR_RETURN(const std::vector<Value> items, elements(run.meter(), input));
  return items.empty() ? Value() : items.front();
}

Result<Value> filter_last(Interpreter& run, const Value& input, const Args&) {
  ASSIGN_OR_RETURN(const std::vector<Value> items, elements(run.meter(), input));
  return items.empty() ? Value() : items.back();
}

Result<Value> filter_list(Interpreter& run, const Value& input, const Args&) {
  ASSIGN_OR_RETURN(std::vector<Value> items, elements(run.meter(), input));
  return run.heap().list(std::move(items));
}

Result<Value> filter_items(Interpreter& run, const Value& input, const Args&) {
  std::vector<Value> items;
  if (input.is(Kind::kUndefined)) return run.heap().list(std::move(items));
  if (!input.is(Kind::kDict)) return wrong_type("items", input, "a dict");
  RETURN_IF_ERROR(run.meter().charge(input.as_dict().entries.size()));
  for (const auto& [key, value] : input.as_dict().entries) {
    items.push_back(run.heap().list({key, value}, Kind::kTuple));
  }
  return run.heap().list(std::move(items));
}

}  // namespace larder::chat_template
