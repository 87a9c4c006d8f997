import graphwright as tf


@tf.function
def minimize(start, rate):
    x = start
    steps = 0
    gradient = tf.ones_like(x)
    while tf.norm(gradient) > 1e-3:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum((x - [1.0, -2.0]) ** 2 * [1.0, 3.0])
        gradient = tape.gradient(y, x)
        x = x - rate * gradient
        steps += 1
    return x, steps


x, steps = minimize(tf.constant([0.0, 0.0]), tf.constant(0.1))
tf.print(x, summarize=-1)
print(steps)


@tf.function
def through_the_loop(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in tf.range(3):
            y = y * x
    return tape.gradient(y, x)


print(through_the_loop(tf.constant(2.0)))


@tf.function
def cube(x):
    i = 0
    y = tf.constant(1.0)
    while i < 3:
        y *= x
        i += 1
    return y


x = tf.Variable(3.0)
with tf.GradientTape(persistent=True) as tape:
    y = cube(x)
    z = y * y
print(tape.gradient(y, x), tape.gradient(z, x))
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = x**3
    first = inner.gradient(y, x)
print(first, outer.gradient(first, x))
