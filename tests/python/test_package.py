import sys

import graphwright
import graphwright as tf


def test_version_comes_from_the_core():
    assert graphwright.__version__.count(".") == 2


def test_inner_modules_are_no_public_names():
    import graphwright.gradients as inner

    assert inner.GradientTape is tf.GradientTape
    assert not hasattr(tf, "gradients")
    assert tf.nest is sys.modules["graphwright.nest"]
