"""``tf.debugging.assert_*``: checks of values, shapes and dtypes.

What is known while a function is traced is checked then; the rest becomes an Assert in the graph,
which runs in the order of the program. Eager checks run at once and return None.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from graphwright import _core, control_flow

_EVERYTHING = 1_000_000_000


def _package() -> Any:
    import graphwright

    return graphwright


@contextlib.contextmanager
def _scope(name: str | None, default: str) -> Iterator[None]:
    _core.enter_name_scope(name or default)
    try:
        yield
    finally:
        _core.leave_name_scope()


def _prefix(message: str | None) -> str:
    return f"{message}.  " if message else ""


def _label(tensor: Any) -> str:
    """How messages call a tensor: by its name in a graph, else by its type."""
    if _core.executing_eagerly():
        return f"shape={tensor.shape} dtype={tensor.dtype.name}"
    return _name(tensor)


def _name(tensor: Any) -> str:
    """The name in the graph that is being built; an eager tensor will be a constant of it."""
    return "Const:0" if isinstance(tensor, _core.EagerTensor) else tensor.name


def _fail(lines: Iterable[Any]) -> None:
    raise _package().errors.InvalidArgumentError(None, None, "\n".join(map(str, lines)))


def _shown(item: Any, count: int) -> str:
    if not _core.is_tensor(item):
        return str(item)
    array = item.numpy()
    if np.isscalar(array):
        return str(array)
    flat = array.reshape((-1,))
    texts = [str(value) for value in flat[:count]]
    return str([*texts, "..."] if len(texts) < flat.size else texts)


def _static(value: Any) -> Any:
    return _core.get_static_value(value)


def _require_static(condition: Any, data: list[Any]) -> None:
    """Fails now if the condition is known not to hold."""
    if condition:
        return
    known = [_static(item) if _core.is_tensor(item) else item for item in data]
    _fail(item if value is None else value for item, value in zip(data, known, strict=True))


def _eager_report(sign: str, x: Any, y: Any, holds: Any, count: int) -> list[Any]:
    lines: list[Any] = [f"Condition x {sign} y did not hold."]
    if count <= 0:
        return lines
    x_values, y_values = x.numpy(), y.numpy()
    if x.shape == y.shape and x.shape.rank:
        failed = ~holds.numpy()
        indices = np.argwhere(failed)[:count]
        lines += [f"Indices of first {len(indices)} different values:", indices]
        lines += ["Corresponding x values:", x_values[failed][:count]]
        lines += ["Corresponding y values:", y_values[failed][:count]]
    for letter, values in (("x", x_values), ("y", y_values)):
        first = np.reshape(values, (-1,))[:count]
        lines += [f"First {first.size} elements of {letter}:", first]
    return lines


def _compare(
    sign: str,
    name: str | None,
    default: str,
    compare: Callable[[Any, Any], Any],
    x: Any,
    y: Any,
    data: list[Any] | None,
    summarize: int | None,
    message: str | None,
) -> Any:
    tf = _package()
    with _scope(name, default):
        x = tf.convert_to_tensor(x, name="x")
        y = tf.convert_to_tensor(y, name="y")
        if _core.executing_eagerly():
            holds = compare(x, y)
            if tf.reduce_all(holds):
                return None
            count = 3 if summarize is None else _EVERYTHING if summarize < 0 else summarize
            lines = _eager_report(sign, x, y, holds, count) if data is None else data
            _fail(
                _shown(line, count) for line in ([] if message is None else [message]) + list(lines)
            )
        if data is None:
            data = [
                f"Condition x {sign} y did not hold element-wise:",
                f"x ({_name(x)}) = ",
                x,
                f"y ({_name(y)}) = ",
                y,
            ]
        if message is not None:
            data = [message, *data]
        condition = tf.reduce_all(compare(x, y))
        x_known, y_known = _static(x), _static(y)
        if x_known is not None and y_known is not None:
            _require_static(np.all(compare_static(sign, x_known, y_known)), data)
        return control_flow.Assert(condition, data, summarize=summarize)


def compare_static(sign: str, x: Any, y: Any) -> Any:
    """The comparison of values that are known."""
    return {
        "==": np.equal,
        "!=": np.not_equal,
        "<": np.less,
        "<=": np.less_equal,
        ">": np.greater,
        ">=": np.greater_equal,
    }[sign](x, y)


def assert_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """Fails unless ``x == y`` for every pair of elements, broadcast.

    Args:
      x: A tensor.
      y: A tensor of the same dtype.
      message: Text in front of the default message.
      summarize: How many elements are shown; 3 by default, -1 for all.
      name: Name of the scope.

    Returns:
      The operation in a graph; None when eager.

    Raises:
      InvalidArgumentError: If it does not hold; at once where it can be told at once.
    """
    with _scope(name, "assert_equal"):
        if x is y:
            return control_flow.no_op()
    compare = _package().equal
    return _compare("==", name, "assert_equal", compare, x, y, None, summarize, message)


def assert_none_equal(
    x: Any,
    y: Any,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Fails unless ``x != y`` for every pair of elements; arguments as of assert_equal."""
    compare = _package().not_equal
    return _compare("!=", name, "assert_none_equal", compare, x, y, None, summarize, message)


def assert_less(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """Fails unless ``x < y`` for every pair of elements; arguments as of assert_equal."""
    compare = _package().less
    return _compare("<", name, "assert_less", compare, x, y, None, summarize, message)


def assert_less_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """Fails unless ``x <= y`` for every pair of elements; arguments as of assert_equal."""
    compare = _package().less_equal
    return _compare("<=", name, "assert_less_equal", compare, x, y, None, summarize, message)


def assert_greater(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """Fails unless ``x > y`` for every pair of elements; arguments as of assert_equal."""
    compare = _package().greater
    return _compare(">", name, "assert_greater", compare, x, y, None, summarize, message)


def assert_greater_equal(
    x: Any,
    y: Any,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """Fails unless ``x >= y`` for every pair of elements; arguments as of assert_equal."""
    compare = _package().greater_equal
    return _compare(">=", name, "assert_greater_equal", compare, x, y, None, summarize, message)


def _against_zero(
    sign: str, x: Any, zero_first: bool, message: str | None, summarize: int | None, scope: str
) -> Any:
    tf = _package()
    x = tf.convert_to_tensor(x, name="x")
    shown = {"assert_positive": ">", "assert_negative": "<", "assert_non_negative": ">="}
    text = f"Condition x {shown.get(scope, '<=')} 0 did not hold element-wise:"
    data = [_prefix(message), text, f"x ({_label(x)}) = ", x]
    if scope == "assert_non_positive":
        data = [_prefix(message), f"{text}x ({_label(x)}) = ", x]
    zero = tf.convert_to_tensor(0, dtype=x.dtype)
    left, right = (zero, x) if zero_first else (x, zero)
    name = "assert_less" if sign == "<" else "assert_less_equal"
    compare = tf.less if sign == "<" else tf.less_equal
    return _compare(sign, None, name, compare, left, right, data, summarize, None)


def assert_positive(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Fails unless every element of `x` is greater than 0; arguments as of assert_equal."""
    with _scope(name, "assert_positive"):
        return _against_zero("<", x, True, message, summarize, "assert_positive")


def assert_negative(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Fails unless every element of `x` is less than 0; arguments as of assert_equal."""
    with _scope(name, "assert_negative"):
        return _against_zero("<", x, False, message, summarize, "assert_negative")


def assert_non_negative(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Fails unless every element of `x` is at least 0; arguments as of assert_equal."""
    with _scope(name, "assert_non_negative"):
        return _against_zero("<=", x, True, message, summarize, "assert_non_negative")


def assert_non_positive(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Fails unless every element of `x` is at most 0; arguments as of assert_equal."""
    with _scope(name, "assert_non_positive"):
        return _against_zero("<=", x, False, message, summarize, "assert_non_positive")


def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """Fails unless ``|x - y| < atol + rtol * |y|`` for every pair of elements.

    Args:
      x: A floating or complex tensor.
      y: A tensor of the same dtype.
      rtol: Relative tolerance; 10 times the dtype's machine epsilon by default.
      atol: Absolute tolerance; the same by default.
      message: Text in front of the default message.
      summarize: How many elements are shown; 3 by default, -1 for all.
      name: Name of the scope.

    Raises:
      InvalidArgumentError: If it does not hold.
    """
    tf = _package()
    with _scope(name, "assert_near"):
        x = tf.convert_to_tensor(x, name="x")
        y = tf.convert_to_tensor(y, name="y", dtype=x.dtype)
        dtype = x.dtype.real_dtype if x.dtype.is_complex else x.dtype
        default = 10 * _epsilon(dtype)
        rtol = tf.convert_to_tensor(default if rtol is None else rtol, name="rtol", dtype=dtype)
        atol = tf.convert_to_tensor(default if atol is None else atol, name="atol", dtype=dtype)
        data = [
            _prefix(message),
            f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
            f"x ({_label(x)}) = ",
            x,
            f"y ({_label(y)}) = ",
            y,
        ]
        tolerance = atol + rtol * tf.abs(y)
        condition = tf.reduce_all(tf.less(tf.abs(x - y), tolerance))
        return control_flow.Assert(condition, data, summarize=summarize)


def _epsilon(dtype: Any) -> Any:
    if dtype.name == "bfloat16":
        return 2.0**-7
    return np.finfo(dtype.as_numpy_dtype).eps


# --- Ranks and shapes ----------------------------------------------------------------------------


def _check_rank(
    x: Any,
    ranks: list[Any],
    holds: Callable[[int, list[int]], bool],
    holds_later: Callable[[Any, list[Any]], Any],
    wanted: str,
    message: str | None,
    data: list[Any],
    summarize: int | None,
) -> Any:
    tf = _package()
    known = [_static(rank) for rank in ranks]
    for rank, value in zip(ranks, known, strict=True):
        assert_type(rank, tf.int32)
        if value is not None and value.ndim != 0:
            raise ValueError("Rank must be a scalar.")
    if all(value is not None for value in known) and x.shape.rank is not None:
        numbers = [int(value) for value in known]
        if not holds(x.shape.rank, numbers):
            name = "" if _core.executing_eagerly() else _name(x)
            text = wanted.format(numbers[0] if len(numbers) == 1 else tuple(numbers))
            if wanted.startswith("in "):
                text = wanted.format(tuple(numbers))
            raise ValueError(
                f"{_prefix(message)}Tensor {name} must have rank {text}.  Received rank "
                f"{x.shape.rank}, shape {x.shape}"
            )
        return control_flow.no_op(name="static_checks_determined_all_ok")
    condition = holds_later(tf.rank(x), ranks)
    return control_flow.Assert(condition, data, summarize=summarize)


def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> Any:
    """Fails unless `x` has the rank, an int or an int32 scalar.

    Raises:
      ValueError: Where it can be told at once that it has not; InvalidArgumentError when it runs.
      TypeError: If `rank` is no int32.
    """
    return _assert_rank(x, rank, message, name, None, None)


def _assert_rank(
    x: Any, rank: Any, message: str | None, name: str | None, data: Any, summarize: int | None
) -> Any:
    tf = _package()
    with _scope(name, "assert_rank"):
        x = tf.convert_to_tensor(x, name="x")
        rank = tf.convert_to_tensor(rank, name="rank")
        if data is None:
            data = _rank_data(x, "must have rank", [rank], message)
        return _check_rank(
            x,
            [rank],
            lambda actual, given: actual == given[0],
            lambda actual, given: tf.equal(actual, given[0]),
            "{}",
            message,
            data,
            summarize,
        )


def _rank_data(x: Any, text: str, ranks: list[Any], message: str | None) -> list[Any]:
    name = "" if _core.executing_eagerly() else _name(x)
    shape = _package().shape(x)
    return [_prefix(message), f"Tensor {name} {text}", *ranks, "Received shape: ", shape]


def assert_rank_at_least(
    x: Any, rank: Any, message: str | None = None, name: str | None = None
) -> Any:
    """Fails unless the rank of `x` is `rank` or more; errors as of assert_rank."""
    return _assert_rank_at_least(x, rank, message, name, None, None)


def _assert_rank_at_least(
    x: Any, rank: Any, message: str | None, name: str | None, data: Any, summarize: int | None
) -> Any:
    tf = _package()
    with _scope(name, "assert_rank_at_least"):
        x = tf.convert_to_tensor(x, name="x")
        rank = tf.convert_to_tensor(rank, name="rank")
        if data is None:
            data = _rank_data(x, "must have rank at least", [rank], message)
        return _check_rank(
            x,
            [rank],
            lambda actual, given: actual >= given[0],
            lambda actual, given: tf.greater_equal(actual, given[0]),
            "at least {}",
            message,
            data,
            summarize,
        )


def assert_rank_in(x: Any, ranks: Any, message: str | None = None, name: str | None = None) -> Any:
    """Fails unless the rank of `x` is one of `ranks`; errors as of assert_rank."""
    return _assert_rank_in(x, ranks, message, name, None, None)


def _assert_rank_in(
    x: Any, ranks: Any, message: str | None, name: str | None, data: Any, summarize: int | None
) -> Any:
    tf = _package()
    with _scope(name, "assert_rank_in"):
        x = tf.convert_to_tensor(x, name="x")
        ranks = [tf.convert_to_tensor(rank, name="rank") for rank in ranks]
        if data is None:
            data = _rank_data(x, "must have rank in", ranks, message)

        def holds_later(actual: Any, given: list[Any]) -> Any:
            equal = [tf.equal(rank, actual) for rank in given]
            return functools.reduce(tf.logical_or, equal)

        return _check_rank(
            x,
            ranks,
            lambda actual, given: actual in given,
            holds_later,
            "in {}",
            message,
            data,
            summarize,
        )


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> None:
    """Fails unless the static shape of `tensor` is that of a scalar: ValueError."""
    tf = _package()
    with _scope(name, "assert_scalar"):
        tensor = tf.convert_to_tensor(tensor)
        if tensor.shape.rank != 0:
            of = "" if _core.executing_eagerly() else f" for {_name(tensor)}"
            raise ValueError(
                f"{_prefix(message)}Expected scalar shape{of}, saw shape: {tensor.shape}."
            )


def _parses_as_size(size: Any) -> bool:
    try:
        int(size)
    except (ValueError, TypeError):
        return False
    return size is not None


def _dimension_sizes(x: Any) -> Any:
    """An int where it is known, else a tensor; those of a scalar are those of one element."""
    tf = _package()
    shape = tf.shape(x)
    rank = x.shape.rank
    if rank == 0:
        return [1]
    if rank is not None:
        static = x.shape.as_list()
        return [shape[i] if size is None else size for i, size in enumerate(static)]
    return control_flow.cond(tf.equal(tf.rank(x), 0), lambda: tf.constant([1]), lambda: shape)


def _check_symbols(x: Any, symbols: Any, prefix: str) -> tuple[bool, tuple[Any, ...]]:
    """Whether the symbols are of the innermost dimensions only, and the symbols."""
    if not hasattr(symbols, "__iter__") and not hasattr(symbols, "__getitem__"):
        raise ValueError(
            f"{prefix}Tensor {_label(x)}.  Specified shape must be an iterable.  An iterable has "
            f"the attribute `__iter__` or `__getitem__`.  Received specified shape: {symbols}"
        )
    symbols = tuple(symbols)
    for i, symbol in enumerate(symbols):
        if i > 0 and (symbol is Ellipsis or symbol == "*"):
            raise ValueError(
                f"{prefix}Tensor {_label(x)} specified shape index {i}.  Symbol `...` or `*` for a "
                "variable number of unspecified dimensions is only allowed as the first entry"
            )
    innermost = bool(symbols) and (symbols[0] is Ellipsis or symbols[0] == "*")
    return innermost, symbols[1:] if innermost else symbols


def assert_shapes(
    shapes: Any,
    data: list[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Fails unless dimensions that are called the same have the same size.

    Args:
      shapes: (tensor, symbols) pairs or a dict of them. A symbol is an int, which the size must be,
        any other hashable value, whose sizes must agree, or None or "." for any size. "..." or "*"
        in front stands for any number of dimensions.
      data: What to show instead of the default message.
      summarize: How many elements are shown; 3 by default, -1 for all.
      message: Text in front of the default message.
      name: Name of the scope.

    Raises:
      ValueError: Where it can be told at once; InvalidArgumentError when it runs.
    """
    tf = _package()
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    prefix = _prefix(message)
    with _scope(name, "assert_shapes"):
        tensors = [
            (tf.convert_to_tensor(x), symbols) for x, symbols in pairs if symbols is not None
        ]
        described = []
        for x, symbols in tensors:
            innermost, named = _check_symbols(x, symbols, prefix)
            described.append((x, innermost, _dimension_sizes(x), named or (1,)))
        ranks = []
        for x, innermost, _, symbols in described:
            rank = len(symbols)
            if innermost:
                if rank > 1:
                    ranks.append(_assert_rank_at_least(x, rank, message, name, data, summarize))
            elif rank == 1:
                ranks.append(_assert_rank_in(x, [0, 1], message, name, data, summarize))
            else:
                ranks.append(_assert_rank(x, rank, message, name, data, summarize))
        ranks = [check for check in ranks if check is not None]
        checks = []
        seen: dict[Any, Any] = {}
        for x, innermost, sizes, symbols in described:
            for i, symbol in enumerate(symbols):
                if symbol is None or symbol == ".":
                    continue
                position = i - len(symbols) if innermost else i
                with control_flow.control_dependencies(ranks):
                    actual = sizes[position]
                if not _parses_as_size(symbol) and symbol not in seen:
                    seen[symbol] = (actual, x, position)
                    continue
                if _parses_as_size(symbol):
                    wanted, source = int(symbol), "Specified explicitly"
                else:
                    wanted, other, dimension = seen[symbol]
                    source = f"Specified by tensor {_label(other)} dimension {dimension}"
                if _parses_as_size(actual) and _parses_as_size(wanted):
                    if int(actual) != int(wanted):
                        raise ValueError(
                            f"{prefix}{source}.  Tensor {_label(x)} dimension {position} must have "
                            f"size {int(wanted)}.  Received size {int(actual)}, shape {x.shape}"
                        )
                    continue
                condition = tf.equal(tf.convert_to_tensor(actual), tf.convert_to_tensor(wanted))
                shown = data or [
                    prefix,
                    source,
                    f"Tensor {_label(x)} dimension",
                    position,
                    "must have size",
                    wanted,
                    "Received shape: ",
                    tf.shape(x),
                ]
                checks.append(control_flow.Assert(condition, shown, summarize=summarize))
    with control_flow.control_dependencies(ranks):
        control_flow.group(*checks)


# --- Types ---------------------------------------------------------------------------------------


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> None:
    """Fails unless `tensor` has the dtype: TypeError."""
    tf = _package()
    wanted = tf.as_dtype(tf_type)
    with _scope(name, "assert_type"):
        tensor = tf.convert_to_tensor(tensor, name="tensor")
        if tensor.dtype != wanted:
            called = "tensor" if _core.executing_eagerly() else _name(tensor)
            raise TypeError(
                f"{_prefix(message)}{called} must be of type {wanted!r}; got {tensor.dtype!r}"
            )
        control_flow.no_op("statically_determined_correct_type")


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Fails unless `x` has an integer dtype: TypeError."""
    tf = _package()
    with _scope(name, "assert_integer"):
        x = tf.convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            called = "tensor" if _core.executing_eagerly() else _name(x)
            raise TypeError(
                f'{_prefix(message)}Expected "x" to be integer type.  Found: {called} of dtype '
                f"{x.dtype}"
            )
        control_flow.no_op("statically_determined_was_integer")


def assert_proper_iterable(values: Any) -> None:
    """Fails unless `values` is an iterable that is no tensor, array or string: TypeError."""
    if _core.is_tensor(values) or isinstance(values, (np.ndarray, bytes, str)):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def assert_same_float_dtype(tensors: Iterable[Any] | None = None, dtype: Any = None) -> Any:
    """The one floating dtype of the tensors (float32 if there are none).

    Args:
      tensors: Tensors; None among them is passed over.
      dtype: The dtype they must have.

    Raises:
      ValueError: If they differ, or if it is not floating.
    """
    tf = _package()
    first = None
    for tensor in tensors or ():
        if tensor is None:
            continue
        if dtype is None:
            dtype, first = tensor.dtype, tensor
        elif tensor.dtype != dtype:
            called = tensor if _core.executing_eagerly() else _name(tensor)
            like = (
                ""
                if first is None
                else f" as {first if _core.executing_eagerly() else _name(first)}"
            )
            raise ValueError(
                f"{called}, type={tensor.dtype}, must be of the same type ({dtype}){like}."
            )
    if dtype is None:
        return tf.float32
    dtype = tf.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether it is a tensor of numbers."""
    if not isinstance(tensor, _core.Tensor):
        return False
    dtype = tensor.dtype
    return bool(dtype.is_floating or dtype.is_integer or dtype.is_complex)


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """The tensor, if it has no NaN and no infinity.

    Args:
      tensor: A floating tensor.
      message: Begins the text of the error.
      name: Name of the node.

    Raises:
      InvalidArgumentError: If it has any; when it runs, in a graph, whoever uses the result.
    """
    return _core.raw_op("CheckNumerics")(tensor=tensor, message=message, name=name)


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Any:
    """The tensor, if it has no NaN and no infinity; arguments and errors as of check_numerics."""
    tf = _package()
    with _scope(name, "VerifyFinite"):
        x = tf.convert_to_tensor(x, name="x")
        checked = check_numerics(x, message)
        if _core.executing_eagerly():
            return x
        with control_flow.control_dependencies([checked]):
            return tf.identity(x, name="control_dependency")
