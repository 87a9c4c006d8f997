import graphwright as tf

x = tf.constant([[0.5, 1.0], [1.5, 2.0], [-1.0, -0.5], [-2.0, -1.0], [3.0, 0.0], [-0.5, -2.0]])
labels = tf.constant([1.0, 1.0, 0.0, 0.0, 1.0, 0.0])
weights = tf.Variable(tf.zeros([2, 1]))
bias = tf.Variable(0.0)


@tf.function
def train_step(x, labels):
    with tf.GradientTape() as tape:
        logits = tf.squeeze(x @ weights, axis=1) + bias
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
    gradients = tape.gradient(loss, [weights, bias])
    weights.assign_sub(gradients[0])
    bias.assign_sub(gradients[1])
    return loss


for step in range(20):
    loss = train_step(x, labels)
print(f"{loss.numpy():.4f}", weights.numpy().shape)
predicted = tf.cast(tf.sigmoid(x @ weights + bias)[:, 0] > 0.5, tf.int32)
print(predicted)
print(
    "accuracy",
    tf.reduce_mean(tf.cast(tf.equal(tf.cast(predicted, tf.float32), labels), tf.float32)).numpy(),
)
