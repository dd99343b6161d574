// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "runtime/chat_template/builtins.h"
#include "runtime/chat_template/interpreter.h"

namespace larder::chat_template {
namespace {

template <Kind kWanted>
Result<bool> test_kind(Interpreter&, const Value& input, const Args&) {
  return input.is(kWanted);
}

Result<bool> test_defined(Interpreter&, const Value& input, const Args&) { return !input.is(Kind::kUndefined); }
Result<bool> test_true(Interpreter&, const Value& input, const Args&) {
  return input.is(Kind::kBool) && input.as_int() != 0;
}
Result<bool> test_false(Interpreter&, const Value& input, const Args&) {
  return input.is(Kind::kBool) && input.as_int() == 0;
}
Result<bool> test_number(Interpreter&, const Value& input, const Args&) {
  return input.is_number() || input.is(Kind::kBigInt);
}
Result<bool> test_integer(Interpreter&, const Value& input, const Args&) {
  return input.is(Kind::kInt) || input.is(Kind::kBigInt);
}
// Source: Jinja holds undefined for iterable (it has no elements) and for a sequence (it has length 0).
Result<bool> test_iterable(Interpreter&, const Value& input, const Args&) {
  return input.is_sequence() || input.is(Kind::kDict) || input.is(Kind::kString) || input.is(Kind::kUndefined);
}
Result<bool> test_callable(Interpreter&, const Value& input, const Args&) {
  return input.is(Kind::kMacro) || input.is(Kind::kFunction);
}

Result<bool> parity(const Value& input, std::int64_t wanted) {
  if (!input.is_integral()) return wrong_type("odd and even", input, "an int");
  return (input.as_int() % 2 != 0 ? 1 : 0) == wanted;
}
Result<bool> test_odd(Interpreter&, const Value& input, const Args&) { return parity(input, 1); }
Result<bool> test_even(Interpreter&, const Value& input, const Args&) { return parity(input, 0); }

Result<Value> operand(const Args& args) {
  if (args.positional.size() == 1) return args.positional[0];
  return Error{ErrorCode::kInvalidArgument, "this test needs one value to test against", {}};
}

Result<bool> test_divisibleby(Interpreter&, const Value& input, const Args& args) {
  ASSIGN_OR_RETURN(const Value by, operand(args));
  if (!input.is_integral() || !by.is_integral()) return wrong_type("divisibleby", input, "an int");
  if (by.as_int() == 0) return Error{ErrorCode::kInvalidArgument, "divisibleby: division by zero", {}};
  return by.as_int() == -1 || input.as_int() % by.as_int() == 0;
}

Result<bool> test_equal(Interpreter& run, const Value& input, const Args& args) {
  ASSIGN_OR_RETURN(const Value other, operand(args));
  return equal(run.meter(), input, other);
}
Result<bool> test_not_equal(Interpreter& run, const Value& input, const Args& args) {
  ASSIGN_OR_RETURN(const bool same, test_equal(run, input, args));
  return !same;
}
Result<bool> test_in(Interpreter& run, const Value& input, const Args& args) {
  ASSIGN_OR_RETURN(const Value other, operand(args));
  return contains(run.meter(), other, input);
}

template <bool kLess, bool kOrEqual>
Result<bool> test_order(Interpreter& run, const Value& input, const Args& args) {
  ASSIGN_OR_RETURN(const Value other, operand(args));
  ASSIGN_OR_RETURN(const int order, compare(run.meter(), input, other));
  return (kOrEqual && order == 0) || (kLess ? order < 0 : order > 0);
}

struct NamedTest {
  std::string_view name;
  TestFn function;
};

constexpr std::array<NamedTest, 33> kTests = {{
    {"!=", test_not_equal},
    {"<", test_order<true, false>},
    {"<=", test_order<true, true>},
    {"==", test_equal},
    {">", test_order<false, false>},
    {">=", test_order<false, true>},
    {"boolean", test_kind<Kind::kBool>},
    {"callable", test_callable},
    {"defined", test_defined},
    {"divisibleby", test_divisibleby},
    {"eq", test_equal},
    {"equalto", test_equal},
    {"even", test_even},
    {"false", test_false},
    {"float", test_kind<Kind::kFloat>},
    {"ge", test_order<false, true>},
    {"greaterthan", test_order<false, false>},
    {"gt", test_order<false, false>},
    {"in", test_in},
    {"integer", test_integer},
    {"iterable", test_iterable},
    {"le", test_order<true, true>},
    {"lessthan", test_order<true, false>},
    {"lt", test_order<true, false>},
    {"mapping", test_kind<Kind::kDict>},
    {"ne", test_not_equal},
    {"none", test_kind<Kind::kNone>},
    {"number", test_number},
    {"odd", test_odd},
    {"sequence", test_iterable},
    {"string", test_kind<Kind::kString>},
    {"true", test_true},
    {"undefined", test_kind<Kind::kUndefined>},
}};

}  // namespace

TestFn find_test(std::string_view name) {
  const auto found = std::find_if(kTests.begin(), kTests.end(), [name](const NamedTest& one) {
    return one.name == name;
  });
  return found == kTests.end() ? nullptr : found->function;
}

}  // namespace larder::chat_template
