# SPDX-License-Identifier: Apache-2.0
"""Just enough reading of C++ for tidy: code without comments and strings, and where functions begin and end."""
import re

RAW_STRING = re.compile(r'R"([^\s()\\]{0,16})\(')
CONTAINER = re.compile(r'\b(namespace|class|struct|union|enum)\b|extern\s*$')
NOT_FUNCTION = re.compile(r'(=|\breturn|\[\])\s*$')


def blank(text):
    """`text` with comments and the insides of strings replaced by spaces; newlines and positions stay."""
    out = list(text)
    i, n = 0, len(text)
    while i < n:
        end = skip_token(text, i)
        if end is None:
            i += 1
            continue
        begin_kept, end_kept = (i + 1, end - 1) if text[i] in '"\'' else (i, end)
        for k in range(begin_kept, min(end_kept, n)):
            if out[k] != '\n':
                out[k] = ' '
        i = end
    return ''.join(out)


def skip_token(text, i):
    """End of the comment or string that begins at i; None where none begins."""
    two = text[i:i + 2]
    if two == '//':
        end = text.find('\n', i)
        return len(text) if end < 0 else end
    if two == '/*':
        end = text.find('*/', i)
        return len(text) if end < 0 else end + 2
    if two == 'R"' and not (i and (text[i - 1].isalnum() or text[i - 1] == '_')):
        match = RAW_STRING.match(text, i)
        if match:
            end = text.find(')' + match.group(1) + '"', match.end())
            return len(text) if end < 0 else end + len(match.group(1)) + 2
    if text[i] == '"' or (text[i] == "'" and not (i and text[i - 1].isalnum())):
        return end_of_quote(text, i)
    return None


def end_of_quote(text, i):
    quote, k = text[i], i + 1
    while k < len(text) and text[k] != quote and text[k] != '\n':
        k += 2 if text[k] == '\\' else 1
    return min(k + 1, len(text))


def functions(code):
    """(name, first line, last line) of every function body in blanked code; lambdas count to what holds them."""
    code = re.sub(r'(?m)^[ \t]*#(?:.*\\\n)*.*$', lambda m: re.sub(r'[^\n]', ' ', m.group()), code)
    found, stack, statement = [], [], 0
    for match in re.finditer(r'[{};]', code):
        at, char = match.start(), match.group()
        if char == '{':
            head = code[statement:at]
            stack.append(opened(code, head, statement, at, stack))
            statement = at + 1
        elif char == '}':
            kind = stack.pop() if stack else None
            if isinstance(kind, tuple):
                found.append((kind[0], kind[1], code.count('\n', 0, at) + 1))
            statement = at + 1
        elif not any(isinstance(kind, tuple) for kind in stack):
            statement = at + 1
    return found


def opened(code, head, statement, at, stack):
    """What a brace opens: a container, a function as (name, first line), or a block."""
    if any(kind == 'block' or isinstance(kind, tuple) for kind in stack):
        return 'block'
    signature = re.sub(r'<[^<>()]*>', '', head)
    paren = signature.find('(')
    if CONTAINER.search(signature if paren < 0 else signature[:paren]) or 'extern' in head:
        return 'container'
    if paren < 0 or NOT_FUNCTION.search(head):
        return 'block'
    name = re.search(r'([\w:~]+|operator\s*\S+)\s*$', signature[:paren])
    test = re.search(r'\b(TEST|TEST_F|TEST_P|BENCHMARK\w*)\s*\(([^)]*)\)', head)
    label = test.group(2).replace(',', '.').replace(' ', '') if test else (name.group(1) if name else '?')
    first = statement + len(head) - len(head.lstrip())
    return (label, code.count('\n', 0, first) + 1)
