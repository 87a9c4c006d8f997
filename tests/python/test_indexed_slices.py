"""tf.IndexedSlices as a composite value: in functions, branches, loops and nests."""

import pytest

import graphwright as tf

SPEC = tf.IndexedSlicesSpec([3, 1], tf.float32, tf.int32, tf.int32, [1])


def slices(values=((1.0,),), indices=(0,), dense_shape=(3, 1)):
    shape = None if dense_shape is None else tf.constant(dense_shape)
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices), shape)


def parts(value):
    assert isinstance(value, tf.IndexedSlices)
    shape = None if value.dense_shape is None else value.dense_shape.numpy().tolist()
    return value.values.numpy().tolist(), value.indices.numpy().tolist(), shape


def doubled(value):
    return tf.IndexedSlices(value.values * 2, value.indices, value.dense_shape)


def test_spec_and_nest():
    value = slices()
    assert value._type_spec == SPEC
    assert repr(SPEC) == (
        "IndexedSlicesSpec(TensorShape([3, 1]), tf.float32, tf.int32, tf.int32, TensorShape([1]))"
    )
    assert SPEC.value_type is tf.IndexedSlices
    assert SPEC.is_compatible_with(value)
    assert tf.type_spec_from_value(value) == SPEC
    flat = tf.nest.flatten(value, expand_composites=True)
    assert [leaf.shape.as_list() for leaf in flat] == [[1, 1], [1], [2]]
    packed = tf.nest.pack_sequence_as([value], flat, expand_composites=True)
    assert parts(packed[0]) == ([[1.0]], [0], [3, 1])
    assert str(value) == (
        "IndexedSlices(indices=tf.Tensor([0], shape=(1,), dtype=int32), "
        "values=tf.Tensor([[1.]], shape=(1, 1), dtype=float32), "
        "dense_shape=tf.Tensor([3 1], shape=(2,), dtype=int32))"
    )


@pytest.mark.parametrize("dense_shape", [(3, 1), None])
def test_functions_take_and_return_slices(dense_shape):
    @tf.function
    def function(value):
        return doubled(value), [value]

    expected = None if dense_shape is None else [3, 1]
    for _ in range(2):
        first, (second,) = function(slices(dense_shape=dense_shape))
        assert parts(first) == ([[2.0]], [0], expected)
        assert parts(second) == ([[1.0]], [0], expected)
    assert function.experimental_get_tracing_count() == 1
    concrete = function.get_concrete_function(slices(dense_shape=dense_shape))
    assert parts(concrete(slices(dense_shape=dense_shape))[0]) == ([[2.0]], [0], expected)


def test_function_traced_from_a_spec():
    concrete = tf.function(doubled).get_concrete_function(SPEC)
    assert parts(concrete(slices())) == ([[2.0]], [0], [3, 1])


def test_gradient_through_slices():
    x = tf.constant([[2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = tf.function(doubled)(tf.IndexedSlices(x, tf.constant([0]), tf.constant([3, 1])))
        total = tf.reduce_sum(result.values)
    assert tape.gradient(total, x).numpy().tolist() == [[2.0]]


def test_a_function_returns_a_sparse_gradient():
    variable = tf.Variable([[1.0], [2.0]])

    @tf.function
    def gradient(rows):
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(tf.gather(variable, rows))
        return tape.gradient(total, variable)

    assert parts(gradient(tf.constant([0, 0]))) == ([[1.0], [1.0]], [0, 0], [2, 1])


def test_branches():
    @tf.function
    def function(taken, value):
        return tf.cond(taken, lambda: doubled(value), lambda: value)

    assert parts(function(tf.constant(True), slices())) == ([[2.0]], [0], [3, 1])
    assert parts(function(tf.constant(False), slices())) == ([[1.0]], [0], [3, 1])

    @tf.function
    def mixed(taken, value):
        return tf.cond(taken, lambda: value, lambda: tf.zeros([3, 1]))

    with pytest.raises(TypeError):
        mixed(tf.constant(True), slices())


def test_branches_of_other_row_counts():
    @tf.function
    def function(taken, value):
        def longer():
            return tf.IndexedSlices(
                tf.concat([value.values, value.values], 0),
                tf.concat([value.indices, value.indices], 0),
                value.dense_shape,
            )

        return tf.cond(taken, longer, lambda: value)

    assert parts(function(tf.constant(True), slices())) == ([[1.0], [1.0]], [0, 0], [3, 1])
    assert parts(function(tf.constant(False), slices())) == ([[1.0]], [0], [3, 1])


def test_loops():
    @tf.function
    def function(value):
        return tf.while_loop(
            lambda i, rows: i < 3, lambda i, rows: (i + 1, doubled(rows)), [0, value]
        )[1]

    assert parts(function(slices())) == ([[8.0]], [0], [3, 1])
    assert parts(function(slices(dense_shape=None))) == ([[8.0]], [0], None)
    with pytest.raises((TypeError, ValueError)):
        tf.function(
            lambda value: tf.while_loop(
                lambda i, rows: i < 3, lambda i, rows: (i + 1, tf.zeros([1, 1])), [0, value]
            )
        )(slices())


def test_growing_slices_in_a_loop():
    def longer(i, value):
        rows = tf.concat([value.values, value.values], 0)
        return i + 1, tf.IndexedSlices(rows, tf.concat([value.indices] * 2, 0), value.dense_shape)

    @tf.function
    def function(value):
        spec = tf.IndexedSlicesSpec([3, 1], tf.float32, tf.int32, tf.int32, [None])
        invariants = [tf.TensorShape([]), spec]
        return tf.while_loop(lambda i, rows: i < 2, longer, [0, value], invariants)[1]

    assert parts(function(slices())) == ([[1.0]] * 4, [0] * 4, [3, 1])

    @tf.function
    def wrong(value):
        spec = tf.IndexedSlicesSpec([3, 1], tf.float64, tf.int32, tf.int32, [None])
        return tf.while_loop(lambda i, rows: i < 2, longer, [0, value], [tf.TensorShape([]), spec])

    with pytest.raises(TypeError):
        wrong(slices())
