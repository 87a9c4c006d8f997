"""tf.TensorArray outside of functions: values, errors and classes recorded from TensorFlow 2.21."""

import numpy as np
import pytest

import graphwright as tf


def array(dtype=tf.float32, size=3, **options):
    return tf.TensorArray(dtype, size, **options)


def test_write_changes_the_array_and_returns_it():
    ta = array()
    assert ta.write(0, [1.0, 2.0]) is ta
    assert ta.element_shape == [2]
    np.testing.assert_array_equal(ta.stack().numpy(), [[1, 2], [0, 0], [0, 0]])
    assert ta.size().dtype == tf.int32
    assert int(ta.size()) == 3
    np.testing.assert_array_equal(ta.read(1).numpy(), [0, 0])


def test_properties():
    ta = array()
    assert ta.dtype == tf.float32
    assert ta.element_shape.rank is None
    assert ta.dynamic_size is False
    assert array(dynamic_size=True).dynamic_size is True
    assert ta.handle is None
    assert int(ta.flow) == 0
    assert ta.identity() is ta
    assert isinstance(ta, tf.TensorArray)
    assert not tf.is_tensor(ta)
    assert int(tf.TensorArray(tf.float32, tf.constant(2)).size()) == 2
    assert int(array(size=-1).size()) == 0


def test_reading():
    np.testing.assert_array_equal(array(element_shape=[2]).read(0).numpy(), [0, 0])
    ta = array().unstack([1.0, 2.0, 3.0])
    assert float(ta.read(tf.constant(1))) == 2
    assert float(ta.read(np.int64(2))) == 3
    with pytest.raises(TypeError):
        ta.read(1.0)
    with pytest.raises(ValueError, match="partially known TensorShape <unknown>"):
        array().read(0)


def test_an_element_can_be_read_once_unless_it_is_kept():
    ta = array().write(0, 1.0)
    ta.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read index 0 twice"):
        ta.read(0)
    np.testing.assert_array_equal(ta.stack().numpy(), [0, 0, 0])  # what was read is cleared
    ta = array().write(0, 1.0)
    ta.read(0)
    assert float(ta.write(0, 5.0).read(0)) == 5
    ta = array(clear_after_read=False).write(0, 1.0)
    assert [float(ta.read(0)), float(ta.read(0))] == [1, 1]


@pytest.mark.parametrize(
    "run, error, text",
    [
        (lambda: array().read(-1), tf.errors.OutOfRangeError, "Reading from negative indices"),
        (lambda: array().read(3), tf.errors.OutOfRangeError, "index 3 but array size is: 3"),
        (lambda: array().write(3, 1.0), tf.errors.OutOfRangeError, "not resizeable and size is: 3"),
        (lambda: array().write(-1, 1.0), tf.errors.OutOfRangeError, "Writing to negative indices"),
        (
            lambda: array().write(0, tf.constant(1)),
            tf.errors.InvalidArgumentError,
            "dtype is float32 but Op is trying to write dtype int32",
        ),
        (lambda: array().write(0, "a"), tf.errors.InvalidArgumentError, "write dtype string"),
        (
            lambda: array(tf.int32).write(0, 1.5),
            tf.errors.InvalidArgumentError,
            "write dtype float32",
        ),
        (
            lambda: array().write(0, 1.0).write(1, [1.0]),
            ValueError,
            r"Incompatible shape for value \(\(1,\)\), expected \(\(\)\)",
        ),
        (lambda: array(element_shape=[2]).write(0, [1.0]), ValueError, "Incompatible shape"),
        (lambda: tf.TensorArray(tf.float32), ValueError, "Size must be declared"),
        (lambda: tf.TensorArray(tf.float32, 1.5), TypeError, "float"),
        (
            lambda: tf.TensorArray(tf.float32, 2, handle=tf.constant(1)),
            ValueError,
            "handles are not supported",
        ),
        (lambda: array().stack(), ValueError, "partially known TensorShape"),
        (lambda: array().unstack([1.0, 2.0, 3.0, 4.0]), ValueError, "Cannot unstack 4 tensors"),
        (lambda: array().unstack(1.0), ValueError, "first dimension"),
        (lambda: array().unstack([1.0, 2.0, 3.0]).gather([3]), IndexError, "out of range"),
        (lambda: array().scatter([3], [1.0]), tf.errors.OutOfRangeError, "index 3"),
        (
            lambda: array().split([1.0, 2.0, 3.0], [1, 0, 1]),
            tf.errors.InvalidArgumentError,
            r"sum of lengths is 2 and value's shape is: \[3\]",
        ),
        (
            lambda: array().split([1.0, 2.0, 3.0], [1, 2]),
            tf.errors.InvalidArgumentError,
            r"size of lengths \(3 vs. 2\)",
        ),
        (
            lambda: array().split(1.0, [1, 1, 1]),
            tf.errors.InvalidArgumentError,
            "at least a vector",
        ),
        (lambda: array().split([1.0], 1), tf.errors.InvalidArgumentError, "lengths to be a vector"),
        (
            lambda: array().unstack([1.0, 2.0, 3.0]).concat(),
            tf.errors.InvalidArgumentError,
            "Concat saw a scalar shape at index 0",
        ),
        (lambda: array(size=0).concat(), tf.errors.InvalidArgumentError, "without elements"),
        (lambda: array().grad("source"), NotImplementedError, "not supported"),
        (lambda: tf.convert_to_tensor(array()), ValueError, "unsupported type"),
    ],
)
def test_errors(run, error, text):
    with pytest.raises(error, match=text):
        run()


def test_growing():
    ta = array(dynamic_size=True).write(5, 1.0)
    np.testing.assert_array_equal(ta.stack().numpy(), [0, 0, 0, 0, 0, 1])


def test_elements_of_differing_shapes():
    ta = array(size=2, infer_shape=False).write(0, [1.0, 2.0]).write(1, [3.0])
    assert ta.element_shape.rank is None
    np.testing.assert_array_equal(ta.concat().numpy(), [1, 2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError):
        ta.stack()


def test_gather_unstack_scatter_split():
    ta = array().unstack([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(ta.gather([2, 0]).numpy(), [3, 1])
    np.testing.assert_array_equal(ta.gather([-1]).numpy(), [3])  # as Python counts
    assert ta.gather([]).shape == [0]
    ta = array().unstack([1.0, 2.0])  # fewer rows: smaller
    assert int(ta.size()) == 2
    assert ta.element_shape.rank is None
    np.testing.assert_array_equal(array().scatter([2, 0], [1.0, 2.0]).stack().numpy(), [2, 0, 1])
    ta = array().split([1.0, 2.0, 3.0], [1, 0, 2])
    assert [ta.read(i).numpy().tolist() for i in range(3)] == [[1], [], [2, 3]]
    ta = array(dynamic_size=True).split([1.0, 2.0, 3.0], [1, 2])
    assert int(ta.size()) == 2
    np.testing.assert_array_equal(ta.concat().numpy(), [1, 2, 3])


@pytest.mark.parametrize(
    "change",
    [
        lambda ta, x: ta.unstack(x),
        lambda ta, x: ta.scatter([0, 1, 2], x),
        lambda ta, x: ta.split(x, [1, 1, 1]),
    ],
)
def test_dtypes_are_never_mixed(change):  # TensorFlow mixes them
    with pytest.raises(tf.errors.InvalidArgumentError, match="trying to write dtype int32"):
        change(array(), tf.constant([1, 2, 3]))
    np.testing.assert_array_equal(change(array(), [1, 2, 3]).read(1).numpy().ravel(), [2])


def test_empty_arrays():
    assert array(size=0).stack().shape == [0]
    assert array(size=0, element_shape=[2]).stack().shape == [0, 2]
    ta = array().unstack([1.0, 2.0, 3.0])
    assert ta.close() is None
    assert int(ta.size()) == 0


def test_other_dtypes():
    assert array(tf.string, 2).write(0, "x").stack().numpy().tolist() == [b"x", b""]
    assert array(tf.bool, 2).write(0, True).stack().numpy().tolist() == [True, False]
    assert array("int64", 1).write(0, 7).stack().dtype == tf.int64


def test_gradients():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        ta = array().write(0, x * x).write(1, x)
        y = tf.reduce_sum(ta.stack() * [1.0, 2.0, 3.0])
    assert float(tape.gradient(y, x)) == 6


def test_specs():
    assert (
        repr(tf.TensorArraySpec()) == "TensorArraySpec(TensorShape(None), tf.float32, False, True)"
    )
    spec = tf.type_spec_from_value(array(element_shape=[2], dynamic_size=True))
    assert spec == tf.TensorArraySpec([2], tf.float32, True, True)
    assert tf.TensorArraySpec().value_type is tf.TensorArray
    assert tf.TensorArraySpec([2]).is_compatible_with(tf.TensorArraySpec([None]))
    assert tf.TensorArraySpec([2]).is_compatible_with(array())
    assert not tf.TensorArraySpec([2]).is_compatible_with(tf.TensorArraySpec([2], tf.int32))
    assert tf.TensorArraySpec([2]).is_subtype_of(tf.TensorArraySpec([3]))
    ta = array()
    assert tf.nest.flatten([ta], expand_composites=True) == [ta]


def test_an_array_made_of_a_list_value():
    handle = tf.raw_ops.TensorListFromTensor(
        tensor=[1.0, 2.0], element_shape=tf.constant([], tf.int32)
    )
    ta = tf.TensorArray(tf.float32, flow=handle)
    np.testing.assert_array_equal(ta.stack().numpy(), [1, 2])
    changed = ta.write(0, 5.0)
    assert changed is not ta
    np.testing.assert_array_equal(ta.stack().numpy(), [1, 2])
    np.testing.assert_array_equal(changed.stack().numpy(), [5, 2])
    assert int(changed.size()) == 2
    with pytest.raises(ValueError, match="Cannot provide both `flow` and `size`"):
        tf.TensorArray(tf.float32, 2, flow=handle)
