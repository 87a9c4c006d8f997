"""Stand-ins for variables without a value."""

from __future__ import annotations


class Undefined:
    """The value of a composite variable (`a.b`, `a[i]`) that does not exist."""

    __slots__ = ("symbol_name",)

    def __init__(self, symbol_name: str):
        self.symbol_name = symbol_name

    def __repr__(self) -> str:
        return f"<undefined {self.symbol_name}>"


UNDEFINED = Undefined("variable")


class UndefinedReturnValue:
    """The value returned by a path through a function that has met no `return`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<no return value>"


UNDEFINED_RETURN_VALUE = UndefinedReturnValue()
