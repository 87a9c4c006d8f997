import graphwright as tf

x = tf.constant([[0.0], [1.0], [2.0], [3.0]])
y = 2.0 * x + 1.0
weight = tf.Variable([[0.0]], name="weight")
bias = tf.Variable([0.0], name="bias")
for step in range(200):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weight) + bias - y))
    dw, db = tape.gradient(loss, [weight, bias])
    weight.assign_sub(0.1 * dw)
    bias.assign_sub(0.1 * db)
    if step % 50 == 0:
        print(step, f"{float(loss):.4f}")
print(
    weight.name, weight.shape, weight.dtype, f"{float(weight[0, 0]):.3f}", f"{bias.numpy()[0]:.3f}"
)
print(tf.Variable([1.0, 2.0], name="v"))
