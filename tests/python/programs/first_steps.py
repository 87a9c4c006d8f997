import numpy as np

import graphwright as tf

print(tf.config.list_physical_devices("GPU") if hasattr(tf.config, "list_physical_devices") else [])
print(tf.executing_eagerly(), tf.function(lambda: tf.executing_eagerly())())
x = tf.constant(np.arange(6.0).reshape(2, 3))
print(x.dtype, x.shape, x[0].numpy(), np.mean(x), np.asarray(x).shape, x.numpy().sum())
print(sum(tf.constant([1, 2, 3])), max(tf.constant([1, 5, 3])), list(tf.constant([1, 2])))
print(sorted(tf.constant([3, 1, 2]).numpy()), tf.constant([1, 2]) in [] if False else "")
print(tf.constant(3) == 3, tf.constant(3) is None, tf.constant(3) != 4, not tf.constant(0))
print(tf.constant([1, 2]) == tf.constant([1, 3]), 1 < tf.constant(2) < 3)
a, b = tf.constant([1, 2])
print(a, b, *tf.unstack(tf.constant([5, 6])))
print(tf.zeros((2,)), tf.ones(2), tf.zeros([]), tf.zeros(()), tf.ones(tf.shape(x)[:1]))
print(
    tf.convert_to_tensor([tf.constant(1), 2]), tf.constant([tf.constant(1.0), 2.0]) if False else ""
)
print(tf.is_tensor(x), tf.is_tensor(1), tf.is_tensor(tf.Variable(1)), isinstance(x, tf.Tensor))
print(isinstance(tf.Variable(1), tf.Tensor), isinstance(tf.Variable(1), tf.Variable))
v = tf.Variable(tf.zeros([2, 2]))
v[0, 1].assign(5.0)
v[1].assign([1.0, 2.0])
print(v.numpy(), v.shape, tf.shape(v), v[0], v @ v, -v[0], v.dtype)
for i in tf.range(3):
    print(i, end=" ")
print()
for i, row in enumerate(x):
    print(i, row.numpy())
total = 0
for value in tf.constant([1, 2, 3]):
    total += value
print(total)
while total > 0:
    total -= 4
print(total)


@tf.function(reduce_retracing=True)
def relaxed(x):
    print("tracing", x.shape)
    return tf.reduce_sum(x)


for n in range(1, 5):
    relaxed(tf.ones([n]))


@tf.function(input_signature=(tf.TensorSpec(shape=[None], dtype=tf.float32),))
def signed(x):
    return x + 1


print(signed(tf.constant([1.0])), signed([1, 2]), signed(np.array([1.5], np.float32)))


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = None

    @tf.function
    def __call__(self, x):
        if self.w is None:
            self.w = tf.Variable(tf.ones([x.shape[-1], 1]), name="w")
        return x @ self.w


net = Net()
print(net(tf.ones([2, 3])), [v.name for v in net.variables], net.name)


@tf.function
def default(x, scale=2.0, *rest, flag=True, **others):
    if flag:
        x = x * scale
    for r in rest:
        x += r
    for key in sorted(others):
        x += others[key]
    return x


print(
    default(tf.constant(1.0)),
    default(tf.constant(1.0), 3.0, 1.0, 2.0),
    default(tf.constant(1.0), flag=False, z=5.0),
)
print(default.__name__, callable(default.python_function))
with tf.name_scope("scope"):
    print(tf.Variable(1.0, name="inside").name)
