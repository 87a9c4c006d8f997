import graphwright as tf


@tf.function
def newton_sqrt(a):
    x = a
    while tf.abs(x * x - a) > 1e-5 * a:
        x = 0.5 * (x + a / x)
    return x


for a in [2.0, 9.0, 100.0]:
    print(newton_sqrt(tf.constant(a)))
print(newton_sqrt(tf.constant(2.0, tf.float64)))
