#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of the house over the whole tree: tidy.py [ROOT]. Prints one line per finding and fails if any.

Each check is a function that yields (file, line, text). What a rule allows stands beside this file as data:
includes.tsv (who may include whom), banned.tsv (idioms and what replaces them), budget.tsv (exceptions to sizes).
"""
import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import cpp_text

HERE = Path(__file__).resolve().parent
CODE = ('.h', '.cc', '.inl', '.cu', '.cuh')
COMMENTED = CODE + ('.py', '.sh', '.cmake', '.dict', '.tsv')
ROOMS = ('runtime', 'kernels', 'storage', 'gui', 'tests', 'installer', 'resources')
DATA = ('tests/data/', 'resources/', 'tests/fuzz/corpus/', 'build/')
MAX_LINE, MAX_HEADER, MAX_SOURCE, MAX_INCLUDES, MAX_FUNCTION, MAX_KERNEL = 120, 250, 500, 15, 70, 120
MAX_DOCUMENT = {'README.md': 150, 'ARCHITECTURE.md': 300, 'CONTRIBUTING.md': 150}
POSIX = re.compile(r'(sys|netinet|arpa|linux)/\w+\.h|(unistd|fcntl|dlfcn|sched|pthread|signal|poll|time|termios|pwd'
                   r'|spawn|netdb|dirent|stdlib|malloc)\.h')
KINDS = {
    'std': re.compile(r'[a-z_0-9]+(?<!\.h)'),
    'posix': POSIX,
    'qt': re.compile(r'(Qt\w+/)?Q\w+|(Qt\w+/)?q\w+\.h'),
    'intrinsics': re.compile(r'\w+intrin\.h|cpuid\.h|arm_neon\.h'),
}


class Tree:
    """The files that belong to the project, with their text."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        self.files = sorted(self._listed())

    def _listed(self):
        try:
            done = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=self.root, check=True,
                                  capture_output=True, text=True)
            names = done.stdout.splitlines()
            top = subprocess.run(['git', 'rev-parse', '--show-toplevel'], cwd=self.root, check=True,
                                 capture_output=True, text=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            names, top = [], None
        if top is None or Path(top).resolve() != self.root:
            names = [str(p.relative_to(self.root)) for p in self.root.rglob('*') if p.is_file()]
        return [n for n in names if not n.startswith(('build/', '.git/')) and (self.root / n).is_file()]

    @functools.lru_cache(maxsize=None)
    def text(self, name):
        return (self.root / name).read_text(encoding='utf-8', errors='replace')

    @functools.lru_cache(maxsize=None)
    def code(self, name):
        return cpp_text.blank(self.text(name))

    def sources(self, *suffixes):
        return [n for n in self.files if n.endswith(suffixes or CODE) and not n.startswith(DATA)]


def rows(name, width):
    """The rows of a .tsv beside this file, each padded to `width` cells."""
    for line in (HERE / name).read_text(encoding='utf-8').splitlines():
        if line.strip() and not line.startswith('#'):
            cells = line.split('\t')
            yield cells + [''] * (width - len(cells))


def line_of(text, at):
    return text.count('\n', 0, at) + 1


def includes_of(tree, name):
    """(line, text between the brackets, is ours) of every #include."""
    code = tree.code(name)
    for match in re.finditer(r'(?m)^[ \t]*#[ \t]*include[ \t]*([<"])', code):
        end = re.compile(r'[>"]').search(tree.text(name), match.end())
        yield line_of(code, match.start()), tree.text(name)[match.end():end.start()], match.group(1) == '"'


def check_includes(tree):
    table = {path: (ours.split(), outside.split()) for path, ours, outside in rows('includes.tsv', 3)}
    for name in tree.sources():
        folders = [str(p) for p in Path(name).parents]
        room = next((f for f in folders if f in table), None)
        if room is None:
            if name.split('/')[0] in ('runtime', 'kernels', 'storage', 'gui'):
                yield name, 1, 'no row in tests/tidy/includes.tsv covers this folder'
            continue
        ours, outside = (a + b for a, b in zip(table[room], table.get(name, ([], []))))
        for line, target, is_ours in includes_of(tree, name):
            if is_ours and not is_below(target, [room] + ours):
                yield name, line, f'{room} may not include "{target}" (tests/tidy/includes.tsv)'
            elif not is_ours and not any(matches_outside(target, kind) for kind in outside):
                yield name, line, f'{room} may not include <{target}> (tests/tidy/includes.tsv)'


def is_below(target, prefixes):
    return any(target == p or target.startswith(p + '/') for p in prefixes)


def matches_outside(target, kind):
    return bool(KINDS[kind].fullmatch(target)) if kind in KINDS else target.startswith(kind)


def check_budgets(tree):
    allowed = {(path, what): int(limit) for path, what, limit in rows('budget.tsv', 3)}
    seen = {}
    for name in tree.sources(*CODE, '.py'):
        for what, line, count, limit in sizes(tree, name):
            if count > limit:
                seen[name, what] = max(count, seen.get((name, what), 0))
                if count > allowed.get((name, what), limit):
                    yield name, line, f'{what}: {count}, at most {allowed.get((name, what), limit)}: split it'
    for (name, what), limit in allowed.items():
        actual = seen.get((name, what))
        if actual is None or actual < limit:
            now = 'within the budget, remove the row' if actual is None else f'{actual}, lower the row'
            yield 'tests/tidy/budget.tsv', 1, f'{name} {what} is now {now}'


def sizes(tree, name):
    """(what, line, count, limit) of everything in a file that has a budget."""
    text = tree.text(name)
    yield 'lines', 1, text.count('\n'), MAX_HEADER if name.endswith('.h') else MAX_SOURCE
    if not name.endswith(CODE):
        return
    if name.endswith('.h'):
        yield 'includes', 1, sum(1 for _ in includes_of(tree, name)), MAX_INCLUDES
    kernel = name.startswith('kernels/') and not name.endswith('.h')
    for function, first, last in cpp_text.functions(tree.code(name)):
        yield function, first, last - first + 1, MAX_KERNEL if kernel else MAX_FUNCTION


def check_lines(tree):
    for name in tree.files:
        scripts = not Path(name).suffix and not name.startswith(DATA) and is_text(tree, name)
        if not (scripts or name.endswith(COMMENTED) or name.endswith('CMakeLists.txt')) or name.startswith(DATA):
            continue
        if name.endswith(('.tsv', '.dict')) or name.startswith('LICENSE'):
            continue
        for i, line in enumerate(tree.text(name).splitlines(), 1):
            if len(line) > MAX_LINE:
                yield name, i, f'{len(line)} characters, at most {MAX_LINE}'
            if line != line.rstrip() or '\t' in line:
                yield name, i, 'white space at the end, or a tab'


def is_text(tree, name):
    with open(tree.root / name, 'rb') as file:
        return b'\0' not in file.read(4096)


def check_banned(tree):
    table = [(where.split(), re.compile(pattern, re.MULTILINE), instead, may.split())
             for where, pattern, instead, may in rows('banned.tsv', 4)]
    for name in tree.sources():
        for where, pattern, instead, may in table:
            if not is_below(name, where) or name.startswith(tuple(may) or ('\0',)):
                continue
            for match in pattern.finditer(tree.code(name)):
                line = line_of(tree.code(name), match.start() + len(match.group()) - len(match.group().lstrip()))
                yield name, line, f'"{match.group().strip()}": {instead}'


def check_file_names(tree):
    bad = re.compile(r'(^|_)(manager|helper|helpers|util|utils|common|misc|impl|all)(_|\.|$)')
    for name in tree.sources(*CODE, '.py'):
        stem = Path(name).name
        if bad.search(stem):
            yield name, 1, 'the file name says nothing: name the one noun inside'
        elif not re.fullmatch(r'[a-z0-9_]+\.\w+', stem):
            yield name, 1, 'file names are snake_case'


def check_spdx(tree):
    for name in tree.files:
        path = Path(name)
        script = not path.suffix and is_text(tree, name) and tree.text(name).startswith('#!')
        if not (name.endswith(COMMENTED) or path.name == 'CMakeLists.txt' or script) or name.startswith(DATA):
            continue
        head = tree.text(name).splitlines()[:2]
        wanted = ['GPL-3.0-or-later'] if name.startswith('gui/') else ['Apache-2.0']
        if name.startswith('tests/gui/'):
            wanted.append('GPL-3.0-or-later')
        mark = '//' if name.endswith(CODE) else '#'
        first = 1 if head and head[0].startswith('#!') else 0
        if len(head) <= first or head[first] not in [f'{mark} SPDX-License-Identifier: {w}' for w in wanted]:
            yield name, first + 1, f'the first line is "{mark} SPDX-License-Identifier: {wanted[0]}"'


def check_header_form(tree):
    for name in tree.sources('.h'):
        text = tree.text(name)
        lines = text.splitlines()
        comment = []
        for line in lines[1:]:
            if not line.startswith('//'):
                break
            comment.append(line)
        head = '\n'.join(comment)
        if not comment:
            yield name, 2, 'a header begins by saying what it is and is not'
            continue
        if '#pragma once' not in text:
            yield name, 1, 'a header has #pragma once'
        if not name.startswith(('runtime/', 'kernels/', 'storage/')):
            continue
        if 'Threads:' not in head:
            yield name, 2, 'the header comment has no "Threads:" label'
        if re.search(r'\b(Result<|Status\b)', tree.code(name)) and 'Errors:' not in text:
            yield name, 2, 'functions answer Result, but there is no "Errors:" label'


def check_comments(tree):
    ticket = re.compile(r'\b(issue|ticket|PR|bug|fixes|closes|see)\s+#?\d+\b', re.IGNORECASE)
    todo = re.compile(r'\b(TODO|FIXME|XXX|HACK)\b')
    dead = re.compile(r'^\s*//\s*(if|for|while|return|auto|const|std::|int|#include)\b.*[;{>]\s*$')
    for name in tree.sources(*CODE, '.py'):
        if name.startswith('tests/tidy/'):
            continue
        for i, line in enumerate(tree.text(name).splitlines(), 1):
            comment = line[line.find('//'):] if '//' in line and name.endswith(CODE) else ''
            if name.endswith('.py') and '#' in line:
                comment = line[line.find('#') + 1:]
            if todo.search(comment):
                yield name, i, 'finish it or leave it out (TODO)'
            if ticket.search(comment):
                yield name, i, 'comments say why, without ticket numbers'
            if dead.search(line):
                yield name, i, 'commented-out code: remove it'


def check_machine_paths(tree):
    place = re.compile(r'(?<![\w.])/(root|work|home/\w+|opt/\w+)/\w|\.\./shared\b|/tmp/(board|brief|slot|land)\b')
    for name in tree.files:
        if name.startswith(('tests/tidy/', 'tests/data/', 'tests/fuzz/corpus/')) or not is_text(tree, name):
            continue
        for match in place.finditer(tree.text(name)):
            yield name, line_of(tree.text(name), match.start()), f'"{match.group()}" is a path of one machine'


def check_build_lists(tree):
    lists = {str(Path(n).parent): tree.text(n) for n in tree.files if Path(n).name == 'CMakeLists.txt'}
    for name in tree.sources('.cc', '.cu'):
        mentions = (parent for parent in map(str, Path(name).parents) if parent in lists)
        if not any(lists_entry(lists[parent], relative(name, parent)) for parent in mentions):
            yield name, 1, 'no CMakeLists.txt lists this file, so nobody builds it'
    for folder in lists:
        above = next((p for p in map(str, Path(folder).parents) if p in lists), None)
        if folder != '.' and above is not None and not lists_entry(lists[above], relative(folder, above)):
            yield f'{folder}/CMakeLists.txt', 1, f'{above}/CMakeLists.txt does not add this folder'


def lists_entry(text, entry):
    """Whether a CMakeLists.txt names `entry`; a ${variable} inside a name stands for anything."""
    variable = re.compile(r'\$\{\w+\}')
    for word in re.findall(r'(?:[\w./+-]|\$\{\w+\})+', re.sub(r'(?m)#.*$', '', text)):
        literal = variable.split(word)
        if any(re.search(r'\w', part) for part in literal):
            if re.fullmatch('.+'.join(map(re.escape, literal)), entry):
                return True
    return False


def relative(name, parent):
    return name if parent == '.' else name[len(parent) + 1:]


def check_documents(tree):
    known = set(tree.files) | {str(p) for n in tree.files for p in Path(n).parents}
    for name in tree.files:
        if not name.endswith('.md') or name.startswith(DATA):
            continue
        limit = MAX_DOCUMENT.get(name)
        count = tree.text(name).count('\n')
        if limit is not None and count > limit:
            yield name, 1, f'{count} lines, at most {limit}'
        for match in re.finditer(r'`([\w./-]+/[\w./-]*)`', tree.text(name)):
            path = match.group(1).rstrip('/')
            if path.split('/')[0] in ROOMS + ('.ci',) and path not in known:
                yield name, line_of(tree.text(name), match.start()), f'`{path}` does not exist'


CHECKS = (check_includes, check_budgets, check_lines, check_banned, check_file_names, check_spdx, check_header_form,
          check_comments, check_machine_paths, check_build_lists, check_documents)


def findings(root):
    tree = Tree(root)
    for check in CHECKS:
        for name, line, text in check(tree):
            yield check.__name__[len('check_'):], name, line, text


def main(arguments):
    root = arguments[0] if arguments else HERE.parent.parent
    found = list(findings(root))
    for rule, name, line, text in found:
        print(f'{name}:{line}: {text} [{rule}]')
    print(f'tidy: {len(found)} findings in {len(Tree(root).files)} files')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
