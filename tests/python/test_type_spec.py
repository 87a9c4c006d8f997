"""tf.TensorSpec and tf.TypeSpec. What is expected was recorded from TensorFlow 2.21."""

import copy
import pickle

import numpy as np
import pytest

import graphwright as tf
from graphwright import dtypes
from graphwright._core import TensorShape
from graphwright.trace_type import TraceType
from graphwright.type_spec import BoundedTensorSpec, TensorSpec, TypeSpec, type_spec_from_value

A = TensorSpec([2, None], dtypes.float32, "x")
B = TensorSpec([2, 3])
U = TensorSpec(None, "int32")


def test_attributes_and_text():
    assert repr(A) == str(A) == "TensorSpec(shape=(2, None), dtype=tf.float32, name='x')"
    assert repr(B) == "TensorSpec(shape=(2, 3), dtype=tf.float32, name=None)"
    assert repr(U) == "TensorSpec(shape=<unknown>, dtype=tf.int32, name=None)"
    assert TensorSpec(shape=[1], dtype=np.int8).dtype == dtypes.int8
    assert (A.shape, A.dtype, A.name) == (TensorShape([2, None]), dtypes.float32, "x")
    assert isinstance(A, TypeSpec)
    assert isinstance(A, TraceType)
    assert isinstance(dtypes.float32, TraceType)


def test_bad_arguments():
    with pytest.raises(TypeError):
        TensorSpec()
    with pytest.raises(TypeError):
        TensorSpec([1], None)
    with pytest.raises(TypeError):
        TensorSpec("ab", dtypes.float32)
    with pytest.raises(TypeError):
        TensorSpec([1], "foo")
    with pytest.raises(TypeError):
        TypeSpec()


def test_equality():
    assert TensorSpec([2, None], dtypes.float32, "x") == A
    for other in (TensorSpec([2, None]), TensorSpec([2, None], dtypes.float32, "y"), B, 5):
        assert other != A
    assert hash(A) == hash(TensorSpec([2, None]))
    for copied in (copy.copy(A), copy.deepcopy(A), pickle.loads(pickle.dumps(A))):
        assert copied == A
    A_with_attribute = copy.copy(A)
    A_with_attribute.foo = 1
    assert A_with_attribute.foo == 1


def test_compatibility_and_subtypes():
    assert A.is_compatible_with(B)
    assert B.is_compatible_with(A)
    assert not A.is_compatible_with(TensorSpec([3, 3]))
    assert not A.is_compatible_with(TensorSpec([2, 3], dtypes.int32))
    assert not A.is_compatible_with(np.zeros([2, 3], np.float32))
    assert not A.is_compatible_with(5)
    named = TensorSpec([2, 3], dtypes.float32, "q")
    assert not A.is_subtype_of(B)
    assert B.is_subtype_of(A)
    assert B.is_subtype_of(named)
    assert not named.is_subtype_of(B)
    assert A.most_specific_common_supertype([B]) is None
    assert A.most_specific_common_supertype([U]) is None
    five = TensorSpec([2, 5], dtypes.float32, "x")
    assert A.most_specific_common_supertype([five]) == A
    assert B.most_specific_compatible_type(TensorSpec([2, 5])) == TensorSpec([2, None])
    with pytest.raises(ValueError, match="No TypeSpec is compatible with both"):
        A.most_specific_compatible_type(B)


def test_relatives():
    assert TensorSpec.from_spec(A) == A
    assert TensorSpec.from_spec(A, name="k").name == "k"
    with pytest.raises(AttributeError):
        TensorSpec.from_spec(5)
    assert A._serialize() == (TensorShape([2, None]), dtypes.float32, "x")
    assert TensorSpec._deserialize(A._serialize()) == A
    assert A._flat_tensor_specs == A.flatten() == [A]
    assert A._component_specs is A
    assert A._batch(4) == TensorSpec([4, 2, None])
    assert A._unbatch() == TensorSpec([None])
    with pytest.raises(ValueError):
        TensorSpec([])._unbatch()
    assert A._with_tensor_ranks_only() == TensorSpec([None, None], dtypes.float32, "x")
    assert A._without_tensor_names() == TensorSpec([2, None])


def test_bounded():
    spec = BoundedTensorSpec([2], dtypes.float32, 0.0, 1.0, "n")
    assert repr(spec) == (
        "BoundedTensorSpec(shape=(2,), dtype=tf.float32, name='n', "
        "minimum=array(0., dtype=float32), maximum=array(1., dtype=float32))"
    )
    assert isinstance(spec, TensorSpec)
    assert spec == BoundedTensorSpec([2], "float32", 0, 1, "n")
    assert spec != TensorSpec([2], dtypes.float32, "n")
    assert TensorSpec([2], dtypes.float32, "n") != spec
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert BoundedTensorSpec([2], "int32", [0, 1], 5).minimum.tolist() == [0, 1]
    limits = BoundedTensorSpec.from_spec(A)
    assert limits.maximum == np.finfo(np.float32).max
    assert BoundedTensorSpec.from_spec(spec) == spec
    with pytest.raises(ValueError, match="can not be None"):
        BoundedTensorSpec([2], dtypes.float32, None, 1.0)
    with pytest.raises(ValueError, match="not compatible with shape"):
        BoundedTensorSpec([2], dtypes.float32, [0.0, 0.0, 0.0], 1.0)


class _Ragged(TypeSpec):
    def __init__(self, shape, dtype, tag="t"):
        self._parts = (TensorShape(shape), dtypes.as_dtype(dtype), tag)

    value_type = property(lambda self: object)

    def _serialize(self):
        return self._parts

    @property
    def _component_specs(self):
        return TensorSpec(self._parts[0], self._parts[1])

    def _to_components(self, value):
        return value

    def _from_components(self, components):
        return components


def test_kinds_of_other_packages():
    spec = _Ragged([2, None], "int32")
    assert spec == _Ragged([2, None], dtypes.int32)
    assert hash(spec) == hash(_Ragged([2, None], "int32"))
    assert spec != _Ragged([2, 3], "int32")
    assert repr(spec) == "_Ragged(TensorShape([2, None]), tf.int32, 't')"
    assert spec.is_compatible_with(_Ragged([2, 3], "int32"))
    assert not spec.is_compatible_with(_Ragged([2, 3], "int64"))
    assert not spec.is_compatible_with(_Ragged([2, 3], "int32", "other"))
    assert _Ragged([2, 3], "int32").is_subtype_of(spec)
    assert not spec.is_subtype_of(_Ragged([2, 3], "int32"))
    assert spec.most_specific_common_supertype([_Ragged([4, 3], "int32")]) == _Ragged(
        [None, None], "int32"
    )
    assert spec.most_specific_common_supertype([_Ragged([4, 3], "int64")]) is None
    assert spec._with_tensor_ranks_only() == _Ragged([None, None], "int32")
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_specs_have_no_spec():
    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        type_spec_from_value(A)


def test_specs_of_values():
    assert type_spec_from_value(tf.zeros([2])) == TensorSpec([2])
    assert type_spec_from_value(5) == TensorSpec([], "int32")
    assert type_spec_from_value(np.zeros([2])) == TensorSpec([2], "float64")
    assert type_spec_from_value([1, 2]) == TensorSpec([2], "int32")
    assert type_spec_from_value("a") == TensorSpec([], "string")
    assert type_spec_from_value((tf.zeros([2]),)) == TensorSpec([1, 2])
    assert repr(type_spec_from_value(None)) == "NoneTensorSpec()"
    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        type_spec_from_value(object())


def test_specs_and_tensors():
    assert TensorSpec.from_tensor(tf.zeros([2])) == TensorSpec([2])
    assert TensorSpec.from_tensor(tf.zeros([2]), name="w").name == "w"
    with pytest.raises(ValueError):
        TensorSpec.from_tensor(5)
    assert A.value_type is tf.Tensor
    assert A.is_compatible_with(tf.zeros([2, 3]))
    assert not A.is_compatible_with(tf.zeros([3, 3]))
    assert not A.is_compatible_with(tf.zeros([2, 3], tf.int32))
    value = tf.zeros([2, 1])
    assert A._to_components(value) is value
    assert A._to_tensor_list(value)[0] is value
    assert A._from_tensor_list([value]) is value
    with pytest.raises(ValueError, match="item 0"):
        A._from_tensor_list([tf.zeros([2])])
    assert B.cast([[1, 2, 3], [4, 5, 6]], None).dtype == tf.float32
