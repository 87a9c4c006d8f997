import graphwright as tf


@tf.function
def fibonacci(n):
    a, b = tf.constant(0, tf.int64), tf.constant(1, tf.int64)
    for _ in tf.range(n):
        a, b = b, a + b
    return a


print(fibonacci(tf.constant(50)))


@tf.function
def first_fibonaccis(n):
    values = tf.zeros([0], tf.int32)
    a, b = 0, 1
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[(values, tf.TensorShape([None]))]
        )
        values = tf.concat([values, [a]], axis=0)
        a, b = b, a + b
    return values


print(first_fibonaccis(tf.constant(10)))


@tf.function
def matrix_power(n):
    result = tf.eye(2, dtype=tf.int32)
    base = tf.constant([[1, 1], [1, 0]])
    while n > 0:
        if n % 2 == 1:
            result = result @ base
        base = base @ base
        n //= 2
    return result[0, 1]


print(matrix_power(tf.constant(30)))
