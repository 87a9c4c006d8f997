import graphwright as tf

tf.random.set_seed(1)
print(tf.random.uniform([3]), tf.random.normal([2, 2]))
print(tf.random.uniform([4], 0, 10, tf.int32))
tf.random.set_seed(1)
print(tf.random.uniform([3]))
tf.random.set_seed(5)
print(tf.random.normal([3], mean=10.0, stddev=2.0, seed=7), tf.random.uniform([2], seed=7))


@tf.function
def draw():
    return tf.random.uniform([2], minval=-1.0, maxval=1.0)


tf.random.set_seed(3)
a, b = draw(), draw()
print(a, b)
