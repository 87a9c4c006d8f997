"""tf.TensorShape. What is expected was recorded from TensorFlow 2.21."""

import copy
import pickle

import numpy as np
import pytest

from graphwright._core import Dimension
from graphwright._core import TensorShape as S

KNOWN = S([1, 2, 3])
PARTIAL = S([1, None, 3])
UNKNOWN = S(None)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "TensorShape(None)"),
        ([], "TensorShape([])"),
        ([1, None], "TensorShape([1, None])"),
        ((3,), "TensorShape([3])"),
        (5, "TensorShape([5])"),
        ([np.int64(3)], "TensorShape([3])"),
        (np.array([1, 2]), "TensorShape([1, 2])"),
        (np.int32(4), "TensorShape([4])"),
        (range(3), "TensorShape([0, 1, 2])"),
        (iter([1, 2]), "TensorShape([1, 2])"),
        (Dimension(3), "TensorShape([3])"),
        ([Dimension(None)], "TensorShape([None])"),
        (S([1]), "TensorShape([1])"),
    ],
)
def test_construction(value, text):
    assert repr(S(value)) == text


@pytest.mark.parametrize("value", [[-1], -1, [1, -2]])
def test_negative_dimensions(value):
    with pytest.raises(ValueError, match="must be >= 0"):
        S(value)


@pytest.mark.parametrize("value", [[1.5], 1.5, "ab", ["a"], object(), [[1]], np.array([1.5])])
def test_no_shapes(value):
    with pytest.raises(TypeError):
        S(value)


def test_text():
    assert str(KNOWN) == "(1, 2, 3)"
    assert str(PARTIAL) == "(1, None, 3)"
    assert str(UNKNOWN) == "<unknown>"
    assert str(S([5])) == "(5,)"
    assert str(S([])) == "()"
    assert f"{KNOWN}" == "(1, 2, 3)"


def test_rank_and_length():
    assert (KNOWN.rank, KNOWN.ndims, len(KNOWN)) == (3, 3, 3)
    assert UNKNOWN.rank is None
    assert UNKNOWN.dims is None
    assert repr(PARTIAL.dims) == "[Dimension(1), Dimension(None), Dimension(3)]"
    assert bool(S([]))
    assert not bool(UNKNOWN)
    assert list(PARTIAL) == [1, None, 3]
    assert list(reversed(KNOWN)) == [3, 2, 1]
    assert 5 not in KNOWN
    assert None in PARTIAL
    for function in (len, list, S.as_list):
        with pytest.raises(ValueError):
            function(UNKNOWN)
    assert np.zeros(KNOWN).shape == (1, 2, 3)


def test_indexing():
    assert (KNOWN[0], PARTIAL[1], KNOWN[-1], KNOWN[np.int64(1)]) == (1, None, 3, 2)
    assert type(KNOWN[0]) is int
    assert repr(KNOWN[0:2]) == "TensorShape([1, 2])"
    assert repr(KNOWN[::2]) == "TensorShape([1, 3])"
    assert UNKNOWN[0] is None
    assert repr(UNKNOWN[0:2]) == "TensorShape([None, None])"
    assert repr(UNKNOWN[2:1]) == "TensorShape([])"
    for unknown in (UNKNOWN[1:], UNKNOWN[:], UNKNOWN[:-1], UNKNOWN[-2:]):
        assert repr(unknown) == "TensorShape(None)"
    with pytest.raises(ValueError, match="Steps"):
        _ = UNKNOWN[::2]
    for index in (5, -4):
        with pytest.raises(IndexError):
            _ = KNOWN[index]
    for index in ("x", 1.0):
        with pytest.raises(TypeError):
            _ = KNOWN[index]


def test_element_counts():
    assert KNOWN.num_elements() == 6
    assert PARTIAL.num_elements() is None
    assert UNKNOWN.num_elements() is None
    assert S([2**40, 2**40]).num_elements() == 2**80
    assert (KNOWN.is_fully_defined(), PARTIAL.is_fully_defined()) == (True, False)


def test_equality():
    assert KNOWN == [1, 2, 3]
    assert (1, 2, 3) == KNOWN
    assert KNOWN == np.array([1, 2, 3])
    assert PARTIAL == [1, None, 3]
    assert S(None) == UNKNOWN
    assert (UNKNOWN == None) is True  # noqa: E711
    assert (KNOWN == None) is False  # noqa: E711
    assert S([5]) == 5
    for other in (PARTIAL, UNKNOWN, "abc", 5, [1, "x", 3], [1, 2, 3.5], object()):
        assert KNOWN != other
        assert not KNOWN == other  # noqa: SIM201
    assert hash(KNOWN) == hash(S([1, 2, 3]))
    for copied in (copy.copy(PARTIAL), copy.deepcopy(PARTIAL), pickle.loads(pickle.dumps(PARTIAL))):
        assert copied == PARTIAL
    with pytest.raises(TypeError):
        _ = KNOWN < PARTIAL


def test_concatenation():
    assert repr(KNOWN + [4]) == "TensorShape([1, 2, 3, 4])"
    assert repr([4] + KNOWN) == "TensorShape([4, 1, 2, 3])"
    assert repr(KNOWN + 4) == "TensorShape([1, 2, 3, 4])"
    assert repr(KNOWN + (4, None)) == "TensorShape([1, 2, 3, 4, None])"
    assert repr(KNOWN.concatenate(5)) == "TensorShape([1, 2, 3, 5])"
    assert repr(UNKNOWN + KNOWN) == repr(KNOWN + UNKNOWN) == "TensorShape(None)"
    with pytest.raises(TypeError):
        _ = KNOWN + "x"


def test_merging_and_supertypes():
    assert repr(KNOWN.merge_with(PARTIAL)) == "TensorShape([1, 2, 3])"
    assert repr(UNKNOWN.merge_with(KNOWN)) == "TensorShape([1, 2, 3])"
    for other in ([1, 2], [1, 2, 4]):
        with pytest.raises(ValueError, match="are not compatible"):
            KNOWN.merge_with(other)
    assert KNOWN.is_compatible_with(PARTIAL)
    assert KNOWN.is_compatible_with(UNKNOWN)
    assert not KNOWN.is_compatible_with([1, 2])
    assert KNOWN.is_subtype_of(PARTIAL)
    assert KNOWN.is_subtype_of(UNKNOWN)
    assert not PARTIAL.is_subtype_of(KNOWN)
    assert not UNKNOWN.is_subtype_of(KNOWN)
    assert repr(KNOWN.most_specific_compatible_shape([1, 5, 3])) == "TensorShape([1, None, 3])"
    assert repr(KNOWN.most_specific_compatible_shape([1])) == "TensorShape(None)"
    assert KNOWN.most_specific_common_supertype([PARTIAL]) == PARTIAL
    assert KNOWN.most_specific_common_supertype([[1]]) is None


def test_assertions():
    KNOWN.assert_has_rank(3)
    UNKNOWN.assert_has_rank(3)
    KNOWN.assert_is_fully_defined()
    assert repr(UNKNOWN.with_rank(2)) == "TensorShape([None, None])"
    assert repr(UNKNOWN.with_rank_at_least(4)) == "TensorShape(None)"
    assert KNOWN.with_rank_at_most(4) == KNOWN
    for call in (
        lambda: KNOWN.assert_has_rank(2),
        lambda: KNOWN.with_rank(2),
        lambda: KNOWN.with_rank_at_least(4),
        lambda: KNOWN.with_rank_at_most(2),
        lambda: KNOWN.assert_same_rank([1]),
        lambda: KNOWN.assert_is_compatible_with([1]),
        lambda: PARTIAL.assert_is_fully_defined(),
    ):
        with pytest.raises(ValueError, match="Shapes? \\(1, (2|None), 3\\)"):
            call()
