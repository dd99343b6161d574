// SPDX-License-Identifier: Apache-2.0
#include "runtime/larderctl/client.h"

#include <curl/curl.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

namespace larder::larderctl {
namespace {

constexpr std::size_t kMaxBody = 256u << 20;
constexpr long kConnectMs = 5'000;
constexpr long kAnswerMs = 30'000;
constexpr long kLoadMs = 600'000;

using Curl = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

std::size_t append(const char* bytes, std::size_t size, std::size_t count, void* out) {
  auto& body = *static_cast<std::string*>(out);
  if (body.size() + size * count > kMaxBody) return 0;
  body.append(bytes, size * count);
  return size * count;
}

HeaderList headers(const std::string& key) {
  HeaderList list(nullptr, curl_slist_free_all);
  const auto add = [&](const std::string& line) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (!longer) return;
    static_cast<void>(list.release());
    list.reset(longer);
  };
  add("Content-Type: application/json");
  add("Expect:");
  if (!key.empty()) add("Authorization: Bearer " + key);
  return list;
}

}  // namespace

Client::Client(std::string url, std::string key)
    : url_(url.empty() || url.back() != '/' ? std::move(url) : url.substr(0, url.size() - 1)), key_(std::move(key)) {}

Result<Reply> Client::send(const std::string& method, const std::string& path, const std::string& body) const {
  const Curl curl(curl_easy_init(), curl_easy_cleanup);
  if (!curl) return Error{ErrorCode::kInternal, "libcurl could not start", ""};
  const HeaderList list = headers(key_);
  const std::string target = url_ + path;
  Reply reply;
  curl_easy_setopt(curl.get(), CURLOPT_URL, target.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_NOPROXY, "localhost,127.0.0.1,::1");
  curl_easy_setopt(curl.get(), CURLOPT_CUSTOMREQUEST, method.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, list.get());
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT_MS, kConnectMs);
  const bool loads = path.find("/models/load") != std::string::npos;
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, loads ? kLoadMs : kAnswerMs);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &reply.body);
  if (method == "POST") {
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, body.c_str());
  }
  if (const CURLcode code = curl_easy_perform(curl.get()); code != CURLE_OK) {
    return Error{ErrorCode::kIo,
                 "cannot reach " + url_ + ": " + curl_easy_strerror(code) + "; is larderd running there?", url_};
  }
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &reply.status);
  return reply;
}

std::string error_message(const Reply& reply) {
  const nlohmann::json body = nlohmann::json::parse(reply.body, nullptr, false);
  if (body.is_object() && body.contains("error") && body["error"].is_object()) {
    const nlohmann::json message = body["error"].value("message", nlohmann::json());
    if (message.is_string()) return printable(message.get<std::string>());
  }
  return "the server answered with status " + std::to_string(reply.status);
}

int exit_status(long http_status) {
  if (http_status >= 200 && http_status < 300) return 0;
  if (http_status == 401 || http_status == 403) return 4;
  if (http_status == 404) return 5;
  if (http_status >= 400 && http_status < 500) return 6;
  return 7;
}

std::string printable(const std::string& text) {
  std::string out = text;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    // C1 controls are C2 80 to C2 9F in UTF-8.
    const bool c1 = byte == 0xC2 && i + 1 < out.size() && static_cast<unsigned char>(out[i + 1]) < 0xA0;
    if (c1) out.erase(i, 1);
    if (byte < 0x20 || byte == 0x7F || c1) out[i] = '?';
  }
  return out;
}

}  // namespace larder::larderctl
