#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every header alone, so that each one includes what it needs: headers_alone.py COMPILER [BASE].

With BASE, a commit, only headers that changed since then. The window's headers are compiled with Qt's include paths.
"""
import concurrent.futures
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Wconversion', '-Wold-style-cast', '-Werror',
            '-Wno-pragma-once-outside-header']
PACKAGES = ['Qt6Widgets', 'Qt6Network', 'Qt6Svg', 'Qt6Test']
QT_MORE = ['-isystem/usr/include/x86_64-linux-gnu/qt6/' + module for module in ('QtCharts', 'QtOpenGLWidgets')]


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def qt_flags():
    try:
        flags = shlex.split(output('pkg-config', '--cflags', *PACKAGES))
    except (OSError, subprocess.CalledProcessError):
        return None
    return [f.replace('-I', '-isystem', 1) if f.startswith('-I') else f for f in flags] + QT_MORE


def compile_alone(compiler, name, flags):
    command = [compiler, '-std=c++20', '-I.', '-fsyntax-only', '-fPIC', *WARNINGS, *flags, '-include', name]
    command += ['-x', 'c++', '/dev/null']
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return name, done.returncode, done.stderr


def main(compiler, base=None):
    names = output('git', 'ls-files', '-co', '--exclude-standard', '--', '*.h').split()
    if base:
        changed = set(output('git', 'diff', '--name-only', '--diff-filter=d', base, '--', '*.h').split())
        names = [n for n in names if n in changed]
    qt = qt_flags()
    jobs = [(compiler, n, qt or [] if n.startswith(('gui/', 'tests/gui/')) else []) for n in names
            if qt is not None or not n.startswith(('gui/', 'tests/gui/'))]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, code, text in pool.map(lambda job: compile_alone(*job), jobs):
            if code:
                failed += 1
                print(f'{name} does not compile alone:\n{text}')
    print(f'{len(jobs)} headers compiled alone, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
