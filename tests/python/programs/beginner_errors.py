import graphwright as tf


def attempt(function, *arguments, **named):
    try:
        print(function(*arguments, **named))
    except Exception as error:
        print(type(error).__name__)


@tf.function
def variable_inside(x):
    v = tf.Variable(1.0)
    return v + x


attempt(variable_inside, tf.constant(1.0))


@tf.function(autograph=False)
def no_autograph(x):
    if x > 0:
        return x
    return -x


attempt(no_autograph, tf.constant(1.0))


@tf.function(autograph=False)
def iterate(x):
    return [v for v in x]


attempt(iterate, tf.constant([1.0]))


@tf.function
def two(x, y=1):
    return x + y


attempt(two)
attempt(two, 1, 2, 3)
attempt(two, tf.constant(1), z=3)
attempt(two, tf.constant(1), y=tf.constant(5))


@tf.function
def call_numpy(x):
    return x.numpy()


attempt(call_numpy, tf.constant(1))


@tf.function
def one_branch(x):
    if x > 0:
        y = 1
    return y


attempt(one_branch, tf.constant(1))


@tf.function
def types_differ(x):
    if x > 0:
        y = 1
    else:
        y = 1.5
    return y


attempt(types_differ, tf.constant(1))


@tf.function
def return_differs(x):
    if x > 0:
        return x


attempt(return_differs, tf.constant(1))


@tf.function
def loop_dtype(x):
    y = 0
    for i in tf.range(3):
        y = y + x
    return y


attempt(loop_dtype, tf.constant(1.5))
attempt(loop_dtype, tf.constant(1))


@tf.function
def undefined_before_loop(n):
    for i in tf.range(n):
        last = i
    return last


attempt(undefined_before_loop, tf.constant(3))
leaked = []


@tf.function
def leak(x):
    leaked.append(x * 2)
    return x


attempt(leak, tf.constant(1))
attempt(lambda: leaked[0] + 1)
attempt(lambda: leaked[0].numpy())


@tf.function
def use_leaked(x):
    return x + leaked[0]


attempt(use_leaked, tf.constant(1))
attempt(lambda: bool(tf.constant([True, False])))
attempt(lambda: [i for i in tf.constant(3)])
attempt(lambda: len(tf.constant(3)))


def assign_item():
    x = tf.constant([1, 2])
    x[0] = 5


attempt(assign_item)
if tf.constant(1) > 0:
    print("taken")
tape = tf.GradientTape()
with tape:
    y = tf.constant(1.0) * 2
attempt(tape.gradient, y, y)
x = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = x * x
attempt(tape.gradient, y, x)
attempt(tape.gradient, y, x)
with tf.GradientTape() as tape:
    y = x * 1
attempt(tape.gradient, y, tf.constant(1.0))
attempt(lambda: tf.constant(1).shape.foo)
attempt(lambda: tf.no_such_thing)
attempt(lambda: tf.reduce_sum())
attempt(lambda: tf.add(1))
attempt(lambda: tf.Variable())
attempt(lambda: tf.function(3))
attempt(lambda: tf.Variable(lambda: tf.ones([2])))


@tf.function
def raises(x):
    raise KeyError("mine")


attempt(raises, 1)


@tf.function
def checks(x):
    tf.debugging.assert_greater(x, 0, message="bad")
    return x


attempt(checks, tf.constant(1))
attempt(checks, tf.constant(-1))
attempt(tf.debugging.assert_equal, 1, 2)
