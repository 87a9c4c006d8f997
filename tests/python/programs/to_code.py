import graphwright as tf


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def scaled(x, factor=2, *rest):
    if x > 0 and factor:
        y = x * factor
    else:
        y = -x
    return y, [v + 1 for v in rest]


print(tf.autograph.to_code(collatz))
converted = tf.autograph.to_graph(collatz)
print(converted(27), tf.function(converted, autograph=False)(tf.constant(27)))
print(tf.autograph.to_code(scaled))
