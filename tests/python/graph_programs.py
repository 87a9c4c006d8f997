"""Sixty programs that build graphs by hand: ten of each family.

Each takes the package, an argument x (float32 [3]) and, in the family `variables`, the variables
that `make_variables` makes. tests/parity compares their graphs with TensorFlow's; the node lists
recorded there are a test without it.
"""

import itertools
import re

# --- cond ----------------------------------------------------------------------------------------


def cond_two_branches(tf, x):
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: x + 1.0)


def cond_one_capture_each(tf, x):
    a = tf.tanh(x)
    b = tf.exp(x)
    return tf.cond(x[0] > 0.0, lambda: a + 1.0, lambda: b - 1.0)


def cond_several_results(tf, x):
    return tf.cond(x[0] < x[1], lambda: (x, x * x), lambda: (x + x, tf.negative(x)))


def cond_structure(tf, x):
    result = tf.cond(
        x[0] > 0.0,
        lambda: {"a": x + 1.0, "b": [tf.reduce_sum(x)]},
        lambda: {"a": x - 1.0, "b": [tf.reduce_max(x)]},
    )
    return result["a"], result["b"][0]


def cond_named(tf, x):
    return tf.cond(x[0] > 0.0, lambda: tf.square(x), lambda: tf.sqrt(x), name="choose")


def cond_constants(tf, x):
    picked = tf.cond(tf.reduce_any(x > 0.0), lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    return picked * x


def cond_case(tf, x):
    return tf.case(
        [(x[0] > 1.0, lambda: x * 3.0), (x[0] > 0.0, lambda: x * 2.0)], default=lambda: x
    )


def cond_switch_case(tf, x):
    index = tf.cast(x[0], tf.int32)
    return tf.switch_case(index, [lambda: x + 1.0, lambda: x + 2.0, lambda: x + 3.0])


def cond_twice(tf, x):
    first = tf.cond(x[0] > 0.0, lambda: x, lambda: tf.zeros([3]))
    return tf.cond(first[1] > 0.0, lambda: first * 2.0, lambda: first)


def cond_in_scope(tf, x):
    with tf.name_scope("layer"):
        y = x * 2.0
        return tf.cond(y[0] > 0.0, lambda: tf.add(y, 1.0, name="up"), lambda: y)


# --- while ---------------------------------------------------------------------------------------


def while_counter(tf, x):
    return tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y + 1.0), [0, x])


def while_capture(tf, x):
    step = tf.tanh(x)
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + step), [tf.constant(0), x])


def while_capture_in_condition(tf, x):
    limit = tf.reduce_sum(x)
    return tf.while_loop(lambda y: tf.reduce_sum(y) < limit + 9.0, lambda y: (y + 1.0,), [x])


def while_maximum_iterations(tf, x):
    return tf.while_loop(
        lambda i, y: i < 100, lambda i, y: (i + 1, y * 2.0), [0, x], maximum_iterations=4
    )


def while_named(tf, x):
    return tf.while_loop(lambda y: y[0] < 10.0, lambda y: [y * 2.0 + 1.0], [x], name="loop")


def while_shape_invariants(tf, x):
    return tf.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, tf.concat([y, y], 0)),
        [tf.constant(0), x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )


def while_structure(tf, x):
    state = {"i": tf.constant(0), "y": x}
    return tf.while_loop(
        lambda s: s["i"] < 3, lambda s: [{"i": s["i"] + 1, "y": s["y"] * 0.5}], [state]
    )[0]["y"]


def while_one_variable(tf, x):
    return tf.while_loop(lambda i: i < 10, lambda i: i * 2 + 1, [tf.constant(1)])


def while_two(tf, x):
    _, y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y + 1.0), [0, x])
    _, z = tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, z * y), [0, x])
    return z


def while_parallel_iterations(tf, x):
    with tf.name_scope("scope"):
        return tf.while_loop(
            lambda i, y: tf.less(i, 4),
            lambda i, y: (tf.add(i, 1), tf.multiply(y, 2.0, name="twice")),
            [0, x],
            parallel_iterations=1,
        )


# --- TensorArray ---------------------------------------------------------------------------------


def array_write_stack(tf, x):
    array = tf.TensorArray(tf.float32, size=2)
    array = array.write(0, x)
    array = array.write(1, x * 2.0)
    return array.stack()


def array_read(tf, x):
    array = tf.TensorArray(tf.float32, size=3).unstack(x)
    return array.read(1) + array.read(2)


def array_in_loop(tf, x):
    array = tf.TensorArray(tf.float32, size=4)
    _, array = tf.while_loop(
        lambda i, a: i < 4,
        lambda i, a: (i + 1, a.write(i, x * tf.cast(i, tf.float32))),
        [tf.constant(0), array],
    )
    return array.stack()


def array_dynamic(tf, x):
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[3])
    array = array.write(0, x)
    return array.stack(), array.size()


def array_concat(tf, x):
    array = tf.TensorArray(tf.float32, size=2, infer_shape=False)
    array = array.write(0, x).write(1, x + 1.0)
    return array.concat()


def array_gather(tf, x):
    array = tf.TensorArray(tf.float32, size=3).unstack(x)
    return array.gather([2, 0])


def array_scatter(tf, x):
    array = tf.TensorArray(tf.float32, size=3).scatter([2, 0, 1], x)
    return array.stack()


def array_split(tf, x):
    array = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x, [1, 2])
    return array.read(1)


def array_map_fn(tf, x):
    return tf.map_fn(lambda element: element * element, x)


def array_scan(tf, x):
    return tf.scan(lambda total, element: total + element, x)


# --- variables -----------------------------------------------------------------------------------


def make_variables(tf):
    return tf.Variable([1.0, 2.0, 3.0], name="v"), tf.Variable(0.5, name="w")


def variables_read(tf, x, v, w):
    return x * v + w


def variables_assign(tf, x, v, w):
    v.assign(x)
    return v + 1.0


def variables_assign_add(tf, x, v, w):
    v.assign_add(x)
    w.assign_sub(1.0)
    return v * w


def variables_order(tf, x, v, w):
    a = v.read_value()
    v.assign(a * 2.0)
    b = v.read_value()
    v.assign(b + x)
    return a, b, v.read_value()


def variables_in_cond(tf, x, v, w):
    return tf.cond(x[0] > 0.0, lambda: v + 1.0, lambda: x * w)


def variables_assign_in_cond(tf, x, v, w):
    def assign():
        v.assign_add(x)
        return v.read_value()

    return tf.cond(x[0] > 0.0, assign, lambda: x)


def variables_in_loop(tf, x, v, w):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w + v), [0, x])


def variables_assign_in_loop(tf, x, v, w):
    def body(i):
        v.assign_add(x)
        return (i + 1,)

    tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])
    return v.read_value()


def variables_gather(tf, x, v, w):
    return tf.gather(v, [0, 2]) + w


def variables_control(tf, x, v, w):
    with tf.control_dependencies([v.assign(x * 2.0)]):
        return tf.identity(w) + 1.0


# --- calls ---------------------------------------------------------------------------------------


def function(tf, body, **options):
    return tf.function(body, autograph=False, **options)


def calls_once(tf, x):
    @tf.function(autograph=False)
    def inner(y):
        return y * 2.0

    return inner(x) + 1.0


def calls_twice(tf, x):
    @tf.function(autograph=False)
    def inner(y):
        return tf.tanh(y)

    return inner(inner(x))


def calls_capture(tf, x):
    scale = tf.exp(x)

    @tf.function(autograph=False)
    def inner(y):
        return y * scale

    return inner(x)


def calls_several_results(tf, x):
    @tf.function(autograph=False)
    def inner(y):
        return y, y + 1.0

    a, b = inner(x)
    return a * b


def calls_nested(tf, x):
    @tf.function(autograph=False)
    def innermost(y):
        return y - 1.0

    @tf.function(autograph=False)
    def inner(y):
        return innermost(y) * 2.0

    return inner(x)


def calls_shapes(tf, x):
    @tf.function(autograph=False)
    def inner(y):
        return tf.reduce_sum(y)

    return inner(x) + inner(x[:2])


def calls_in_cond(tf, x):
    @tf.function(autograph=False)
    def inner(y):
        return y * 2.0

    return tf.cond(x[0] > 0.0, lambda: inner(x), lambda: x)


def calls_in_loop(tf, x):
    @tf.function(autograph=False)
    def inner(y):
        return y * 2.0

    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, inner(y)), [0, x])


def calls_with_loop(tf, x):
    @tf.function(autograph=False)
    def inner(y):
        return tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z + y), [0, y])

    return inner(x)[1]


def calls_in_scope(tf, x):
    @tf.function(autograph=False)
    def inner(y):
        with tf.name_scope("inside"):
            return y + 1.0

    with tf.name_scope("outside"):
        return inner(x)


# --- nesting -------------------------------------------------------------------------------------


def nesting_cond_in_cond(tf, x):
    def inner():
        return tf.cond(x[1] > 0.0, lambda: x + 1.0, lambda: x + 2.0)

    return tf.cond(x[0] > 0.0, inner, lambda: x)


def nesting_loop_in_loop(tf, x):
    def body(i, y):
        _, z = tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z + 1.0), [0, y])
        return i + 1, z

    return tf.while_loop(lambda i, y: i < 3, body, [tf.constant(0), x])


def nesting_cond_in_loop(tf, x):
    def body(i, y):
        return i + 1, tf.cond(y[0] > 2.0, lambda: y * 0.5, lambda: y + 1.0)

    return tf.while_loop(lambda i, y: i < 5, body, [tf.constant(0), x])


def nesting_loop_in_cond(tf, x):
    def loop():
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), [0, x])[1]

    return tf.cond(x[0] > 0.0, loop, lambda: x)


def nesting_captures(tf, x):
    a = tf.tanh(x)
    b = tf.exp(x)

    def body(i, y):
        return i + 1, tf.cond(y[0] > 0.0, lambda: y + a, lambda: y - b)

    return tf.while_loop(lambda i, y: i < 3, body, [tf.constant(0), x])


def nesting_three_deep(tf, x):
    def inner(y):
        return tf.while_loop(
            lambda j, z: j < 2,
            lambda j, z: (j + 1, tf.cond(z[0] > 0.0, lambda: z * 2.0, lambda: z - 1.0)),
            [0, y],
        )[1]

    return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, inner(y)), [0, x])


def nesting_array_in_cond(tf, x):
    array = tf.TensorArray(tf.float32, size=2).unstack(tf.stack([x, x * 2.0]))
    return tf.cond(x[0] > 0.0, lambda: array.read(0), lambda: array.read(1))


def nesting_array_in_two_loops(tf, x):
    def body(i, array):
        def inner(j, total):
            return j + 1, total + tf.cast(j, tf.float32)

        _, total = tf.while_loop(lambda j, total: j < i, inner, [0, 0.0])
        return i + 1, array.write(i, total)

    array = tf.TensorArray(tf.float32, size=3)
    return tf.while_loop(lambda i, a: i < 3, body, [tf.constant(0), array])[1].stack()


def nesting_scopes(tf, x):
    with tf.name_scope("a"):
        y = x + 1.0
        with tf.name_scope("b"):
            z = tf.cond(y[0] > 0.0, lambda: y * 2.0, lambda: y)
    with tf.name_scope("a"):
        return tf.while_loop(lambda i, t: i < 2, lambda i, t: (i + 1, t + z), [0, z])[1]


def nesting_fold_of_cond(tf, x):
    return tf.foldl(
        lambda total, e: tf.cond(e > 0.0, lambda: total + e, lambda: total), x, initializer=0.0
    )


FAMILIES = ("cond", "while", "array", "variables", "calls", "nesting")
PROGRAMS = {
    name: value
    for name, value in list(globals().items())
    if name.partition("_")[0] in FAMILIES and callable(value)
}


# --- Building and comparing ----------------------------------------------------------------------


def build_function(tf, name, variables=None):
    """The concrete function of a program, traced without AutoGraph, and its variables."""
    program = PROGRAMS[name]
    if name.startswith("variables"):
        variables = make_variables(tf)

        def body(x):
            return program(tf, x, *variables)

    else:
        variables = ()

        def body(x):
            return program(tf, x)

    traced = tf.function(body, autograph=False)
    spec = tf.TensorSpec([3], tf.float32, name="x")
    return traced.get_concrete_function(spec), variables


def build_graph(tf, name):
    """The program in a tf.Graph: the graph and its results, flat."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [3], name="x")
        results = PROGRAMS[name](tf, x)
    return graph, tf.nest.flatten(results)


FUNCTION_NAME = re.compile(r"\w*_(?:cond|body|true|false|branch\d+)_\d+|__inference_\w+")


def graph_lines(graph_def):
    """{function: lines}, "" for the graph itself: every node as "name = Op(inputs)", after the
    names of arguments. Functions are numbered by first use, those that nothing uses left out."""
    library = {function.signature.name: function for function in graph_def.library.function}
    numbers = {}

    def renumber(text):
        return FUNCTION_NAME.sub(
            lambda match: f"f{numbers.setdefault(match[0], len(numbers))}", text
        )

    def named(node):
        for key in sorted(node.attr):
            value = node.attr[key]
            yield from (f.name for f in [value.func, *value.list.func] if f.name)

    def line(node):
        functions = "".join(f" {name}" for name in named(node))
        return renumber(f"{node.name} = {node.op}({', '.join(node.input)}){functions}")

    result = {"": [line(node) for node in graph_def.node]}
    waiting = [name for node in graph_def.node for name in named(node)]
    seen = set()
    while waiting:
        name = waiting.pop(0)
        if name in seen or name not in library:
            continue
        seen.add(name)
        function = library[name]
        waiting += [inner for node in function.node_def for inner in named(node)]
        arguments = ", ".join(argument.name for argument in function.signature.input_arg)
        returned = ", ".join(function.ret[o.name] for o in function.signature.output_arg)
        result[renumber(name)] = [
            renumber(f"({arguments})"),
            *(line(node) for node in function.node_def),
            renumber(f"return {returned}"),
        ]
    return result


def lines_of(tf, form, name):
    """A program's lines, traced as a "function" or built by hand as a "graph". Of the latter only
    the graph's own: TensorFlow writes the functions of such a graph in another style, without the
    scopes of their names and without Identity nodes behind their results."""
    if form == "graph":
        return {"": graph_lines(build_graph(tf, name)[0].as_graph_def())[""]}
    return graph_lines(build_function(tf, name)[0].graph.as_graph_def())


def difference(ours, theirs):
    """What differs first, as text; "" if nothing does."""
    for name in {**theirs, **ours}:
        mine, other = ours.get(name, []), theirs.get(name, [])
        for left, right in itertools.zip_longest(mine, other, fillvalue="nothing"):
            if left != right:
                return f"in {name or 'the graph'}: {left!r}, TensorFlow {right!r}"
    return ""
