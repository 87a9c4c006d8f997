import graphwright as tf


class Adam:
    def __init__(self, variables, rate=0.1):
        self.rate, self.step = rate, tf.Variable(0.0, trainable=False)
        self.variables = variables
        self.m = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.v = [tf.Variable(tf.zeros_like(v)) for v in variables]

    def apply(self, gradients):
        self.step.assign_add(1.0)
        for g, x, m, v in zip(gradients, self.variables, self.m, self.v):
            m.assign(0.9 * m + 0.1 * g)
            v.assign(0.999 * v + 0.001 * g * g)
            m_hat = m / (1 - tf.pow(0.9, self.step))
            v_hat = v / (1 - 0.999**self.step)
            x.assign_sub(self.rate * m_hat / (tf.sqrt(v_hat) + 1e-7))


x = tf.Variable([3.0, -2.0])
optimizer = Adam([x])


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = (1 - x[0]) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2
    optimizer.apply(tape.gradient(loss, [x]))
    return loss


for i in range(300):
    loss = step()
    if i % 100 == 0:
        print(i, f"{float(loss):.2f}")
print(float(loss) < 1.0)
