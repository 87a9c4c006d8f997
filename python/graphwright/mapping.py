"""``tf.map_fn``, ``tf.scan``, ``tf.foldl`` and ``tf.foldr``: functions applied row by row.

In a graph each is a loop that reads rows from lists, with the node names that TensorFlow gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright import _core, control_flow, nest, type_spec
from graphwright.assertions import _scope


def _package() -> Any:
    import graphwright

    return graphwright


def _require_callable(fn: Any) -> None:
    if not callable(fn):
        name = getattr(fn, "__name__", repr(fn))
        raise TypeError(f"{name} is not callable. Please provide a callable function.")


def _read_variables(structure: Any) -> Any:
    variable = _core.Variable
    read = lambda leaf: leaf.read_value() if isinstance(leaf, variable) else leaf
    return nest.map_structure(read, structure)


def _require_rows(elem: Any) -> None:
    if elem.shape.rank == 0:
        raise IndexError("elems must be tensors with at least one dimension, not scalars")


def _row_count(elem: Any) -> Any:
    """The number of rows, an int where it is known (and not 0), else a tensor."""
    _require_rows(elem)
    known = None if elem.shape.rank is None else elem.shape[0]
    return known or _package().shape(elem)[0]


def _check_row_counts(elems: list[Any]) -> Any:
    """The number of rows if it is known; ValueError if the tensors' differ."""
    known = None
    for elem in elems:
        if elem.shape.rank == 0:
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
        rows = None if elem.shape.rank is None else elem.shape[0]
        if rows is None:
            continue
        if known is not None and known != rows:
            raise ValueError(f"Dimensions {known} and {rows} are not compatible")
        known = rows
    return known


def _with_rows(tensor: Any, rows: int | None) -> Any:
    """Tells a result how many rows it has."""
    if not _core.executing_eagerly() and tensor.shape.rank is not None:
        tensor.set_shape(_core.TensorShape([rows, *tensor.shape[1:]]))
    return tensor


def _unstacked(elem: Any, rows: Any, **options: Any) -> Any:
    array = _package().TensorArray(
        dtype=elem.dtype, size=rows, dynamic_size=False, infer_shape=True, **options
    )
    return array.unstack(elem)


def _output_spec(spec: Any) -> Any:
    if not isinstance(spec, type_spec.TypeSpec):
        spec = type_spec.TensorSpec(None, spec)
    if not isinstance(spec, type_spec.TensorSpec):
        raise TypeError(f"map_fn can not generate {spec} outputs")
    return spec


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """The results of `fn` for every row of `elems`, stacked.

    Args:
      fn: Takes one row in the structure of `elems`, returns a structure of tensors.
      elems: A tensor or a structure of tensors that have equally many rows, one at least.
      dtype: The former name of `fn_output_signature`.
      parallel_iterations: Kept in the graph; 10 there by default.
      back_prop: False stops gradients at the results.
      swap_memory: Accepted; all memory is one.
      infer_shape: Whether all results have the same shape.
      name: Name of the scope.
      fn_output_signature: The structure of dtypes or TensorSpecs that `fn` returns, if it is not
        that of `elems`.

    Raises:
      TypeError: If `fn` is not callable, or returns another structure.
      ValueError: If `elems` has no tensor or a scalar, or numbers of rows differ.
    """
    if not callable(fn):
        named = getattr(fn, "__name__", repr(fn))
        raise TypeError(f"The provided function {named} is not callable. fn must be callable.")
    signature = dtype if fn_output_signature is None else fn_output_signature
    tf = _package()
    parallel_iterations = 1 if _core.executing_eagerly() else parallel_iterations or 10
    elems = _read_variables(elems)
    flat = nest.flatten(elems)
    if not flat:
        raise ValueError(
            "elems must be a Tensor or (possibly nested) sequence of Tensors. "
            f"Got {elems}, which does not contain any Tensors."
        )
    outputs = None if signature is None else [_output_spec(s) for s in nest.flatten(signature)]
    with _scope(name, "map"):
        flat = [tf.convert_to_tensor(elem, name="elem") for elem in flat]
        if outputs is None:
            outputs = [type_spec.TensorSpec(None, elem.dtype) for elem in flat]
        known_rows = _check_row_counts(flat)
        rows = known_rows or tf.shape(flat[0])[0]
        arrays = [
            tf.TensorArray(dtype=elem.dtype, size=rows, dynamic_size=False, infer_shape=True)
            for elem in flat
        ]
        arrays = [array.unstack(elem) for array, elem in zip(arrays, flat, strict=True)]
        start = tf.constant(0)
        results = [
            tf.TensorArray(
                dtype=spec.dtype,
                size=rows,
                dynamic_size=False,
                infer_shape=infer_shape,
                element_shape=spec.shape,
            )
            for spec in outputs
        ]

        def compute(i: Any, written: Any) -> Any:
            row = nest.pack_sequence_as(elems, [array.read(i) for array in arrays])
            value = _core.call_converted(fn, row)
            nest.assert_same_structure(elems if signature is None else signature, value)
            values = nest.flatten(value)
            written = [a.write(i, v) for a, v in zip(written, values, strict=True)]
            return i + 1, written

        _, results = control_flow.while_loop(
            lambda i, _: i < rows,
            compute,
            (start, results),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=rows,
        )
        stacked = [_with_rows(array.stack(), known_rows) for array in results]
        return nest.pack_sequence_as(elems if signature is None else signature, stacked)


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """``fn(fn(fn(initializer, elems[0]), elems[1]), ...)``.

    Args:
      fn: Takes what has been accumulated and a row, returns the next accumulated value.
      elems: A tensor or a structure of tensors that have equally many rows.
      initializer: What to start with; the first row by default.
      parallel_iterations: Kept in the graph.
      back_prop: False stops gradients at the result.
      swap_memory: Accepted; all memory is one.
      name: Name of the scope.

    Raises:
      TypeError: If `fn` is not callable.
      ValueError: If what is accumulated changes its structure or shape.
    """
    _require_callable(fn)
    return _fold(
        fn, elems, initializer, False, parallel_iterations, back_prop, swap_memory, name or "foldl"
    )


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """As foldl, from the last row: ``fn(fn(initializer, elems[-1]), elems[-2])...``."""
    _require_callable(fn)
    return _fold(
        fn, elems, initializer, True, parallel_iterations, back_prop, swap_memory, name or "foldr"
    )


def _fold(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any,
    from_last: bool,
    parallel_iterations: int,
    back_prop: bool,
    swap_memory: bool,
    name: str,
) -> Any:
    tf = _package()
    with _scope(name, name):
        flat = [tf.convert_to_tensor(elem, name="elem") for elem in nest.flatten(elems)]
        rows = _row_count(flat[0])
        arrays = nest.pack_sequence_as(elems, [_unstacked(elem, rows) for elem in flat])

        def row(i: Any) -> Any:
            return nest.map_structure(lambda array: array.read(i), arrays)

        if from_last:
            start = rows - 1 if initializer is None else rows
            value = row(start) if initializer is None else initializer
        else:
            value = row(0) if initializer is None else initializer
            start = tf.constant(1 if initializer is None else 0)

        def compute(i: Any, accumulated: Any) -> Any:
            if from_last:
                i = i - 1
            result = fn(accumulated, row(i))
            return [i if from_last else i + 1, result]

        _, value = control_flow.while_loop(
            (lambda i, _: i > 0) if from_last else (lambda i, _: i < rows),
            compute,
            [start, value],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=rows,
        )
        return value


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All the values that foldl accumulates, stacked.

    Args:
      fn: Takes what has been accumulated and a row, returns the next accumulated value.
      elems: A tensor or a structure of tensors that have equally many rows.
      initializer: What to start with; by default the first row, which is then the first result.
      parallel_iterations: Kept in the graph.
      back_prop: False stops gradients at the results.
      swap_memory: Accepted; all memory is one.
      infer_shape: Whether all results have the same shape.
      reverse: Whether to begin with the last row; results stand where their rows do.
      name: Name of the scope.

    Raises:
      TypeError: If `fn` is not callable, or its result has another structure.
      ValueError: If numbers of rows differ, or what is accumulated changes its shape.
    """
    _require_callable(fn)
    tf = _package()
    like = elems if initializer is None else initializer
    flat = nest.flatten(elems)
    with _scope(name, "scan"):
        flat = [tf.convert_to_tensor(elem, name="elem") for elem in flat]
        _require_rows(flat[0])
        rows = None if flat[0].shape.rank is None else flat[0].shape[0]
        if rows is None:
            rows = tf.shape(flat[0])[0]
        arrays = [
            tf.TensorArray(
                dtype=elem.dtype,
                size=rows,
                dynamic_size=False,
                element_shape=elem.shape[1:],
                infer_shape=True,
            )
            for elem in flat
        ]
        arrays = [array.unstack(elem) for array, elem in zip(arrays, flat, strict=True)]
        first = 1
        if initializer is None:
            start_row = rows - 1 if reverse else 0
            values = [array.read(start_row) for array in arrays]
        else:
            values = [tf.convert_to_tensor(value) for value in nest.flatten(initializer)]
            first = 0
        results = [
            tf.TensorArray(
                dtype=value.dtype,
                size=rows,
                element_shape=value.shape if infer_shape else None,
                dynamic_size=False,
                infer_shape=infer_shape,
            )
            for value in values
        ]
        if initializer is None:
            start_row = rows - 1 if reverse else 0
            results = [
                array.write(start_row, value) for array, value in zip(results, values, strict=True)
            ]

        def compute(i: Any, accumulated: Any, written: Any) -> Any:
            row = nest.pack_sequence_as(elems, [array.read(i) for array in arrays])
            value = fn(nest.pack_sequence_as(like, accumulated), row)
            nest.assert_same_structure(like, value)
            values = nest.flatten(value)
            written = [a.write(i, v) for a, v in zip(written, values, strict=True)]
            return i - 1 if reverse else i + 1, values, written

        _, _, results = control_flow.while_loop(
            (lambda i, _1, _2: i >= 0) if reverse else (lambda i, _1, _2: i < rows),
            compute,
            (rows - 1 - first if reverse else first, values, results),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=rows,
        )
        stacked = [array.stack() for array in results]
        known_rows = _check_row_counts(flat)
        stacked = [_with_rows(tensor, known_rows) for tensor in stacked]
        return nest.pack_sequence_as(like, stacked)


def vectorized_map(
    fn: Callable[[Any], Any],
    elems: Any,
    fallback_to_while_loop: bool = True,
    warn: bool = True,
) -> Any:
    """As map_fn, with all rows at once: `fn` is traced for one row, and each of its ops is applied
    to all rows together.

    Args:
      fn: Takes one row in the structure of `elems`, returns a structure of tensors. It must do the
        same for every row: no effects, no control flow that depends on it.
      elems: A tensor or a structure of tensors with equally many rows; those with one row are the
        same for all.
      fallback_to_while_loop: Whether to map row by row where an op cannot be vectorized.
      warn: Whether to say so then.

    Raises:
      ValueError: If an op cannot be vectorized and there is no falling back.
    """
    tf = _package()
    elems = nest.map_structure(tf.convert_to_tensor, _read_variables(elems))
    flat = nest.flatten(elems)
    if not flat:
        raise ValueError("elems must have at least one tensor")
    known = [None if elem.shape.rank is None else elem.shape[0] for elem in flat]
    rows: Any
    if any(count is None for count in known):
        rows = tf.reduce_max(tf.stack([tf.shape(elem)[0] for elem in flat]))
    else:
        rows = max(count for count in known if count is not None)
    if any(count not in (None, 1, rows) for count in known) and isinstance(rows, int):
        raise ValueError(f"elems have different numbers of rows: {known}")
    shared = [count == 1 and rows != 1 for count in known]
    specs = [
        type_spec.TensorSpec(None if elem.shape.rank is None else elem.shape[1:], elem.dtype)
        for elem in flat
    ]

    def one_row(row: Any) -> Any:
        return _core.call_converted(fn, row)

    # The arguments are the tensors in order; those that all rows share come from outside.
    def with_shared(*rows_given: Any) -> Any:
        given = iter(rows_given)
        values = [elem[0] if same else next(given) for elem, same in zip(flat, shared, strict=True)]
        return one_row(nest.pack_sequence_as(elems, values))

    varying = [spec for spec, same in zip(specs, shared, strict=True) if not same]
    traced = tf.function(with_shared, autograph=False).get_concrete_function(*varying)
    outputs = traced.outputs
    arguments = [elem for elem, same in zip(flat, shared, strict=True) if not same]
    if not outputs:
        return traced.structured_outputs
    captures = [outer for outer, _ in traced.graph.captures]
    results, reason = _core.vectorize(outputs[0], arguments, captures, rows)
    if reason is None:
        return nest.pack_sequence_as(traced.structured_outputs, results, expand_composites=True)
    if not fallback_to_while_loop:
        raise ValueError(f"No pfor vectorization defined: {reason}")
    if warn:
        import warnings

        warnings.warn(f"Using a while_loop for converting: {reason}", stacklevel=2)
    signature = nest.map_structure(
        lambda output: type_spec.TensorSpec(output.shape, output.dtype), traced.structured_outputs
    )
    elems = nest.map_structure(
        lambda elem: tf.repeat(elem, rows, axis=0) if elem.shape[0] == 1 and rows != 1 else elem,
        elems,
    )

    def mapped(values: Any) -> Any:
        return map_fn(one_row, values, fn_output_signature=signature)

    # What was written for a graph need not run eagerly.
    return (tf.function(mapped, autograph=False) if _core.executing_eagerly() else mapped)(elems)
