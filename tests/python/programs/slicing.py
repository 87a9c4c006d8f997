import graphwright as tf

x = tf.reshape(tf.range(24), [2, 3, 4])
print(x[0])
print(x[0, 1], x[0][1][2], x[-1, -1, -1])
print(x[:, 0], x[..., 0], x[0, ..., 1], x[:, ::2, 1:3])
print(x[:, ::-1, 0], x[1:, 2:, -2:], x[0, :, tf.newaxis].shape, x[None].shape)
i = tf.constant(1)
print(x[i], x[i:, 0, 0], x[0, :i, i])
print(x[5:].shape, x[:0].shape, x[0, 2:1].shape)
r = tf.range(10)
print(r[::-1], r[8:2:-2], r[-3:], r[:-7], r[::3])
for bad in (
    lambda: x[2],
    lambda: x[0, 0, 0, 0],
    lambda: x["a"],
    lambda: x[1.5],
    lambda: x[::0],
    lambda: x[[0, 1]],
    lambda: x[..., ...],
    lambda: x[x > 3],
    lambda: x[0:"b"],
):
    try:
        print(bad().shape)
    except Exception as error:
        print(type(error).__name__)
print(tf.slice(x, [0, 1, 0], [1, 2, -1]))
print(tf.strided_slice(r, [1], [9], [3]))
print([row.numpy().tolist() for row in x[0]], len(x))
print(tf.boolean_mask(r, r % 2 == 0))


@tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([], tf.int32)])
def f(x, k):
    return x[k], x[:k], x[..., k], x[k:, tf.newaxis, ::-1]


print(f(x[0], 1))
try:
    f(x[0], 7)
except Exception as error:
    print(type(error).__name__)
