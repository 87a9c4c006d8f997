"""Random small programs with nested loops, branches, calls and changing shapes, as Python source.

The same source runs eagerly, where the tape sees plain ops, and staged, where loops and branches
are nodes. `program(seed)` is the source of a module with a function `f(tf, x)`: x is a float64
vector of length 2, the result a float64 scalar.
"""

from __future__ import annotations

import random

EXPRESSIONS = [
    "tf.sin({a}) * {b}",
    "{a} * x + {b}",
    "tf.tanh({a} + {b})",
    "{a} * {b} * 0.5",
    "tf.exp(-{a} * {a}) + {b}",
    "{a} / (1.0 + {b} * {b})",
    "tf.reduce_sum({a}) * x - {b} * 0.3",
    "tf.reverse({a}, [0]) + 0.1 * {b}",
    "{a}",
    "tf.where({a} > {b}, {a} * {a}, {b} * x)",
    "scaled({a}, {b})",
]
CONDITIONS = [
    "tf.reduce_sum({a}) > tf.reduce_sum({b})",
    "tf.reduce_sum({a} * {a}) < 1.5",
    "{a}[0] > 0.2",
]
TRIP_COUNTS = [
    "tf.range(0)",
    "tf.range(1)",
    "tf.range(2)",
    "tf.range(3)",
    "tf.range(tf.cast(tf.floor(tf.abs({a}[0]) * 4.0), tf.int32) % 3)",
    "tf.range(tf.shape(v)[0] % 3)",
]


class Generator:
    """Writes statements over the float64 vectors a, b, c of length 2, and v of any length."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names = 0

    def variable(self) -> str:
        return self.random.choice("abc")

    def fill(self, template: str) -> str:
        return template.format(a=self.variable(), b=self.variable())

    def line(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, depth: int, index: str | None) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(indent, depth, index)

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def statement(self, indent: int, depth: int, index: str | None) -> None:
        kind = self.random.random()
        if depth >= 3 or kind < 0.35:
            value = self.fill(self.random.choice(EXPRESSIONS))
            if index and self.random.random() < 0.4:
                value += f" + 0.2 * tf.cast({index}, tf.float64) * {self.variable()}"
            self.line(indent, f"{self.variable()} = {value}")
        elif kind < 0.47:
            grown = self.random.choice(["v[-1:] * {a}[:1]", "{a} * 0.5", "v[:1] + {b}[1:]"])
            self.line(indent, f"v = tf.concat([v, {self.fill(grown)}], 0)")
        elif kind < 0.52:
            self.line(indent, f"{self.variable()} = {self.variable()} * tf.reduce_sum(v * v)")
        elif kind < 0.58:
            self.written_array(indent)
        elif kind < 0.62:
            self.read_array(indent)
        elif kind < 0.75:
            name = self.fresh("i")
            count = self.fill(self.random.choice(TRIP_COUNTS))
            self.line(indent, f"for {name} in {count}:")
            self.relax(indent + 1)
            self.block(indent + 1, depth + 1, name)
        elif kind < 0.87:
            name = self.fresh("k")
            condition = self.fill(self.random.choice(CONDITIONS))
            self.line(indent, f"{name} = tf.constant(0)")
            self.line(indent, f"while tf.logical_and({name} < 3, {condition}):")
            self.relax(indent + 1)
            self.line(indent + 1, f"{name} = {name} + 1")
            self.block(indent + 1, depth + 1, name)
        else:
            self.line(indent, f"if {self.fill(self.random.choice(CONDITIONS))}:")
            self.block(indent + 1, depth + 1, index)
            self.line(indent, "else:")
            self.block(indent + 1, depth + 1, index)

    def written_array(self, indent: int) -> None:
        array, index = self.fresh("t"), self.fresh("j")
        self.line(indent, f"{array} = tf.TensorArray(tf.float64, 3, clear_after_read=False)")
        self.line(indent, f"for {index} in tf.range(3):")
        self.relax(indent + 1)
        value = self.fill(self.random.choice(EXPRESSIONS))
        self.line(indent + 1, f"{array} = {array}.write({index}, {value})")
        if self.random.random() < 0.5:
            self.line(indent + 1, f"{self.variable()} = {array}.read({index}) * 0.7")
        used = self.random.choice(
            [
                "tf.reduce_sum({t}.stack(), 0) * 0.3",
                "{t}.read(1)",
                "tf.reduce_sum({t}.gather([0, 2, 2]), 0)",
                "{t}.concat()[1:3]",
            ]
        )
        self.line(indent, f"{self.variable()} = {used.format(t=array)}")

    def read_array(self, indent: int) -> None:
        array, index = self.fresh("t"), self.fresh("j")
        rows = self.fill("tf.stack([{a}, {b}, {b} * 0.5])")
        self.line(indent, f"{array} = tf.TensorArray(tf.float64, 3, clear_after_read=False)")
        self.line(indent, f"{array} = {array}.unstack({rows})")
        self.line(indent, f"for {index} in tf.range(3):")
        self.relax(indent + 1)
        self.line(indent + 1, self.fill("{a} = {b} * 0.5 + ") + f"{array}.read({index}) * x")

    def relax(self, indent: int) -> None:
        self.line(indent, "tf.autograph.experimental.set_loop_options(")
        self.line(indent, "    shape_invariants=[(v, tf.TensorShape([None]))])")


def program(seed: int) -> str:
    """The source of program number `seed`."""
    generator = Generator(seed)
    for _ in range(4):
        generator.statement(1, 0, None)
    if not any("for " in line or "while " in line for line in generator.lines):
        generator.line(1, "for i0 in tf.range(2):")
        generator.relax(2)
        generator.block(2, 1, "i0")
    body = "\n".join(generator.lines)
    return f"""
def f(tf, x):
    a = x
    b = tf.sin(x) + 0.5
    c = x * x[0]
    v = tf.reshape(x, [2])
{body}
    return tf.reduce_sum(tf.tanh(a * b) + 0.3 * c * c) + 0.1 * tf.reduce_sum(tf.sin(v))
"""
