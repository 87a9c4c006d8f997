"""tf.raw_ops.TensorList*: values, gradients and error classes recorded from TensorFlow 2.21."""

import re

import numpy as np
import pytest

import graphwright as tf

R = tf.raw_ops
F = tf.float32
SCALAR = tf.constant([], tf.int32)
INVALID = tf.errors.InvalidArgumentError


def int64s(values):
    return tf.constant(values, tf.int64)


def make(*items, shape=-1, dtype=F):
    handle = R.EmptyTensorList(element_shape=shape, max_num_elements=-1, element_dtype=dtype)
    for item in items:
        handle = R.TensorListPushBack(input_handle=handle, tensor=tf.constant(item, dtype))
    return handle


def stack(handle, shape=-1, dtype=F, count=-1):
    return R.TensorListStack(
        input_handle=handle, element_shape=shape, element_dtype=dtype, num_elements=count
    )


def get(handle, index, shape=-1, dtype=F):
    return R.TensorListGetItem(
        input_handle=handle, index=index, element_shape=shape, element_dtype=dtype
    )


def put(handle, index, item, **options):
    return R.TensorListSetItem(input_handle=handle, index=index, item=item, **options)


def length(handle):
    return R.TensorListLength(input_handle=handle)


def reserve(count, shape=-1, dtype=F):
    return R.TensorListReserve(element_shape=shape, num_elements=count, element_dtype=dtype)


def concat(handle, shape=-1, leading=(), dtype=F):
    return list(
        R.TensorListConcatV2(
            input_handle=handle,
            element_shape=shape,
            leading_dims=int64s(list(leading)),
            element_dtype=dtype,
        )
    )


def gather(handle, indices, shape=-1, dtype=F):
    return R.TensorListGather(
        input_handle=handle, indices=indices, element_shape=shape, element_dtype=dtype
    )


def rows(tensor, shape=-1):
    return R.TensorListFromTensor(tensor=tensor, element_shape=shape)


def scatter(tensor, indices, count, shape=-1):
    return R.TensorListScatterV2(
        tensor=tensor, indices=indices, element_shape=shape, num_elements=count
    )


def scatter_into(handle, tensor, indices):
    return R.TensorListScatterIntoExistingList(input_handle=handle, tensor=tensor, indices=indices)


def split(tensor, lengths, shape=-1):
    return R.TensorListSplit(tensor=tensor, element_shape=shape, lengths=int64s(lengths))


def pop(handle, shape=-1, dtype=F):
    return R.TensorListPopBack(input_handle=handle, element_shape=shape, element_dtype=dtype)


def element_shape(handle, dtype=tf.int32):
    return R.TensorListElementShape(input_handle=handle, shape_type=dtype)


def join(a, b, dtype=F):
    return R.TensorListConcatLists(input_a=a, input_b=b, element_dtype=dtype)


def push_batch(handles, tensor):
    return R.TensorListPushBackBatch(input_handles=tf.stack(handles), tensor=tensor)


def limited():
    return R.EmptyTensorList(element_shape=-1, max_num_elements=1, element_dtype=F)


def push(handle, item):
    return R.TensorListPushBack(input_handle=handle, tensor=item)


VALUES = {
    "push": (lambda: stack(make(1.0, 2.0)), [1, 2]),
    "pop": (lambda: pop(make(1.0, 2.0))[1], 2),
    "pop leaves": (lambda: length(pop(make(1.0, 2.0))[0]), 1),
    "pop unwritten": (lambda: pop(reserve(1, [2]))[1], [0, 0]),
    "partial shapes": (lambda: get(reserve(2, [2, -1]), 0, [-1, 3]), np.zeros([2, 3])),
    "shape of a sibling": (lambda: get(put(reserve(2, [-1]), 1, [1.0, 2.0]), 0), [0, 0]),
    "grow": (
        lambda: length(put(reserve(2), 4, 1.0, resize_if_index_out_of_bounds=True)),
        5,
    ),
    "stack nothing": (lambda: stack(make(), [2]), np.zeros([0, 2])),
    "stack some": (lambda: stack(put(reserve(2, [-1]), 1, [1.0, 2.0])), [[0, 0], [1, 2]]),
    "strings": (
        lambda: stack(make("a", "b", dtype=tf.string), dtype=tf.string),
        [b"a", b"b"],
    ),
    "unwritten strings": (
        lambda: stack(reserve(2, [1], tf.string), dtype=tf.string),
        [[b""], [b""]],
    ),
    "bools": (lambda: stack(make(True, False, dtype=tf.bool), dtype=tf.bool), [True, False]),
    "complex": (lambda: stack(make(1j, dtype=tf.complex64), dtype=tf.complex64), [1j]),
    "resize": (
        lambda: stack(R.TensorListResize(input_handle=make(1.0, 2.0), size=3)),
        [1, 2, 0],
    ),
    "shrink": (lambda: stack(R.TensorListResize(input_handle=make(1.0, 2.0), size=1)), [1]),
    "unknown shape": (lambda: element_shape(reserve(1)), -1),
    "partial shape": (lambda: element_shape(reserve(1, [2, -1])), [2, -1]),
    "rows": (lambda: stack(rows([[1.0], [2.0]], [-1])), [[1], [2]]),
    "no rows": (lambda: length(rows(tf.zeros([0, 2]), [-1])), 0),
    "gather": (lambda: gather(make(1.0, 2.0, 3.0), [2, 0, 2]), [3, 1, 3]),
    "gather nothing": (lambda: gather(make(1.0), SCALAR, [2]), np.zeros([0, 2])),
    "gather alike": (lambda: gather(make([1.0], [1.0, 2.0]), [1, 1]), [[1, 2], [1, 2]]),
    "gather unwritten": (lambda: gather(reserve(2, [2]), [1, 1]), np.zeros([2, 2])),
    "gather a matrix": (lambda: gather(make(1.0, 2.0), [[1]]), [2]),
    "scatter": (
        lambda: stack(R.TensorListScatter(tensor=[1.0, 2.0], indices=[2, 0], element_shape=SCALAR)),
        [2, 0, 1],
    ),
    "scatter twice": (
        lambda: stack(R.TensorListScatter(tensor=[1.0, 2.0], indices=[0, 0], element_shape=-1)),
        [2],
    ),
    "scatter v2": (lambda: stack(scatter([1.0, 2.0], [2, 0], 5)), [2, 0, 1, 0, 0]),
    "scatter v2 by indices": (lambda: length(scatter([1.0, 2.0], [2, 0], -1)), 3),
    "scatter into": (lambda: stack(scatter_into(make(1.0, 2.0), [5.0], [1])), [1, 5]),
    "scatter grows": (lambda: length(scatter_into(make(1.0, 2.0), [5.0], [4])), 5),
    "concat": (lambda: concat(make([1.0], [2.0, 3.0]))[0], [1, 2, 3]),
    "concat lengths": (lambda: concat(make([1.0], [2.0, 3.0]))[1], [1, 2]),
    "concat nothing": (lambda: concat(make(), [-1, 2])[0], np.zeros([0, 2])),
    "concat unwritten": (lambda: concat(reserve(2, [2]))[0], [0, 0, 0, 0]),
    "concat by leading dims": (
        lambda: concat(reserve(2, [-1, 3]), leading=[1, 2])[0],
        np.zeros([3, 3]),
    ),
    "concat some by leading dims": (
        lambda: concat(put(reserve(2, [-1]), 1, [1.0, 2.0]), leading=[1, 2])[0],
        [0, 1, 2],
    ),
    "concat other leading dims": (lambda: concat(make([1.0]), leading=[3])[0], [1]),
    "concat strings": (
        lambda: concat(make(["a"], ["b", "c"], dtype=tf.string), dtype=tf.string)[0],
        [b"a", b"b", b"c"],
    ),
    "concat v1": (
        lambda: R.TensorListConcat(
            input_handle=make([[1.0]], [[2.0], [3.0]]), element_dtype=F, element_shape=[None, 1]
        )[0],
        [[1], [2], [3]],
    ),
    "split": (lambda: get(split([1.0, 2.0, 3.0], [1, 2]), 1), [2, 3]),
    "split nothing": (lambda: length(split(tf.zeros([0]), [])), 0),
    "split shape": (lambda: element_shape(split([[1.0], [2.0]], [1, 1], [-1, 1])), [-1, 1]),
    "join": (lambda: stack(join(make(1.0), make(2.0, 3.0))), [1, 2, 3]),
    "join several": (
        lambda: stack(
            tf.unstack(join(tf.stack([make(1.0), make(2.0)]), tf.stack([make(3.0), make(4.0)])))[1]
        ),
        [2, 4],
    ),
    "push a batch": (
        lambda: stack(tf.unstack(push_batch([make(1.0), make(2.0)], [5.0, 6.0]))[1]),
        [2, 6],
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    run, expected = VALUES[name]
    result = run().numpy()
    assert result.shape == np.shape(expected)
    np.testing.assert_array_equal(result, expected)


ERRORS = {
    "push dtype": (
        lambda: push(make(1.0), tf.constant(1)),
        "Invalid data types; op elements int32",
    ),
    "push shape": (lambda: push(make([1.0], shape=[1]), [1.0, 2.0]), "incompatible shape"),
    "full": (lambda: push(push(limited(), 1.0), 2.0), "list size: 1 max_num_elements: 1"),
    "scalar shape": (lambda: make(shape=3), "only valid scalar shape tensor"),
    "negative dim": (lambda: make(shape=[-2]), "Dimension -2 must be >= -1"),
    "matrix shape": (lambda: make(shape=[[2]]), "rank 2"),
    "pop nothing": (lambda: pop(make()), "Trying to pop from an empty list."),
    "pop dtype": (lambda: pop(make(1.0), dtype=tf.int32), "Invalid data types"),
    "get dtype": (lambda: get(make(1.0), 0, dtype=tf.int32), "Invalid data types"),
    "get shape": (lambda: get(reserve(2, [2]), 0, [3]), r"\[3\]"),
    "get outside": (lambda: get(make(1.0), 1), "access element 1 in a list with 1 elements"),
    "get unwritten": (lambda: get(reserve(1), 0), "element_shape is not fully defined"),
    "set outside": (lambda: put(reserve(2), 2, 1.0), "modify element 2 in a list with 2 elements"),
    "set shape": (lambda: put(reserve(2, [2]), 0, [1.0]), r"shape: \[1\] list shape: \[2\]"),
    "stack count": (lambda: stack(make(1.0, 2.0), count=3), "expected a list with 3 elements"),
    "stack shapes": (lambda: stack(make([1.0], [1.0, 2.0])), "shapes differ"),
    "stack wanted": (lambda: stack(make([1.0], [2.0]), [2]), "shapes differ"),
    "stack empty": (lambda: stack(make()), "empty list with non-fully-defined element_shape"),
    "stack unwritten": (lambda: stack(reserve(2)), "only contains uninitialized tensors"),
    "stack dtype": (lambda: stack(make(1.0), dtype=tf.int32), "Invalid data types"),
    "resize": (
        lambda: R.TensorListResize(input_handle=make(1.0), size=-1),
        "size to be non-negative. Got: -1",
    ),
    "reserve": (lambda: reserve(-1), "must be a non negative number, but got -1"),
    "rows of a scalar": (lambda: rows(1.0), "rank"),
    "rows shape": (lambda: rows([1.0, 2.0], [3]), r"a list with shape \[3\]"),
    "gather outside": (lambda: gather(make(1.0), [1]), "gather element 1 in a list with 1"),
    "gather negative": (lambda: gather(make(1.0), [-1]), "gather element -1"),
    "gather nothing": (lambda: gather(make(1.0), SCALAR), "gather 0-elements"),
    "gather shapes": (lambda: gather(make([1.0], [1.0, 2.0]), [0, 1]), "Incompatible shapes"),
    "gather unwritten": (lambda: gather(reserve(2), [1]), "gather uninitialized tensors"),
    "scatter negative": (lambda: scatter([1.0], [-1], 3), "must all be non-negative"),
    "scatter count": (lambda: scatter([1.0, 2.0], [0], 3), "Expected: 1 Actual: 2"),
    "scatter outside": (lambda: scatter([1.0], [2], 2), "scatter at index 2 in list with size 2"),
    "scatter size": (lambda: scatter([1.0], [0], -2), "num_elements >= -1, found: -2"),
    "scatter shape": (lambda: scatter([1.0], [0], 3, [2]), r"a list with shape \[2\]"),
    "scatter into": (lambda: scatter_into(make(1.0), [5.0], [1, 0]), "saw: 2 vs. 1"),
    "scatter into negative": (lambda: scatter_into(make(1.0), [5.0], [-1]), "non-negative"),
    "concat scalars": (lambda: concat(make(1.0, 2.0)), "Concat saw a scalar shape at index 0"),
    "concat empty": (lambda: concat(make()), "must be fully defined when concating an empty"),
    "concat shapes": (lambda: concat(make([[1.0, 2.0]], [[1.0]])), "Incompatible shapes"),
    "concat unwritten": (lambda: concat(reserve(2, [-1, 3])), "leading_dims has only 0 elements"),
    "concat leading": (lambda: concat(reserve(2, [-1, 3]), leading=[1]), "has only 1 elements"),
    "concat wanted scalars": (lambda: concat(make([1.0]), SCALAR), "at least vectors"),
    "concat dtype": (lambda: concat(make([1.0]), dtype=tf.int32), "Invalid data types"),
    "concat wanted": (lambda: concat(make([1.0]), [2]), "Expected: 2 Actual: 1"),
    "split sum": (lambda: split([1.0, 2.0, 3.0], [1, 1]), "tensor: 3 Values used: 2"),
    "split more": (lambda: split([1.0, 2.0, 3.0], [1, 3]), r"Attempting to slice \[1, 4\]"),
    "split negative": (lambda: split([1.0, 2.0, 3.0], [3, -1, 1]), "lengths"),
    "split a scalar": (lambda: split(1.0, [1]), "rank"),
    "split lengths": (lambda: split([1.0], 1), "rank"),
    "split shape": (lambda: split([[1.0], [2.0]], [1, 1], [-1, 3]), r"element_shape \[\?,3\]"),
    "join dtype": (
        lambda: join(make(1.0), make(2, dtype=tf.int32)),
        r"input_b\[0\].dtype != element_dtype",
    ),
    "join shapes": (
        lambda: join(make([1.0], shape=[1]), make([1.0], shape=[-1])),
        r"Saw \[1\] vs. \[\?\]",
    ),
    "batch length": (lambda: push_batch([make(1.0), make(2.0)], [5.0]), "saw 1 vs. 2"),
    "batch of a scalar": (lambda: push_batch([make(1.0)], 5.0), "rank"),
    "batch dtype": (lambda: push_batch([make(1.0)], [5]), "Invalid data type at index 0"),
    "batch shape": (lambda: push_batch([make([1.0], shape=[1])], [[5.0, 6.0]]), "at index 0"),
    "no list": (lambda: length(tf.constant(1.0)), ""),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    run, text = ERRORS[name]
    with pytest.raises(INVALID) as raised:
        run()
    assert re.search(text, str(raised.value))


def test_lists_of_lists():
    nested = R.EmptyTensorList(element_shape=SCALAR, max_num_elements=-1, element_dtype=tf.variant)
    nested = push(push(nested, make(1.0, 2.0)), make(3.0))
    assert int(length(nested)) == 2
    inner = [get(nested, i, SCALAR, tf.variant) for i in range(2)]
    assert [stack(handle).numpy().tolist() for handle in inner] == [[1, 2], [3]]
    changed = put(nested, 0, push(inner[0], 9.0))
    assert stack(get(changed, 0, SCALAR, tf.variant)).numpy().tolist() == [1, 2, 9]
    assert stack(get(nested, 0, SCALAR, tf.variant)).numpy().tolist() == [1, 2]


GRADIENTS = {
    "stack": (lambda x: stack(push(make(3.0), x * x)) * [1.0, 2.0], 2.0, 8.0),
    "pop": (lambda x: pop(push(make(3.0), x * x))[1], 2.0, 4.0),
    "concat": (lambda x: concat(split(x, [1, 2]))[0] ** 2, [1.0, 2.0, 3.0], [2, 4, 6]),
    "concat v1": (
        lambda x: R.TensorListConcat(input_handle=split(x, [1, 2]), element_dtype=F)[0] ** 2,
        [1.0, 2.0, 3.0],
        [2, 4, 6],
    ),
    "split": (lambda x: get(split(x, [1, 2]), 1)[1] * 3.0, [1.0, 2.0, 3.0], [0, 0, 3]),
    "scatter": (lambda x: stack(scatter(x, [2, 0], 4)) ** 2, [1.0, 2.0], [2, 4]),
    "scatter v1": (
        lambda x: get(R.TensorListScatter(tensor=x, indices=[2, 0], element_shape=-1), 2) ** 2,
        [1.0, 2.0],
        [2, 0],
    ),
    "scatter into": (
        lambda x: stack(scatter_into(rows(x * 2.0), x[:1], [1])) ** 2,
        [1.0, 2.0],
        [10, 0],
    ),
    "gather": (lambda x: gather(rows(x), [1, 0]) ** 2, [1.0, 2.0], [2, 4]),
    # TensorFlow gives [0, 4] here: it forgets one of the two.
    "gather twice": (lambda x: gather(rows(x), [1, 1]) ** 2, [1.0, 2.0], [0, 8]),
    "get": (lambda x: get(rows(x), 1) ** 2, [1.0, 2.0], [0, 4]),
    "set": (lambda x: stack(put(rows(x), 0, x[1] * 3.0)) ** 2, [1.0, 2.0], [0, 40]),
    "set behind the end": (
        lambda x: stack(put(rows(x), 3, x[1] * 3.0, resize_if_index_out_of_bounds=True)) ** 2,
        [1.0, 2.0],
        [2, 40],
    ),
    "resize": (
        lambda x: stack(R.TensorListResize(input_handle=rows(x), size=1)) ** 2,
        [1.0, 2.0],
        [2, 0],
    ),
}


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name, staged):
    function, at, expected = GRADIENTS[name]

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(function(x))
        return tape.gradient(y, x)

    if staged:
        gradient = tf.function(gradient, autograph=False)
    np.testing.assert_allclose(gradient(tf.constant(at)).numpy(), expected)


def test_lists_have_no_gradient_through_a_join():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(stack(join(rows(x), make(1.0))))
    assert tape.gradient(y, x) is None


@pytest.mark.parametrize("growing", [False, True])
def test_gradients_of_a_loop_that_writes_a_list(growing):
    @tf.function
    def gradient(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            handle = put(reserve(1 if growing else 4), 0, x)
            y = x
            for i in tf.range(1, n):
                y = y * x
                handle = put(handle, i, y, resize_if_index_out_of_bounds=growing)
            z = tf.reduce_sum(stack(handle))
        return tape.gradient(z, x)

    # x + x^2 + x^3 + x^4
    assert float(gradient(tf.constant(2.0), tf.constant(4))) == 1 + 2 * 2 + 3 * 4 + 4 * 8
