import numpy as np

import graphwright as tf

print(
    tf.constant(1).dtype, tf.constant(1.0).dtype, tf.constant([True]).dtype, tf.constant("s").dtype
)
print(tf.constant(1j).dtype, tf.constant([1, 2.5]).dtype, tf.constant(np.arange(2)).dtype)
print(tf.constant(2**40).numpy(), tf.constant(np.float64(1)).dtype)
print(
    tf.cast([1.7, -1.7, 2.5], tf.int32),
    tf.cast([0, 1, 2], tf.bool),
    tf.cast([True, False], tf.float32),
)
print(tf.cast(3, "float64"), tf.cast(tf.constant(300), tf.uint8), tf.cast(-1, tf.uint16))
print(tf.saturate_cast([300.0, -5.0], tf.uint8), tf.cast(1 + 2j, tf.complex64))
print(
    tf.float32, repr(tf.float32), tf.float32.size, tf.int32.max, tf.float32.is_floating, tf.int8.min
)
print(
    tf.as_dtype("float16"),
    tf.as_dtype(np.int64),
    tf.bfloat16,
    tf.float32 == "float32",
    tf.float32 == np.float32,
)
print(tf.constant([1, 2], tf.float16) / 3, tf.constant([1.0], tf.bfloat16) + 1)
print(
    7 // tf.constant(2),
    -7 // tf.constant(2),
    -7 % tf.constant(3),
    tf.constant(7) / 2,
    tf.constant(-7.5) // 2,
)
print(tf.constant(2) ** 3, tf.constant(2.0) ** -1, abs(tf.constant(-3)), -tf.constant(3))
print(tf.constant([True]) & [False], ~tf.constant([True]), tf.constant([True]) ^ True)
print(tf.constant(1.0) + np.float32(2), np.ones(2, "float32") * tf.constant(3.0))
print(
    np.array(tf.constant([1, 2])),
    np.sum(tf.ones([3])),
    float(tf.constant(1.5)),
    int(tf.constant(3)),
)
print(
    bool(tf.constant(0.0)),
    [1, 2, 3][tf.constant(1)],
    tf.constant(1).numpy().dtype,
    hash(tf.float32) == hash(tf.as_dtype("float32")),
)
for bad in (
    lambda: tf.constant(1) + 1.5,
    lambda: tf.constant(1) + tf.constant(1.0),
    lambda: tf.constant(1.5, tf.int32),
    lambda: tf.constant("a", tf.float32),
    lambda: tf.constant([1, "a"]),
    lambda: tf.constant([[1], [2, 3]]),
    lambda: tf.cast("a", tf.int32),
    lambda: tf.as_dtype("nope"),
    lambda: tf.constant(None),
    lambda: tf.constant(object()),
    lambda: tf.constant(2**40),
    lambda: hash(tf.constant(1)),
    lambda: bool(tf.constant([1, 2])),
    lambda: tf.constant("a") + 1,
    lambda: tf.sqrt(4),
    lambda: tf.constant(True) + 1,
    lambda: tf.matmul([[1]], [[1.0]]),
    lambda: float(tf.constant([1.0, 2.0])),
    lambda: tf.constant([1.0], shape=[2, 2]),
    lambda: tf.constant([1, 2, 3], shape=[2]),
):
    try:
        print(bad())
    except Exception as error:
        print(type(error).__name__)
