# SPDX-License-Identifier: Apache-2.0
"""Larder against llama.cpp on this machine: the same GGUF, token ids, threads, KV type (f16) and flash attention.

Needs: larder_bench (preset `bench`) and a Python with llama-cpp-python 0.3.36 built from its sdist on this machine:
         pip install --no-binary llama-cpp-python llama-cpp-python==0.3.36
Use:   python compare_llama.py build/bench/bin/larder_bench MODEL.gguf [--threads N] [--pairs 7] [--json FILE]

The two take turns in the order ABBA, so that what slows the machine for a while slows both. A figure is the median of the
paired ratios (larder's speed over llama.cpp's; above 1 larder is faster) with the smallest and the largest. Prompts are
made of counted ids; decoding is greedy and the end token is ignored. The first tokens of both must agree.
"""
import argparse
import ctypes
import json
import os
import statistics
import subprocess
import time

import llama_cpp
import numpy

MASK = (1 << 64) - 1


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
        words = self.ask(f"decode {depth} {count}")
        return float(words[0]), [int(word) for word in words[1:]]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


class LlamaCpp:
    def __init__(self, model, threads):
        self.name = "llama.cpp of llama-cpp-python " + llama_cpp.__version__
        llama_cpp.llama_backend_init()
        self.quiet = llama_cpp.llama_log_callback(lambda level, text, data: None)
        llama_cpp.llama_log_set(self.quiet, ctypes.c_void_p(0))
        params = llama_cpp.llama_model_default_params()
        params.n_gpu_layers = 0
        self.model = llama_cpp.llama_model_load_from_file(model.encode(), params)
        self.n_vocab = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))
        context = llama_cpp.llama_context_default_params()
        context.n_ctx, context.n_batch, context.n_ubatch = 4096, 2048, 512
        context.n_threads = context.n_threads_batch = threads
        context.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
        context.type_k = context.type_v = llama_cpp.GGML_TYPE_F16
        self.context = llama_cpp.llama_init_from_model(self.model, context)

    def tokens(self, count):
        return [mix64(i) % (self.n_vocab - 100) + 50 for i in range(count)]

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

    def decode(self, depth, count):
        self.clear()
        token = self.run(self.tokens(depth))
        told, times = [], []
        for _ in range(count):
            told.append(token)
            begin = time.perf_counter()
            token = self.run([token])
            times.append((time.perf_counter() - begin) * 1000)
        return statistics.median(times), told


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
    args = parser.parse_args()
    larder, peer = Larder(args.program, args.model, args.threads), LlamaCpp(args.model, args.threads)
    print(f"{processor()}, {args.threads} threads; {larder.name} against {peer.name}")
    print(llama_cpp.llama_print_system_info().decode())
    ours, theirs = larder.decode(64, 16)[1], peer.decode(64, 16)[1]
    same = agreeing(ours, theirs)
    print(f"greedy tokens after the same 64 ids: the first {same} of 16 agree")
    if same < 1:
        raise SystemExit("the two do not compute the same model")
    measures = [(f"prefill {n}", lambda e, n=n: e.prefill(n)) for n in (128, 512, 2048)]
    measures += [(f"decode at depth {n}", lambda e, n=n: e.decode(n, 32)[0]) for n in (1, 1024)]
    rows = compare(larder, peer, args.pairs, measures)
    larder.close()
    if args.json:
        with open(args.json, "w", encoding="utf-8") as out:
            json.dump({"processor": processor(), "threads": args.threads, "peer": peer.name, "agree": same,
                       "rows": rows}, out, indent=2)


if __name__ == "__main__":
    main()
