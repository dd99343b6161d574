#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""larderd and larderctl as scripts see them: exit codes, keys, control verbs, clients that leave. Only the standard
library."""
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

from larderd_process import BIN, DATA, STORIES, TEMPLATE, Larderd, run_checks, running, with_chat_template

PROMPT = "Once upon a time, there was a little girl called Lily. She had a red ball and a dog. "


def call(daemon, method, path, body=None, key=None, headers=None):
    connection = http.client.HTTPConnection(daemon.url.removeprefix("http://"), timeout=60)
    sent = {"Authorization": "Bearer " + (daemon.key if key is None else key), "Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), {**sent, **(headers or {})})
    response = connection.getresponse()
    raw = response.read()
    connection.close()
    return response.status, (json.loads(raw) if raw[:1] in b"{[" and raw else raw.decode())


def complete(daemon, key=None, prompt=PROMPT, **more):
    body = {"prompt": prompt, "max_tokens": 4, "temperature": 0, **more}
    status, answer = call(daemon, "POST", "/v1/completions", body, key)
    assert status == 200, answer
    return answer


def larderctl(daemon, *words, key=None, expect=0):
    environment = {**os.environ, "LARDER_KEY": daemon.key if key is None else key, "LARDER_URL": daemon.url}
    done = subprocess.run([str(BIN / "larderctl"), *words], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == expect, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


def ctl_json(daemon, *words, **more):
    return json.loads(larderctl(daemon, "--json", *words, **more))


def wait_for(what, seconds=30):
    """Polls until what() is true: the other side is another process."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def answers_probes(daemon):
    assert call(daemon, "GET", "/healthz", key="")[0] == 200
    assert call(daemon, "GET", "/", key="") == (200, "Larder is running\n")
    assert call(daemon, "GET", "/readyz")[0] == 200
    assert call(daemon, "GET", "/readyz", key="")[0] == 401
    status, text = call(daemon, "GET", "/metrics")
    assert status == 200 and "# TYPE" in text, text[:200]
    assert call(daemon, "GET", "/metrics", key="")[0] == 401


def refuses_web_pages(daemon):
    for headers, status in (({"Host": "evil.example"}, 403), ({"Origin": "http://localhost"}, 403),
                            ({"Sec-Fetch-Site": "cross-site"}, 403), ({"Content-Type": "text/plain"}, 415)):
        assert call(daemon, "POST", "/v1/completions", {"prompt": "x"}, headers=headers)[0] == status, headers


def reuses_and_explains(daemon):
    first = complete(daemon)
    second = complete(daemon)
    assert first["choices"][0]["text"] == second["choices"][0]["text"]
    larder = second["larder"]
    assert 0 < larder["reused_tokens"] < second["usage"]["prompt_tokens"], larder
    record = ctl_json(daemon, "requests", "show", str(larder["request"]))
    assert record["state"] == "done" and record["verdict"]["reused_tokens"] == larder["reused_tokens"], record
    assert record["usage"]["prompt_tokens"] == second["usage"]["prompt_tokens"]
    assert "reused" in larderctl(daemon, "requests", "show", str(larder["request"]))


def pins_and_deletes(daemon):
    complete(daemon, prompt=PROMPT * 6)
    tree = ctl_json(daemon, "tree")["tree"]
    leaf = max(tree, key=lambda node: node["first_position"] + node["tokens"])
    assert str(leaf["id"]) in larderctl(daemon, "tree")
    located = ctl_json(daemon, "locate", str(leaf["id"]))["placement"]
    assert located[-1]["id"] == leaf["id"] and located[0]["parent"] == 0, located
    dry = ctl_json(daemon, "pin", str(leaf["id"]), "--dry-run")
    assert dry["pin"] == 0 and dry["blocks"] > 0, dry
    pin = ctl_json(daemon, "pin", str(leaf["id"]), "--reason", "family")["pin"]
    assert [p["reason"] for p in call(daemon, "GET", "/larder/v1/pins")[1]["pins"]] == ["family"]
    assert any(n["pinned"] for n in ctl_json(daemon, "tree")["tree"])
    larderctl(daemon, "unpin", str(pin))
    assert call(daemon, "GET", "/larder/v1/pins")[1]["pins"] == []
    larderctl(daemon, "delete", str(leaf["id"]), "--when-idle")
    assert leaf["id"] not in [n["id"] for n in ctl_json(daemon, "tree")["tree"]]
    larderctl(daemon, "locate", str(leaf["id"]), expect=5)
    larderctl(daemon, "unpin", "999999", expect=5)


def moves_copies_and_verifies(daemon):
    complete(daemon, prompt=PROMPT * 6)
    tree = ctl_json(daemon, "tree")["tree"]
    leaf = max(tree, key=lambda node: node["first_position"] + node["tokens"])
    rows = {node["id"]: node for node in tree}
    top = leaf
    while top["parent"] in rows:
        top = rows[top["parent"]]
    run = str(top["id"])

    def stored():
        path = ctl_json(daemon, "locate", run)["placement"]
        return all(node["stored_blocks"] == node["blocks"] for node in path)
    wait_for(stored)
    dry = ctl_json(daemon, "move", run, "--to", "disk", "--dry-run")
    assert dry["job"]["id"] == 0 and dry["job"]["dry_run"] and dry["job"]["result"]["left_pool"] > 0, dry
    down = ctl_json(daemon, "move", run, "--to", "disk")
    assert down["state"] == "done" and down["result"] == dry["job"]["result"], (down, dry)
    ranges = ctl_json(daemon, "locate", run)["ranges"]
    assert {r["tier"] for r in ranges} == {"disk"} and all(r["durable"] for r in ranges), ranges
    assert ranges[0]["lineage"] == "exact" and ranges[0]["first_block"] == 0, ranges
    assert "disk" in larderctl(daemon, "locate", run)
    shown = larderctl(daemon, "verify", run)
    assert "good" in shown and "done" in shown, shown
    status, begun = call(daemon, "POST", "/larder/v1/copy", {"node": int(run), "to": "pool"})
    assert status == 202 and begun["job"]["state"] in ("queued", "running"), begun
    path = "/larder/v1/jobs/%d" % begun["job"]["id"]
    wait_for(lambda: call(daemon, "GET", path)[1]["done"])
    up = call(daemon, "GET", path)[1]
    assert up["state"] == "done" and up["result"]["read_up"] == dry["job"]["result"]["left_pool"], up
    again = complete(daemon, prompt=PROMPT * 6)["larder"]
    assert again["verdict"] == "full_prefix" and again["tier"] == "host", again
    part = ctl_json(daemon, "copy", str(leaf["id"]), "--to", "disk", "--path", "--first", "1", "--blocks", "2")
    assert part["blocks_total"] == 2 and part["result"]["already"] == 2, part
    assert "move" in larderctl(daemon, "jobs") and "copy" in larderctl(daemon, "jobs", "show", str(up["id"]))
    assert call(daemon, "POST", path + "/cancel", {})[0] == 409
    assert call(daemon, "GET", "/larder/v1/jobs/999999")[0] == 404
    for body, param in (({"to": "disk"}, "node"), ({"node": int(run), "to": "tape"}, None),
                        ({"node": int(run), "to": "disk", "first_block": 1}, "first_block")):
        status, refused = call(daemon, "POST", "/larder/v1/move", body)
        assert status == 400 and refused["error"]["param"] == param, (status, refused)
    larderctl(daemon, "jobs", "cancel", "999999", expect=5)
    larderctl(daemon, "move", "999999", "--to", "disk", expect=5)
    larderctl(daemon, "move", run, expect=2)


def compresses_and_computes_again(daemon):
    prompt = "The pantry has flour, rice and beans. " * 12
    first = complete(daemon, prompt=prompt)

    def top():
        tree = ctl_json(daemon, "tree")["tree"]
        rows = {node["id"]: node for node in tree}
        node = max(tree, key=lambda n: (n["made_by"], n["first_position"] + n["tokens"]))
        while node["parent"] in rows:
            node = rows[node["parent"]]
        return node

    run = str(top()["id"])
    wait_for(lambda: all(n["stored_blocks"] == n["blocks"] for n in ctl_json(daemon, "tree")["tree"]))
    dry = ctl_json(daemon, "compress", run, "--scheme", "int8", "--dry-run")["job"]
    assert dry["id"] == 0 and dry["result"]["written"] > 0 and dry["codec_error"] > 0, dry
    assert dry["bytes_after"] < dry["bytes_before"], dry
    done = ctl_json(daemon, "compress", run, "--scheme", "int8")
    assert done["state"] == "done" and done["result"] == dry["result"] and done["to"] == "int8", (done, dry)
    assert done["bytes_after"] == dry["bytes_after"], (done, dry)
    rounded = str(next(n["id"] for n in ctl_json(daemon, "tree")["tree"]
                       if n["lineage"] == "int8" and n["parent"] == 0))
    # The tiny model may compute sooner than a busy disk reads, so it is brought up by name.
    assert ctl_json(daemon, "copy", rounded, "--to", "pool")["result"]["read_up"] > 0
    again = complete(daemon, prompt=prompt)["larder"]
    assert again["verdict"] == "full_prefix" and again["lineage"] == "int8", again
    assert "int8" in larderctl(daemon, "locate", rounded)
    status, refused = call(daemon, "POST", "/larder/v1/compress", {"node": int(rounded), "scheme": "int8"})
    assert status == 409 and "decompress" in refused["error"]["message"], (status, refused)
    dry = ctl_json(daemon, "decompress", rounded, "--dry-run")["job"]
    assert dry["compute_tokens"] > 0 and dry["result"]["computed"] > 0, dry
    shown = larderctl(daemon, "decompress", rounded)
    assert "done" in shown and "tokens computed" in shown, shown
    assert all(n["lineage"] == "exact" for n in ctl_json(daemon, "tree")["tree"])
    exact = complete(daemon, prompt=prompt)
    assert exact["larder"]["lineage"] == "exact" and exact["larder"]["verdict"] == "full_prefix", exact["larder"]
    assert exact["choices"][0]["text"] == first["choices"][0]["text"]
    for body, status, param in (({"node": int(run)}, 400, "scheme"), ({"scheme": "int8"}, 400, "node"),
                                ({"node": 999999, "scheme": "int8"}, 404, None)):
        got, refused = call(daemon, "POST", "/larder/v1/compress", body)
        assert got == status and refused["error"]["param"] == param, (got, refused)
    larderctl(daemon, "compress", str(top()["id"]), "--scheme", "int3", expect=6)
    larderctl(daemon, "decompress", str(top()["id"]), expect=6)
    larderctl(daemon, "compress", run, expect=2)


def keeps_tenants_apart(daemon):
    complete(daemon)
    larderctl(daemon, "tenants", "create", "kids")
    larderctl(daemon, "tenants", "create", "kids", expect=6)
    secret = ctl_json(daemon, "keys", "create", "kids", "--label", "tablet")["secret"]
    assert secret and secret not in larderctl(daemon, "keys")
    larder = complete(daemon, key=secret)["larder"]
    assert larder["reused_tokens"] == 0 and larder["verdict"] in ("cold", "too_short"), larder
    assert complete(daemon, key=secret)["larder"]["reused_tokens"] > 0
    seen = call(daemon, "GET", "/larder/v1/requests", key=secret)[1]["requests"]
    assert len(seen) == 2 and len({r["tenant"] for r in seen}) == 1, seen
    for path in ("/metrics", "/larder/v1/keys", "/larder/v1/settings"):
        assert call(daemon, "GET", path, key=secret)[0] == 403, path
    larderctl(daemon, "tenants", "create", "more", key=secret, expect=4)
    larderctl(daemon, "tenants", "delete", "kids")
    assert call(daemon, "GET", "/v1/models", key=secret)[0] == 401
    assert "kids" not in larderctl(daemon, "tenants")
    larderctl(daemon, "status", key="wrong", expect=4)


def shows_status(daemon):
    complete(daemon)
    snapshot = ctl_json(daemon, "status")
    pool = snapshot["pool"]
    assert pool["blocks_free"] + pool["blocks_cached"] + pool["blocks_in_use"] == pool["blocks_total"], pool
    assert "blocks" in larderctl(daemon, "status") and "ready" in larderctl(daemon, "models")
    assert call(daemon, "GET", f"/larder/v1/snapshot?since={snapshot['epoch']}")[1]["requests"] == []
    settings = call(daemon, "GET", "/larder/v1/settings")[1]["settings"]
    assert {"key", "value", "help"} <= set(settings[0])


def quiet(daemon):
    pool = ctl_json(daemon, "status")
    return pool["running"] == 0 and pool["queued"] == 0 and pool["pool"]["blocks_in_use"] == 0


def frees_everything_of_clients_that_leave(daemon):
    wait_for(lambda: quiet(daemon))
    head = (f"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {daemon.key}\r\n"
            "Content-Type: application/json\r\n")
    for streamed in (True, False):
        for number in range(20):
            body = json.dumps({"prompt": PROMPT + str(number), "max_tokens": 400, "ignore_eos": True,
                               "stream": streamed})
            with socket.create_connection(daemon.url.removeprefix("http://").split(":")) as client:
                client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
                if streamed and number % 2:
                    client.recv(100)
    wait_for(lambda: quiet(daemon))
    states = [r["state"] for r in call(daemon, "GET", "/larder/v1/requests")[1]["requests"][-40:]]
    assert states.count("cancelled") >= 20, states
    complete(daemon)


def stays_alive_under_a_crowd(daemon):
    """200 clients: every answer is 200, or 429 or 503 with Retry-After; probes stay quick."""
    statuses, slow = [], []

    def client(number):
        connection = http.client.HTTPConnection(daemon.url.removeprefix("http://"), timeout=120)
        connection.request("POST", "/v1/completions", json.dumps({"prompt": PROMPT + str(number % 7), "max_tokens": 8}),
                           {"Authorization": "Bearer " + daemon.key, "Content-Type": "application/json"})
        response = connection.getresponse()
        statuses.append((response.status, response.getheader("Retry-After")))
        response.read()
    threads = [threading.Thread(target=client, args=(n,)) for n in range(200)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        started = time.monotonic()
        assert call(daemon, "GET", "/healthz", key="")[0] in (200, 503)
        slow.append(time.monotonic() - started)
    for thread in threads:
        thread.join()
    assert len(statuses) == 200
    assert all(s == 200 or (s in (429, 503) and retry) for s, retry in statuses), statuses
    print(f"      {sum(s == 200 for s, _ in statuses)} of 200 answered; {len(slow)} probes, slowest {max(slow):.3f} s")


def logs_hold_no_text_and_no_key(daemon):
    complete(daemon, prompt="CANARY-7734 " + PROMPT)
    written = "".join(daemon.errors)
    for part in daemon.folder.rglob("*"):
        if part.is_file() and part.suffix in (".log", ".toml"):
            written += part.read_text(errors="replace")
    assert "CANARY" not in written and daemon.key not in written


def bounds_what_clients_send(_daemon):
    with tempfile.TemporaryDirectory() as folder:
        settings = {"api.max_body_bytes": 4096, "api.max_depth": 8, "api.header_timeout_ms": 300,
                    "api.body_timeout_ms": 300, "api.idle_timeout_ms": 300}
        options = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        daemon = Larderd(STORIES, folder, options)
        status, answer = call(daemon, "POST", "/v1/completions", {"prompt": "a" * 5000})
        assert status == 413 and answer["error"]["code"] == "body_too_large", answer
        deep = {"prompt": "a", "x": json.loads("[" * 9 + "]" * 9)}
        status, answer = call(daemon, "POST", "/v1/completions", deep)
        assert status == 400 and "deep" in answer["error"]["message"], answer
        assert call(daemon, "GET", "/" + "p" * 9000)[0] == 414
        assert call(daemon, "GET", "/", headers={"X-Long": "h" * 17000})[0] == 431
        head = f"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {daemon.key}\r\n"
        for part in ("POST /v1/compl", head + "Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"):
            with socket.create_connection(daemon.url.removeprefix("http://").split(":"), timeout=30) as slow:
                slow.sendall(part.encode())
                assert slow.recv(100).startswith(b"HTTP/1.1 408 "), part
        with socket.create_connection(daemon.url.removeprefix("http://").split(":"), timeout=30) as silent:
            assert silent.recv(100) == b""
        complete(daemon)
        daemon.end()


def ends_requests_when_told(daemon):
    long = {"prompt": PROMPT, "max_tokens": 450, "ignore_eos": True}
    status, answer = call(daemon, "POST", "/v1/completions", {**long, "larder": {"deadline_ms": 1}})
    assert status == 504 and answer["error"]["code"] == "deadline_exceeded", answer
    ends = []
    waiting = [threading.Thread(target=lambda: ends.append(call(daemon, "POST", "/v1/completions", {**long, "n": 16})))
               for _ in range(4)]
    for thread in waiting:
        thread.start()

    def running_ones():
        return [r["id"] for r in call(daemon, "GET", "/larder/v1/requests")[1]["requests"]
                if r["state"] in ("preparing", "queued", "prefill", "decode")]
    while any(thread.is_alive() for thread in waiting):
        for request in running_ones():
            assert call(daemon, "POST", f"/larder/v1/requests/{request}/cancel", {})[0] in (200, 404)
    assert 499 in [status for status, _ in ends] and {status for status, _ in ends} <= {499, 200}, ends
    assert call(daemon, "POST", "/larder/v1/requests/999999/cancel", {})[0] == 404
    wait_for(lambda: quiet(daemon))


def loads_and_unloads_models(_daemon):
    with tempfile.TemporaryDirectory() as folder:
        daemon = Larderd(None, folder)
        assert call(daemon, "GET", "/readyz")[0] == 503 and call(daemon, "GET", "/v1/models")[1]["data"] == []
        assert call(daemon, "POST", "/v1/completions", {"prompt": "a"})[0] == 503
        assert call(daemon, "POST", "/larder/v1/models/load", {"path": folder + "/none.gguf"})[0] == 404
        assert call(daemon, "POST", "/larder/v1/models/load", {"path": str(STORIES)})[0] == 200
        assert call(daemon, "GET", "/readyz")[0] == 200
        assert complete(daemon)["choices"][0]["text"]
        ready = next(m for m in call(daemon, "GET", "/larder/v1/models")[1]["models"] if m["state"] == "ready")
        assert call(daemon, "POST", "/larder/v1/models/unload", {"model": 999})[0] == 404
        assert call(daemon, "POST", "/larder/v1/models/unload", {"model": ready["id"]})[0] == 200
        assert call(daemon, "GET", "/readyz")[0] == 503
        daemon.end()


def answers_curl_as_the_page_says(daemon):
    if shutil.which("curl") is None:
        print("      skipped: there is no curl")
        return
    page = (DATA.parent.parent / "runtime" / "http" / "API.md").read_text()
    commands = [c.replace("\\\n", " ") for c in re.findall(r"^    (curl (?:.*\\\n)*.*)$", page, re.MULTILINE)]
    assert len(commands) >= 2, commands
    complete(daemon)
    node = call(daemon, "GET", "/larder/v1/tree")[1]["tree"][-1]["id"]
    for command in commands:
        command = command.replace("http://127.0.0.1:4114", daemon.url).replace('"node": 7', f'"node": {node}')
        done = subprocess.run(["sh", "-c", command], env={**os.environ, "LARDER_KEY": daemon.key}, capture_output=True,
                              text=True, timeout=60)
        assert done.returncode == 0 and "error" not in json.loads(done.stdout), (command, done.stdout, done.stderr)
    words = ["curl", "-sN", "-H", "x-api-key: " + daemon.key, "-H", "Content-Type: application/json", "-d",
             '{"prompt": "Once", "max_tokens": 3, "stream": true}', daemon.url + "/v1/completions"]
    shown = subprocess.run(words, capture_output=True, text=True, timeout=60).stdout
    assert shown.startswith("data: {") and shown.endswith("data: [DONE]\n\n"), shown


def exit_codes(_daemon):
    with tempfile.TemporaryDirectory() as folder:
        for words, expect in ((["--nonsense"], 2), (["--set", "api.lan=maybe"], 2), (["--listen", "nowhere"], 2),
                              (["--listen", "0.0.0.0:0"], 2), (["--model", folder + "/missing.gguf"], 3),
                              (["--data", "/proc/none/such"], 5)):
            defaults = {"--data": folder + "/data", "--listen": "127.0.0.1:0"}
            more = [word for pair in defaults.items() if pair[0] not in words for word in pair]
            done = subprocess.run([str(BIN / "larderd"), *more, *words], capture_output=True, text=True, timeout=60)
            assert done.returncode == expect, (words, done.returncode, done.stderr)
            assert done.stderr.strip(), words


def ports_and_folders_are_held_once(daemon):
    with tempfile.TemporaryDirectory() as folder:
        port = daemon.url.rsplit(":", 1)[1]
        for words, expect in ((["--data", folder, "--listen", "127.0.0.1:" + port], 4),
                              (["--data", str(daemon.folder), "--listen", "127.0.0.1:0"], 5)):
            done = subprocess.run([str(BIN / "larderd"), *words], capture_output=True, text=True, timeout=60)
            assert done.returncode == expect, (words, done.returncode, done.stderr)


def keys_and_tenants_survive_a_restart(_daemon):
    with tempfile.TemporaryDirectory() as folder:
        first = Larderd(STORIES, folder)
        larderctl(first, "tenants", "create", "kids")
        secret = ctl_json(first, "keys", "create", "kids")["secret"]
        first.end()
        second = Larderd(STORIES, folder)
        assert "kids" in larderctl(second, "tenants")
        assert call(second, "GET", "/v1/models", key=secret)[0] == 200
        assert call(second, "GET", "/v1/models", key=first.key)[0] == 401  # was for that process only
        second.end()


def shows_tools_to_the_model_or_refuses_them(daemon):
    tool = {"type": "function", "function": {"name": "lamp_on", "parameters": {"type": "object"}}}
    body = {"messages": [{"role": "user", "content": PROMPT}], "max_tokens": 4, "tools": [tool]}
    status, answer = call(daemon, "POST", "/v1/chat/completions", body)
    assert status == 400 and answer["error"]["param"] == "tools", answer
    assert answer["error"]["code"] == "unsupported" and "does not support tools" in answer["error"]["message"], answer
    assert call(daemon, "POST", "/v1/chat/completions", {**body, "stream": True})[0] == 400
    assert call(daemon, "POST", "/v1/chat/completions", {**body, "tool_choice": "none"})[0] == 200
    with tempfile.TemporaryDirectory() as folder:
        template = "{% for t in tools or [] %}{{ t.function.name }}\n{% endfor %}" + TEMPLATE
        model = with_chat_template(STORIES, pathlib.Path(folder) / "with-tools.gguf", template)
        with running(model) as other:
            status, answer = call(other, "POST", "/v1/chat/completions", body)
            assert status == 200, answer
            record = ctl_json(other, "requests", "show", str(answer["larder"]["request"]))
            sections = [(s["kind"], s["label"]) for s in record["sections"]]
            assert ("tool", "tool lamp_on") in sections, sections


def ends_in_time_with_clients_open(_daemon):
    with tempfile.TemporaryDirectory() as folder:
        daemon = Larderd(STORIES, folder)
        address = daemon.url.removeprefix("http://")
        connection = http.client.HTTPConnection(address, timeout=60)
        body = json.dumps({"prompt": PROMPT, "max_tokens": 400, "ignore_eos": True, "stream": True})
        connection.request("POST", "/v1/completions", body,
                           {"Authorization": "Bearer " + daemon.key, "Content-Type": "application/json"})
        connection.getresponse().read(10)
        daemon.end()
        connection.close()


def answers_before_the_models_digest(_daemon):
    """A file of 64 GiB, of which all but the weights is a hole: its digest takes most of a minute."""
    with tempfile.TemporaryDirectory() as folder:
        large = pathlib.Path(folder) / "large.gguf"
        large.write_bytes(STORIES.read_bytes())
        os.truncate(large, 64 << 30)
        with running(large, ["--set", "pool.bytes=33554432"]) as daemon:
            assert complete(daemon)["larder"]["verdict"] == "cold"
            assert complete(daemon)["larder"]["verdict"] == "full_prefix"
            wait_for(lambda: call(daemon, "GET", "/larder/v1/models")[1]["models"][0]["digest_progress"] > 0)
            model = call(daemon, "GET", "/larder/v1/models")[1]["models"][0]
            assert model["state"] == "ready" and model["identity"] == "pending", model
            assert model["digest_progress"] < 1 and model["digest"] == model["digest_error"] == "", model


def two_models_by_name(_daemon):
    """Both stay loaded, each answers from its own tree, and the API and larderctl show both."""
    with tempfile.TemporaryDirectory() as folder:
        other = pathlib.Path(folder) / "other.gguf"
        other.write_bytes((DATA / "models-tiny" / "stories260K-f16.gguf").read_bytes())
        with running(STORIES, ["--set", "pool.bytes=33554432"]) as daemon:
            first = call(daemon, "GET", "/v1/models")[1]["data"][0]["id"]
            assert call(daemon, "POST", "/larder/v1/models/load", {"path": str(other)})[0] == 200
            names = [model["id"] for model in call(daemon, "GET", "/v1/models")[1]["data"]]
            assert len(names) == 2 and names[1] == first, names
            for verdict in ("cold", "full_prefix"):
                answers = [complete(daemon, model=name) for name in names]
                assert [a["model"] for a in answers] == names, answers
                for place, answer in enumerate(answers):
                    said = answer["larder"]["verdict"]
                    # The second model's first miss may name the first one's weights.
                    assert said == verdict or (place == 1 and verdict == "cold" and said == "other_identity"), said
            status, refused = call(daemon, "POST", "/v1/completions", {"prompt": PROMPT, "model": "none of these"})
            assert status == 404 and all(name in refused["error"]["message"] for name in names), refused
            snapshot = call(daemon, "GET", "/larder/v1/snapshot")[1]
            parts = [model["pool"] for model in snapshot["models"] if model["state"] == "ready"]
            assert len(parts) == 2
            for total in ("blocks_total", "blocks_free", "blocks_cached", "bytes_total", "bytes_taken"):
                assert snapshot["pool"][total] == sum(part[total] for part in parts), (total, snapshot["pool"], parts)
            assert snapshot["pool"]["bytes_total"] <= snapshot["pool"]["budget_bytes"] == 33554432, snapshot["pool"]
            shown = larderctl(daemon, "models")
            assert shown.count("ready") == 2, shown
            gone = next(model["id"] for model in snapshot["models"] if model["name"] == names[0])
            assert call(daemon, "POST", "/larder/v1/models/unload", {"model": gone})[0] == 200
            assert complete(daemon)["model"] == first
            assert complete(daemon, model=first)["larder"]["verdict"] == "full_prefix"


CHECKS = [answers_probes, refuses_web_pages, reuses_and_explains, pins_and_deletes,
          moves_copies_and_verifies, compresses_and_computes_again,
          keeps_tenants_apart, shows_status,
          frees_everything_of_clients_that_leave, stays_alive_under_a_crowd, bounds_what_clients_send,
          ends_requests_when_told, loads_and_unloads_models, answers_curl_as_the_page_says,
          logs_hold_no_text_and_no_key, exit_codes, ports_and_folders_are_held_once, keys_and_tenants_survive_a_restart,
          shows_tools_to_the_model_or_refuses_them, ends_in_time_with_clients_open,
          answers_before_the_models_digest, two_models_by_name]


def main():
    with tempfile.TemporaryDirectory(prefix="larder-model.") as folder:
        model = with_chat_template(STORIES, pathlib.Path(folder) / "stories260K-chat.gguf")
        with running(model) as daemon:
            return run_checks(CHECKS, daemon)


if __name__ == "__main__":
    sys.exit(main())
