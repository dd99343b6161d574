// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "runtime/http/errors.h"

namespace larder::http {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Host without its port; nothing when it is malformed.
std::optional<std::string> host_name(std::string_view host) {
  if (host.empty() || host.size() > 255) return std::nullopt;
  if (host.front() == '[') {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view rest = host.substr(end + 1);
    if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return std::nullopt;
    return lower(host.substr(1, end - 1));
  }
  const std::size_t colon = host.find(':');
  if (colon != std::string_view::npos && !is_port(host.substr(colon + 1))) return std::nullopt;
  std::string name = lower(host.substr(0, colon));
  if (!name.empty() && name.back() == '.') name.pop_back();
  return name.empty() ? std::nullopt : std::optional(name);
}

bool is_ip(const std::string& name, bool* loopback) {
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, name.c_str(), &v4) == 1) {
    *loopback = (ntohl(v4.s_addr) >> 24) == 127;
    return true;
  }
  if (inet_pton(AF_INET6, name.c_str(), &v6) == 1) {
    *loopback = IN6_IS_ADDR_LOOPBACK(&v6);
    return true;
  }
  return false;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

Answer forbidden(std::string_view message) {
  Answer answer = error_answer({ErrorCode::kForbidden, std::string(message), ""});
  answer.close = true;
  return answer;
}

}  // namespace

bool is_good_host(std::string_view host, std::string_view local_address, const GuardRules& rules) {
  const std::optional<std::string> name = host_name(host);
  if (!name) return false;
  bool loopback = false;
  if (is_ip(*name, &loopback)) return loopback || *name == local_address || rules.lan;
  if (*name == "localhost" || ends_with(*name, ".localhost")) return true;
  return std::find(rules.allowed_hosts.begin(), rules.allowed_hosts.end(), *name) != rules.allowed_hosts.end();
}

bool is_json_type(std::string_view content_type) {
  return lower(trimmed(content_type.substr(0, content_type.find(';')))) == "application/json";
}

std::optional<Answer> refuse(const RequestHead& head, const GuardRules& rules) {
  if (head.host_count != 1) {
    Answer answer = plain_error(400, "bad_host", "send exactly one Host header");
    answer.close = true;
    return answer;
  }
  if (!is_good_host(head.host, head.local_address, rules)) {
    return forbidden("this Host is not one of this server's names: use its address, localhost, or add the name to "
                     "api.allowed_hosts");
  }
  const bool origin_listed = std::find(rules.allowed_origins.begin(), rules.allowed_origins.end(), head.origin) !=
                             rules.allowed_origins.end();
  if (head.has_origin && !origin_listed) {
    return forbidden("web pages may not call this server: add the page's origin to api.allowed_origins if it should");
  }
  const std::string site = lower(trimmed(head.fetch_site));
  if (!head.has_origin && (site == "cross-site" || site == "same-site")) {
    return forbidden("web pages of other sites may not call this server");
  }
  if (!head.content_encoding.empty() && lower(trimmed(head.content_encoding)) != "identity") {
    return plain_error(415, "unsupported_encoding", "send the body as it is, without Content-Encoding");
  }
  if ((head.method == "POST" || head.has_body) && !is_json_type(head.content_type)) {
    return plain_error(415, "unsupported_media_type", "send the body as Content-Type: application/json");
  }
  return std::nullopt;
}

std::string credential(const RequestHead& head) {
  const std::string_view value = trimmed(head.authorization);
  const std::size_t space = value.find(' ');
  if (space != std::string_view::npos && lower(value.substr(0, space)) == "bearer") {
    const std::string_view key = trimmed(value.substr(space + 1));
    if (!key.empty()) return std::string(key);
  }
  return std::string(trimmed(head.api_key));
}

std::optional<std::string> percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = digit(text[i + 1]);
      const int low = digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return std::nullopt;
    out += c;
  }
  return out;
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (pair.substr(0, equals) == name) {
      return percent_decoded(pair.substr(std::min(equals + 1, pair.size())));
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return std::nullopt;
}

}  // namespace larder::http
