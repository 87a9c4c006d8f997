import graphwright as tf


@tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
def describe(x):
    print("tracing", x.shape, x.shape[0], x.shape[1], x.shape.rank, x.shape.as_list())
    batch = tf.shape(x)[0]
    flat = tf.reshape(x, [batch * 3])
    print(
        flat.shape,
        tf.reshape(x, [-1]).shape,
        tf.concat([x, x], 0).shape,
        tf.concat([x, x], 1).shape,
    )
    print(
        tf.transpose(x).shape,
        tf.reduce_sum(x, 0).shape,
        tf.reduce_sum(x, 1).shape,
        (x @ tf.ones([3, 2])).shape,
    )
    print(
        tf.zeros([batch, 2]).shape, tf.range(batch).shape, x[:2].shape, x[0].shape, x[1:, 1:].shape
    )
    print(
        tf.expand_dims(x, 0).shape,
        tf.stack([x, x]).shape,
        tf.tile(x, [2, 2]).shape,
        tf.where(x > 0).shape,
    )
    print(tf.boolean_mask(x, x[:, 0] > 0).shape, tf.broadcast_to(x, [2, batch, 3]).shape)
    print(x)
    return tf.shape(x), tf.size(x), tf.rank(x), flat


print(describe(tf.ones([2, 3])))
print(describe(tf.ones([0, 3]))[1])


@tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
def any_rank(x):
    print(x.shape, x.shape.rank, (x + 1).shape, tf.shape(x).shape, tf.reduce_sum(x).shape)
    try:
        len(x.shape)
    except ValueError as error:
        print("ValueError")
    return tf.rank(x)


print(any_rank(tf.ones([1, 2, 3])), any_rank(1.0))


@tf.function
def traced(x):
    print("tracing", x)
    return x


traced(tf.ones([1]))
traced(tf.ones([2]))
traced(tf.ones([3]))
traced(2)
traced(3)
print(
    tf.TensorSpec([None, 2]),
    tf.TensorShape([None, 2]),
    tf.TensorShape(None),
    tf.TensorShape([1, 2]) + [3],
)
print(tf.TensorShape([None, 2]).is_compatible_with([5, 2]), tf.TensorShape([2, 3]).num_elements())
