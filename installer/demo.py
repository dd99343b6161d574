#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two requests that share a household pack, sent to a larderd of their own, and a third one after a restart.

Prints what the second reused from memory and the third from disk.

Exit status: 0 when both reused the pack, 1 when one did not or larderd could not answer.
"""
import argparse
import http.client
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUESTIONS = ["Accendi la luce in cucina.", "Che temperatura c'è in camera da letto?", "Chiudi le tapparelle."]


def pack_text():
    """The Italian starter pack without its front matter."""
    text = (ROOT / "resources" / "packs" / "casa-it.md").read_text(encoding="utf-8")
    return text.split("---\n", 2)[2].strip() if text.startswith("---\n") else text.strip()


def start(larderd, model, data):
    """Starts larderd on a free port; answers (process, address, key)."""
    process = subprocess.Popen(
        [larderd, "--model", model, "--data", data, "--listen", "127.0.0.1:0", "--print-key"],
        stdout=subprocess.PIPE, text=True)
    key = None
    for line in process.stdout:
        words = line.split()
        if words[:2] == ["larderd", "key"]:
            key = words[2]
        if words[:2] == ["larderd", "ready"]:
            return process, words[2].removeprefix("http://"), key
    sys.exit(f"demo: larderd ended with status {process.wait()} before it was ready")


def chunks(response):
    """The JSON chunks of a streamed answer."""
    for raw in response:
        if raw.startswith(b"data: ") and raw.strip() != b"data: [DONE]":
            chunk = json.loads(raw[6:])
            if "error" in chunk:
                sys.exit(f"demo: {chunk['error']['message']}")
            yield chunk


def ask(address, key, system, question):
    """One streamed chat request; answers its figures."""
    connection = http.client.HTTPConnection(address, timeout=300)
    body = {"messages": [{"role": "system", "content": system}, {"role": "user", "content": question}],
            "stream": True, "stream_options": {"include_usage": True}, "max_tokens": 24, "temperature": 0}
    started = time.monotonic()
    connection.request("POST", "/v1/chat/completions", json.dumps(body),
                       {"Content-Type": "application/json", "Authorization": "Bearer " + key})
    response = connection.getresponse()
    if response.status != 200:
        sys.exit(f"demo: larderd answered {response.status}: {response.read(2000).decode(errors='replace')}")
    first, usage, larder, text = None, {}, {}, ""
    for chunk in chunks(response):
        for choice in chunk.get("choices", []):
            piece = choice.get("delta", {}).get("content") or ""
            if piece and first is None:
                first = time.monotonic()
            text += piece
        usage = chunk.get("usage") or usage
        larder = chunk.get("larder") or larder
    connection.close()
    return {"ttft_ms": round(((first or time.monotonic()) - started) * 1000, 1),
            "prompt_tokens": usage.get("prompt_tokens", 0),
            "reused_tokens": usage.get("prompt_tokens_details", {}).get("cached_tokens", 0),
            "tier": larder.get("tier", "none"), "verdict": larder.get("verdict", ""),
            "sentence": larder.get("sentence", ""), "text": text}


def print_table(cold, warm, restarted, reused):
    print(f"{'request':<10}{'first token':>14}{'prompt':>9}{'reused':>9}{'tier':>8}  verdict")
    for name, row in (("cold", cold), ("warm", warm), ("restarted", restarted)):
        print(f"{name:<10}{row['ttft_ms']:>11.1f} ms{row['prompt_tokens']:>9}{row['reused_tokens']:>9}{row['tier']:>8}"
              f"  {row['verdict']}")
    if reused:
        computed = warm["prompt_tokens"] - warm["reused_tokens"]
        print(f"\nThe second request computed {computed} of {warm['prompt_tokens']} tokens; "
              f"its first token came {cold['ttft_ms'] / warm['ttft_ms']:.1f} times sooner.")
        print(f"After a restart: {restarted['sentence']}")
    else:
        for name, row in (("second", warm), ("third", restarted)):
            print(f"\nThe {name} request reused {row['reused_tokens']} of {row['prompt_tokens']} tokens: "
                  f"{row['sentence']}")


def serve(options, data, system, questions):
    """The answers of one larderd, which is stopped cleanly afterwards."""
    process, address, key = start(options.larderd, options.model, data)
    try:
        return [ask(address, key, system, question) for question in questions]
    finally:
        process.terminate()
        process.wait(timeout=10)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--larderd", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    system = pack_text()
    with tempfile.TemporaryDirectory(prefix="larder-demo.") as data:
        cold, warm = serve(options, data, system, QUESTIONS[:2])
        restarted, = serve(options, data, system, QUESTIONS[2:])
    reused = all(row["reused_tokens"] > 0 and row["reused_tokens"] >= row["prompt_tokens"] // 2
                 for row in (warm, restarted))
    print_table(cold, warm, restarted, reused)
    if options.json:
        figures = {"cold": cold, "warm": warm, "restarted": restarted, "reused": reused}
        text = json.dumps(figures, indent=2, ensure_ascii=False) + "\n"
        pathlib.Path(options.json).write_text(text, encoding="utf-8")
    return 0 if reused else 1


if __name__ == "__main__":
    sys.exit(main())
