#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every header alone, so that each one includes what it needs: headers_alone.py COMPILER [--changed].

With --changed only headers that changed since $LARDER_TIDY_BASE, else in the last three commits, and new ones. The
window's headers are compiled with Qt's include paths. Exit status 77: skipped, because this is no git checkout.
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
SKIPPED = 77
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


def all_headers():
    return output('git', 'ls-files', '-co', '--exclude-standard', '--', '*.h').split()


def changed_headers():
    base = os.environ.get('LARDER_TIDY_BASE') or output('git', 'rev-list', '--max-count=4', 'HEAD').split()[-1]
    changed = output('git', 'diff', '--name-only', '--diff-filter=d', base, '--', '*.h').split()
    return changed + output('git', 'ls-files', '-o', '--exclude-standard', '--', '*.h').split()


def main(compiler, only_changed):
    try:
        names = changed_headers() if only_changed else all_headers()
    except (OSError, subprocess.CalledProcessError):
        print('skipped: the headers are found through git, and this is no checkout')
        return SKIPPED
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
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ['--changed']):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], len(sys.argv) == 3))
