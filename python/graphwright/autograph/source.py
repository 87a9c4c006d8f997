"""Finds the source of a Python function and parses it.

The source is the lines that `linecache` knows for the function's file: that covers files, notebooks
and whatever else registers its text there. The block of a `def` is cut out by its indentation,
which costs microseconds; `inspect` is asked only where that fails. A lambda is found by compiling
what may be it and comparing code objects, since one line can hold several.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import linecache
import re
import types
from typing import Any

_FUTURE_FLAGS = 0
for _feature in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _feature).compiler_flag
_ONLY_AST = ast.PyCF_ONLY_AST

_CLOSERS = (")", "]", "}")
_LAMBDA = re.compile(r"\blambda\b")
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
      |(?P<string>[rRbBuUfF]{0,2}(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''
                                 |"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
      |(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<end>[,\n;])|(?P<other>\w+|.)""",
    re.VERBOSE | re.DOTALL,
)


class InaccessibleSourceCodeError(ValueError):
    """Raised when the source code of a function cannot be found."""


def parse_function(function: types.FunctionType) -> tuple[ast.AST, int]:
    """Returns the `ast` of a function's definition and how far up its line numbers are.

    The node is a FunctionDef, AsyncFunctionDef or Lambda. Adding the second value to a line number
    gives the line in the function's file; columns are those of the file.

    Raises:
        InaccessibleSourceCodeError: the source is not to be had, or is not that of the function.
    """
    code = function.__code__
    filename = code.co_filename
    linecache.checkcache(filename)
    lines = linecache.getlines(filename, function.__globals__)
    start = code.co_firstlineno - 1
    if not 0 <= start < len(lines):
        raise InaccessibleSourceCodeError(
            f"Unable to locate the source code of {function!r}: no text is known for line "
            f"{start + 1} of {filename!r}. Functions made by exec or typed into the plain "
            "interactive shell do not keep their source: define the function in a .py file or a "
            "notebook, or, if it needs no conversion, decorate it with "
            "@tf.autograph.experimental.do_not_convert."
        )
    if code.co_name == "<lambda>":
        return _parse_lambda(function, lines, start)
    return _parse_definition(function, lines, start)


def _parse(text: str, function: types.FunctionType) -> ast.Module:
    code = function.__code__
    flags = _ONLY_AST | (code.co_flags & _FUTURE_FLAGS)
    return compile(text, code.co_filename, "exec", flags, True)


def _parse_definition(
    function: types.FunctionType, lines: list[str], start: int
) -> tuple[ast.AST, int]:
    name = function.__code__.co_name
    definition = re.compile(rf"\s*(?:async\s+)?def\s+{re.escape(name)}\b")
    first = start
    while first < len(lines) and not definition.match(lines[first]):
        first += 1  # decorators
    if first < len(lines):
        node, offset = _parse_block(function, lines, first, _block_end(lines, first))
        if node is None:
            # A string or a bracket with lines further out than the definition.
            block = inspect.getblock(lines[first:])
            node, offset = _parse_block(function, lines, first, first + len(block))
        if node is not None and _same_parameters(node, function.__code__):
            return node, offset
    raise InaccessibleSourceCodeError(
        f"The text of {function.__code__.co_filename!r} at line {start + 1} is not the definition "
        f"of {function!r}: the file has changed since it was loaded. Load it again."
    )


def _block_end(lines: list[str], first: int) -> int:
    """The line after the block of the `def` at line `first`, going by indentation."""
    text = lines[first]
    indentation = len(text) - len(text.lstrip())
    end = first + 1
    last = end
    while end < len(lines):
        stripped = lines[end].lstrip()
        if stripped and stripped[0] != "#":
            if len(lines[end]) - len(stripped) <= indentation and stripped[0] not in _CLOSERS:
                break
            last = end + 1
        end += 1
    return last


def _parse_block(
    function: types.FunctionType, lines: list[str], first: int, end: int
) -> tuple[ast.AST | None, int]:
    text = "".join(lines[first:end])
    offset = first
    if text[:1] in " \t":
        # An indented definition is put under an `if`, so that nothing inside it moves.
        text = "if 1:\n" + text
        offset -= 1
    try:
        statement = _parse(text, function).body[0]
    except SyntaxError:
        return None, 0
    if isinstance(statement, ast.If):
        statement = statement.body[0]
    return statement, offset


def _same_parameters(node: ast.AST, code: types.CodeType) -> bool:
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    arguments = node.args
    names = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    count = code.co_argcount + code.co_kwonlyargcount
    if len(names) != count:
        return False
    # Inside a class, parameters with two leading underscores carry its name.
    return all(a == b or b.endswith(a) for a, b in zip(names, code.co_varnames, strict=False))


def _parse_lambda(
    function: types.FunctionType, lines: list[str], start: int
) -> tuple[ast.AST, int]:
    code = function.__code__
    text = "".join(lines[start:])
    first_line = lines[start]
    for imported in _imported_names(function, lines):
        for match in _LAMBDA.finditer(first_line):
            for end in _expression_ends(text, match.start()):
                part = text[match.start() : end]
                node = _matching_lambda(function, part, match.start(), imported)
                if node is not None:
                    return node, start
    raise InaccessibleSourceCodeError(
        f"Unable to find the lambda {function!r} at line {start + 1} of {code.co_filename!r}: the "
        "file may have changed since it was loaded, or the lambda was made in a way that the text "
        "does not show. Define it as a function with `def`, or decorate what uses it with "
        "@tf.autograph.experimental.do_not_convert."
    )


def _imported_names(function: types.FunctionType, lines: list[str]):
    """Which of the names that the function uses its module imports: a guess, then the truth.

    Calls of an attribute of an imported name are compiled in another way.
    """
    code = function.__code__
    used = {*code.co_names, *code.co_varnames, *code.co_freevars}
    guess = {n for n in used if isinstance(function.__globals__.get(n), types.ModuleType)}
    yield sorted(guess)
    try:
        pending: list[ast.AST] = list(_parse("".join(lines), function).body)
    except SyntaxError:
        return
    found: set[str] = set()
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name).partition(".")[0] for a in node.names)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            pending.extend(ast.iter_child_nodes(node))
    if found & used != guess:
        yield sorted(found & used)


def _expression_ends(text: str, begin: int):
    """Where the expression that begins at `begin` may end, nearest first."""
    depth = 0
    for token in _TOKEN.finditer(text, begin):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            if depth == 0:
                yield token.start()
                return
            depth -= 1
        elif depth == 0 and (kind in ("end", "comment") or token.group() in ("for", "if", ":")):
            yield token.start()
    yield len(text)


def _matching_lambda(
    function: types.FunctionType, text: str, column: int, imported: list[str]
) -> ast.Lambda | None:
    """The lambda that `text` is, where it compiles to the function's code."""
    code = function.__code__
    flags = code.co_flags & _FUTURE_FLAGS
    try:
        # The parentheses allow the text to span lines.
        tree = compile(f"({text}\n)", code.co_filename, "eval", flags | _ONLY_AST, True)
    except SyntaxError:
        return None
    if not isinstance(tree.body, ast.Lambda):
        return None
    variables = ", ".join(code.co_freevars)
    probe = f"def scope({variables}):\n return ({text}\n)"
    if imported:
        probe = f"import {', '.join(imported)}\n{probe}"
    try:
        module = compile(probe, code.co_filename, "exec", flags, True)
    except SyntaxError:
        return None
    scope = next(c for c in module.co_consts if isinstance(c, types.CodeType))
    found = next((c for c in scope.co_consts if isinstance(c, types.CodeType)), None)
    if found is None or not _same_code(found, code):
        return None
    node: Any
    for node in ast.walk(tree.body):
        if getattr(node, "lineno", 0) == 1:
            node.col_offset += column - 1
        if getattr(node, "end_lineno", 0) == 1:
            node.end_col_offset += column - 1
    return tree.body


def _same_code(a: types.CodeType, b: types.CodeType) -> bool:
    if (
        a.co_code != b.co_code
        or a.co_names != b.co_names
        or a.co_varnames != b.co_varnames
        or a.co_freevars != b.co_freevars
        or a.co_cellvars != b.co_cellvars
        or len(a.co_consts) != len(b.co_consts)
    ):
        return False
    for x, y in zip(a.co_consts, b.co_consts, strict=True):
        if isinstance(x, types.CodeType) and isinstance(y, types.CodeType):
            if not _same_code(x, y):
                return False
        elif isinstance(x, str) and isinstance(y, str) and "<lambda>" in x:
            continue  # qualified names of nested functions, which are constants before Python 3.11
        elif type(x) is not type(y) or repr(x) != repr(y):
            return False
    return True
