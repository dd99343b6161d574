// SPDX-License-Identifier: Apache-2.0
// larderctl: the desktop's verbs on the command line, over the API.
// Exit status: 0 done; 2 wrong usage; 3 the server cannot be reached; 4 the key was refused or lacks the right; 5 not
// found; 6 the server refused the request; 7 the server failed.
#include <curl/curl.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/larderctl/client.h"
#include "runtime/larderctl/print.h"
#include "runtime/larderctl/watch.h"

namespace {

using larder::larderctl::Client;
using Json = nlohmann::json;

constexpr int kUsage = 2;
constexpr int kUnreachable = 3;

struct Options {
  std::string url = "http://127.0.0.1:4114";
  std::string key_file;
  bool json = false;
};

// What the chosen verb asks of the server.
struct Call {
  std::string method = "GET";
  std::string path;
  Json body = Json::object();
  std::string view = "result";
  std::string tenant;  // a name or id that the body's member `tenant`, or the path, still needs
  bool tenant_in_path = false;
  std::string behind_tenant;  // in the path
  bool waits = false;  // it begins a job, which is followed to its end
};

const std::string kBase = "/larder/v1/";

struct Words {
  std::string path, name, tenant, label, reason, to, foreign;
  std::uint64_t node = 0, pin = 0, id = 0, quota = 0, ttl_ms = 0, first = 0, blocks = 0;
  bool admin = false, dry_run = false, when_idle = false, on_path = false, below = false, no_wait = false;
};

void read(CLI::App& app, Call& call, const char* verb, const char* help, const char* path, const char* view) {
  app.add_subcommand(verb, help)->callback([&call, path, view] {
    call.path = kBase + path;
    call.view = view;
  });
}

CLI::App* list(CLI::App& app, Call& call, const char* verb, const char* help) {
  CLI::App* sub = app.add_subcommand(verb, help);
  sub->require_subcommand(0, 1);
  sub->preparse_callback([&call, verb](std::size_t) {
    call.path = kBase + verb;
    call.view = verb;
  });
  return sub;
}

void post(Call& call, const std::string& path, Json body) {
  call.method = "POST";
  call.path = kBase + path;
  call.body = std::move(body);
  call.view = "result";
}

void add_models(CLI::App& app, Call& call, Words& words) {
  CLI::App* models = list(app, call, "models", "list models; load or unload one");
  CLI::App* load = models->add_subcommand("load", "load a model file");
  load->add_option("PATH", words.path, "a path on the server, or a name in its models folder")->required();
  load->callback([&] { post(call, "models/load", {{"path", words.path}}); });
  CLI::App* unload = models->add_subcommand("unload", "unload a model");
  unload->add_option("ID", words.id, "as `models` lists it")->required();
  unload->callback([&] { post(call, "models/unload", {{"model", words.id}}); });
}

void add_requests(CLI::App& app, Call& call, Words& words) {
  CLI::App* requests = list(app, call, "requests", "list requests; show or cancel one");
  CLI::App* show = requests->add_subcommand("show", "one request and why it reused what it did");
  show->add_option("ID", words.id)->required();
  show->callback([&] {
    call.path = kBase + "requests/" + std::to_string(words.id);
    call.view = "request";
  });
  CLI::App* cancel = requests->add_subcommand("cancel", "stop a request");
  cancel->add_option("ID", words.id)->required();
  cancel->callback([&] { post(call, "requests/" + std::to_string(words.id) + "/cancel", Json::object()); });
}

void add_tenants(CLI::App& app, Call& call, Words& words) {
  CLI::App* tenants = list(app, call, "tenants", "list tenants; create or delete one");
  CLI::App* create = tenants->add_subcommand("create", "create a tenant");
  create->add_option("NAME", words.name)->required();
  create->add_option("--quota", words.quota, "bytes it may hold; 0: no quota");
  create->callback([&] { post(call, "tenants", {{"name", words.name}, {"quota_bytes", words.quota}}); });
  CLI::App* set = tenants->add_subcommand("set", "change what a tenant may");
  set->add_option("TENANT", words.tenant, "id or name")->required();
  set->add_option("--foreign", words.foreign, "on: reuse what another device or instruction set computed")
      ->required()
      ->check(CLI::IsMember({"on", "off"}));
  set->callback([&] {
    post(call, "tenants/", {{"foreign", words.foreign == "on"}});
    call.tenant = words.tenant;
    call.tenant_in_path = true;
    call.behind_tenant = "/set";
  });
  CLI::App* erase = tenants->add_subcommand("delete", "delete a tenant and all it has cached");
  erase->add_option("TENANT", words.tenant, "id or name")->required();
  erase->callback([&] {
    call.method = "DELETE";
    call.path = kBase + "tenants/";
    call.tenant = words.tenant;
    call.tenant_in_path = true;
    call.view = "result";
  });
}

void add_keys(CLI::App& app, Call& call, Words& words) {
  CLI::App* keys = list(app, call, "keys", "list keys; create or delete one");
  CLI::App* create = keys->add_subcommand("create", "create a key and show it once");
  create->add_option("TENANT", words.tenant, "id or name")->required();
  create->add_option("--label", words.label, "what it is for");
  create->add_flag("--admin", words.admin, "give it the admin right");
  create->callback([&] {
    post(call, "keys", {{"label", words.label}, {"admin", words.admin}});
    call.tenant = words.tenant;
  });
  CLI::App* erase = keys->add_subcommand("delete", "revoke a key");
  erase->add_option("ID", words.id, "as `keys` lists it")->required();
  erase->callback([&] {
    call.method = "DELETE";
    call.path = kBase + "keys/" + std::to_string(words.id);
    call.view = "result";
  });
}

// A part of a path, counted in blocks from the root; `needs` is given with it, `excludes` is not.
void add_part(CLI::App* sub, Words& words, CLI::Option* needs, CLI::Option* excludes) {
  for (CLI::Option* option : {sub->add_option("--first", words.first, "of the path: its first block, from 0"),
                              sub->add_option("--blocks", words.blocks, "of the path: how many; else to its end")}) {
    if (needs != nullptr) option->needs(needs);
    if (excludes != nullptr) option->excludes(excludes);
  }
}

void set_part(Call& call, const Words& words) {
  if (words.first > 0) call.body["first_block"] = words.first;
  if (words.blocks > 0) call.body["block_count"] = words.blocks;
}

void add_node_verbs(CLI::App& app, Call& call, Words& words) {
  CLI::App* pin = app.add_subcommand("pin", "keep a run and all above it");
  pin->add_option("NODE", words.node, "as `tree` lists it")->required();
  pin->add_option("--reason", words.reason, "why, for the list of pins");
  pin->add_option("--ttl-ms", words.ttl_ms, "for how long; 0: until unpinned");
  pin->add_flag("--dry-run", words.dry_run, "only say what it would hold");
  pin->callback([&] {
    post(call, "pin",
         {{"node", words.node}, {"reason", words.reason}, {"ttl_ms", words.ttl_ms}, {"dry_run", words.dry_run}});
  });
  CLI::App* unpin = app.add_subcommand("unpin", "let a pinned run go");
  CLI::Option* by_pin = unpin->add_option("PIN", words.pin, "id of the pin");
  CLI::Option* by_node = unpin->add_option("--node", words.node, "or the node where it ends");
  by_pin->excludes(by_node);
  unpin->require_option(1);
  unpin->callback([&, by_pin] {
    post(call, "unpin", by_pin->count() > 0 ? Json{{"pin", words.pin}} : Json{{"node", words.node}});
  });
  CLI::App* erase = app.add_subcommand("delete", "delete a run and all below it");
  erase->add_option("NODE", words.node, "as `tree` lists it")->required();
  erase->add_flag("--when-idle", words.when_idle, "wait until nobody uses it");
  erase->add_flag("--dry-run", words.dry_run, "only say what would go");
  erase->callback([&] {
    post(call, "delete", {{"node", words.node}, {"when_idle", words.when_idle}, {"dry_run", words.dry_run}});
  });
  CLI::App* locate = app.add_subcommand("locate", "where each block of a run lies, from the root");
  locate->add_option("NODE", words.node, "as `tree` lists it")->required();
  CLI::Option* below = locate->add_flag("--below", words.below, "the run and all below it instead");
  add_part(locate, words, nullptr, below);
  locate->callback([&] {
    post(call, "locate", {{"node", words.node}, {"below", words.below}});
    set_part(call, words);
  });
}

// Verbs over tiers: each is a job, followed to its end unless --no-wait is given.
// `where`: the API's member that says where they go, with the option for it; null: they go nowhere.
struct Where {
  const char* member = nullptr;
  const char* option = nullptr;
  const char* help = nullptr;
};

void add_tier_verb(CLI::App& app, Call& call, Words& words, const char* verb, const char* help, Where where) {
  CLI::App* sub = app.add_subcommand(verb, help);
  sub->add_option("NODE", words.node, "as `tree` lists it: the run and all below it")->required();
  if (where.member != nullptr) sub->add_option(where.option, words.to, where.help)->required();
  CLI::Option* on_path = sub->add_flag("--path", words.on_path, "the blocks from the root to NODE instead");
  add_part(sub, words, on_path, nullptr);
  sub->add_flag("--dry-run", words.dry_run, "only say what would be done");
  sub->add_flag("--no-wait", words.no_wait, "do not follow the job: `jobs` shows it");
  sub->callback([&call, &words, verb, where] {
    post(call, verb, {{"node", words.node}, {"path", words.on_path}, {"dry_run", words.dry_run}});
    if (where.member != nullptr) call.body[where.member] = words.to;
    set_part(call, words);
    call.waits = !words.no_wait;
  });
}

void add_jobs(CLI::App& app, Call& call, Words& words) {
  constexpr Where kTier{"to", "--to", "disk, or pool (the model's memory)"};
  constexpr Where kScheme{"scheme", "--scheme", "int8, or int4"};
  add_tier_verb(app, call, words, "move", "move a run with all below to another tier", kTier);
  add_tier_verb(app, call, words, "copy", "copy it there, and leave it where it is too", kTier);
  add_tier_verb(app, call, words, "verify", "read and prove each copy of it", {});
  add_tier_verb(app, call, words, "compress", "keep it on disk, rounded: smaller, and not bit for bit", kScheme);
  add_tier_verb(app, call, words, "decompress", "compute a rounded run again, exactly", {});
  CLI::App* jobs = list(app, call, "jobs", "list jobs; show, follow or cancel one");
  CLI::App* show = jobs->add_subcommand("show", "how far a job is, or what it did");
  show->add_option("ID", words.id, "as `jobs` lists it")->required();
  show->callback([&] {
    call.path = kBase + "jobs/" + std::to_string(words.id);
    call.view = "job";
  });
  CLI::App* cancel = jobs->add_subcommand("cancel", "stop a job; what it moved till then is where it is");
  cancel->add_option("ID", words.id, "as `jobs` lists it")->required();
  cancel->callback([&] { post(call, "jobs/" + std::to_string(words.id) + "/cancel", Json::object()); });
}

// The key of the file's first line, else of LARDER_KEY; false when the file cannot be read.
bool read_key(const std::string& file, std::string& key) {
  if (file.empty()) {
    const char* from_environment = std::getenv("LARDER_KEY");
    key = from_environment ? from_environment : "";
    return true;
  }
  std::ifstream in(file);
  if (!std::getline(in, key)) return false;
  while (!key.empty() && (key.back() == '\r' || key.back() == ' ')) key.pop_back();
  return true;
}

int fail(int status, const std::string& message) {
  std::fprintf(stderr, "larderctl: %s\n", message.c_str());
  return status;
}

// Turns a tenant's name into its id where the call needs one; 0, or the exit status.
int resolve_tenant(const Client& client, Call& call) {
  if (call.tenant.empty()) return 0;
  std::string id = call.tenant;
  if (id.find_first_not_of("0123456789") != std::string::npos) {
    const auto reply = client.send("GET", kBase + "tenants");
    if (!reply.ok()) return fail(kUnreachable, reply.error().message);
    if (const int status = larder::larderctl::exit_status(reply->status)) {
      return fail(status, larder::larderctl::error_message(*reply));
    }
    id.clear();
    const Json body = Json::parse(reply->body, nullptr, false);
    for (const Json& tenant : body.is_object() ? body.value("tenants", Json::array()) : Json::array()) {
      if (tenant.value("name", "") == call.tenant) id = tenant.value("id", Json()).dump();
    }
    if (id.empty()) return fail(5, "no tenant is called " + larder::larderctl::printable(call.tenant));
  }
  if (call.tenant_in_path) {
    call.path += id + call.behind_tenant;
  } else {
    call.body["tenant"] = std::strtoull(id.c_str(), nullptr, 10);
  }
  return 0;
}

// The begun job to its end.
int follow(const Client& client, const Options& options, const std::string& begun) {
  const Json answer = Json::parse(begun, nullptr, false);
  const Json job = answer.is_object() ? answer.value("job", Json()) : Json();
  const Json id = job.is_object() ? job.value("id", Json()) : Json();
  if (!id.is_number_unsigned()) return fail(7, "the server's answer names no job");
  const auto reply = larder::larderctl::watch_job(client, kBase + "jobs/" + id.dump());
  if (!reply.ok()) return fail(kUnreachable, reply.error().message);
  if (options.json) std::printf("%s\n", reply->body.c_str());
  if (const int status = larder::larderctl::exit_status(reply->status)) {
    return fail(status, larder::larderctl::error_message(*reply));
  }
  if (!options.json) std::fputs(larder::larderctl::show("job", reply->body).c_str(), stdout);
  const std::string state = larder::larderctl::ended_as(reply->body);
  return state == "done" ? 0 : state == "cancelled" ? 6 : 7;
}

int run(const Options& options, Call& call) {
  std::string key;
  if (!read_key(options.key_file, key)) return fail(kUsage, "cannot read a key from " + options.key_file);
  const Client client(options.url, key);
  if (const int status = resolve_tenant(client, call)) return status;
  const std::string body = call.body.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto reply = client.send(call.method, call.path, body);
  if (!reply.ok()) return fail(kUnreachable, reply.error().message);
  const int status = larder::larderctl::exit_status(reply->status);
  if (status == 0 && call.waits && reply->status == 202) return follow(client, options, reply->body);
  if (options.json) std::printf("%s\n", reply->body.c_str());
  if (status != 0) return fail(status, larder::larderctl::error_message(*reply));
  if (!options.json) std::fputs(larder::larderctl::show(call.view, reply->body).c_str(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "larderctl: see and steer a running Larder\n"
      "The key comes from --key-file or the environment variable LARDER_KEY, never from an argument."};
  app.require_subcommand(1);
  app.fallthrough();
  Options options;
  Call call;
  Words words;
  app.add_option("--url", options.url, "where it serves")->envname("LARDER_URL")->capture_default_str();
  app.add_option("--key-file", options.key_file, "file whose first line is the key");
  app.add_flag("--json", options.json, "print the API's answer as it is");
  read(app, call, "status", "what is loaded, how full it is, what runs", "snapshot", "status");
  read(app, call, "tree", "the prefix tree, one line for each run", "tree", "tree");
  add_models(app, call, words);
  add_requests(app, call, words);
  add_tenants(app, call, words);
  add_keys(app, call, words);
  add_node_verbs(app, call, words);
  add_jobs(app, call, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  const int status = run(options, call);
  curl_global_cleanup();
  return status;
}
