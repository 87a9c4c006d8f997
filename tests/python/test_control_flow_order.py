"""What waits for what: control dependencies, group, tuple, Assert. Further cases are recorded in
test_control_flow_recorded.py."""

import pytest

import graphwright as tf


def traced(function, *arguments):
    return tf.function(function, autograph=False).get_concrete_function(*arguments)


def test_eager_dependencies_are_nothing_to_wait_for():
    called = []
    with tf.control_dependencies([tf.constant(1), lambda: called.append(1)]):
        assert int(tf.constant(1) + 1) == 2
    assert called == [1]
    with tf.control_dependencies(None):
        pass
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        tf.control_dependencies(3)


def test_effects_keep_the_order_of_the_program(capfd):
    v = tf.Variable(0)

    @tf.function(autograph=False)
    def step(x):
        first = tf.print("first", v)
        with tf.control_dependencies([first, v.assign_add(x)]):
            tf.print("second", v)
            result = tf.identity(x)
        tf.group(tf.print("third"), [v.assign_add(1)])
        return result

    step(tf.constant(5))
    assert capfd.readouterr().err == "first 0\nsecond 5\nthird\n"
    assert int(v) == 6


def test_operations_of_ops_without_outputs():
    seen = []

    def look(x):
        seen.extend([tf.print(x), tf.no_op(name="idle"), tf.group(x + 1), tf.Assert(x > 0, ["a"])])
        return x

    traced(look, tf.TensorSpec([], tf.float32))
    assert [operation.type for operation in seen] == ["PrintV2", "NoOp", "NoOp", "Assert"]
    assert seen[1].name == "idle"
    assert tf.print("", end="") is None and tf.no_op() is None and tf.group() is None


def test_control_inputs_of_operations():
    found = []

    def look(x):
        a = x + 1
        with tf.control_dependencies([a]):
            b = tf.identity(x)
            c = tf.identity(b)
        found.extend([a.op, b.op, c.op])
        return c

    traced(look, tf.TensorSpec([], tf.float32))
    a, b, c = found
    assert [operation.name for operation in b.control_inputs] == [a.name]
    # It waits through its input already.
    assert list(c.control_inputs) == []


def test_a_scope_that_is_left_early_leaves_nothing_behind():
    def fails(x):
        with tf.control_dependencies([x + 1]):
            raise KeyError("stop")

    with pytest.raises(KeyError):
        traced(fails, tf.TensorSpec([], tf.float32))

    def fails_in_a_branch(x):
        try:
            tf.cond(x > 0, lambda: fails(x), lambda: x)
        except KeyError:
            pass
        return tf.identity(x)

    function = traced(fails_in_a_branch, tf.TensorSpec([], tf.float32))
    names = [node.name for node in function.graph.as_graph_def().node]
    assert "cond" not in names
    assert float(function(tf.constant(2.0))) == 2.0


def test_assertions_run_before_what_depends_on_them():
    @tf.function(autograph=False)
    def guarded(x):
        with tf.control_dependencies([tf.debugging.assert_positive(x, "not positive")]):
            return tf.sqrt(x)

    assert float(guarded(tf.constant(4.0))) == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="not positive"):
        guarded(tf.constant(-4.0))


def test_assertions_inside_loops_and_branches():
    @tf.function(autograph=False)
    def run(n, limit):
        def body(i):
            tf.debugging.assert_less(i, limit)
            return (i + 1,)

        return tf.while_loop(lambda i: i < n, body, (tf.constant(0),))[0]

    assert int(run(tf.constant(3), tf.constant(3))) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x < y did not hold"):
        run(tf.constant(4), tf.constant(3))


def test_group_and_tuple_errors():
    with pytest.raises(TypeError, match="should be zero or more"):
        traced(lambda x: tf.group(3), tf.TensorSpec([], tf.float32))
    with pytest.raises(TypeError, match="unexpected keyword"):
        tf.group(nam="x")
    with pytest.raises(ValueError, match="at least one Tensor"):
        traced(lambda x: tf.tuple([None]), tf.TensorSpec([], tf.float32))
    with pytest.raises(TypeError, match="Can not convert a NoneType"):
        traced(lambda x: tf.tuple([x], control_inputs=[None]), tf.TensorSpec([], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.identity_n([])


def test_tuple_keeps_none():
    result = traced(lambda x: tf.tuple([x, None, x + 1]), tf.TensorSpec([], tf.float32))(
        tf.constant(1.0)
    )
    assert float(result[0]) == 1 and result[1] is None and float(result[2]) == 2


def test_assertions_take_eager_tensors_into_functions():
    x = tf.constant([1, 2, 3])

    @tf.function
    def holds():
        tf.debugging.assert_greater(x, 0)
        tf.debugging.assert_less(x, tf.range(1, 4) + 1)
        tf.debugging.assert_rank(x, 1)
        tf.debugging.assert_type(x, tf.int32)
        tf.debugging.assert_non_negative(x)
        tf.debugging.assert_shapes([(x, ("N",))])
        return x

    assert holds().numpy().tolist() == [1, 2, 3]
    failing = [
        (lambda: tf.debugging.assert_greater(x, 5), tf.errors.InvalidArgumentError),
        (lambda: tf.debugging.assert_less(x, tf.range(3)), tf.errors.InvalidArgumentError),
        (lambda: tf.debugging.assert_rank(x, 2), ValueError),
        (lambda: tf.debugging.assert_scalar(x), ValueError),
        (lambda: tf.debugging.assert_type(x, tf.float32), TypeError),
    ]
    for program, error in failing:
        with pytest.raises(error):
            tf.function(program)()
