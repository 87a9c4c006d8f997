"""Graphwright: ordinary Python functions as fast, portable tensor programs.

The package is source-compatible with TensorFlow 2: ``import graphwright as tf``.
"""

from graphwright import _core

__version__ = _core.__version__
