# SPDX-License-Identifier: Apache-2.0
"""Larder against llama.cpp on this machine: the same GGUF, token ids, threads, KV type (f16) and flash attention.

Needs: larder_bench (preset `bench`) and a Python with llama-cpp-python 0.3.36 built from its sdist on this machine:
         pip install --no-binary llama-cpp-python llama-cpp-python==0.3.36
Use:   python compare_llama.py build/bench/bin/larder_bench MODEL.gguf [--threads N] [--pairs 7] [--only prefill]
         [--arithmetic precise] [--busy] [--json FILE]

The two take turns in the order ABBA, so that what slows the machine for a while slows both. A figure is the median of
the paired ratios (larder's speed over llama.cpp's; above 1 larder is faster) with the smallest and the largest. A pair
during which other programs took more than 3 % of the processor is dropped. Prompts are made of counted ids; decoding is
greedy and the end token is ignored. Both have to compute the same model: logits after 48 tokens must be near (llama.cpp
rounds activations to 8 bits too), and where the file has a vocabulary the first greedy tokens after a short text must
agree. --busy measures decoding with one core kept busy by a spinning process.
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
MOST_STREAMS = 16
TEXT = "The capital of France is Paris. The capital of Italy is"


def mix64(x):
    """SplitMix64's finaliser, as runtime/base/rng.h has it."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


class Larder:
    def __init__(self, program, model, threads, arithmetic):
        command = [program, model, "--serve", "--threads", str(threads), "--arithmetic", arithmetic]
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

    def streams(self, count, depth, steps):
        return float(self.ask(f"streams {count} {depth} {steps}")[0])

    def logits(self, count):
        return numpy.array([float(word) for word in self.ask(f"logits {count}")])

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
        context.n_ctx, context.n_batch, context.n_ubatch = 8192, 4096, 512
        context.n_seq_max, context.kv_unified = MOST_STREAMS, True
        context.n_threads = context.n_threads_batch = threads
        context.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
        context.type_k = context.type_v = llama_cpp.GGML_TYPE_F16
        self.context = llama_cpp.llama_init_from_model(self.model, context)

    def tokens(self, count):
        return [mix64(i) % (self.n_vocab - 100) + 50 for i in range(count)]

    def has_vocabulary(self):
        return llama_cpp.llama_vocab_type(self.vocab) != llama_cpp.LLAMA_VOCAB_TYPE_NONE

    def tokenize(self, text):
        data, room = text.encode(), (llama_cpp.llama_token * 256)()
        count = llama_cpp.llama_tokenize(self.vocab, data, len(data), room, 256, True, False)
        return list(room[:count])

    def run(self, tokens):
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        if llama_cpp.llama_decode(self.context, llama_cpp.llama_batch_get_one(array, len(tokens))) != 0:
            raise RuntimeError("llama_decode failed")
        return int(self.logits_at(-1).argmax())

    def logits_at(self, row):
        logits = llama_cpp.llama_get_logits_ith(self.context, row)
        return numpy.ctypeslib.as_array(logits, shape=(self.n_vocab,))

    def logits(self, count):
        self.clear()
        self.run(self.tokens(count))
        return self.logits_at(-1).astype(numpy.float64)

    def run_streams(self, tokens, position):
        """One token of each sequence, all at the same position; the next tokens."""
        batch = llama_cpp.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for s, token in enumerate(tokens):
            batch.token[s], batch.pos[s], batch.n_seq_id[s], batch.logits[s] = token, position, 1, 1
            batch.seq_id[s][0] = s
        if llama_cpp.llama_decode(self.context, batch) != 0:
            raise RuntimeError("llama_decode failed")
        llama_cpp.llama_batch_free(batch)
        return [int(self.logits_at(s).argmax()) for s in range(len(tokens))]

    def streams(self, count, depth, steps):
        self.clear()
        prompts = [[mix64(s * depth + i) % (self.n_vocab - 100) + 50 for i in range(depth)] for s in range(count)]
        for position in range(depth):
            if position % 64 == 0:
                self.feed_part(prompts, position, min(64, depth - position))
        tokens = [1] * count
        times = []
        for step in range(steps):
            begin = time.perf_counter()
            tokens = self.run_streams(tokens, depth + step)
            times.append((time.perf_counter() - begin) * 1000)
        return statistics.median(times)

    def feed_part(self, prompts, begin, length):
        for s, prompt in enumerate(prompts):
            batch = llama_cpp.llama_batch_init(length, 0, 1)
            batch.n_tokens = length
            for i in range(length):
                batch.token[i], batch.pos[i], batch.n_seq_id[i] = prompt[begin + i], begin + i, 1
                batch.seq_id[i][0], batch.logits[i] = s, 0
            if llama_cpp.llama_decode(self.context, batch) != 0:
                raise RuntimeError("llama_decode failed")
            llama_cpp.llama_batch_free(batch)

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


def foreign_share(begin, end, own):
    """The share of the machine that others used between two looks at /proc/stat; `own`: CPU seconds of the two."""
    busy = (end[0] - begin[0]) / os.sysconf("SC_CLK_TCK") - own
    whole = (end[1] - begin[1]) / os.sysconf("SC_CLK_TCK")
    return max(0.0, busy / whole) if whole > 0 else 0.0


def machine_time():
    """(busy, all) in ticks, of all processors."""
    with open("/proc/stat", encoding="utf-8") as stat:
        fields = [int(word) for word in stat.readline().split()[1:9]]
    return sum(fields) - fields[3] - fields[4], sum(fields)


def cpu_seconds(pids):
    ticks = 0
    for pid in pids:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def compare(larder, peer, pairs, measures, pids):
    """measures: (name, measure); measure(engine) gives ms. pids: the processes whose time is not foreign."""
    rows = []
    for name, measure in measures:
        measure(larder), measure(peer)
        times = []
        dropped = 0
        for turn in range(2 * pairs):
            if len(times) == pairs:
                break
            first, second = (larder, peer) if turn % 2 == 0 else (peer, larder)
            begin, own = machine_time(), cpu_seconds(pids)
            took = {first: measure(first)}
            took[second] = measure(second)
            if foreign_share(begin, machine_time(), cpu_seconds(pids) - own) > 0.03:
                dropped += 1
                continue
            times.append((took[larder], took[peer]))
        if not times:
            print(f"{name:24} not measured: other programs took the processor in all {dropped} pairs", flush=True)
            continue
        ratios = sorted(theirs / ours for ours, theirs in times)
        rows.append({"what": name, "larder_ms": statistics.median(t[0] for t in times),
                     "llama_ms": statistics.median(t[1] for t in times), "ratio": statistics.median(ratios),
                     "least": ratios[0], "most": ratios[-1], "pairs": len(ratios), "dropped": dropped})
        row = rows[-1]
        print(f"{name:24} larder {row['larder_ms']:9.3f} ms  llama.cpp {row['llama_ms']:9.3f} ms  "
              f"ratio {row['ratio']:.2f} ({row['least']:.2f} to {row['most']:.2f}, {row['pairs']} pairs, "
              f"{dropped} dropped)", flush=True)
    return rows


def check_same_model(larder, peer):
    """Ends the run where the two do not compute the same; the figures of the check otherwise."""
    ours, theirs = larder.logits(48), peer.logits(48)
    error = float(numpy.linalg.norm(ours - theirs) / numpy.linalg.norm(theirs - theirs.mean()))
    print(f"logits after 48 counted tokens differ by {error:.4f} of their size")
    found = {"logits_differ": error}
    if peer.has_vocabulary():
        tokens = peer.tokenize(TEXT)
        found["agree"] = agreeing(larder.greedy(tokens, 16), peer.greedy(tokens, 16))
        print(f"greedy tokens after \"{TEXT}\": the first {found['agree']} of 16 agree")
    if not error < 0.2 or found.get("agree", 16) < 4:
        raise SystemExit("the two do not compute the same model")
    return found


def measures_of(only, busy):
    measures = [] if busy else [(f"prefill {n}", lambda e, n=n: e.prefill(n)) for n in (128, 512, 2048, 4096)]
    measures += [(f"decode at depth {n}", lambda e, n=n: e.decode(n, 32)) for n in ((1,) if busy else (1, 1024, 4096))]
    if not busy:
        measures += [(f"{n} streams at depth 256", lambda e, n=n: e.streams(n, 256, 16)) for n in (2, 4, 8, 16)]
    return [measure for measure in measures if only in measure[0]]


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--only", default="", help="measures whose name has this")
    parser.add_argument("--arithmetic", default="auto", help="larder's: auto, precise or int8")
    parser.add_argument("--busy", action="store_true", help="decode beside a spinning process")
    parser.add_argument("--json")
    parser.add_argument("--probe", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.probe:
        LlamaCpp(args.model, args.threads, True).prefill(64)
        return
    extra = extra_buffers_work(args)
    larder = Larder(args.program, args.model, args.threads, args.arithmetic)
    peer = LlamaCpp(args.model, args.threads, extra)
    print(f"{processor()}, {args.threads} threads; {larder.name} against {peer.name}")
    print(llama_cpp.llama_print_system_info().decode())
    found = check_same_model(larder, peer)
    pids = [os.getpid(), larder.process.pid]
    spinner = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if args.busy else None
    if spinner:
        pids.append(spinner.pid)
    try:
        rows = compare(larder, peer, args.pairs, measures_of(args.only, args.busy), pids)
    finally:
        if spinner:
            spinner.kill()
    larder.close()
    if args.json:
        with open(args.json, "w", encoding="utf-8") as out:
            json.dump({"processor": processor(), "threads": args.threads, "peer": peer.name,
                       "larder": larder.name, "model": os.path.basename(args.model), "busy": args.busy,
                       "peer_extra_layouts": extra, **found, "rows": rows}, out, indent=2)


if __name__ == "__main__":
    main()
