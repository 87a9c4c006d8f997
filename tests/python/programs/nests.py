from collections import namedtuple

import graphwright as tf

Point = namedtuple("Point", ["x", "y"])
structure = {"b": [1, (2, 3)], "a": Point(4, None)}
print(tf.nest.flatten(structure))
print(tf.nest.map_structure(lambda v: v, structure))
print(tf.nest.pack_sequence_as(structure, [10, 20, 30, 40, 50]))
print(tf.nest.map_structure(lambda a, b: a + b, [1, {"k": 2}], [3, {"k": 4}]))
print(tf.nest.is_nested([1]), tf.nest.is_nested("s"), tf.nest.is_nested(tf.zeros([2])))
for other in ([1], {"b": 1}, {"b": [1, (2,)], "a": Point(4, 5)}):
    try:
        tf.nest.assert_same_structure(structure, other)
    except (ValueError, TypeError) as error:
        print(type(error).__name__)


@tf.function
def swap(pair, options):
    return {
        "pair": (pair[1], pair[0]),
        "sum": options["a"] + options["b"],
        "point": Point(1, pair[0]),
    }


result = swap((tf.constant(1), tf.constant(2.0)), {"a": tf.constant(3), "b": 4})
print(tf.nest.map_structure(lambda t: t.numpy(), result))
print(type(result["point"]).__name__, sorted(result))
