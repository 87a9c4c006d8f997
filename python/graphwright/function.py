"""`tf.function`: Python functions that run as graphs."""

from __future__ import annotations

from graphwright import _core

_UNSET = object()


def _checked_signature(input_signature):
    """The signature as a tuple of nested TensorSpecs; TypeError for anything else in it."""
    if input_signature is None:
        return None
    import graphwright as tf

    if not isinstance(input_signature, (tuple, list)):
        raise TypeError(
            "input_signature must be either a tuple or a list, got "
            f"{type(input_signature).__name__}."
        )
    for spec in tf.nest.flatten(input_signature):
        if not isinstance(spec, tf.TypeSpec):
            raise TypeError(
                f"Invalid input_signature {input_signature}; input_signature must be a possibly "
                f"nested sequence of TensorSpec objects, got {spec!r}"
            )
    return tuple(input_signature)


def function(
    func=None,
    input_signature=None,
    autograph=True,
    jit_compile=None,
    reduce_retracing=False,
    experimental_implements=None,
    experimental_autograph_options=None,
    experimental_attributes=None,
    experimental_relax_shapes=None,
    experimental_compile=None,
    experimental_follow_type_hints=None,
):
    """Makes a Python function run as a graph.

    The function is traced once per set of argument types; later calls run the trace. With
    `autograph`, `if`, `while` and `for` on tensors become part of the graph.

    Args:
        func: the function; without it, a decorator is returned.
        input_signature: nested `tf.TensorSpec`s, one per argument: one trace serves every call.
        autograph: whether Python control flow on tensors is converted.
        jit_compile: accepted for compatibility; every function runs as a compiled plan.
        reduce_retracing: whether dims that differ between calls become unknown in the next trace.
        experimental_implements: accepted for compatibility.
        experimental_autograph_options: None, or `tf.autograph.experimental.Feature`s.
        experimental_attributes: accepted for compatibility.
        experimental_relax_shapes: the former name of `reduce_retracing`.
        experimental_compile: the former name of `jit_compile`.
        experimental_follow_type_hints: accepted for compatibility.

    Raises:
        TypeError: `func` is not callable, or the signature is not made of TensorSpecs.
    """
    del experimental_implements, experimental_attributes, experimental_follow_type_hints
    signature = _checked_signature(input_signature)
    if jit_compile is None:
        jit_compile = experimental_compile
    relax = reduce_retracing if experimental_relax_shapes is None else experimental_relax_shapes

    def decorated(inner_function):
        if not callable(inner_function):
            raise TypeError(f"{inner_function!r} is not a callable object")
        if isinstance(inner_function, _core.Function):
            inner_function = inner_function.python_function
        name = getattr(inner_function, "__name__", None)
        if name is None:
            # functools.partial and callable objects.
            wrapped = getattr(inner_function, "func", None)
            name = getattr(wrapped, "__name__", type(inner_function).__name__)
        name = "".join(c if c.isalnum() or c == "_" else "_" for c in str(name))
        return _core.Function(
            inner_function,
            name.strip("_") or "function" if name == "<lambda>" else name,
            signature,
            bool(autograph),
            experimental_autograph_options,
            bool(relax),
            bool(jit_compile),
        )

    return decorated if func is None else decorated(func)


def run_functions_eagerly(run_eagerly):
    """Makes every tf.function call its Python function directly (True), for debugging."""
    _core.set_functions_run_eagerly(bool(run_eagerly))


def functions_run_eagerly():
    """Whether `run_functions_eagerly(True)` is in force."""
    return _core.functions_run_eagerly()
