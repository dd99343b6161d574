# SPDX-License-Identifier: Apache-2.0
"""Larder against llama.cpp on this machine: the same GGUF, token ids, threads, KV type (f16) and flash attention.

Needs: larder_bench (preset `bench`) and a Python with llama-cpp-python 0.3.36 built from its sdist on this machine:
         pip install --no-binary llama-cpp-python llama-cpp-python==0.3.36
Use:   python compare_llama.py build/bench/bin/larder_bench MODEL.gguf [--threads N] [--pairs 7] [--json FILE]

The two take turns in the order ABBA, so that what slows the machine for a while slows both. A figure is the median of
the paired ratios (larder's speed over llama.cpp's; above 1 larder is faster) with the smallest and the largest. Prompts
are made of counted ids; decoding is greedy and the end token is ignored. The first greedy tokens of both after a short
text must agree (llama.cpp rounds activations to 8 bits, so later ones may not).
"""
import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import time

import llama_cpp
import numpy

MASK = (1 << 64) - 1
TEXT = "The capital of France is Paris. The capital of Italy is"


def mix64(x):
    """SplitMix64's finaliser, as runtime/base/rng.h has it."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


class Larder:
    def __init__(self, program, model, threads):
        command = [program, model, "--serve", "--threads", str(threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.name = "larder " + self.process.stdout.readline().split()[1]

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().split()

    def prefill(self, count):
        return float(self.ask(f"prefill {count}")[0])

    def decode(self, depth, count):
        return float(self.ask(f"decode {depth} {count}")[0])

    def greedy(self, tokens, count):
        return [int(word) for word in self.ask(f"greedy {count} " + " ".join(map(str, tokens)))]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


class LlamaCpp:
    def __init__(self, model, threads, extra):
        self.name = "llama.cpp of llama-cpp-python " + llama_cpp.__version__
        llama_cpp.llama_backend_init()
        self.quiet = llama_cpp.llama_log_callback(lambda level, text, data: None)
        llama_cpp.llama_log_set(self.quiet, ctypes.c_void_p(0))
        params = llama_cpp.llama_model_default_params()
        params.n_gpu_layers = 0
        params.use_extra_bufts = extra
        self.model = llama_cpp.llama_model_load_from_file(model.encode(), params)
        self.vocab = llama_cpp.llama_model_get_vocab(self.model)
        self.n_vocab = llama_cpp.llama_vocab_n_tokens(self.vocab)
        context = llama_cpp.llama_context_default_params()
        context.n_ctx, context.n_batch, context.n_ubatch = 4096, 2048, 512
        context.n_threads = context.n_threads_batch = threads
        context.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
        context.type_k = context.type_v = llama_cpp.GGML_TYPE_F16
        self.context = llama_cpp.llama_init_from_model(self.model, context)

    def tokens(self, count):
        return [mix64(i) % (self.n_vocab - 100) + 50 for i in range(count)]

    def tokenize(self, text):
        data, room = text.encode(), (llama_cpp.llama_token * 256)()
        count = llama_cpp.llama_tokenize(self.vocab, data, len(data), room, 256, True, False)
        return list(room[:count])

    def run(self, tokens):
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        if llama_cpp.llama_decode(self.context, llama_cpp.llama_batch_get_one(array, len(tokens))) != 0:
            raise RuntimeError("llama_decode failed")
        logits = llama_cpp.llama_get_logits_ith(self.context, -1)
        return int(numpy.ctypeslib.as_array(logits, shape=(self.n_vocab,)).argmax())

    def clear(self):
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)

    def prefill(self, count):
        self.clear()
        tokens = self.tokens(count)
        begin = time.perf_counter()
        self.run(tokens)
        return (time.perf_counter() - begin) * 1000

    def greedy(self, tokens, count):
        self.clear()
        told = [self.run(tokens)]
        while len(told) < count:
            told.append(self.run(told[-1:]))
        return told

    def decode(self, depth, count):
        self.clear()
        token = self.run(self.tokens(depth))
        times = []
        for _ in range(count):
            begin = time.perf_counter()
            token = self.run([token])
            times.append((time.perf_counter() - begin) * 1000)
        return statistics.median(times)


def extra_buffers_work(args):
    """Tries llama.cpp's extra weight layouts (AMX, repacked) in a process of its own, because they may crash."""
    script = os.path.abspath(__file__)
    command = [sys.executable, script, args.program, args.model, "--threads", str(args.threads), "--probe"]
    done = subprocess.run(command, check=False)
    if done.returncode != 0:
        print(f"llama.cpp ends with code {done.returncode} when its extra weight layouts (AMX, repacked) are on; "
              "measured without them")
    return done.returncode == 0


def agreeing(ours, theirs):
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if a != b:
            return i
    return len(ours)


def compare(larder, peer, pairs, measures):
    """measures: (name, measure); measure(engine) gives ms."""
    rows = []
    for name, measure in measures:
        measure(larder), measure(peer)
        times = []
        for turn in range(pairs):
            first, second = (larder, peer) if turn % 2 == 0 else (peer, larder)
            took = {first: measure(first)}
            took[second] = measure(second)
            times.append((took[larder], took[peer]))
        ratios = sorted(theirs / ours for ours, theirs in times)
        rows.append({"what": name, "larder_ms": statistics.median(t[0] for t in times),
                     "llama_ms": statistics.median(t[1] for t in times), "ratio": statistics.median(ratios),
                     "least": ratios[0], "most": ratios[-1], "pairs": len(ratios)})
        row = rows[-1]
        print(f"{name:24} larder {row['larder_ms']:9.3f} ms  llama.cpp {row['llama_ms']:9.3f} ms  "
              f"ratio {row['ratio']:.2f} ({row['least']:.2f} to {row['most']:.2f}, {row['pairs']} pairs)", flush=True)
    return rows


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--json")
    parser.add_argument("--probe", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.probe:
        LlamaCpp(args.model, args.threads, True).prefill(64)
        return
    extra = extra_buffers_work(args)
    larder, peer = Larder(args.program, args.model, args.threads), LlamaCpp(args.model, args.threads, extra)
    print(f"{processor()}, {args.threads} threads; {larder.name} against {peer.name}")
    print(llama_cpp.llama_print_system_info().decode())
    tokens = peer.tokenize(TEXT)
    same = agreeing(larder.greedy(tokens, 16), peer.greedy(tokens, 16))
    print(f"greedy tokens after \"{TEXT}\": the first {same} of 16 agree")
    if same < 4:
        raise SystemExit("the two do not compute the same model")
    measures = [(f"prefill {n}", lambda e, n=n: e.prefill(n)) for n in (128, 512, 2048)]
    measures += [(f"decode at depth {n}", lambda e, n=n: e.decode(n, 32)) for n in (1, 1024)]
    rows = compare(larder, peer, args.pairs, measures)
    larder.close()
    if args.json:
        with open(args.json, "w", encoding="utf-8") as out:
            json.dump({"processor": processor(), "threads": args.threads, "peer": peer.name,
                       "peer_extra_layouts": extra, "agree": same, "rows": rows}, out, indent=2)


if __name__ == "__main__":
    main()
