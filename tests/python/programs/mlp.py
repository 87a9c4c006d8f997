import numpy as np

import graphwright as tf


class Dense(tf.Module):
    def __init__(self, inputs, outputs, seed, name=None):
        super().__init__(name=name)
        values = np.random.RandomState(seed).uniform(-1, 1, [inputs, outputs])
        self.w = tf.Variable(values.astype("float32"), name="w")
        self.b = tf.Variable(tf.zeros([outputs]), name="b")

    def __call__(self, x):
        return x @ self.w + self.b


class Mlp(tf.Module):
    def __init__(self):
        super().__init__(name="mlp")
        self.layers = [Dense(2, 8, 0, "hidden"), Dense(8, 2, 1, "out")]

    @tf.function
    def __call__(self, x):
        return self.layers[1](tf.nn.relu(self.layers[0](x)))


model = Mlp()
print([(v.name, v.shape) for v in model.trainable_variables])
print([m.name for m in model.submodules])
x = tf.constant([[0.0, 0], [0, 1], [1, 0], [1, 1]])
labels = tf.constant([0, 1, 1, 0])


@tf.function
def step(x, labels):
    with tf.GradientTape() as tape:
        logits = model(x)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
    for variable, gradient in zip(
        model.trainable_variables, tape.gradient(loss, model.trainable_variables)
    ):
        variable.assign_sub(0.5 * gradient)
    return loss


losses = [float(step(x, labels)) for _ in range(200)]
print(f"{losses[0]:.4f} {losses[10]:.4f}", losses[-1] < 0.05)
print(tf.argmax(model(x), axis=1))
