"""Puts the public names together: functions made from the tables, classes, and lazy imports.

Names that need a Python module of their own are imported when they are first asked for, so that
importing the package costs little more than loading the extension module.
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from graphwright import _core

# Public names that are the extension module's own.
CORE_NAMES = (
    "DType",
    "Tensor",
    "TensorArray",
    "TensorShape",
    "Variable",
    "as_dtype",
    "constant",
    "convert_to_tensor",
    "get_static_value",
    "is_tensor",
)

# Public name -> "module:attribute", or "module" for the module itself. Dotted names go into the
# namespace in front of the last dot.
LAZY: dict[str, str] = {
    "GradientTape": "graphwright.gradients:GradientTape",
    "IndexedSlices": "graphwright.indexed_slices:IndexedSlices",
    "IndexedSlicesSpec": "graphwright.indexed_slices:IndexedSlicesSpec",
    "UnconnectedGradients": "graphwright.gradients:UnconnectedGradients",
    "autodiff.ForwardAccumulator": "graphwright.gradients:ForwardAccumulator",
    "autodiff.GradientTape": "graphwright.gradients:GradientTape",
    "config.experimental.get_memory_info": "graphwright.memory:get_memory_info",
    "config.experimental.reset_memory_stats": "graphwright.memory:reset_memory_stats",
    "config.experimental.set_memory_limit": "graphwright.memory:set_memory_limit",
    "config.functions_run_eagerly": "graphwright.function:functions_run_eagerly",
    "config.run_functions_eagerly": "graphwright.function:run_functions_eagerly",
    "CancellationManager": "graphwright._core:CancellationManager",
    "custom_gradient": "graphwright.gradients:custom_gradient",
    "debugging.disable_traceback_filtering": "graphwright.tracebacks:disable_traceback_filtering",
    "debugging.enable_traceback_filtering": "graphwright.tracebacks:enable_traceback_filtering",
    "debugging.is_traceback_filtering_enabled": (
        "graphwright.tracebacks:is_traceback_filtering_enabled"
    ),
    "function": "graphwright.function:function",
    "recompute_grad": "graphwright.gradients:recompute_grad",
    "Module": "graphwright.module:Module",
    "VariableAggregation": "graphwright.variables:VariableAggregation",
    "VariableSynchronization": "graphwright.variables:VariableSynchronization",
    "autograph": "graphwright.autograph",
    "dtypes": "graphwright.dtypes",
    "errors": "graphwright.errors",
    "executing_eagerly": "graphwright._core:executing_eagerly",
    "Graph": "graphwright._core:Graph",
    "experimental": "graphwright.experimental",
    "Operation": "graphwright._core:Operation",
    "init_scope": "graphwright._core:init_scope",
    "inside_function": "graphwright._core:inside_function",
    "random.set_seed": "graphwright._core:set_seed",
    "name_scope": "graphwright.scopes:name_scope",
    "math.top_k": "graphwright.arrays:top_k",
    "meshgrid": "graphwright.arrays:meshgrid",
    "nest": "graphwright.nest",
    "nn.top_k": "graphwright.arrays:top_k",
    "TensorArraySpec": "graphwright.tensor_array:TensorArraySpec",
    "TensorSpec": "graphwright.type_spec:TensorSpec",
    "TypeSpec": "graphwright.type_spec:TypeSpec",
    "compat.v1.Graph": "graphwright._core:Graph",
    "compat.v1.GraphDef": "graphwright.graphs:GraphDef",
    "compat.v1.import_graph_def": "graphwright.graphs:import_graph_def",
    "compat.v1.wrap_function": "graphwright.graphs:wrap_function",
    "graph_util.import_graph_def": "graphwright.graphs:import_graph_def",
    "import_graph_def": "graphwright.graphs:import_graph_def",
    "compat.v1.get_default_graph": "graphwright.graphs:get_default_graph",
    "compat.v1.placeholder": "graphwright.graphs:placeholder",
    "compat.v1.Dimension": "graphwright._core:Dimension",
    "type_spec_from_value": "graphwright.type_spec:type_spec_from_value",
    "types.experimental.SupportsTracingProtocol": "graphwright.trace_type:SupportsTracingProtocol",
    "types.experimental.TraceType": "graphwright.trace_type:TraceType",
    "print": "graphwright.printing:print_tensors",
    "show": "graphwright.graph_page:show",
    "io.write_graph": "graphwright.graph_files:write_graph",
    "make_ndarray": "graphwright.tensor_protos:make_ndarray",
    "make_tensor_proto": "graphwright.tensor_protos:make_tensor_proto",
    "Assert": "graphwright.control_flow:Assert",
    "case": "graphwright.control_flow:case",
    "cond": "graphwright.control_flow:cond",
    "control_dependencies": "graphwright.control_flow:control_dependencies",
    "assert_equal": "graphwright.assertions:assert_equal",
    "assert_greater": "graphwright.assertions:assert_greater",
    "assert_less": "graphwright.assertions:assert_less",
    "assert_rank": "graphwright.assertions:assert_rank",
    "debugging.assert_equal": "graphwright.assertions:assert_equal",
    "debugging.assert_none_equal": "graphwright.assertions:assert_none_equal",
    "debugging.assert_greater": "graphwright.assertions:assert_greater",
    "debugging.assert_greater_equal": "graphwright.assertions:assert_greater_equal",
    "debugging.assert_less": "graphwright.assertions:assert_less",
    "debugging.assert_less_equal": "graphwright.assertions:assert_less_equal",
    "debugging.assert_positive": "graphwright.assertions:assert_positive",
    "debugging.assert_negative": "graphwright.assertions:assert_negative",
    "debugging.assert_non_negative": "graphwright.assertions:assert_non_negative",
    "debugging.assert_non_positive": "graphwright.assertions:assert_non_positive",
    "debugging.assert_near": "graphwright.assertions:assert_near",
    "debugging.assert_rank": "graphwright.assertions:assert_rank",
    "debugging.assert_rank_at_least": "graphwright.assertions:assert_rank_at_least",
    "debugging.assert_rank_in": "graphwright.assertions:assert_rank_in",
    "debugging.assert_type": "graphwright.assertions:assert_type",
    "debugging.assert_shapes": "graphwright.assertions:assert_shapes",
    "debugging.assert_scalar": "graphwright.assertions:assert_scalar",
    "debugging.assert_integer": "graphwright.assertions:assert_integer",
    "debugging.assert_proper_iterable": "graphwright.assertions:assert_proper_iterable",
    "debugging.assert_same_float_dtype": "graphwright.assertions:assert_same_float_dtype",
    "debugging.assert_all_finite": "graphwright.assertions:assert_all_finite",
    "debugging.check_numerics": "graphwright.assertions:check_numerics",
    "debugging.is_numeric_tensor": "graphwright.assertions:is_numeric_tensor",
    "debugging.Assert": "graphwright.control_flow:Assert",
    "foldl": "graphwright.mapping:foldl",
    "foldr": "graphwright.mapping:foldr",
    "group": "graphwright.control_flow:group",
    "identity_n": "graphwright.control_flow:identity_n",
    "map_fn": "graphwright.mapping:map_fn",
    "scan": "graphwright.mapping:scan",
    "no_op": "graphwright.control_flow:no_op",
    "switch_case": "graphwright.control_flow:switch_case",
    "tuple": "graphwright.control_flow:tuple_after",
    "vectorized_map": "graphwright.mapping:vectorized_map",
    "while_loop": "graphwright.control_flow:while_loop",
}


# What each namespace, by its path, offers beside its module's own __all__.
_offered: dict[str, set[str]] = {"": set()}


def public_names(path: str) -> list[str]:
    """The names that a namespace offers, which are those that dir() shows."""
    module = sys.modules[f"graphwright.{path}" if path else "graphwright"]
    return sorted(_offered[path].union(getattr(module, "__all__", ())))


class _Package(types.ModuleType):
    """A package whose inner modules are no attributes: what it offers never depends on which of
    them have been imported. ``import graphwright.name`` finds them as usual."""

    def __setattr__(self, name: str, value: Any) -> None:
        inner = isinstance(value, types.ModuleType) and value.__spec__ is not None
        if not inner or name.startswith("_") or name in _offered[""]:
            super().__setattr__(name, value)


def hide_inner_modules(package: str) -> None:
    sys.modules[package].__class__ = _Package


def _resolve(target: str) -> Any:
    module, _, attribute = target.partition(":")
    value: Any = importlib.import_module(module)
    return getattr(value, attribute) if attribute else value


def lazy_attribute(package: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a namespace; what it finds is kept in the namespace."""
    prefix = package.removeprefix("graphwright").lstrip(".")

    def __getattr__(name: str) -> Any:
        target = LAZY.get(f"{prefix}.{name}" if prefix else name)
        if target is None:
            raise AttributeError(
                f"module '{package}' has no attribute '{name}': there is nothing of this name in "
                "Graphwright yet; docs/coverage.md lists what there is"
            )
        value = _resolve(target)
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__


def _namespace(path: str) -> types.ModuleType:
    """The module ``graphwright.<path>``: the package's own, or one made if there is none."""
    full = f"graphwright.{path}"
    module = sys.modules.get(full)
    if module is None:
        file = os.path.join(os.path.dirname(__file__), *path.split("."))
        if os.path.exists(file + ".py") or os.path.exists(os.path.join(file, "__init__.py")):
            module = importlib.import_module(full)
        else:
            module = types.ModuleType(full, f"The functions of ``tf.{path}``.")
            sys.modules[full] = module
            outer, _, name = path.rpartition(".")
            setattr(_namespace(outer) if outer else sys.modules["graphwright"], name, module)
    if not hasattr(module, "__getattr__"):
        module.__getattr__ = lazy_attribute(full)  # type: ignore[method-assign]
    if path not in _offered:
        _offered[path] = set()
        outer, _, name = path.rpartition(".")
        if outer:
            _namespace(outer)
        _offered[outer].add(name)
        module.__dir__ = lambda: public_names(path)  # type: ignore[method-assign]
    return module


def _raw_ops() -> types.ModuleType:
    module = _namespace("raw_ops")

    def __getattr__(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module 'graphwright.raw_ops' has no attribute '{name}'")
        function = _core.raw_op(name)
        setattr(module, name, function)
        return function

    module.__getattr__ = __getattr__  # type: ignore[method-assign]
    module.__dir__ = _core.op_names  # type: ignore[method-assign]
    return module


def assemble(package: dict[str, Any]) -> None:
    """Fills the package's globals and makes its namespaces."""
    for name, function in _core.public_functions().items():
        path, _, attribute = name.rpartition(".")
        if path:
            setattr(_namespace(path), attribute, function)
        else:
            package[attribute] = function
        if not attribute.startswith("_"):
            _offered[path].add(attribute)
    for name in CORE_NAMES:
        package[name] = getattr(_core, name)
    package.update(_core.dtypes_by_name)
    package.update(half=package["float16"], double=package["float64"])
    _offered[""].update(CORE_NAMES, _core.dtypes_by_name, ("half", "double", "newaxis"))
    for lazy in LAZY:
        path, _, name = lazy.rpartition(".")
        if path:
            _namespace(path)
        _offered[path].add(name)
    _raw_ops()
