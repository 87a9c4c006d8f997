"""Control flow by hand: branches, loops, and the order in which things happen.

Each function runs Python's own control flow when called eagerly, and makes nodes of the graph
while a function is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

from graphwright import _core


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """What ``true_fn()`` returns if `pred` holds, otherwise what ``false_fn()`` returns.

    While a function is traced both are called once, and the graph runs one of them.

    Args:
      pred: A bool scalar, or a tensor of one element. Numbers and strings count as Python has them.
      true_fn: Takes nothing and returns a structure of tensors or None.
      false_fn: The same; both results must agree in structure and dtypes. Where shapes differ, the
        dimensions that do are unknown in the result.
      name: Name of the node.

    Raises:
      TypeError: If a function is missing or not callable, if `pred` is a Python bool in a graph, if
        the results do not agree.
      ValueError: If only one of them returns tensors.
    """
    return _core.cond(pred, true_fn, false_fn, name)


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the function beside the first predicate that holds.

    Args:
      pred_fn_pairs: A list of pairs, each a bool scalar tensor and a function of no arguments, or a
        dict of them.
      default: What to call if no predicate holds. Without it, one of them must: otherwise
        InvalidArgumentError.
      exclusive: Whether to fail if more than one predicate holds.
      strict: Accepted; results are never taken out of lists of one.
      name: Name of the scope.

    Raises:
      TypeError: If a predicate is no bool tensor, or a function not callable.
    """
    del strict
    return _core.case(pred_fn_pairs, default, bool(exclusive), name)


def switch_case(
    branch_index: Any,
    branch_fns: Any,
    default: Callable[[], Any] | None = None,
    name: str = "switch_case",
) -> Any:
    """The result of the function that `branch_index` selects.

    Args:
      branch_index: An integer scalar tensor; int32 in a graph.
      branch_fns: A list of functions of no arguments, a list of (index, function) pairs or a dict;
        indices are 0, 1, 2... in any order.
      default: Called for an index that no function has; without it the last function is.
      name: Name of the scope.

    Raises:
      TypeError: If the index is no integer tensor, a function not callable, or results disagree.
      ValueError: If there are no functions, or indices are missing.
    """
    return _core.switch_case(branch_index, branch_fns, default, name)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Runs ``loop_vars = body(*loop_vars)`` while ``cond(*loop_vars)`` holds; returns `loop_vars`.

    Args:
      cond: Takes the variables and returns a bool scalar.
      body: Takes the variables and returns their next values, in the same structure.
      loop_vars: A list, tuple or namedtuple of tensors, arrays, IndexedSlices, TensorArrays or
        structures of these.
      shape_invariants: The same structure of TensorShape, TensorSpec or None: the shapes that hold
        in all iterations. By default those of `loop_vars`.
      parallel_iterations: At least 1; kept in the graph.
      back_prop: False stops gradients at the results.
      swap_memory: Accepted; all memory is one.
      maximum_iterations: An int32 scalar.
      name: Name of the node.

    Raises:
      TypeError: If `cond` or `body` is not callable, or a variable changes its dtype.
      ValueError: If there are no variables (eager), if the structure changes, or a shape does that
        `shape_invariants` does not allow to.
    """
    del swap_memory
    return _core.while_loop(
        cond,
        body,
        loop_vars,
        shape_invariants,
        parallel_iterations,
        bool(back_prop),
        maximum_iterations,
        name,
    )


def no_op(name: str | None = None) -> Any:
    """An operation that does nothing, to hang control dependencies on; None when eager."""
    return _core.no_op(name)


def identity_n(input: Any, name: str | None = None) -> Any:
    """The tensors of a list, of any dtypes and shapes, as one operation.

    Args:
      input: A list of tensors; of a single tensor, its rows.
      name: Name of the node.

    Raises:
      InvalidArgumentError: If there are none.
    """
    values = list(input)
    if not values:
        from graphwright import errors

        raise errors.InvalidArgumentError(None, None, "identity_n needs at least one tensor")
    return _core.raw_op("IdentityN")(input=values, name=name)


def group(*inputs: Any, **kwargs: Any) -> Any:
    """An operation that is done when all of `inputs` are; None when eager.

    Args:
      *inputs: Tensors, variables, operations or structures of these.
      name: Name of the node.

    Raises:
      TypeError: For anything else in `inputs`, and for unknown keywords.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"'group' got unexpected keyword arguments: {', '.join(kwargs)}")
    return _core.group(inputs, name)


def tuple_after(tensors: Any, control_inputs: Any = None, name: str | None = None) -> Any:
    """The tensors, none of which is there before all of them are.

    Args:
      tensors: A list of tensors, IndexedSlices, operations or None.
      control_inputs: Further operations or tensors to wait for.
      name: Name of the scope.

    Returns:
      A list like `tensors`; `tensors` itself when eager.

    Raises:
      ValueError: If `tensors` has no tensor.
      TypeError: If `control_inputs` has anything but operations and tensors.
    """
    return _core.tuple_after(tensors, control_inputs, name)


class control_dependencies:
    """A context manager in which new operations wait for others.

    ``with tf.control_dependencies([operation, tensor]):``; None leaves all such contexts for the
    time. Eager operations have happened already, so that there is nothing to wait for.
    """

    def __init__(self, control_inputs: Iterable[Any] | None):
        self._entered = False
        if _core.executing_eagerly():
            # A function given is called when there is no graph to put it into.
            for item in control_inputs or ():
                if callable(item):
                    item()
            self._control_inputs = None
            self._eager = True
        else:
            self._control_inputs = control_inputs
            self._eager = False

    def __enter__(self) -> None:
        if not self._eager:
            _core.enter_control_dependencies(self._control_inputs)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._eager:
            _core.leave_control_dependencies()


def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Any:
    """Fails with InvalidArgumentError unless `condition` holds.

    Args:
      condition: A bool scalar.
      data: The tensors to show when it does not.
      summarize: How many elements of each; 3 by default, -1 for all.
      name: Name of the scope of its nodes.

    Returns:
      The operation in a graph; None when eager.
    """
    return _core.assert_true(condition, data, summarize, name)
