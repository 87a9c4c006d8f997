"""tf.cond, tf.case, tf.switch_case: values, nodes and errors as recorded from TensorFlow 2.21."""

import numpy as np
import pytest

import graphwright as tf

FLOAT = tf.TensorSpec([], tf.float32)
INT = tf.TensorSpec([], tf.int32)
BOOL = tf.TensorSpec([], tf.bool)


def traced(function, *specs):
    return tf.function(function, autograph=False).get_concrete_function(*specs)


def nodes(function, *specs):
    """'op name inputs' of the nodes of the graph, and of each function of its library."""
    graph = traced(function, *specs).graph.as_graph_def()
    lists = [[f"{n.op} {n.name} {' '.join(n.input)}".strip() for n in graph.node]]
    for inner in sorted(graph.library.function, key=lambda f: f.signature.name):
        lists.append([f"{n.op} {n.name} {' '.join(n.input)}".strip() for n in inner.node_def])
    return lists


def test_eager_cond_runs_one_branch_and_returns_what_it_returns():
    assert tf.cond(tf.constant(True), lambda: 1, lambda: 1 / 0) == 1
    assert tf.cond(True, lambda: 1, lambda: 2) == 1
    assert tf.cond(0, lambda: 1, lambda: 2) == 2
    assert tf.cond(np.array([True]), lambda: 1, lambda: 2) == 1
    assert tf.cond("a", lambda: 1, lambda: 2) == 1
    assert tf.cond("", lambda: 1, lambda: 2) == 2
    assert tf.cond(tf.constant(float("nan")), lambda: 1, lambda: 2) == 1
    assert tf.cond(tf.Variable(3.0) > 1, lambda: None, lambda: 2) is None


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((np.array([True, False]), int, int), ValueError, "more than one element is ambiguous"),
        ((None, int, int), ValueError, "unsupported type"),
        ((True, 1, int), TypeError, "'true_fn' must be callable."),
        ((True, int), TypeError, "'false_fn' argument required"),
        ((True, None, int), TypeError, "'true_fn' argument required"),
    ],
)
def test_eager_cond_errors(arguments, error, text):
    with pytest.raises(error, match=text.replace("(", r"\(")):
        tf.cond(*arguments)


def test_nodes_of_cond():
    assert nodes(lambda p, x: tf.cond(p, lambda: x + 1, lambda: x * 2), BOOL, FLOAT) == [
        [
            "Placeholder p",
            "Placeholder x",
            "StatelessIf cond p x",
            "Identity cond/Identity cond",
            "Identity Identity cond/Identity",
        ],
        [
            "Const cond/mul/y",
            "Mul cond/mul cond_mul_x cond/mul/y:output:0",
            "Identity cond/Identity cond/mul:z:0",
        ],
        [
            "Const cond/add/y",
            "AddV2 cond/add cond_add_x cond/add/y:output:0",
            "Identity cond/Identity cond/add:z:0",
        ],
    ]


def test_predicates_of_one_element_are_squeezed():
    for shape in ([1], None):
        spec = tf.TensorSpec(shape, tf.bool)
        top = nodes(lambda p: tf.cond(p, lambda: 1, lambda: 2), spec)[0]
        assert top[1:3] == ["Squeeze cond/Squeeze p", "StatelessIf cond cond/Squeeze"]
    assert nodes(lambda: tf.cond(np.bool_(True), lambda: 1, lambda: 2))[0][:2] == [
        "Const cond/Const",
        "StatelessIf cond cond/Const",
    ]

    @tf.function(input_signature=[tf.TensorSpec(None, tf.bool)], autograph=False)
    def choose(p):
        return tf.cond(p, lambda: 1, lambda: 2)

    assert int(choose(True)) == 1
    assert int(choose([[False]])) == 2
    with pytest.raises(tf.errors.InvalidArgumentError):
        choose([True, False])


def test_structures_none_and_operations_as_results():
    function = traced(
        lambda p, x: tf.cond(p, lambda: [x + 1, {"a": x}, None], lambda: [x * 2, {"a": -x}, None]),
        BOOL,
        FLOAT,
    )
    result = function(tf.constant(False), tf.constant(3.0))
    assert float(result[0]) == 6 and float(result[1]["a"]) == -3 and result[2] is None
    assert traced(lambda p: tf.cond(p, lambda: None, lambda: None), BOOL)(tf.constant(True)) is None
    # An operation stands for the predicate.
    top, false, true = nodes(lambda p: tf.cond(p, tf.no_op, tf.no_op), BOOL)
    assert (
        true
        == false
        == [
            "NoOp cond/NoOp",
            "Identity cond/Identity cond_identity_p ^cond/NoOp",
            "Identity cond/Identity_1 cond/Identity:output:0",
        ]
    )
    assert bool(traced(lambda p: tf.cond(p, tf.no_op, tf.no_op), BOOL)(tf.constant(True))) is True


def test_shapes_that_differ_become_unknown():
    function = traced(lambda p: tf.cond(p, lambda: tf.ones([2, 3]), lambda: tf.ones([2, 4])), BOOL)
    assert function.outputs[0].shape.as_list() == [2, None]
    assert function(tf.constant(False)).shape == (2, 4)
    function = traced(lambda p: tf.cond(p, lambda: tf.ones([2, 3]), lambda: tf.ones([2])), BOOL)
    assert function.outputs[0].shape.rank is None


@pytest.mark.parametrize(
    ("true_fn", "false_fn", "error", "text"),
    [
        (lambda x: [x], lambda x: (x,), TypeError, "same number, type, and overall structure"),
        (lambda x: x, lambda x: (x, x), TypeError, "same number, type, and overall structure"),
        (lambda x: x, lambda x: 1, TypeError, "have different types"),
        (lambda x: None, lambda x: x, ValueError, "Lengths of branch outputs of cond must match"),
        (lambda x: object(), lambda x: x, TypeError, "found return value of type object"),
    ],
)
def test_results_that_do_not_agree(true_fn, false_fn, error, text):
    with pytest.raises(error, match=text):
        traced(lambda p, x: tf.cond(p, lambda: true_fn(x), lambda: false_fn(x)), BOOL, FLOAT)


def test_cond_errors_in_a_graph():
    with pytest.raises(TypeError, match="pred must not be a Python bool"):
        traced(lambda: tf.cond(True, lambda: 1, lambda: 2))
    with pytest.raises(TypeError, match="'true_fn' must be callable"):
        traced(lambda p: tf.cond(p, 1, lambda: 2), BOOL)
    with pytest.raises(TypeError, match="'false_fn' argument required"):
        traced(lambda p: tf.cond(p, lambda: 2), BOOL)

    def leak(p, x):
        box = []

        def remember():
            box.append(x + 1)
            return box[0]

        return tf.cond(p, remember, lambda: box[0])

    with pytest.raises((TypeError, ValueError)):
        traced(leak, BOOL, FLOAT)


def test_names_of_tensors_inside_a_branch():
    names = []

    def remember(x):
        y = x + 1
        names.append(y.name)
        return y

    traced(lambda p, x: tf.cond(p, lambda: remember(x), lambda: x), BOOL, FLOAT)
    assert names == ["cond/add:0"]


def test_variables_in_branches():
    v = tf.Variable(3.0)

    @tf.function(autograph=False)
    def step(p):
        return tf.cond(p, lambda: v.assign_add(2.0), lambda: v)

    assert float(step(tf.constant(True))) == 5.0
    assert float(step(tf.constant(False))) == 5.0
    assert float(v) == 5.0


def test_print_inside_branches(capfd):
    @tf.function(autograph=False)
    def step(p, x):
        return tf.cond(p, lambda: tf.print("yes", x), lambda: tf.print("no"))

    step(tf.constant(True), tf.constant(4))
    step(tf.constant(False), tf.constant(4))
    assert capfd.readouterr().err == "yes 4\nno\n"


def test_case():
    def pick(a, b, **options):
        pairs = [(tf.constant(a), lambda: 1), (tf.constant(b), lambda: 2)]
        return int(tf.case(pairs, **options))

    for call in (pick, lambda *a, **k: int(tf.function(lambda: pick_graph(*a, **k))())):
        assert call(False, True, default=lambda: 3) == 2
        assert call(False, False, default=lambda: 3) == 3
        assert call(True, False) == 1
    assert nodes(
        lambda p, q, x: tf.case([(p, lambda: x + 1), (q, lambda: x * 2)], default=lambda: x),
        BOOL,
        BOOL,
        FLOAT,
    )[0] == [
        "Placeholder p",
        "Placeholder q",
        "Placeholder x",
        "StatelessIf case/cond p x q",
        "Identity case/cond/Identity case/cond",
        "Identity Identity case/cond/Identity",
    ]


def pick_graph(a, b, **options):
    pairs = [(tf.constant(a), lambda: 1), (tf.constant(b), lambda: 2)]
    return tf.case(pairs, **options)


def test_case_without_a_predicate_that_holds():
    pairs = [(tf.constant(False), lambda: 1), (tf.constant(False), lambda: 2)]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="None of conditions evaluated as True"
    ):
        tf.case(pairs)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(lambda p, q: tf.case([(p, lambda: 1), (q, lambda: 2)]))(
            tf.constant(False), tf.constant(False)
        )


def test_exclusive_case():
    function = tf.function(
        lambda p, q, x: tf.case(
            [(p, lambda: x + 1), (q, lambda: x * 2)], default=lambda: x, exclusive=True, name="mine"
        ),
        autograph=False,
    )
    yes, no, x = tf.constant(True), tf.constant(False), tf.constant(3.0)
    assert float(function(no, yes, x)) == 6
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(yes, yes, x)
    top = nodes(
        lambda p, q, x: tf.case(
            [(p, lambda: x + 1), (q, lambda: x * 2)], exclusive=True, name="mine"
        ),
        BOOL,
        BOOL,
        FLOAT,
    )[0]
    assert top[3:] == [
        "Pack mine/preds_c p",
        "Cast mine/Cast mine/preds_c",
        "Const mine/Const",
        "Sum mine/num_true_conds mine/Cast mine/Const",
        "Const mine/n_true_conds",
        "LessEqual mine/LessEqual mine/num_true_conds mine/n_true_conds",
        "Const mine/Assert/Const",
        "If mine/Assert/AssertGuard mine/LessEqual mine/LessEqual mine/preds_c",
        "Identity mine/Assert/AssertGuard/Identity mine/Assert/AssertGuard",
        "If mine/cond p x p q ^mine/Assert/AssertGuard ^mine/Assert/AssertGuard/Identity",
        "Identity mine/cond/Identity mine/cond",
        "Identity Identity mine/cond/Identity ^NoOp",
        "NoOp NoOp ^mine/Assert/AssertGuard ^mine/cond",
    ]


@pytest.mark.parametrize(
    ("pairs", "error", "text"),
    [
        (3, TypeError, "must be a list, tuple, or dict"),
        ([1], TypeError, "must be a 2-tuple. Received 1."),
        ([], ValueError, "at least one pair"),
        ([(True, int)], TypeError, "pred must be a Tensor, got: True"),
    ],
)
def test_case_errors(pairs, error, text):
    with pytest.raises(error, match=text):
        tf.case(pairs)


def test_switch_case():
    branches = [lambda: 1, lambda: 2]
    assert tf.switch_case(tf.constant(1), branches) == 2
    assert tf.switch_case(tf.constant(-1), branches) == 2
    assert tf.switch_case(tf.constant(7), branches, default=lambda: 9) == 9
    assert tf.switch_case(tf.constant(1, tf.uint8), branches, default=lambda: 9) == 2
    function = traced(
        lambda i, x: tf.switch_case(
            i, {1: lambda: x + 1, 0: lambda: x * 2}, default=lambda: x, name="sw"
        ),
        INT,
        FLOAT,
    )
    values = [float(function(tf.constant(i), tf.constant(5.0))) for i in (0, 1, 2, 9, -1)]
    assert values == [10, 6, 5, 5, 5]
    lists = nodes(lambda i, x: tf.switch_case(i, [lambda: x + 1, lambda: x * 2]), INT, FLOAT)
    assert lists[0][2:] == [
        "StatelessCase switch_case/indexed_case i x",
        "Identity switch_case/indexed_case/Identity switch_case/indexed_case",
        "Identity Identity switch_case/indexed_case/Identity",
    ]
    assert lists[2] == [
        "Const switch_case/indexed_case/mul/y",
        "Mul switch_case/indexed_case/mul switch_case_indexed_case_mul_x "
        "switch_case/indexed_case/mul/y:output:0",
        "Identity switch_case/indexed_case/Identity switch_case/indexed_case/mul:z:0",
    ]


@pytest.mark.parametrize(
    ("branches", "error", "text"),
    [
        ([], ValueError, "at least one item"),
        (3, TypeError, "must be a list, tuple, or dict"),
        ([1, 2], TypeError, "must be a 2-tuple. Received 1."),
        ([(0, 1)], TypeError, "fn for key 0 must be callable"),
        ([("a", int)], TypeError, "key must be a Python `int`"),
        ({1: int, 2: int}, ValueError, r"contiguous range of \[0 to 2\) but found {1,2}"),
        ([lambda: 1, lambda: 2.0], TypeError, "have different types"),
        ([lambda: 1, lambda: [2]], TypeError, "overall structure of return values"),
    ],
)
def test_switch_case_errors(branches, error, text):
    with pytest.raises(error, match=text):
        traced(lambda i: tf.switch_case(i, branches), INT)


def test_switch_case_indices():
    with pytest.raises(TypeError, match="'branch_index' must be a Tensor, got <class 'int'>"):
        tf.switch_case(1, [int])
    with pytest.raises(TypeError, match="integer Tensor, got <dtype: 'float32'>"):
        tf.switch_case(tf.constant(1.0), [int])
    with pytest.raises(TypeError, match="type int64 that does not match"):
        traced(lambda i: tf.switch_case(i, [int, int]), tf.TensorSpec([], tf.int64))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.switch_case(tf.constant([1]), [int, int])


def test_gradients_through_branches():
    @tf.function(autograph=False)
    def choose(p, i, x):
        y = tf.cond(p, lambda: x * x, lambda: 3 * x)
        return tf.switch_case(i, [lambda: y * x, lambda: tf.sin(y), lambda: y])

    for p in (True, False):
        for i in range(3):
            x = tf.constant(0.7)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = choose(tf.constant(p), tf.constant(i), x)
            got = float(tape.gradient(y, x))
            with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
                forward = accumulator.jvp(choose(tf.constant(p), tf.constant(i), x))
            inner, slope = (0.49, 1.4) if p else (2.1, 3.0)
            want = [slope * 0.7 + inner, np.cos(inner) * slope, slope][i]
            assert got == pytest.approx(want, rel=1e-5)
            assert float(forward) == pytest.approx(want, rel=1e-5)
