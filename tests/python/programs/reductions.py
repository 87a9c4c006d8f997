import graphwright as tf

x = tf.constant([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
for reduce in (
    tf.reduce_sum,
    tf.reduce_mean,
    tf.reduce_max,
    tf.reduce_min,
    tf.reduce_prod,
    tf.math.reduce_std,
    tf.math.reduce_variance,
    tf.reduce_logsumexp,
):
    for axis in (None, 0, 1, -1, [0], [0, 1], [-1, 0], [], tf.constant(1)):
        for keepdims in (False, True):
            print(
                reduce.__name__,
                axis if not tf.is_tensor(axis) else "tensor",
                keepdims,
                tf.round(reduce(x, axis, keepdims) * 1000).numpy().tolist(),
            )
b = x > 0
print(tf.reduce_all(b), tf.reduce_any(b, 0), tf.reduce_all(b, axis=1, keepdims=True))
print(tf.argmax(x), tf.argmax(x, 1), tf.argmin(x, axis=-1, output_type=tf.int32))
print(tf.reduce_sum([1, 2, 3]), tf.reduce_mean([1, 2, 4]), tf.reduce_max([]).numpy())
for axis in (2, -3, [0, 0], 0.5):
    try:
        print(tf.reduce_sum(x, axis))
    except Exception as error:
        print(axis, type(error).__name__)
print(tf.math.count_nonzero([0, 1, 2]), tf.size(x), tf.rank(x))
