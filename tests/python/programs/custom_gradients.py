import graphwright as tf


@tf.custom_gradient
def clip(x):
    def gradient(upstream):
        return tf.clip_by_value(upstream, -0.5, 0.5)

    return tf.identity(x), gradient


x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(clip(x) * [3.0, 0.1])
print(tape.gradient(y, x))
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.stop_gradient(x) * x
print(tape.jacobian(y, x))
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(x)
    y = {"a": x**2, "b": tf.exp(x)}
print(tape.gradient(y, {"x": x}))
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_max(x) + x[0] * 2 + tf.gather(x, 1)
print(tape.gradient(y, x))
v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.gather(v, [0, 0, 1]))
print(tf.convert_to_tensor(tape.gradient(y, v)))
with tf.GradientTape(persistent=True) as tape:
    y = v @ tf.transpose(v)
    z = tf.nn.softmax(v)
    n = tf.norm(v)
for target in (y, z, n):
    print(tf.round(tape.gradient(target, v) * 1000))
print(tape.gradient(y, v, output_gradients=tf.eye(2)), tape.gradient(z, tf.Variable(1.0)))
print(tape.gradient(z, tf.Variable([1.0]), unconnected_gradients=tf.UnconnectedGradients.ZERO))
print([t.shape for t in tape.watched_variables()])
