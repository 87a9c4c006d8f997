"""Derivatives: tapes, forward accumulators and custom gradients."""

from __future__ import annotations

import contextlib
import enum
import functools
from typing import Any

from graphwright import _core
from graphwright.indexed_slices import IndexedSlices
from graphwright.tracebacks import filter_traceback


class UnconnectedGradients(enum.Enum):
    """What a gradient is where the target does not depend on the source: None, or zeros."""

    NONE = "none"
    ZERO = "zero"


def _package():
    """The package itself, which imports this module."""
    import graphwright

    return graphwright


def _as_gradient(raw, unconnected, source):
    """What the core returns for one source, as the public API has it."""
    if raw is None:
        if unconnected is UnconnectedGradients.ZERO:
            return _package().zeros_like(source)
        return None
    if isinstance(raw, tuple):
        return IndexedSlices(*raw)
    return raw


def _to_core(gradient):
    if isinstance(gradient, IndexedSlices):
        tf = _package()
        if gradient.dense_shape is None:
            return tf.convert_to_tensor(gradient)
        return (gradient.values, gradient.indices, gradient.dense_shape)
    return gradient


def _is_differentiable_value(value) -> bool:
    tf = _package()
    return isinstance(value, (tf.Tensor, tf.Variable))


def _require_tensor(value, argument) -> None:
    """AttributeError for numbers and arrays, TypeError for other values, as in TensorFlow."""
    if _is_differentiable_value(value):
        return
    is_number = isinstance(value, (bool, int, float, complex)) or hasattr(value, "__array__")
    raise (AttributeError if is_number else TypeError)(
        f"{argument}: {value!r} of type {type(value).__name__!r} is no tf.Tensor or tf.Variable, "
        "so it has no gradient"
    )


class GradientTape:
    """Records operations, to differentiate them afterwards.

    Within ``with tf.GradientTape() as tape:`` whatever is computed from trainable variables, and
    from tensors given to `watch`, is recorded on this thread, in eager mode and while a function is
    traced.

    Args:
        persistent: whether `gradient` may be called more than once.
        watch_accessed_variables: whether trainable variables are watched as soon as they are read.
    """

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._tape: Any = None
        self._used_once = False
        self._persistent = bool(persistent)
        self._watch_accessed_variables = bool(watch_accessed_variables)

    def __enter__(self):
        if self._tape is None:
            self._tape = _core.GradientTape(self._persistent, self._watch_accessed_variables)
        self._tape.start()
        return self

    def __exit__(self, *exception):
        if self._tape.recording:
            self._tape.stop()

    @filter_traceback
    def watch(self, tensor):
        """Records what is computed from `tensor` from now on: a tensor, a variable, or a nest."""
        tf = _package()
        for value in tf.nest.flatten(tensor, expand_composites=True):
            if not _is_differentiable_value(value):
                raise ValueError(
                    f"Passed in object {value} of type {type(value).__name__!r}, not tf.Tensor or "
                    "tf.Variable or ExtensionType."
                )
            if not (value.dtype.is_floating or value.dtype.is_complex):
                _warn(
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got "
                    f"{value.dtype!r}"
                )
                continue
            if self._tape is None:
                raise RuntimeError("A GradientTape watches tensors only after it was entered.")
            self._tape.watch(value)

    def watched_variables(self):
        """The variables watched so far, in order of their first use."""
        if self._tape is None:
            return ()
        return tuple(self._tape.watched_variables())

    @contextlib.contextmanager
    def stop_recording(self):
        """A context in which this tape records nothing."""
        if self._tape is None or not self._tape.recording:
            raise RuntimeError("Attempted to stop recording on a tape that is not recording.")
        self._tape.stop()
        try:
            yield
        finally:
            self._tape.start()

    def reset(self):
        """Forgets everything recorded so far."""
        if self._tape is not None:
            self._tape.reset()

    @filter_traceback
    def gradient(
        self,
        target,
        sources,
        output_gradients=None,
        unconnected_gradients=UnconnectedGradients.NONE,
    ):
        """The derivative of the sum of `target` with respect to `sources`, in their structure.

        Args:
            target: a floating tensor or a nest of them.
            sources: tensors or variables, or a nest of them.
            output_gradients: weights of the targets' elements, in the structure of `target`; None
                as a whole stands for ones, None for one target leaves that target out.
            unconnected_gradients: None or zeros where no target depends on a source.

        Raises:
            RuntimeError: it is called a second time on a tape that is not persistent.
            AttributeError: a target or source is a number or a NumPy array, which has no gradient.
            TypeError: it is anything else that is no tensor or variable.
        """
        tf = _package()
        unconnected = UnconnectedGradients(unconnected_gradients)
        if self._tape is None or (self._used_once and not self._persistent):
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians)"
            )
        # What the gradient itself does is recorded by a persistent tape only if it is asked while
        # recording; otherwise only by tapes around this one.
        if self._tape.recording and not self._persistent:
            self._tape.stop()
        if target is None:
            raise TypeError(
                "Argument `target` should be a list or nested structure of Tensors, Variables or "
                "CompositeTensors to be differentiated, but received None."
            )
        targets = tf.nest.flatten(target, expand_composites=True)
        for value in targets:
            _require_tensor(value, "target")
        flat_sources = tf.nest.flatten(sources)
        for source in flat_sources:
            _require_tensor(source, "sources")
            if not (source.dtype.is_floating or source.dtype.is_complex):
                _warn(
                    "The dtype of the source tensor must be floating (e.g. tf.float32) when "
                    f"calling GradientTape.gradient, got {source.dtype!r}"
                )
        weights: list[Any] = [None] * len(targets)
        if output_gradients is not None:
            weights = [
                None if weight is None else tf.convert_to_tensor(weight)
                for weight in tf.nest.flatten(output_gradients)
            ]
            if len(weights) != len(targets):
                raise ValueError(
                    f"output_gradients has {len(weights)} tensors, but there are {len(targets)} "
                    "targets"
                )
        converted = []
        used_weights = []
        for value, weight in zip(targets, weights):
            if not isinstance(value, tf.Variable):
                value = tf.convert_to_tensor(value)
            if weight is None and output_gradients is not None:
                continue  # counts for nothing
            if weight is not None and weight.shape != value.shape:
                weight = weight * tf.ones_like(value)
                if not weight.shape.is_compatible_with(value.shape):
                    raise tf.errors.InvalidArgumentError(
                        None,
                        None,
                        f"output_gradients of shape {weight.shape} do not fit a target of shape "
                        f"{value.shape}",
                    )
            converted.append(value)
            used_weights.append(weight)
        self._used_once = True
        raw = self._tape.gradient(converted, used_weights, flat_sources)
        flat = [
            _as_gradient(gradient, unconnected, source)
            for gradient, source in zip(raw, flat_sources)
        ]
        return tf.nest.pack_sequence_as(sources, flat)

    @filter_traceback
    def jacobian(
        self,
        target,
        sources,
        unconnected_gradients=UnconnectedGradients.NONE,
        parallel_iterations=None,
        experimental_use_pfor=True,
    ):
        """The derivative of every element of `target`, a tensor, with respect to every source.

        Each result has the shape of the target followed by that of its source.
        """
        del parallel_iterations, experimental_use_pfor
        tf = _package()
        unconnected = UnconnectedGradients(unconnected_gradients)
        if self._tape is None or (self._used_once and not self._persistent):
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians)"
            )
        if self._tape.recording and not self._persistent:
            self._tape.stop()
        target = tf.convert_to_tensor(target)
        flat_sources = tf.nest.flatten(sources)
        for source in flat_sources:
            _require_tensor(source, "sources")
        if not target.shape.is_fully_defined():
            raise NotImplementedError(
                f"jacobian: the target's shape must be known while tracing, and is {target.shape}"
            )
        count = target.shape.num_elements()
        rows: list[list[Any]] = [[] for _ in flat_sources]
        for i in range(count):
            weight = tf.reshape(tf.one_hot(i, count, dtype=target.dtype), target.shape)
            # One backward pass per element over the same recorded steps.
            gradients = self._tape.gradient([target], [weight], flat_sources, keep_steps=True)
            for k, gradient in enumerate(gradients):
                rows[k].append(_as_gradient(gradient, unconnected, flat_sources[k]))
        self._used_once = True
        results: list = []
        for source, row in zip(flat_sources, rows):
            if not row or all(gradient is None for gradient in row):
                results.append(None)
                continue
            dense = [
                tf.zeros_like(source) if gradient is None else tf.convert_to_tensor(gradient)
                for gradient in row
            ]
            stacked = tf.stack(dense)
            shape = target.shape.as_list() + source.shape.as_list()
            results.append(tf.reshape(stacked, shape))
        return tf.nest.pack_sequence_as(sources, results)

    @filter_traceback
    def batch_jacobian(
        self,
        target,
        source,
        unconnected_gradients=UnconnectedGradients.NONE,
        parallel_iterations=None,
        experimental_use_pfor=True,
    ):
        """Jacobians of the rows of `target` with respect to the same rows of `source`.

        Row i of the target must depend on row i of the source alone. The result has the shape
        ``[batch, target.shape[1:]..., source.shape[1:]...]``.
        """
        tf = _package()
        target = tf.convert_to_tensor(target)
        if target.shape.rank is not None and target.shape.rank < 2:
            raise ValueError(
                "Argument `target` must have rank at least 2. Received: target.shape="
                f"{target.shape}"
            )
        if source.shape.rank is not None and source.shape.rank < 2:
            raise ValueError(
                "Argument `source` must have rank at least 2. Received: source.shape="
                f"{source.shape}"
            )
        if target.shape[0] != source.shape[0]:
            raise ValueError(
                "Need first dimension of target shape and source shape to match. Received: "
                f"{target.shape} and {source.shape}"
            )
        batch = target.shape[0]
        # Summed over the batch, every row's derivative is that of its own target row.
        full = self.jacobian(
            target, source, unconnected_gradients, parallel_iterations, experimental_use_pfor
        )
        if full is None:
            return None
        inner_target = target.shape.as_list()[1:]
        inner_source = source.shape.as_list()[1:]
        rows = []
        flat = tf.reshape(full, [batch, _product(inner_target), batch, _product(inner_source)])
        for i in range(batch):
            rows.append(flat[i, :, i, :])
        return tf.reshape(tf.stack(rows), [batch, *inner_target, *inner_source])


def _product(sizes) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result


def _warn(message: str) -> None:
    import logging

    logging.getLogger("graphwright").warning(message)


class ForwardAccumulator:
    """Computes Jacobian-vector products as operations run: forward mode.

    Args:
        primals: tensors or variables, or a nest of them.
        tangents: vectors, in the structure of `primals` and of their shapes.

    Raises:
        ValueError: a primal without a derivative, or a tangent that does not fit.
    """

    def __init__(self, primals, tangents):
        tf = _package()
        tf.nest.assert_same_structure(primals, tangents)
        flat_primals = tf.nest.flatten(primals)
        flat_tangents = []
        seen = set()
        for primal, tangent in zip(flat_primals, tf.nest.flatten(tangents)):
            if not (primal.dtype.is_floating or primal.dtype.is_complex):
                _warn(
                    "The dtype of the watched primal must be floating (e.g. tf.float32), got "
                    f"{primal.dtype!r}"
                )
            if id(primal) in seen:
                raise ValueError(
                    f"ForwardAccumulator initialized multiple times with the same tensor: {primal}"
                )
            seen.add(id(primal))
            tangent = tf.convert_to_tensor(tangent, dtype=primal.dtype)
            if not primal.shape.is_compatible_with(tangent.shape):
                raise ValueError(
                    f"Expected shape {primal.shape} for the tangent of {primal}, got "
                    f"{tangent.shape}"
                )
            flat_tangents.append(tangent)
        self._accumulator = _core.ForwardAccumulator(flat_primals, flat_tangents)

    def __enter__(self):
        self._accumulator.start()
        return self

    def __exit__(self, *exception):
        self._accumulator.stop()

    @filter_traceback
    def jvp(self, primals, unconnected_gradients=UnconnectedGradients.NONE):
        """The tangents of `primals`, a nest of tensors computed in the accumulator's context."""
        tf = _package()
        unconnected = UnconnectedGradients(unconnected_gradients)

        def tangent_of(primal):
            tangent = self._accumulator.tangent(primal)
            if tangent is None and unconnected is UnconnectedGradients.ZERO:
                return tf.zeros_like(primal)
            return tangent

        return tf.nest.map_structure(tangent_of, primals)


def custom_gradient(f=None):
    """A decorator for a function that returns its result and its gradient function.

    `f(*args)` returns ``(result, gradient)``; `gradient(*upstream)` takes one gradient per result
    and returns one per argument, None for none. Where `f` uses variables, `gradient` must take
    ``variables=None`` and return ``(argument_gradients, variable_gradients)``.
    """
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        tf = _package()
        arguments = [
            argument if _is_differentiable_value(argument) else tf.convert_to_tensor(argument)
            for argument in args
        ]
        inputs = [tf.convert_to_tensor(argument) for argument in arguments]
        with GradientTape() as inner:
            inner.watch([tensor for tensor in inputs if tensor.dtype.is_floating])
            with _hidden_from_tapes(inner):
                result, gradient_function = f(*inputs, **kwargs)
        variables = [
            variable
            for variable in inner.watched_variables()
            if not any(variable is argument for argument in arguments)
        ]
        flat_results = [
            tf.identity(value) for value in tf.nest.flatten(result, expand_composites=True)
        ]

        def backward(upstream):
            filled = [
                tf.zeros_like(value) if gradient is None else _from_core(gradient)
                for gradient, value in zip(upstream, flat_results)
            ]
            if variables:
                argument_gradients, variable_gradients = gradient_function(
                    *filled, variables=variables
                )
                variable_gradients = tf.nest.flatten(variable_gradients)
                if len(variable_gradients) != len(variables):
                    raise ValueError(
                        f"Must return gradient for each variable from @custom_gradient grad_fn; "
                        f"got {len(variable_gradients)} for {len(variables)} variables."
                    )
            else:
                argument_gradients = gradient_function(*filled)
                variable_gradients = []
            flat = tf.nest.flatten(argument_gradients)
            if len(flat) != len(inputs):
                raise ValueError(
                    f"custom_gradient function expected to return {len(inputs)} gradients, but "
                    f"returned {len(flat)} instead."
                )
            return [
                None if gradient is None else _to_core(gradient)
                for gradient in [*flat, *variable_gradients]
            ]

        if _core.executing_eagerly():
            _core.record_custom_gradient([*inputs, *variables], flat_results, backward)
        else:
            try:
                flat_results = _core.call_with_custom_gradient(
                    [*inputs, *variables], flat_results, backward
                )
            except Exception as error:
                reason = f"its tf.custom_gradient function raised {type(error).__name__}: {error}"
                flat_results = [
                    tf.raw_ops.PreventGradient(input=value, message=reason)
                    if value.dtype.is_floating or value.dtype.is_complex
                    else value
                    for value in flat_results
                ]
        return tf.nest.pack_sequence_as(result, flat_results, expand_composites=True)

    return decorated


def _from_core(gradient):
    if isinstance(gradient, tuple):
        return _package().convert_to_tensor(IndexedSlices(*gradient))
    return gradient


@contextlib.contextmanager
def _hidden_from_tapes(keep: GradientTape):
    """Within it only `keep` records: what a custom gradient computes has a gradient of its own."""
    pause = _core.OnlyTape(keep._tape)
    pause.enter()
    try:
        yield
    finally:
        pause.leave()


def recompute_grad(f):
    """Keeps nothing of what `f` computes: its gradient computes it again."""

    @functools.wraps(f)
    def recomputed(*args, **kwargs):
        tf = _package()

        @custom_gradient
        def inner(*tensors):
            result = f(*tensors, **kwargs)

            def gradient(*upstream, variables=None):
                with GradientTape() as tape:
                    tape.watch(list(tensors))
                    again = f(*tensors, **kwargs)
                sources = list(tensors) + list(variables or [])
                gradients = tape.gradient(again, sources, output_gradients=list(upstream))
                split = len(tensors)
                if variables:
                    return gradients[:split], gradients[split:]
                return gradients

            return result, gradient

        return inner(*[tf.convert_to_tensor(argument) for argument in args])

    return recomputed
