import graphwright as tf

x = tf.random.normal([10000])
print(
    x.shape,
    x.dtype,
    abs(float(tf.reduce_mean(x))) < 0.1,
    abs(float(tf.math.reduce_std(x)) - 1) < 0.1,
)
u = tf.random.uniform([1000], 5, 9, dtype=tf.int64)
print(u.dtype, int(tf.reduce_min(u)), int(tf.reduce_max(u)))
for bad in (
    lambda: tf.random.uniform([2], dtype=tf.int32),
    lambda: tf.random.uniform([-1]),
    lambda: tf.random.uniform([2], 5, 5, tf.int32),
):
    try:
        print(bad().shape)
    except Exception as error:
        print(type(error).__name__)
