// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat_template/parser.h"

#include <algorithm>
#include <array>
#include <utility>

namespace larder::chat_template {
namespace {

constexpr std::array<std::string_view, 4> kGlobals = {"namespace", "range", "raise_exception", "strftime_now"};
constexpr std::array<std::string_view, 8> kReserved = {"true", "false", "none", "True",
                                                       "False", "None", "loop", "caller"};

std::string token_name(const LexToken& token) {
  switch (token.kind) {
    case TokenKind::kText: return "text";
    case TokenKind::kPrintBegin: return "'{{'";
    case TokenKind::kPrintEnd: return "'}}'";
    case TokenKind::kBlockBegin: return "'{%'";
    case TokenKind::kBlockEnd: return "'%}'";
    case TokenKind::kString: return "a string";
    case TokenKind::kEnd: return "the end of the template";
    default: return "'" + token.text.substr(0, 64) + "'";
  }
}

}  // namespace

Result<std::unique_ptr<const Program>> Parser::parse(std::string_view source) {
  ASSIGN_OR_RETURN(std::vector<LexToken> tokens, tokenize_template(source));
  Parser parser(std::move(tokens));
  parser.find_macros();
  ASSIGN_OR_RETURN(parser.program_->body, parser.parse_body({}));
  return std::unique_ptr<const Program>(std::move(parser.program_));
}

// Macros may be called above their definition's line, inside other macros, so their names are known before parsing.
void Parser::find_macros() {
  for (const std::string_view name : kGlobals) callable_.emplace(name);
  callable_.insert("caller");
  for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
    if (tokens_[i].kind == TokenKind::kBlockBegin && tokens_[i + 1].kind == TokenKind::kName &&
        tokens_[i + 1].text == "macro" && tokens_[i + 2].kind == TokenKind::kName) {
      callable_.insert(tokens_[i + 2].text);
    }
  }
}

bool Parser::accept_op(std::string_view text) {
  if (!is_op(text)) return false;
  ++at_;
  return true;
}

bool Parser::accept_name(std::string_view text) {
  if (!is_name(text)) return false;
  ++at_;
  return true;
}

Status Parser::expect_op(std::string_view text) {
  if (accept_op(text)) return {};
  return fail("expected '" + std::string(text) + "', found " + token_name(peek()));
}

Status Parser::expect_name(std::string_view text) {
  if (accept_name(text)) return {};
  return fail("expected '" + std::string(text) + "', found " + token_name(peek()));
}

Status Parser::expect(TokenKind kind) {
  if (peek().kind != kind) {
    return fail("expected " + token_name(LexToken{kind, {}, 0}) + ", found " + token_name(peek()));
  }
  ++at_;
  return {};
}

Result<std::string> Parser::expect_identifier() {
  if (peek().kind != TokenKind::kName) return fail("expected a name, found " + token_name(peek()));
  return tokens_[at_++].text;
}

Error Parser::fail(const std::string& message) const {
  return template_error(ErrorCode::kInvalidArgument, peek().line, message);
}

Error Parser::unsupported(const std::string& construct) const {
  return template_error(ErrorCode::kUnsupported, peek().line, construct + " is not supported");
}

Result<Body> Parser::parse_body(const std::vector<std::string_view>& ends) {
  if (++block_depth_ > kMaxBlockDepth) {
    return fail("blocks are nested more than " + std::to_string(kMaxBlockDepth) + " levels deep");
  }
  Body body;
  while (peek().kind != TokenKind::kEnd) {
    const LexToken& token = peek();
    if (token.kind == TokenKind::kText) {
      Stmt* text = program_->stmt(StmtKind::kText, token.line);
      text->text = Value::text(token.text);
      body.push_back(text);
      ++at_;
    } else if (token.kind == TokenKind::kPrintBegin) {
      ++at_;
      Stmt* print = program_->stmt(StmtKind::kPrint, token.line);
      ASSIGN_OR_RETURN(print->expr, parse_tuple_or_expr());
      RETURN_IF_ERROR(expect(TokenKind::kPrintEnd));
      body.push_back(print);
    } else {
      if (peek(1).kind == TokenKind::kName &&
          std::find(ends.begin(), ends.end(), std::string_view(peek(1).text)) != ends.end()) {
        --block_depth_;
        return body;
      }
      ++at_;
      ASSIGN_OR_RETURN(const Stmt* stmt, parse_block());
      body.push_back(stmt);
    }
  }
  if (!ends.empty()) return fail("a block is not closed: expected '" + std::string(ends.back()) + "'");
  --block_depth_;
  return body;
}

Result<const Stmt*> Parser::parse_block() {
  if (peek().kind != TokenKind::kName) return fail("expected a statement, found " + token_name(peek()));
  const std::string name = peek().text;
  ++at_;
  if (name == "for") return parse_for();
  if (name == "if") return parse_if();
  if (name == "set") return parse_set();
  if (name == "macro") return parse_macro();
  if (name == "call") return parse_call_block();
  if (name == "filter") return parse_filter_block();
  if (name == "generation") return parse_generation();
  if (name == "break") return parse_loop_control(StmtKind::kBreak);
  if (name == "continue") return parse_loop_control(StmtKind::kContinue);
  --at_;
  if (name.compare(0, 3, "end") == 0 || name == "else" || name == "elif") {
    return fail("'" + name + "' closes no open block");
  }
  return unsupported("the statement '" + name.substr(0, 64) + "'");
}

// `{% name %}` behind a body.
Status Parser::parse_end(std::string_view name, Body& body) {
  ASSIGN_OR_RETURN(body, parse_body({name}));
  RETURN_IF_ERROR(expect(TokenKind::kBlockBegin));
  RETURN_IF_ERROR(expect_name(name));
  if (peek().kind == TokenKind::kName) ++at_;  // endmacro may repeat the macro's name
  return expect(TokenKind::kBlockEnd);
}

Result<std::vector<Target>> Parser::parse_targets(bool attributes) {
  std::vector<Target> targets;
  const bool in_brackets = accept_op("(");
  do {
    if (!targets.empty() && peek().kind != TokenKind::kName) break;  // a trailing comma
    Target target;
    ASSIGN_OR_RETURN(target.name, expect_identifier());
    if (std::find(kReserved.begin(), kReserved.end(), std::string_view(target.name)) != kReserved.end()) {
      return fail("'" + target.name + "' cannot be assigned to");
    }
    if (attributes && accept_op(".")) {
      ASSIGN_OR_RETURN(target.attribute, expect_identifier());
    }
    targets.push_back(std::move(target));
  } while (accept_op(","));
  if (in_brackets) RETURN_IF_ERROR(expect_op(")"));
  return targets;
}

Result<const Stmt*> Parser::parse_for() {
  Stmt* loop = program_->stmt(StmtKind::kFor, peek().line);
  ASSIGN_OR_RETURN(loop->targets, parse_targets(false));
  RETURN_IF_ERROR(expect_name("in"));
  ASSIGN_OR_RETURN(loop->expr, parse_tuple_or_expr(false));
  if (accept_name("if")) {
    ASSIGN_OR_RETURN(loop->condition, parse_expr());
  }
  if (is_name("recursive")) return unsupported("a recursive loop");
  RETURN_IF_ERROR(expect(TokenKind::kBlockEnd));
  ++loop_depth_;
  ASSIGN_OR_RETURN(loop->body, parse_body({"else", "endfor"}));
  --loop_depth_;
  RETURN_IF_ERROR(expect(TokenKind::kBlockBegin));
  if (accept_name("else")) {
    RETURN_IF_ERROR(expect(TokenKind::kBlockEnd));
    RETURN_IF_ERROR(parse_end("endfor", loop->otherwise));
    return loop;
  }
  RETURN_IF_ERROR(expect_name("endfor"));
  RETURN_IF_ERROR(expect(TokenKind::kBlockEnd));
  return loop;
}

Result<const Stmt*> Parser::parse_if() {
  Stmt* branches = program_->stmt(StmtKind::kIf, peek().line);
  bool is_else = false;
  while (true) {
    Branch branch;
    if (!is_else) {
      ASSIGN_OR_RETURN(branch.condition, parse_tuple_or_expr(false));
    }
    RETURN_IF_ERROR(expect(TokenKind::kBlockEnd));
    const std::vector<std::string_view> ends =
        is_else ? std::vector<std::string_view>{"endif"} : std::vector<std::string_view>{"elif", "else", "endif"};
    ASSIGN_OR_RETURN(branch.body, parse_body(ends));
    branches->branches.push_back(std::move(branch));
    RETURN_IF_ERROR(expect(TokenKind::kBlockBegin));
    if (accept_name("endif")) break;
    is_else = is_name("else");
    ++at_;  // elif or else
  }
  RETURN_IF_ERROR(expect(TokenKind::kBlockEnd));
  return branches;
}

Result<const Stmt*> Parser::parse_set() {
  const std::uint32_t line = peek().line;
  ASSIGN_OR_RETURN(std::vector<Target> targets, parse_targets(true));
  if (accept_op("=")) {
    Stmt* set = program_->stmt(StmtKind::kSet, line);
    set->targets = std::move(targets);
    ASSIGN_OR_RETURN(set->expr, parse_tuple_or_expr());
    RETURN_IF_ERROR(expect(TokenKind::kBlockEnd));
    return set;
  }
  Stmt* set = program_->stmt(StmtKind::kSetBlock, line);
  if (targets.size() != 1) return fail("a set block assigns to one name");
  set->targets = std::move(targets);
  if (is_op("|")) {
    ASSIGN_OR_RETURN(set->expr, parse_filters(nullptr, false));
  }
  RETURN_IF_ERROR(expect(TokenKind::kBlockEnd));
  RETURN_IF_ERROR(parse_end("endset", set->body));
  return set;
}

Result<std::vector<Parameter>> Parser::parse_parameters() {
  std::vector<Parameter> parameters;
  RETURN_IF_ERROR(expect_op("("));
  while (!is_op(")")) {
    if (!parameters.empty()) RETURN_IF_ERROR(expect_op(","));
    if (is_op(")")) break;
    if (is_op("*") || is_op("**")) return unsupported("a macro with * or ** parameters");
    Parameter parameter;
    ASSIGN_OR_RETURN(parameter.name, expect_identifier());
    if (accept_op("=")) {
      ASSIGN_OR_RETURN(parameter.otherwise, parse_expr());
    } else if (!parameters.empty() && parameters.back().otherwise != nullptr) {
      return fail("a parameter without a default follows one with a default");
    }
    parameters.push_back(std::move(parameter));
  }
  ++at_;
  return parameters;
}

Result<const Stmt*> Parser::parse_macro() {
  Stmt* macro = program_->stmt(StmtKind::kMacro, peek().line);
  ASSIGN_OR_RETURN(macro->name, expect_identifier());
  ASSIGN_OR_RETURN(macro->parameters, parse_parameters());
  RETURN_IF_ERROR(expect(TokenKind::kBlockEnd));
  const std::uint32_t loops = std::exchange(loop_depth_, 0);
  RETURN_IF_ERROR(parse_end("endmacro", macro->body));
  loop_depth_ = loops;
  return macro;
}

Result<const Stmt*> Parser::parse_call_block() {
  Stmt* call = program_->stmt(StmtKind::kCallBlock, peek().line);
  if (is_op("(")) {
    ASSIGN_OR_RETURN(call->parameters, parse_parameters());
  }
  ASSIGN_OR_RETURN(call->expr, parse_expr());
  if (call->expr->kind != ExprKind::kCall) return fail("a call block must call a macro");
  RETURN_IF_ERROR(expect(TokenKind::kBlockEnd));
  const std::uint32_t loops = std::exchange(loop_depth_, 0);
  RETURN_IF_ERROR(parse_end("endcall", call->body));
  loop_depth_ = loops;
  return call;
}

Result<const Stmt*> Parser::parse_filter_block() {
  Stmt* block = program_->stmt(StmtKind::kFilterBlock, peek().line);
  ASSIGN_OR_RETURN(const Expr* first, parse_filter(nullptr));
  ASSIGN_OR_RETURN(block->expr, parse_filters(first, false));
  RETURN_IF_ERROR(expect(TokenKind::kBlockEnd));
  const std::uint32_t loops = std::exchange(loop_depth_, 0);
  RETURN_IF_ERROR(parse_end("endfilter", block->body));
  loop_depth_ = loops;
  return block;
}

Result<const Stmt*> Parser::parse_generation() {
  Stmt* block = program_->stmt(StmtKind::kGeneration, peek().line);
  RETURN_IF_ERROR(expect(TokenKind::kBlockEnd));
  RETURN_IF_ERROR(parse_end("endgeneration", block->body));
  return block;
}

Result<const Stmt*> Parser::parse_loop_control(StmtKind kind) {
  if (loop_depth_ == 0) return fail("break or continue outside a loop");
  Stmt* stmt = program_->stmt(kind, peek().line);
  RETURN_IF_ERROR(expect(TokenKind::kBlockEnd));
  return stmt;
}

}  // namespace larder::chat_template
