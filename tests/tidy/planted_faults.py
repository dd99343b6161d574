#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that the tests can fail: plants one fault at a time and demands that the named tests see it.

planted_faults.py --check            each row's old text stands exactly once in its file, and its tests exist (seconds)
planted_faults.py [--build DIR] [--only WORDS] [--from LINE]   plants, builds, runs (about ten seconds a row); DIR
                                 keeps the scratch copy, LINE is the first row's in the list

A row of planted_faults.tsv: what <TAB> file <TAB> old text <TAB> new text <TAB> test program <TAB> gtest filter.
Old and new text are part of one line. A fault is caught when the program builds with it and the filtered tests fail,
crash or hang; without it the same tests must pass.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIST = Path(__file__).resolve().parent / 'planted_faults.tsv'
COLUMNS = ('what', 'file', 'old', 'new', 'target', 'filter')
LONGEST_RUN_S = 180


def read_rows(text):
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith('#'):
            continue
        cells = line.split('\t')
        if len(cells) != len(COLUMNS):
            raise SystemExit(f'planted_faults.tsv:{number}: {len(cells)} cells, {len(COLUMNS)} are needed')
        rows.append(dict(zip(COLUMNS, cells), line=number))
    return rows


def case_exists(name, tests):
    """A filter's name, as in `Suite.Case`, `*/Suite.Case/*` or `Suite.Beginning*`, stands in a TEST macro."""
    suite, _, case = name.partition('.')
    case = re.escape(case.split('/')[0]).replace(r'\*', r'\w*')
    return re.search(r'\bTEST(?:_F|_P)?\(\s*' + re.escape(suite.split('/')[-1]) + r',\s*' + case + r'\s*\)', tests)


def check(rows, root):
    faults = []
    tests = '\n'.join(p.read_text() for p in sorted((root / 'tests').rglob('*.cc')))
    targets = '\n'.join(p.read_text() for p in (root / 'tests').rglob('CMakeLists.txt'))
    for row in rows:
        where = f'planted_faults.tsv:{row["line"]}: '
        path = root / row['file']
        count = path.read_text().count(row['old']) if path.is_file() else 0
        if count != 1:
            faults.append(f'{where}the old text stands {count} times in {row["file"]}: {row["old"]}')
        if row['old'] == row['new']:
            faults.append(f'{where}the new text is the old text')
        plain = re.sub(r'^kernels_(dequantise|matmul|int8|elementwise|attention|kv_codec)_test$',
                       r'kernels_${kernel}_test', row['target'])
        if f'larder_test({plain} ' not in targets:
            faults.append(f'{where}no test program {row["target"]}')
        for name in row['filter'].split(':'):
            if not case_exists(name, tests):
                faults.append(f'{where}no test {name}')
    return faults


class Scratch:
    """A copy of the tracked and new files with a build of its own."""

    def __init__(self, folder):
        # The folders of an ordinary checkout, so that the compile cache serves.
        self.tree = folder / 'tree'
        self.build = self.tree / 'build' / 'release'
        names = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=ROOT, check=True,
                               capture_output=True, text=True).stdout.split('\n')
        for name in filter(None, names):
            source, copy = ROOT / name, self.tree / name
            if not source.is_file():
                continue
            if not copy.is_file() or copy.read_bytes() != source.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)
        self.env = dict(os.environ, CCACHE_BASEDIR=str(self.tree), CCACHE_NOHASHDIR='1',
                        CCACHE_SLOPPINESS='pch_defines,time_macros')
        subprocess.run(['cmake', '--preset', 'release', '-DLARDER_GUI=OFF', '-DLARDER_TESTS=ON', '-DLARDER_WERROR=ON'],
                       cwd=self.tree, env=self.env, check=True, stdout=subprocess.DEVNULL)

    def make(self, targets):
        done = subprocess.run(['cmake', '--build', self.build, '--target', *targets], env=self.env,
                              capture_output=True, text=True)
        return done.returncode == 0, done.stdout + done.stderr

    def run(self, target, filter_):
        """passed, failed, crashed, hung or ran nothing."""
        command = [self.build / 'bin' / target, '--gtest_brief=1', f'--gtest_filter={filter_}']
        try:
            done = subprocess.run(command, env=self.env, capture_output=True, text=True, errors='replace',
                                  timeout=LONGEST_RUN_S)
        except subprocess.TimeoutExpired:
            return 'hung'
        ran = re.search(r'\b([1-9]\d*) tests? from', done.stdout)
        if done.returncode == 0:
            return 'passed' if ran else 'ran nothing'
        return 'failed' if done.returncode == 1 else 'crashed'


def plant(scratch, row):
    path = scratch.tree / row['file']
    good = path.read_text()
    path.write_text(good.replace(row['old'], row['new']))
    try:
        built, text = scratch.make([row['target']])
        return scratch.run(row['target'], row['filter']) if built else 'did not build: ' + text[-600:]
    finally:
        path.write_text(good)


def run(rows, folder):
    scratch = Scratch(folder)
    built, text = scratch.make(sorted({row['target'] for row in rows}))
    if not built:
        raise SystemExit('the tests do not build without a fault:\n' + text[-3000:])
    missed = 0
    for row in rows:
        row['clean'] = scratch.run(row['target'], row['filter'])
        if row['clean'] != 'passed':
            print(f'MISSED  {row["what"]}: without the fault {row["target"]} {row["filter"]} {row["clean"]}')
    for row in rows:
        outcome = plant(scratch, row) if row['clean'] == 'passed' else row['clean']
        caught = row['clean'] == 'passed' and outcome in ('failed', 'crashed', 'hung')
        missed += not caught
        print(f'{"caught" if caught else "MISSED"}  {row["what"]}: {row["target"]} {row["filter"]} {outcome}',
              flush=True)
    print(f'{len(rows) - missed} caught, {missed} missed')
    return 1 if missed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--build', type=Path)
    parser.add_argument('--only', default='')
    parser.add_argument('--from', type=int, default=0, dest='first')
    options = parser.parse_args()
    rows = read_rows(LIST.read_text())
    faults = check(rows, ROOT)
    for fault in faults:
        print(fault)
    if faults or options.check:
        print(f'{len(rows)} planted faults, {len(faults)} out of date')
        return 1 if faults else 0
    words = options.only.split()
    rows = [row for row in rows if row['line'] >= options.first and all(word in row['what'] for word in words)]
    if options.build:
        options.build.mkdir(parents=True, exist_ok=True)
        return run(rows, options.build.resolve())
    with tempfile.TemporaryDirectory(prefix='larder_faults_') as folder:
        return run(rows, Path(folder))


if __name__ == '__main__':
    sys.exit(main())
