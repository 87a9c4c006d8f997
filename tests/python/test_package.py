import graphwright


def test_version_comes_from_the_core():
    assert graphwright.__version__.count(".") == 2
