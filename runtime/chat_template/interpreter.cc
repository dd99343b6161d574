// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat_template/interpreter.h"

#include <algorithm>

namespace larder::chat_template {
namespace {

Error at_line(std::uint32_t line, Error error) {
  if (error.context.empty()) {
    error.message = "chat template, line " + std::to_string(line) + ": " + error.message;
    error.context = "line " + std::to_string(line);
  }
  return error;
}

Error failure(std::string message) { return Error{ErrorCode::kInvalidArgument, std::move(message), {}}; }

}  // namespace

Value* Scope::find(std::string_view name) {
  const auto found = std::find_if(names.begin(), names.end(), [name](const auto& one) { return one.first == name; });
  return found == names.end() ? nullptr : &found->second;
}

void Scope::set(std::string_view name, Value value) {
  if (Value* old = find(name); old != nullptr) {
    *old = std::move(value);
  } else {
    names.emplace_back(name, std::move(value));
  }
}

// A scope for as long as this object lives; a scope that no macro keeps is used again.
class Interpreter::ScopeGuard {
 public:
  ScopeGuard(Interpreter& run, Scope* parent) : run_(run), outer_(run.scope_) { run_.scope_ = run_.new_scope(parent); }
  ~ScopeGuard() {
    Scope* inner = run_.scope_;
    run_.scope_ = outer_;
    if (inner->kept) return;
    inner->names.clear();
    run_.free_scopes_.push_back(inner);
  }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  Interpreter& run_;
  Scope* outer_;
};

Interpreter::Interpreter(const Program& program, Meter meter, LocalTime time)
    : program_(program), meter_(meter), time_(time) {
  scope_ = new_scope(nullptr);
}

Scope* Interpreter::new_scope(Scope* parent) {
  if (free_scopes_.empty()) {
    scopes_.push_back(std::make_unique<Scope>());
    free_scopes_.reserve(scopes_.capacity());  // giving one back needs no memory
    free_scopes_.push_back(scopes_.back().get());
  }
  Scope* scope = free_scopes_.back();
  free_scopes_.pop_back();
  scope->parent = parent;
  return scope;
}

Result<MarkedString> Interpreter::run() {
  MarkedString out;
  out_ = &out;
  const Result<Flow> flow = execute(program_.body);
  out_ = nullptr;
  if (!flow.ok()) return flow.error();
  return out;
}

Status Interpreter::write(const MarkedString& text) {
  RETURN_IF_ERROR(meter_.charge_text(text.size()));
  RETURN_IF_ERROR(meter_.check_text(out_->size() + text.size()));
  out_->append(text);
  return {};
}

Result<Interpreter::Flow> Interpreter::execute(const Body& body) {
  for (const Stmt* stmt : body) {
    RETURN_IF_ERROR(meter_.enter());
    Result<Flow> flow = execute(*stmt);
    meter_.leave();
    if (!flow.ok()) return at_line(stmt->line, std::move(flow).error());
    if (*flow != Flow::kNormal) return flow;
  }
  return Flow::kNormal;
}

Result<Interpreter::Flow> Interpreter::execute(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::kText:
      RETURN_IF_ERROR(write(stmt.text.as_text()));
      return Flow::kNormal;
    case StmtKind::kPrint:
      RETURN_IF_ERROR(print(stmt));
      return Flow::kNormal;
    case StmtKind::kFor:
      return execute_for(stmt);
    case StmtKind::kIf:
      return execute_if(stmt);
    case StmtKind::kSet:
      RETURN_IF_ERROR(execute_set(stmt));
      return Flow::kNormal;
    case StmtKind::kSetBlock:
    case StmtKind::kFilterBlock:
      return execute_captured(stmt);
    case StmtKind::kMacro:
      for (Scope* scope = scope_; scope != nullptr; scope = scope->parent) scope->kept = true;
      scope_->set(stmt.name, heap_.macro(&stmt, scope_));
      return Flow::kNormal;
    case StmtKind::kCallBlock:
      RETURN_IF_ERROR(execute_call_block(stmt));
      return Flow::kNormal;
    case StmtKind::kGeneration:
      return execute(stmt.body);
    case StmtKind::kBreak:
      return Flow::kBreak;
    case StmtKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNormal;
}

Status Interpreter::print(const Stmt& stmt) {
  ASSIGN_OR_RETURN(const Value value, evaluate(*stmt.expr));
  ASSIGN_OR_RETURN(const MarkedString text, to_text(meter_, value));
  return write(text);
}

Result<std::vector<Value>> Interpreter::loop_items(const Stmt& stmt) {
  ASSIGN_OR_RETURN(const Value iterated, evaluate(*stmt.expr));
  ASSIGN_OR_RETURN(std::vector<Value> items, elements(meter_, iterated));
  if (stmt.condition == nullptr) return items;
  std::vector<Value> kept;
  for (Value& item : items) {
    const ScopeGuard guard(*this, scope_);
    RETURN_IF_ERROR(assign(stmt.targets, item));
    ASSIGN_OR_RETURN(const Value wanted, evaluate(*stmt.condition));
    if (truthy(wanted)) kept.push_back(std::move(item));
  }
  return kept;
}

Result<Interpreter::Flow> Interpreter::execute_for(const Stmt& stmt) {
  ASSIGN_OR_RETURN(std::vector<Value> items, loop_items(stmt));
  if (items.empty()) {
    const ScopeGuard guard(*this, scope_);
    return execute(stmt.otherwise);
  }
  Loop* loop = heap_.loop(std::move(items));
  for (loop->at = 0; loop->at < loop->items.size(); ++loop->at) {
    RETURN_IF_ERROR(meter_.charge(1));
    const ScopeGuard guard(*this, scope_);
    scope_->set("loop", Value::object(loop));
    const Value item = loop->items[loop->at];
    RETURN_IF_ERROR(assign(stmt.targets, item));
    ASSIGN_OR_RETURN(const Flow flow, execute(stmt.body));
    if (flow == Flow::kBreak) break;
  }
  loop->items.clear();
  return Flow::kNormal;
}

Result<Interpreter::Flow> Interpreter::execute_if(const Stmt& stmt) {
  for (const Branch& branch : stmt.branches) {
    bool wanted = branch.condition == nullptr;
    if (!wanted) {
      ASSIGN_OR_RETURN(const Value condition, evaluate(*branch.condition));
      wanted = truthy(condition);
    }
    if (wanted) return execute(branch.body);
  }
  return Flow::kNormal;
}

Status Interpreter::execute_set(const Stmt& stmt) {
  ASSIGN_OR_RETURN(const Value value, evaluate(*stmt.expr));
  return assign(stmt.targets, value);
}

Status Interpreter::assign(const std::vector<Target>& targets, const Value& value) {
  std::vector<Value> parts;
  if (targets.size() > 1) {
    ASSIGN_OR_RETURN(parts, elements(meter_, value));
    if (parts.size() != targets.size()) {
      return failure(std::to_string(parts.size()) + " values cannot be unpacked into " +
                     std::to_string(targets.size()) + " names");
    }
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Value& part = targets.size() > 1 ? parts[i] : value;
    const Target& target = targets[i];
    if (target.attribute.empty()) {
      scope_->set(target.name, part);
      continue;
    }
    Value* holder = nullptr;
    for (Scope* scope = scope_; scope != nullptr && holder == nullptr; scope = scope->parent) {
      holder = scope->find(target.name);
    }
    if (holder == nullptr || !holder->is(Kind::kNamespace)) {
      return failure("'" + target.name + "' is not a namespace, so its attributes cannot be set");
    }
    RETURN_IF_ERROR(holder->as_dict().set(Value::text(target.attribute), part));
  }
  return {};
}

Result<Interpreter::Flow> Interpreter::capture(const Body& body, MarkedString& out) {
  MarkedString* outer = out_;
  out_ = &out;
  const ScopeGuard guard(*this, scope_);
  Result<Flow> flow = execute(body);
  out_ = outer;
  return flow;
}

Result<Interpreter::Flow> Interpreter::execute_captured(const Stmt& stmt) {
  MarkedString out;
  ASSIGN_OR_RETURN(const Flow flow, capture(stmt.body, out));
  if (flow != Flow::kNormal) return flow;
  Value value = Value::text(std::move(out));
  if (stmt.expr != nullptr) {
    ASSIGN_OR_RETURN(value, apply_filters(*stmt.expr, value));
  }
  if (stmt.kind == StmtKind::kSetBlock) {
    RETURN_IF_ERROR(assign(stmt.targets, value));
  } else {
    ASSIGN_OR_RETURN(const MarkedString text, to_text(meter_, value));
    RETURN_IF_ERROR(write(text));
  }
  return Flow::kNormal;
}

Status Interpreter::execute_call_block(const Stmt& stmt) {
  for (Scope* scope = scope_; scope != nullptr; scope = scope->parent) scope->kept = true;
  const Value caller = heap_.macro(&stmt, scope_);
  ASSIGN_OR_RETURN(const Value value, call_with(*stmt.expr, caller));
  ASSIGN_OR_RETURN(const MarkedString text, to_text(meter_, value));
  return write(text);
}

Status Interpreter::bind_parameters(const Stmt& macro, const Args& args, std::string_view name) {
  if (args.positional.size() > macro.parameters.size()) {
    return failure("the macro '" + std::string(name) + "' takes at most " + std::to_string(macro.parameters.size()) +
                   " arguments");
  }
  for (const auto& given : args.named) {
    const auto known = std::find_if(macro.parameters.begin(), macro.parameters.end(),
                                    [&given](const Parameter& one) { return one.name == given.first; });
    if (known == macro.parameters.end()) {
      return failure("the macro '" + std::string(name) + "' has no parameter '" + given.first.substr(0, 64) + "'");
    }
  }
  for (std::size_t i = 0; i < macro.parameters.size(); ++i) {
    const Parameter& parameter = macro.parameters[i];
    Value value;
    if (const Value* given = args.get(i, parameter.name); given != nullptr) {
      value = *given;
    } else if (parameter.otherwise != nullptr) {
      ASSIGN_OR_RETURN(value, evaluate(*parameter.otherwise));
    }
    scope_->set(parameter.name, std::move(value));
  }
  return {};
}

Result<Value> Interpreter::call_macro(const Macro& macro, const Args& args, const Value& caller) {
  const Stmt& stmt = *macro.body;
  const std::string_view name = stmt.kind == StmtKind::kMacro ? std::string_view(stmt.name) : "caller";
  const ScopeGuard guard(*this, macro.defined_in);
  RETURN_IF_ERROR(bind_parameters(stmt, args, name));
  if (!caller.is(Kind::kUndefined)) scope_->set("caller", caller);
  MarkedString out;
  ASSIGN_OR_RETURN(const Flow flow, capture(stmt.body, out));
  static_cast<void>(flow);  // break and continue end at the macro, checked by the parser
  return Value::text(std::move(out));
}

}  // namespace larder::chat_template
