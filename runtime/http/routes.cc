// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/routes.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "runtime/base/rng.h"
#include "runtime/http/control_answer.h"
#include "runtime/http/control_request.h"
#include "runtime/http/errors.h"
#include "runtime/http/openai_request.h"
#include "runtime/http/sources.h"

namespace larder::http {
namespace {

constexpr std::string_view kGet = "GET, HEAD, OPTIONS";
constexpr std::string_view kPost = "POST, OPTIONS";
constexpr std::string_view kGetPost = "GET, HEAD, POST, OPTIONS";
constexpr std::string_view kDelete = "DELETE, OPTIONS";
constexpr std::string_view kGetDelete = "GET, HEAD, DELETE, OPTIONS";

Answer text_answer(std::string body, std::string content_type) {
  Answer answer;
  answer.content_type = std::move(content_type);
  answer.body = std::move(body);
  return answer;
}

Answer json_answer(std::string body) { return text_answer(std::move(body), "application/json"); }

Answer not_found(std::string_view what) { return error_answer({ErrorCode::kNotFound, std::string(what), ""}); }

Answer forbidden() { return error_answer({ErrorCode::kForbidden, "this needs a key with the admin right", ""}); }

// Non-empty parts of the path, decoded; nothing when one has a bad escape.
std::optional<std::vector<std::string>> split(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = std::min(path.find('/'), path.size());
    std::optional<std::string> segment = percent_decoded(path.substr(0, end));
    if (!segment || (segment->empty() && end != path.size())) return std::nullopt;
    if (!segment->empty()) segments.push_back(std::move(*segment));
    path.remove_prefix(end);
  }
  return segments;
}

bool is_read(std::string_view method) { return method == "GET" || method == "HEAD"; }

bool allows(std::string_view methods, std::string_view method) {
  while (!methods.empty()) {
    const std::size_t end = std::min(methods.find(", "), methods.size());
    if (methods.substr(0, end) == method) return true;
    methods.remove_prefix(std::min(end + 2, methods.size()));
  }
  return false;
}

// Methods of a path below /larder/v1; empty for an unknown one.
std::string_view control_methods(const std::vector<std::string>& segments) {
  const std::string_view verb = verb_method(segments);
  bool readable = false;
  if (segments.size() == 1) {
    for (const std::string_view name : {"snapshot", "tree", "requests", "tenants", "keys", "pins", "entries", "packs",
                                        "models", "settings", "jobs"}) {
      readable = readable || segments[0] == name;
    }
  }
  readable = readable || (segments.size() == 2 && (segments[0] == "requests" || segments[0] == "jobs"));
  if (verb == "POST") return readable ? kGetPost : kPost;
  if (verb == "DELETE") return readable ? kGetDelete : kDelete;
  return readable ? kGet : std::string_view();
}

}  // namespace

Routes::Routes(engine::Engine& engine, GuardRules rules, JsonLimits limits, std::uint64_t seed)
    : engine_(engine), rules_(std::move(rules)), limits_(limits), seed_(seed) {}

Routes::Target Routes::target_of(const RequestHead& head) {
  if (head.path == "/") return {Route::kRoot, kGet, {}};
  const std::optional<std::vector<std::string>> parts = split(head.path);
  if (!parts || parts->empty()) return {};
  const std::vector<std::string>& p = *parts;
  if (p.size() == 1 && p[0] == "healthz") return {Route::kHealth, kGet, {}};
  if (p.size() == 1 && p[0] == "readyz") return {Route::kReady, kGet, {}};
  if (p.size() == 1 && p[0] == "metrics") return {Route::kMetrics, kGet, {}};
  if (p.size() < 2) return {};
  if (p[0] == "larder" && p[1] == "v1") {
    std::vector<std::string> rest(p.begin() + 2, p.end());
    const std::string_view methods = control_methods(rest);
    if (methods.empty()) return {};
    return {Route::kControl, methods, std::move(rest)};
  }
  if (p[0] != "v1") return {};
  if (p.size() == 2 && p[1] == "models") return {Route::kModels, kGet, {}};
  if (p.size() == 3 && p[1] == "models") return {Route::kModel, kGet, {p[2]}};
  if (p.size() == 3 && p[1] == "chat" && p[2] == "completions") return {Route::kChat, kPost, {}};
  if (p.size() == 2 && p[1] == "completions") return {Route::kCompletion, kPost, {}};
  return {};
}

Result<engine::Principal> Routes::principal(const RequestHead& head) const {
  const Error refusal{ErrorCode::kUnauthorized, "send a valid key as Authorization: Bearer KEY or x-api-key: KEY", ""};
  const std::string key = credential(head);
  // The keyless tenant is for programs on this machine, whatever the setting says.
  if (key.empty() && !head.peer_is_loopback) return refusal;
  Result<engine::Principal> who = engine_.authenticate(key);
  if (!who.ok()) return refusal;
  return who;
}

std::optional<Answer> Routes::screen(const RequestHead& head) const {
  if (std::optional<Answer> refusal = refuse(head, rules_)) return refusal;
  const Target target = target_of(head);
  const bool open = (target.route == Route::kRoot || target.route == Route::kHealth) && is_read(head.method);
  if (open) return std::nullopt;
  if (Result<engine::Principal> who = principal(head); !who.ok()) return error_answer(who.error());
  if (target.route == Route::kUnknown) return not_found("no such path: see API.md");
  if (!allows(target.methods, head.method)) {
    Answer answer = plain_error(405, "method_not_allowed", "this path knows " + std::string(target.methods));
    answer.headers.emplace_back("Allow", std::string(target.methods));
    return answer;
  }
  return std::nullopt;
}

Reply Routes::handle(Request request) {
  const Target target = target_of(request.head);
  if (request.head.method == "OPTIONS") {
    Answer answer;
    answer.status = 204;
    answer.headers.emplace_back("Allow", std::string(target.methods));
    return answer;
  }
  if (target.route == Route::kRoot) return text_answer("Larder is running\n", "text/plain; charset=utf-8");
  if (target.route == Route::kHealth) return json_answer("{\"status\":\"ok\"}");
  // Again, because the key may have been revoked while the body was on its way.
  Result<engine::Principal> who = principal(request.head);
  if (!who.ok()) return error_answer(who.error());
  switch (target.route) {
    case Route::kReady:
      if (engine_.ready()) return json_answer("{\"status\":\"ready\"}");
      return error_answer({ErrorCode::kUnavailable, "no model is ready: load one, or wait until it is loaded", ""});
    case Route::kMetrics:
      if (!who->admin) return forbidden();
      return text_answer(engine_.metrics_text(), "text/plain; version=0.0.4; charset=utf-8");
    case Route::kModels:
      return snapshot_answer(engine_, *who, clock_.wall(),
                             [](const engine::Snapshot& s) { return json_answer(model_list_json(s)); });
    case Route::kModel:
      return snapshot_answer(engine_, *who, clock_.wall(), [name = target.segments[0]](const engine::Snapshot& s) {
        std::string json = model_json(s, name);
        return json.empty() ? not_found("no such model is loaded") : json_answer(std::move(json));
      });
    case Route::kChat:
      return complete(*who, true, request);
    case Route::kCompletion:
      return complete(*who, false, request);
    case Route::kControl:
      return control(*who, target, request);
    default:
      return not_found("no such path: see API.md");
  }
}

Reply Routes::complete(const engine::Principal& who, bool chat, const Request& request) {
  auto outcome = chat ? parse_chat(request.body, limits_) : parse_completion(request.body, limits_);
  if (const Fault* fault = std::get_if<Fault>(&outcome)) return error_answer(fault->error, fault->param);
  ParsedRequest& parsed = std::get<ParsedRequest>(outcome);
  if (!parsed.has_seed) parsed.request.sampling.seed = Rng::at(seed_, 0, unseeded_.fetch_add(1));
  AnswerShape shape;
  shape.chat = chat;
  shape.include_usage = parsed.include_usage;
  shape.logprobs = parsed.request.sampling.logprobs;
  shape.echo = parsed.echo;
  shape.no_new_text = parsed.no_new_text;
  shape.choices = parsed.request.n;
  shape.created_s = clock_.wall() / 1000;
  if (const auto* text = std::get_if<engine::TextPrompt>(&parsed.request.prompt); text && parsed.echo) {
    shape.echo_text = text->text;
  }
  auto stream = engine_.submit(who, std::move(parsed.request));
  if (!stream.ok()) return error_answer(stream.error());
  return parsed.stream ? stream_answer(*stream, std::move(shape)) : whole_answer(*stream, std::move(shape));
}

Reply Routes::control(const engine::Principal& who, const Target& target, const Request& request) {
  if (is_read(request.head.method)) return control_get(who, target.segments, request.head);
  auto outcome = parse_verb(request.head.method, target.segments, request.body, limits_);
  if (const Fault* fault = std::get_if<Fault>(&outcome)) return error_answer(fault->error, fault->param);
  return verb_answer(engine_, who, std::get<engine::Verb>(std::move(outcome)));
}

Reply Routes::control_get(const engine::Principal& who, const std::vector<std::string>& segments,
                          const RequestHead& head) {
  const std::string& name = segments.front();
  constexpr std::uint64_t kAnyId = std::numeric_limits<std::uint64_t>::max();
  if (name == "settings") return who.admin ? json_answer(settings_json(engine_.settings())) : forbidden();
  if ((name == "keys" || name == "jobs") && !who.admin) return forbidden();
  if (name == "snapshot") {
    const std::optional<std::string> epoch = query_value(head.query, "since");
    if (!epoch) {
      return snapshot_answer(engine_, who, clock_.wall(),
                             [](const engine::Snapshot& s) { return json_answer(snapshot_json(s)); });
    }
    const std::optional<std::uint64_t> since = parse_id(*epoch, kAnyId);
    if (!since) return error_answer({ErrorCode::kInvalidArgument, "since must be a snapshot's epoch", ""}, "since");
    const std::shared_ptr<const engine::Snapshot> snapshot = engine_.snapshot(who, *since);
    if (snapshot) return json_answer(snapshot_json(*snapshot));
    return error_answer({ErrorCode::kUnavailable, "the engine has not answered yet", ""});
  }
  if (segments.size() == 2) {
    const std::optional<std::uint64_t> id = parse_id(segments[1], kAnyId);
    if (!id) return not_found("no such " + name.substr(0, name.size() - 1));
    if (name == "jobs") {
      return snapshot_answer(engine_, who, clock_.wall(), [id = JobId{*id}](const engine::Snapshot& s) {
        std::string json = job_json(s, id);
        return json.empty() ? not_found("no such job: it never was, or is older than the list of jobs")
                            : json_answer(std::move(json));
      });
    }
    return snapshot_answer(engine_, who, clock_.wall(), [id = RequestId{*id}](const engine::Snapshot& s) {
      std::string json = request_json(s, id);
      return json.empty() ? not_found("no such request: it never was, or is older than the history")
                          : json_answer(std::move(json));
    });
  }
  return snapshot_answer(engine_, who, clock_.wall(),
                         [name](const engine::Snapshot& s) { return json_answer(part_json(s, name)); });
}

}  // namespace larder::http
