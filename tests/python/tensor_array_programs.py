"""Functions that use TensorArrays, for any module that is like TensorFlow, and what they trace to.

    python tensor_array_programs.py > data/tensor_array_graphs.json

records the nodes that TensorFlow makes of them: (name, op, inputs, some attributes) of each.
"""

from __future__ import annotations

import json
import sys

ATTRIBUTES = ("num_elements", "resize_if_index_out_of_bounds")


def programs(tf):
    """Name -> (function, signature)."""
    real = tf.float32
    scalar = tf.TensorSpec([], real)
    vector = tf.TensorSpec([3], real)
    matrix = tf.TensorSpec([4, 3], real)
    index = tf.TensorSpec([], tf.int32)
    pair = tf.TensorSpec([2], tf.int32)

    def basic(x):
        ta = tf.TensorArray(real, 3)
        ta = ta.write(0, x)
        ta = ta.write(1, 2.0)
        return ta.stack(), ta.read(1), ta.size()

    def named(x, n):
        ta = tf.TensorArray(real, n, dynamic_size=True, element_shape=[None], name="abc")
        ta = ta.write(n, x, name="ww")
        return (
            ta.stack(name="ss"),
            ta.read(n, name="rr"),
            ta.size(name="zz"),
            ta.gather([0, 1]),
            ta.concat(),
        )

    def unstack(m):
        ta = tf.TensorArray(real, 4)
        ta = ta.unstack(m)
        return ta.stack(), ta.gather([1, 2], name="g"), ta.concat(name="c")

    def scatter(m):
        ta = tf.TensorArray(real, 4)
        ta = ta.scatter([0, 1, 2, 3], m)
        ta = ta.identity()
        return ta.stack()

    def split(m):
        ta = tf.TensorArray(real, 2, infer_shape=False)
        ta = ta.split(m, [1, 3])
        return ta.concat(), ta.read(0)

    def split_evenly(m):
        ta = tf.TensorArray(real, 2)
        ta = ta.split(m, [2, 2])
        return ta.concat(), ta.read(0)

    def split_by_tensor(m, lengths):
        ta = tf.TensorArray(real, 2)
        ta = ta.split(m, lengths)
        ta.close()
        return ta.concat(), ta.read(0)

    def size_of_a_tensor(m):
        ta = tf.TensorArray(real, tf.shape(m)[0], clear_after_read=False, element_shape=[3])
        ta = ta.write(0, [1, 2, 3])
        return ta.stack(), ta.read(0)

    def constant_size(n):
        ta = tf.TensorArray("int32", size=tf.constant(3))
        ta = ta.write(0, n)
        return ta.stack(), ta.size(), ta.size(name="q")

    def python_values(n):
        ta = tf.TensorArray(real, 2)
        ta = ta.unstack([[1.0, 2.0], [3.0, 4.0]])
        ta = ta.scatter([0], [[1, 2]])
        ta = ta.split([1.0, 2.0, 3.0, 4.0], [2, 2])
        return ta.concat(), ta.read(n)

    return {
        "basic": (basic, [scalar]),
        "named": (named, [vector, index]),
        "unstack": (unstack, [matrix]),
        "scatter": (scatter, [matrix]),
        "split": (split, [matrix]),
        "split_evenly": (split_evenly, [matrix]),
        "split_by_tensor": (split_by_tensor, [matrix, pair]),
        "size_of_a_tensor": (size_of_a_tensor, [matrix]),
        "constant_size": (constant_size, [index]),
        "python_values": (python_values, [index]),
    }


def nodes(tf, name):
    """The nodes of a program's trace."""
    function, signature = programs(tf)[name]
    graph = tf.function(function, autograph=False).get_concrete_function(*signature).graph
    return [
        [
            node.name,
            node.op,
            list(node.input),
            {
                key: int(node.attr[key].i or node.attr[key].b)
                for key in ATTRIBUTES
                if key in node.attr
            },
        ]
        for node in graph.as_graph_def().node
    ]


if __name__ == "__main__":
    import tensorflow

    recorded = {name: nodes(tensorflow, name) for name in programs(tensorflow)}
    json.dump(recorded, sys.stdout, indent=1)
    sys.stdout.write("\n")
