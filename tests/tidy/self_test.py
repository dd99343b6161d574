#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that tidy can fail: each planted violation is found by its rule and by no other, and a clean tree has none."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cpp_text  # noqa: E402
import tidy  # noqa: E402

SPDX = '// SPDX-License-Identifier: Apache-2.0\n'
CMAKE = '# SPDX-License-Identifier: Apache-2.0\n'
HEADER = SPDX + '// Thing: what it is.\n// Errors: none.    Threads: any.\n#pragma once\n'
CLEAN = {
    'CMakeLists.txt': CMAKE + 'add_subdirectory(runtime)\n',
    'runtime/CMakeLists.txt': CMAKE + 'foreach(room kv)\n  add_subdirectory(${room})\nendforeach()\n',
    'runtime/kv/CMakeLists.txt': CMAKE + 'larder_library(larder_kv SOURCES thing.cc)\n',
    'runtime/kv/thing.h': HEADER + '#include <vector>\n\n#include "runtime/base/result.h"\n#include "storage/seal.h"\n',
    'runtime/kv/thing.cc': SPDX + '#include "runtime/kv/thing.h"\nint f() { return 1; }  // "throw" in words\n',
    'README.md': 'See `runtime/kv/thing.h` and `runtime/kv`.\n',
}


def long_function(lines):
    return SPDX + 'int f() {\n' + '  work();\n' * (lines - 2) + '}\n'


# rule: files that break it, one at a time
PLANTED = {
    'includes': [
        {'runtime/kv/thing.cc': SPDX + '#include "runtime/engine/engine.h"\n'},
        {'runtime/kv/thing.cc': SPDX + '#include <QString>\n'},
        {'runtime/kv/thing.cc': SPDX + '#include <sodium.h>\n'},
        {'runtime/kv/thing.cc': SPDX + '#include <unistd.h>\n'},
        {'runtime/kv/thing.cc': SPDX + '#include "gui/theme/theme.h"\n'},
    ],
    'budgets': [
        {'runtime/kv/thing.cc': long_function(71)},
        {'runtime/kv/thing.h': HEADER + 'int f();\n' * 247},
        {'runtime/kv/thing.cc': SPDX + 'int f();\n' * 500},
        {'runtime/kv/thing.h': HEADER + '#include <vector>\n' * 16},
    ],
    'lines': [
        {'runtime/kv/thing.cc': SPDX + '// ' + 'x' * 118 + '\n'},
        {'runtime/kv/thing.cc': SPDX + 'int f(); \n'},
    ],
    'banned': [
        {'runtime/kv/thing.cc': SPDX + text + '\n'} for text in (
            'class BlockManager;', 'class StringUtils {};', 'struct EngineImpl {};', 'void f() { throw 1; }',
            'auto t = std::chrono::steady_clock::now();', 'void f() { assert(true); }', 'thread_local int x;',
            'int f() {\n  static int calls = 0;\n  return ++calls;\n}', 'auto& x = Settings::instance();',
            'int g_count = 0;', '#ifdef LARDER_CUDA\n#endif', 'using namespace std;', 'std::random_device device;',
            'void f() {\n  std::cout << 1;\n}', 'std::atomic<std::shared_ptr<int>> slot;',
            'void f() { try { g(); } catch (...) { } }', 'std::expected<int, int> f();')
    ] + [{'runtime/kv/thing.cc': SPDX + f'#include <{name}>\n'} for name in ('format', 'ranges', 'cassert')],
    'file_names': [
        {'runtime/kv/CMakeLists.txt': CMAKE + f'larder_library(a SOURCES thing.cc {name})\n',
         f'runtime/kv/{name}': SPDX}
        for name in ('block_utils.cc', 'BlockPool.cc', 'kv_common.cc')
    ],
    'spdx': [
        {'runtime/kv/thing.cc': '#include "runtime/kv/thing.h"\n'},
        {'runtime/kv/CMakeLists.txt': 'larder_library(larder_kv SOURCES thing.cc)\n'},
        {'runtime/kv/thing.cc': '// SPDX-License-Identifier: GPL-3.0-or-later\n'},
        {'installer/run': '#!/bin/sh\necho\n'},
    ],
    'header_form': [
        {'runtime/kv/thing.h': SPDX + '#pragma once\n'},
        {'runtime/kv/thing.h': SPDX + '// Thing: what it is.    Errors: none.\n#pragma once\n'},
        {'runtime/kv/thing.h': SPDX + '// Thing: what it is.    Threads: any.\n#pragma once\nStatus open();\n'},
        {'runtime/kv/thing.h': SPDX + '// Thing: what it is.    Threads: any.\n'},
    ],
    'comments': [
        {'runtime/kv/thing.cc': SPDX + text + '\n'} for text in (
            '// TODO: free it', '// mends issue 12', '//  return x + 1;', 'int x;  // FIXME')
    ],
    'machine_paths': [
        {'installer/notes.txt': 'see /home/anna/larder\n'},
        {'installer/notes.txt': 'cp ../shared/data/x .\n'},
    ],
    'build_lists': [
        {'runtime/kv/dead.cc': SPDX},
        {'runtime/sched/CMakeLists.txt': CMAKE},
    ],
    'documents': [
        {'README.md': 'See `runtime/kv/gone.h`.\n'},
        {'README.md': 'line\n' * 151},
    ],
}


def found_in(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding='utf-8')
        return [f for f in tidy.findings(root) if f[1] != 'tests/tidy/budget.tsv']


class Tidy(unittest.TestCase):
    def test_a_clean_tree_has_no_findings(self):
        self.assertEqual(found_in(CLEAN), [])

    def test_every_rule_has_a_planted_violation(self):
        self.assertEqual(set(PLANTED), {check.__name__[len('check_'):] for check in tidy.CHECKS})

    def test_every_planted_violation_is_found_by_its_rule_alone(self):
        for rule, plants in PLANTED.items():
            for plant in plants:
                with self.subTest(rule=rule, plant=plant):
                    self.assertEqual({f[0] for f in found_in({**CLEAN, **plant})}, {rule})

    def test_a_budget_row_that_is_not_needed_is_found(self):
        rows = tidy.rows
        budget = [['runtime/kv/thing.cc', 'f', '90']]
        tidy.rows = lambda name, width: iter(budget) if 'budget' in name else rows(name, width)
        try:
            with tempfile.TemporaryDirectory() as root:
                (Path(root) / 'x.md').write_text('')
                texts = [f[3] for f in tidy.findings(root)]
        finally:
            tidy.rows = rows
        self.assertEqual(texts, ['runtime/kv/thing.cc f is now within the budget, remove the row'])


class CppText(unittest.TestCase):
    def test_comments_and_strings_are_blanked_and_places_kept(self):
        text = ('int a; // throw\nauto s = "throw \\" x"; /* throw\n */ char c = \'"\';'
                ' auto r = R"(throw " )"; long n = 1\'000;\n')
        code = cpp_text.blank(text)
        self.assertEqual(len(code), len(text))
        self.assertNotIn('throw', code)
        self.assertIn("1'000", code)
        self.assertEqual(code.count('\n'), text.count('\n'))

    def test_functions_are_found_with_their_lines(self):
        code = ('namespace a {\nstruct B : C {\n  B() : x_{1}, y_(2) {\n    f();\n  }\n'
                '  int g() const { return 1; }\n};\n'
                'constexpr int kTable[] = {\n  1,\n};\nResult<std::map<int, int>> B::h(\n    int x) {\n'
                '  auto l = [&] {\n    return 1;\n  };\n  if (x) {\n  }\n}\nTEST(Pool, IsEmpty) {\n}\n}\n')
        found = [f for f in cpp_text.functions(cpp_text.blank(code)) if f[2] > f[1] or f[0] == 'g']
        self.assertEqual(found, [('y_', 3, 5), ('g', 6, 6), ('B::h', 11, 18), ('Pool.IsEmpty', 19, 20)])


if __name__ == '__main__':
    unittest.main()
