"""tf.nest. What is expected was recorded from TensorFlow 2.21."""

import array
import collections
import dataclasses
import types
import typing
from collections import OrderedDict, defaultdict, namedtuple

import numpy as np
import pytest

from graphwright import nest
from graphwright._core import TensorShape
from graphwright.type_spec import CompositeTensor, TensorSpec, TypeSpec

Point = namedtuple("Point", "a b")
OtherPoint = namedtuple("OtherPoint", "a b")


@dataclasses.dataclass
class Masked:
    x: typing.Any
    y: typing.Any
    tag: str = "m"

    def __tf_flatten__(self):
        return (self.tag,), (self.x, self.y)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(*components, tag=metadata[0])


@dataclasses.dataclass
class PlainDataclass:
    x: int


class AttrsLike:
    """What the attrs package makes: a class with a tuple of attributes that have names."""

    __attrs_attrs__ = (types.SimpleNamespace(name="x"), types.SimpleNamespace(name="y"))

    def __init__(self, x, y):
        self.x = x
        self.y = y


class MyList(list):
    pass


class MyTuple(tuple):
    pass


class MyDict(dict):
    pass


class MyMapping(collections.abc.Mapping):
    def __init__(self, items):
        self.items_ = dict(items)

    def __getitem__(self, key):
        return self.items_[key]

    def __iter__(self):
        return iter(self.items_)

    def __len__(self):
        return len(self.items_)


class PairSpec(TypeSpec):
    def __init__(self, tag):
        self.tag = tag

    value_type = property(lambda self: Pair)

    def _serialize(self):
        return (self.tag,)

    @property
    def _component_specs(self):
        return [TensorSpec([1]), {"second": TensorSpec([2])}]

    def _to_components(self, value):
        return [value.first, {"second": value.second}]

    def _from_components(self, components):
        return Pair(components[0], components[1]["second"], self.tag)


class Pair(CompositeTensor):
    def __init__(self, first, second, tag="t"):
        self.first, self.second, self.tag = first, second, tag

    @property
    def _type_spec(self):
        return PairSpec(self.tag)


@pytest.mark.parametrize(
    ("structure", "leaves"),
    [
        (1, [1]),
        (None, [None]),
        ([], []),
        ([1, (2, [3])], [1, 2, 3]),
        ({"b": 1, "a": 2}, [2, 1]),
        (OrderedDict([("b", 1), ("a", 2)]), [2, 1]),
        (defaultdict(list, {"b": 1, "a": 2}), [2, 1]),
        ({(1, 2): 1, (0, 5): 2}, [2, 1]),
        (Point(1, [2, 3]), [1, 2, 3]),
        (MyList([1, 2]), [1, 2]),
        (MyTuple((1, 2)), [1, 2]),
        (MyMapping({"b": 1, "a": 2}), [2, 1]),
        (Masked(1, [2]), [1, 2]),
        (PlainDataclass(1), [PlainDataclass(1)]),
        (AttrsLike(1, (2, 3)), [1, 2, 3]),
        ({1, 2}, [{1, 2}]),
        ("abc", ["abc"]),
        (b"ab", [b"ab"]),
        (range(3), [0, 1, 2]),
        ({"a": 1}.items(), ["a", 1]),
        ({"b": 1, "a": [2, 3]}.values(), [1, 2, 3]),
        ({"b": 1, "a": 2}.keys(), ["b", "a"]),
        (collections.deque([1, 2]), [1, 2]),
        (types.MappingProxyType({"b": 1, "a": 2}), [2, 1]),
        (collections.UserDict({"b": 1, "a": 2}), [2, 1]),
        (collections.UserList([1, 2]), [1, 2]),
        (collections.ChainMap({"b": 1}, {"a": 2}), [2, 1]),
        (slice(1, 2), [slice(1, 2)]),
        ([[], ()], []),
        ([None, {}], [None]),
        (array.array("i", [1]), [1]),
        (TensorShape([1, 2]), [TensorShape([1, 2])]),
    ],
)
def test_flatten(structure, leaves):
    assert nest.flatten(structure) == leaves
    assert nest.is_nested(structure) == (not (len(leaves) == 1 and leaves[0] is structure)) or (
        leaves == [structure] and not nest.is_nested(structure)
    )


def test_arrays_are_leaves():
    value = np.zeros(2)
    assert nest.flatten(value)[0] is value
    assert not nest.is_nested(value)


def test_keys_must_be_sortable():
    with pytest.raises(TypeError):
        nest.flatten({1: 1, "a": 2})


def test_a_structure_that_contains_itself_is_an_error():
    loop = []
    loop.append(loop)
    with pytest.raises(RecursionError):
        nest.flatten(loop)


@pytest.mark.parametrize(
    ("structure", "flat", "packed"),
    [
        (5, [1], 1),
        ([5], [1], [1]),
        ([5, (6, {"b": 7, "a": 8})], [1, 2, 3, 4], [1, (2, {"b": 4, "a": 3})]),
        (Point(1, 2), [3, 4], Point(3, 4)),
        (MyList([1, 2]), (3, 4), MyList([3, 4])),
        (MyTuple((1, 2)), (3, 4), MyTuple((3, 4))),
        (MyDict(a=1), [2], MyDict(a=2)),
        (Masked(1, [2]), [5, 6], Masked(5, [6], "m")),
        ([1, [2, 3]], range(3), [0, [1, 2]]),
        ({"b": 1, "a": 2}.values(), [3, 4], [3, 4]),
        ({"b": 1, "a": 2}.items(), [3, 4, 5, 6], [(3, 4), (5, 6)]),
        ([], [], []),
        ([[], [1]], [7], [[], [7]]),
        ([1, 2], [[1], [2]], [[1], [2]]),
        (None, [3], 3),
        ("ab", ["x"], "x"),
    ],
)
def test_pack_sequence_as(structure, flat, packed):
    result = nest.pack_sequence_as(structure, flat)
    assert result == packed
    assert type(result) is type(packed)


def test_packing_keeps_the_order_of_keys_and_default_factories():
    packed = nest.pack_sequence_as(OrderedDict([("b", 1), ("a", 2)]), [10, 20])
    assert list(packed.items()) == [("b", 20), ("a", 10)]
    assert list(nest.pack_sequence_as({"b": 1, "a": 2}, [10, 20])) == ["b", "a"]
    packed = nest.pack_sequence_as(defaultdict(list, b=1, a=2), [10, 20])
    assert packed == {"a": 10, "b": 20}
    assert packed.default_factory is list
    packed = nest.pack_sequence_as(AttrsLike(1, 2), [3, 4])
    assert (packed.x, packed.y) == (3, 4)


@pytest.mark.parametrize(
    ("structure", "flat", "error"),
    [
        ([1, 2], [1], ValueError),
        ([1, 2], [1, 2, 3], ValueError),
        (1, [1, 2], ValueError),
        (1, [], ValueError),
        ([1, 2], 5, TypeError),
        ([1, 2], "ab", TypeError),
        ([1, 2], np.array([1, 2]), TypeError),
        ([1, 2], (x for x in [1, 2]), TypeError),
    ],
)
def test_pack_sequence_as_errors(structure, flat, error):
    with pytest.raises(error):
        nest.pack_sequence_as(structure, flat)


def test_map_structure():
    assert nest.map_structure(lambda x: x + 1, [1, (2,)]) == [2, (3,)]
    add = nest.map_structure(lambda x, y: x + y, [1, {"a": 2}], [3, {"a": 4}])
    assert add == [4, {"a": 6}]
    assert nest.map_structure(lambda x, y: x + y, [1], (1,), check_types=False) == [2]
    assert nest.map_structure(lambda x, y: (x, y), {"a": 1}, OrderedDict(a=2)) == {"a": (1, 2)}
    assert nest.map_structure(lambda x: [x], [1, 2]) == [[1], [2]]
    assert nest.map_structure(lambda x, y: x + y, Masked(1, 2, "p"), Masked(3, 4, "q")) == Masked(
        4, 6, "p"
    )
    with pytest.raises(ZeroDivisionError):
        nest.map_structure(lambda x: 1 / 0, [1])
    with pytest.raises(ValueError, match="at least one structure"):
        nest.map_structure(lambda x: x)
    with pytest.raises(TypeError, match="must be callable, got: 5"):
        nest.map_structure(5, [1])
    with pytest.raises(ValueError, match="not: `foo`"):
        nest.map_structure(lambda x: x, [1], foo=1)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, 2),
        ([1], [2]),
        ({"a": 1}, OrderedDict(a=1)),
        ([1], MyList([1])),
        ({"a": 1}, MyMapping({"a": 1})),
        (Masked(1, 2, "a"), Masked(3, 4, "b")),
        ("abc", "d"),
        (np.zeros(2), np.zeros(3)),
        (None, 1),
        (namedtuple("Point", "a b")(1, 2), Point(1, 2)),
        ({}.items(), {}.items()),
        (AttrsLike(1, 2), AttrsLike(3, 4)),
    ],
)
def test_same_structure(first, second):
    nest.assert_same_structure(first, second)


@pytest.mark.parametrize(
    ("first", "second", "error"),
    [
        ([1], 2, ValueError),
        (1, [2], ValueError),
        ([1], [1, 2], ValueError),
        ([1, 2], [1], ValueError),
        ([1], (1,), TypeError),
        ([1, [2]], [1, 2], ValueError),
        ({"a": 1}, {"b": 1}, ValueError),
        ({"a": 1}, {"a": 1, "b": 2}, ValueError),
        (Point(1, 2), OtherPoint(1, 2), TypeError),
        (Point(1, 2), (1, 2), TypeError),
        ((1,), MyTuple((1,)), TypeError),
        (namedtuple("Point", "a c")(1, 2), Point(1, 2), TypeError),
        (Masked(1, 2), 5, ValueError),
        (Masked(1, 2), (1, 2), TypeError),
        ("abc", [1, 2, 3], ValueError),
        ({1: 1}, {"a": 1}, ValueError),
        ([], (), TypeError),
        ([], {}, TypeError),
        ({"a": 1}.values(), [1], TypeError),
    ],
)
def test_different_structures(first, second, error):
    with pytest.raises(error, match="don't have the same nested structure"):
        nest.assert_same_structure(first, second)


def test_types_need_not_agree_where_they_are_not_checked():
    nest.assert_same_structure([1], (1,), check_types=False)
    with pytest.raises(ValueError):
        nest.assert_same_structure([1, 2, 3], [1, 2, [3]], check_types=False)


def test_composites():
    pair = Pair(1, 2)
    assert nest.flatten([pair, 3]) == [pair, 3]
    assert nest.flatten([pair, 3], expand_composites=True) == [1, 2, 3]
    packed = nest.pack_sequence_as([pair, 3], [4, 5, 6], expand_composites=True)
    assert (packed[0].first, packed[0].second, packed[0].tag, packed[1]) == (4, 5, "t", 6)
    specs = nest.flatten(PairSpec("t"), expand_composites=True)
    assert specs == [TensorSpec([1]), TensorSpec([2])]
    assert nest.flatten(TensorSpec([1]), expand_composites=True) == [TensorSpec([1])]
    nest.assert_same_structure(pair, Pair(7, 8), expand_composites=True)
    with pytest.raises(ValueError):
        nest.assert_same_structure(pair, 1, expand_composites=True)
    doubled = nest.map_structure(lambda x: 2 * x, pair, expand_composites=True)
    assert (doubled.first, doubled.second) == (2, 4)
