import graphwright as tf

features = tf.constant([[5.1, 3.5], [4.9, 3.0], [7.0, 3.2], [6.4, 3.2], [6.3, 3.3], [5.8, 2.7]])
labels = tf.constant([0, 0, 1, 1, 2, 2])
mean = tf.reduce_mean(features, 0)
features = (features - mean) / tf.math.reduce_std(features, 0)
w = tf.Variable(tf.zeros([2, 3]))
b = tf.Variable(tf.zeros([3]))


@tf.function
def loss_of(x, y):
    logits = tf.nn.bias_add(x @ w, b)
    log_p = tf.nn.log_softmax(logits)
    return -tf.reduce_mean(tf.reduce_sum(log_p * tf.one_hot(y, 3), axis=-1))


@tf.function
def train(x, y, steps):
    loss = 0.0
    for _ in tf.range(steps):
        with tf.GradientTape() as tape:
            loss = loss_of(x, y) + 0.001 * tf.nn.l2_loss(w)
        dw, db = tape.gradient(loss, (w, b))
        w.assign_sub(dw)
        b.assign_sub(db)
    return loss


print(f"{float(train(features, labels, tf.constant(1))):.4f}")
print(f"{float(train(features, labels, tf.constant(50))):.3f}")
print(
    tf.nn.softmax([1.0, 2.0]).numpy().round(4), tf.nn.leaky_relu([-1.0, 1.0]), tf.nn.softplus(0.0)
)
