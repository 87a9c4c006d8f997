import numpy as np

import graphwright as tf

print(tf.constant(1), tf.constant([1.5, 2]), tf.constant([[1, 2], [3, 4]]))
print([tf.constant(1), tf.constant("a")])
print(repr(tf.constant([1.0])), str(tf.constant(b"x")), f"{tf.constant(2)}", repr(tf.constant("é")))
print(tf.zeros([0, 3]), tf.zeros([2, 0]))
print(tf.range(2000))
print(tf.constant([1e-8, 1.0, 1e8]), tf.constant([float("nan"), float("inf"), -float("inf")]))
print(
    tf.constant([True, False]),
    tf.constant(1 + 2j),
    tf.constant([1, 2], tf.float16),
    tf.constant(255, tf.uint8),
)
print({"a": tf.constant(1)}, (tf.constant(1),))
print(tf.TensorSpec([2], tf.int32, name="x"), tf.Variable(1), tf.float32, [tf.float32])
try:
    print(f"{tf.constant(1.234):.2f}")
except TypeError as e:
    print("TypeError")
print("%d %.1f" % (tf.constant(3), tf.constant(2.5)))  # noqa: UP031
print(tf.constant([1, 2]).numpy().tolist(), tf.reduce_sum(tf.ones([3])).numpy())


@tf.function
def f(x, v):
    print(x, v, x + 1, [x], tf.constant(3))
    print(repr(tf.reduce_sum(x, name="total")), x.name, x.op.type)
    tf.print("x:", x, "and", {"v": v}, [x, 1], (v,))
    return x


f(tf.constant([1.0, 2.0]), tf.constant("s"))
tf.print(
    tf.constant([[1, 2], [3, 4]]), tf.zeros([0]), np.array([1, 2]), tf.float32, tf.Variable(3.5)
)
tf.print(tf.range(100), summarize=2)
tf.print([tf.constant(1.5), tf.constant([1.0, 2.0])], 1.0, 1e20, True)
tf.print("no newline", end="")
tf.print()
tf.print("percent {} %d", tf.constant(0.1), tf.constant(0.1, tf.float64), tf.constant(1 / 3))
