import graphwright as tf


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__)


c = tf.constant([1.0, 2.0])
v = tf.Variable(3.0)
with tf.GradientTape(persistent=True) as tape:
    y = c * 2
    z = v * y
    w = tf.stop_gradient(v)
    u = tf.Variable(2.0, trainable=False) * v
print(tape.gradient(y, y), tape.gradient(y, c), tape.gradient(z, y), tape.gradient(z, [v, y, z]))
print(tape.gradient(v, v), tape.gradient(w, v), tape.gradient(u, v), tape.gradient([z, z], v))
print(tape.gradient(c, c), tape.gradient(y, c, unconnected_gradients="zero"))
print(tape.gradient(z, v, output_gradients=tf.constant([1.0, 10.0])))
attempt(lambda: tape.gradient(z, v, unconnected_gradients="nope"))
attempt(lambda: tape.watch(3))
attempt(lambda: tape.jacobian(z, v))
del tape
x = tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    if x > 1:
        y = x**3
    else:
        y = x
print(tape.gradient(y, x))
with tf.GradientTape() as tape:
    tape.watch(x)
    with tape.stop_recording():
        y = x * x
    z = y * x
print(tape.gradient(z, x))
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
    tape.reset()
    tape.watch(x)
    z = x * 5
print(tape.gradient(z, x))
for function in (
    tf.exp,
    tf.math.log,
    tf.sqrt,
    tf.tanh,
    tf.sigmoid,
    tf.sin,
    tf.cos,
    tf.square,
    tf.abs,
    tf.nn.relu,
    tf.nn.softplus,
    tf.math.reciprocal,
    tf.math.rsqrt,
    tf.round,
    tf.sign,
    tf.floor,
    tf.identity,
    tf.math.log1p,
    tf.math.expm1,
    tf.tan,
):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    gradient = tape.gradient(y, x)
    print(function.__name__, None if gradient is None else f"{float(gradient):.4f}")


@tf.function
def loss(x):
    return tf.reduce_sum(x**2)


with tf.GradientTape() as tape:
    tape.watch(c)
    y = loss(c)
print(tape.gradient(y, c))


@tf.function
def gradient_of(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loss(x)
    return tape.gradient(y, x), tape


attempt(lambda: gradient_of(c)[0])
