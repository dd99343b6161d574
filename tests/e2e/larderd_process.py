# SPDX-License-Identifier: Apache-2.0
"""A larderd of a test's own: started on a free port in a fresh data folder, ended by SIGTERM and checked while it ends.

Paths come from the environment: LARDER_BIN (folder of larderd and larderctl), LARDER_TEST_DATA (tests/data).
"""
import contextlib
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import threading
import time

BIN = pathlib.Path(os.environ["LARDER_BIN"])
DATA = pathlib.Path(os.environ["LARDER_TEST_DATA"])
STORIES = DATA / "models-tiny" / "stories260K-f32.gguf"
TEMPLATE = ("{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"
            "{% if add_generation_prompt %}<assistant>{% endif %}")
END_SECONDS = 5 * float(os.environ.get("LARDER_SLOW", "1"))
SKIPPED = 77


def starter_model():
    """SmolLM2's path, or None when it is not there; leaves with status 1 where it must be."""
    home = pathlib.Path(os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local" / "share")
    default = home / "larder" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    path = pathlib.Path(os.environ.get("LARDER_SMOLLM2") or default)
    if path.is_file():
        return path
    if os.environ.get("LARDER_REQUIRE_MODEL") == "1":
        sys.exit(f"the starter model is not at {path}")
    return None


def _skip_value(data, at, kind):
    """Offset after a GGUF value of this type."""
    sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
    if kind in sizes:
        return at + sizes[kind]
    if kind == 8:
        return at + 8 + struct.unpack_from("<Q", data, at)[0]
    element, count = struct.unpack_from("<IQ", data, at)
    at += 12
    for _ in range(count):
        at = _skip_value(data, at, element)
    return at


def with_chat_template(source, target, template=TEMPLATE, alignment=32):
    """Copies a GGUF file with tokenizer.chat_template added: stories260K has none."""
    data = source.read_bytes()
    tensors, pairs = struct.unpack_from("<QQ", data, 8)
    at = 24
    for _ in range(pairs):
        at += 8 + struct.unpack_from("<Q", data, at)[0]
        at = _skip_value(data, at + 4, struct.unpack_from("<I", data, at)[0])
    infos = at
    for _ in range(tensors):
        at += 8 + struct.unpack_from("<Q", data, at)[0]
        at += 4 + 8 * struct.unpack_from("<I", data, at)[0] + 12
    start = (at + alignment - 1) // alignment * alignment
    name, text = b"tokenizer.chat_template", template.encode()
    pair = struct.pack("<Q", len(name)) + name + struct.pack("<IQ", 8, len(text)) + text
    head = data[:16] + struct.pack("<Q", pairs + 1) + data[24:infos] + pair + data[infos:at]
    target.write_bytes(head + b"\0" * (-len(head) % alignment) + data[start:])
    return target


class Larderd:
    """A running larderd: its url, its key, and what it wrote to stderr."""

    def __init__(self, model, folder, options=(), wait_ready=True):
        self.folder = pathlib.Path(folder)
        command = [BIN / "larderd", "--data", self.folder, "--listen", "127.0.0.1:0", "--print-key", *options]
        if model:
            command += ["--model", model]
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.errors = []
        self._reader = threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True)
        self._reader.start()
        self.key = self.url = None
        if wait_ready:
            self._read_start()

    def _read_start(self):
        for line in self.process.stdout:
            words = line.split()
            if words[:2] == ["larderd", "key"]:
                self.key = words[2]
            if words[:2] == ["larderd", "ready"]:
                self.url = words[2]
                return
        self.process.wait()
        self._reader.join()
        said = "".join(self.errors)
        raise AssertionError(f"larderd ended with {self.process.returncode} before it was ready:\n{said}")

    def end(self):
        """SIGTERM; it must end by itself, in time, with status 0."""
        if self.process.poll() is None:
            started = time.monotonic()
            self.process.terminate()
            try:
                self.process.wait(timeout=END_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise AssertionError(f"larderd did not end within {END_SECONDS} s of SIGTERM") from None
            print(f"larderd ended {time.monotonic() - started:.2f} s after SIGTERM")
        self._reader.join()
        assert self.process.returncode == 0, f"status {self.process.returncode}:\n" + "".join(self.errors[-30:])

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def running(model, options=(), folder=None):
    with tempfile.TemporaryDirectory(prefix="larder-e2e.") as fresh:
        daemon = Larderd(model, folder or fresh, options)
        try:
            yield daemon
        except BaseException:
            daemon.kill()
            print("".join(daemon.errors[-40:]), file=sys.stderr)
            raise
        daemon.end()


def run_checks(checks, *arguments):
    """Runs every check, prints `N passed, N failed`, answers the exit status."""
    failed = 0
    for check in checks:
        try:
            check(*arguments)
            print(f"ok    {check.__name__}", flush=True)
        except Exception as error:  # a check's own failure must not hide the next one
            failed += 1
            print(f"FAIL  {check.__name__}: {type(error).__name__}: {error}", flush=True)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0
