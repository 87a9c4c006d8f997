import graphwright as tf


@tf.function
def collatz_steps(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


print(collatz_steps(tf.constant(27)))
print(collatz_steps(27))
print([int(collatz_steps(tf.constant(n))) for n in range(1, 10)])
print(collatz_steps(tf.constant(27, tf.int64)))
