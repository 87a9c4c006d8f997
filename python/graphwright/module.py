"""``tf.Module``: an object that owns variables and other modules."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import graphwright as tf
from graphwright.scopes import name_scope

_Method = TypeVar("_Method", bound=Callable[..., Any])
_VALID_NAME = re.compile(r"^[A-Za-z_]\w*$")


def _snake_case(name: str) -> str:
    """``MyModuleV2`` as ``my_module_v2``."""
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1", name).lower()


class Module:
    """Base class of objects that own variables.

    Variables and modules that are attributes, directly or within lists, tuples, dicts and other
    mappings, are found by walking the attributes in alphabetical order, depth first.
    """

    # Attributes that are not walked; subclasses may add to them.
    _TF_MODULE_IGNORED_PROPERTIES = frozenset(("_self_unconditional_checkpoint_dependencies",))

    def __init__(self, name: str | None = None):
        if name is None:
            name = _snake_case(type(self).__name__)
        elif not _VALID_NAME.match(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python "
                "identifiers (e.g. a valid class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self) -> str:
        """The name given to the module, or its class's in snake case."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """A context manager for the scope that the module was made in."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[tf.Variable, ...]:
        """The variables of this module and those below it, in order of discovery."""
        return tuple(self._flatten(predicate=_is_variable, expand_composites=True))

    @property
    def trainable_variables(self) -> tuple[tf.Variable, ...]:
        """The trainable ones among `variables`."""
        return tuple(self._flatten(predicate=_is_trainable_variable, expand_composites=True))

    @property
    def non_trainable_variables(self) -> tuple[tf.Variable, ...]:
        """The others among `variables`."""
        return tuple(
            self._flatten(
                predicate=lambda value: _is_variable(value) and not value.trainable,
                expand_composites=True,
            )
        )

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules below this one."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Module)))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], bool] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
        expand_composites: bool = False,
    ) -> Iterator[Any]:
        """The attributes that satisfy `predicate`, each once; with `with_path` as (path, value)."""
        seen = {id(self)}
        return _walk(
            self,
            recursive,
            predicate or (lambda _: True),
            attribute_traversal_key,
            with_path,
            (),
            seen,
        )

    @classmethod
    def with_name_scope(cls, method: _Method) -> _Method:
        """Decorates a method so that it runs in the module's name scope."""

        @functools.wraps(method)
        def in_scope(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return in_scope  # type: ignore[return-value]


def _is_variable(value: Any) -> bool:
    return isinstance(value, tf.Variable)


def _is_trainable_variable(value: Any) -> bool:
    return _is_variable(value) and bool(getattr(value, "trainable", False))


def _identity(value: Any) -> Any:
    return value._id if _is_variable(value) else id(value)


def _leaves(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """What an attribute holds, structures opened."""
    if isinstance(value, Mapping):
        try:
            keys = sorted(value)
        except TypeError:
            keys = list(value)
        for key in keys:
            yield from _leaves(value[key], (*path, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    else:
        yield path, value


def _walk(
    module: Module,
    recursive: bool,
    predicate: Callable[[Any], bool],
    key: Callable[[str], Any] | None,
    with_path: bool,
    module_path: tuple[Any, ...],
    seen: set[Any],
) -> Iterator[Any]:
    attributes = vars(module)
    below: list[tuple[tuple[Any, ...], Module]] = []
    for name in sorted(attributes, key=key):
        if name in module._TF_MODULE_IGNORED_PROPERTIES:
            continue
        for path, leaf in _leaves(attributes[name], (name,)):
            leaf_path = module_path + path
            if not with_path:
                identity = _identity(leaf)
                if identity in seen:
                    continue
                seen.add(identity)
            if predicate(leaf):
                yield (leaf_path, leaf) if with_path else leaf
            if recursive and isinstance(leaf, Module):
                below.append((leaf_path, leaf))
    for path, submodule in below:
        yield from _walk(submodule, recursive, predicate, key, with_path, path, seen)
