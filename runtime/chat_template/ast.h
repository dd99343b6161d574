// SPDX-License-Identifier: Apache-2.0
// The parsed form of a template: expressions and statements, owned by a Program and never changed afterwards. Every
// name of a filter, test, method and function was looked up at parse time.
// Owns:    Program owns all nodes; nodes point at each other.    Errors: none.    Threads: any, immutable.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "runtime/chat_template/value.h"

namespace larder::chat_template {

class Interpreter;
struct Args;
using FilterFn = Result<Value> (*)(Interpreter& run, const Value& input, const Args& args);
using TestFn = Result<bool> (*)(Interpreter& run, const Value& input, const Args& args);
using MethodFn = FilterFn;

enum class ExprKind : std::uint8_t {
  kLiteral,
  kName,
  kList,
  kTuple,
  kDict,         // operands: key, value, key, value …
  kNot,
  kNegate,
  kPlus,
  kBinary,       // op, two operands
  kCompare,      // operands joined by ops: a < b < c
  kAnd,
  kOr,
  kConcat,       // ~ of all operands
  kConditional,  // operands: value, condition, otherwise (may be missing)
  kAttribute,    // operand.name
  kItem,         // operands: container, key
  kSlice,        // operands: container, begin, end, step; each of the last three may be null
  kCall,         // operand 0 called: a name
  kMethodCall,   // operand 0 is the object, name the method
  kFilter,       // operand 0 (null in a filter block) | name(args)
  kTest,         // operand 0 is name(args)
};

enum class Op : std::uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kNotIn,
};

struct Expr {
  ExprKind kind = ExprKind::kLiteral;
  std::uint32_t line = 0;
  std::uint32_t height = 1;  // of the tree below, bounded by the parser
  std::string name;
  Value literal;
  std::vector<Op> ops;
  std::vector<const Expr*> operands;
  std::vector<const Expr*> args;
  std::vector<std::pair<std::string, const Expr*>> named_args;
  FilterFn filter = nullptr;
  TestFn test = nullptr;
  MethodFn method = nullptr;
};

enum class StmtKind : std::uint8_t {
  kText,
  kPrint,
  kFor,
  kIf,
  kSet,
  kSetBlock,
  kMacro,
  kCallBlock,
  kFilterBlock,
  kGeneration,
  kBreak,
  kContinue,
};

using Body = std::vector<const Stmt*>;

struct Branch {
  const Expr* condition = nullptr;  // null: else
  Body body;
};

struct Parameter {
  std::string name;
  const Expr* otherwise = nullptr;
};

struct Target {
  std::string name;
  std::string attribute;  // set ns.attribute; else empty
};

struct Stmt {
  StmtKind kind = StmtKind::kText;
  std::uint32_t line = 0;
  Value text;                     // kText
  const Expr* expr = nullptr;     // printed, iterated, assigned, called; filters of a filter or set block
  const Expr* condition = nullptr;  // for … if condition
  std::vector<Target> targets;    // for, set
  std::vector<Branch> branches;   // if
  std::string name;               // macro
  std::vector<Parameter> parameters;
  Body body;
  Body otherwise;                 // for … else
};

class Program {
 public:
  Expr* expr(ExprKind kind, std::uint32_t line) {
    exprs_.emplace_back();
    exprs_.back().kind = kind;
    exprs_.back().line = line;
    return &exprs_.back();
  }
  Stmt* stmt(StmtKind kind, std::uint32_t line) {
    stmts_.emplace_back();
    stmts_.back().kind = kind;
    stmts_.back().line = line;
    return &stmts_.back();
  }

  Body body;
  bool reads_tools = false;

 private:
  std::deque<Expr> exprs_;
  std::deque<Stmt> stmts_;
};

}  // namespace larder::chat_template
