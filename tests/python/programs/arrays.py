import graphwright as tf

a, b = tf.constant([[1, 2], [3, 4]]), tf.constant([[5, 6], [7, 8]])
print(tf.concat([a, b], 0), tf.concat([a, b], axis=-1))
print(tf.stack([a, b]).shape, tf.stack([a, b], axis=-1), tf.unstack(a), tf.unstack(a, axis=1))
print(tf.split(tf.range(6), 3), tf.split(tf.range(6), [1, 5]), tf.split(tf.range(6), [2, -1]))
print(tf.where(a > 2, a, b), tf.where(a > 2), tf.where([True, False], 1.0, [2.0, 3.0]))
print(tf.gather(a, [1, 0, 1]), tf.gather(a, 0, axis=1), tf.gather(a, [[0], [1]], axis=1).shape)
print(tf.gather_nd(a, [[0, 1], [1, 0]]), tf.gather(a, [1, 0], batch_dims=1))
print(tf.transpose(a), tf.transpose(tf.zeros([1, 2, 3]), [2, 0, 1]).shape, tf.reverse(a, [1]))
print(
    tf.reshape(a, [-1]),
    tf.reshape(a, [4, -1]).shape,
    tf.expand_dims(a, 1).shape,
    tf.squeeze([[[1], [2]]]),
)
print(tf.tile([1, 2], [3]), tf.pad(a, [[1, 0], [0, 1]]))
print(tf.one_hot([0, 2, 5], 3), tf.range(3.0), tf.range(10, 0, -3), tf.linspace(0.0, 1.0, 5))
print(
    tf.fill([2, 2], 7),
    tf.zeros_like(a),
    tf.ones([2], tf.int64),
    tf.eye(2),
    tf.broadcast_to([1, 2], [2, 2]),
)
print(tf.scatter_nd([[1], [3]], [9, 10], [5]), tf.tensor_scatter_nd_update([1, 2, 3], [[1]], [9]))
print(
    tf.clip_by_value([-1, 5, 11], 0, 10),
    tf.maximum(a, 3),
    tf.tensordot(a, b, 1),
    tf.linalg.matvec(a, [1, 1]),
)
print(
    tf.shape(a),
    tf.size(a),
    tf.rank(a),
    a.shape,
    a.shape.as_list(),
    a.shape.rank,
    tuple(a.shape),
    a.ndim,
)


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__)


attempt(lambda: tf.concat([a, [1, 2]], 0))
attempt(lambda: tf.concat([a, tf.constant([[1.0, 2.0]])], 0))
attempt(lambda: tf.concat([a, b], 2))
attempt(lambda: tf.stack([a, [1]]))
attempt(lambda: tf.split(tf.range(5), 2))
attempt(lambda: tf.split(tf.range(5), [2, 2]))
attempt(lambda: tf.reshape(a, [3]))
attempt(lambda: tf.reshape(a, [-1, -1]))
attempt(lambda: tf.gather(a, [5]))
attempt(lambda: tf.gather(a, 0, axis=3))
attempt(lambda: tf.transpose(a, [0, 0]))
attempt(lambda: tf.squeeze(a, 0))
attempt(lambda: tf.expand_dims(a, 5))
attempt(lambda: tf.matmul(a, [[1, 2, 3]]))
attempt(lambda: tf.matmul(a, [1, 2]))
attempt(lambda: a + tf.constant([1, 2, 3]))
attempt(lambda: tf.where(a, a, b))
attempt(lambda: tf.range(0, 10, 0))
attempt(lambda: tf.fill([-1], 1))
attempt(lambda: tf.ones())
attempt(lambda: tf.ones([2], foo=1))
attempt(lambda: tf.unstack(tf.constant(1)))
attempt(lambda: tf.broadcast_to([1, 2], [3]))
attempt(lambda: tf.one_hot([0], -1))
attempt(lambda: tf.constant(1) // 0)
attempt(lambda: tf.constant(1) % 0)
attempt(lambda: tf.constant(1.0) / 0.0)
attempt(lambda: tf.tensordot(a, b, 3))
attempt(lambda: tf.linalg.matvec(a, [1]))
