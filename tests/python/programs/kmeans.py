import numpy as np

import graphwright as tf

rng = np.random.RandomState(0)
clusters = [rng.randn(20, 2) + center for center in ([0, 0], [8, 8], [-8, 8])]
points = tf.constant(np.concatenate(clusters).astype("float32"))


@tf.function
def kmeans(points, centers, limit):
    moved = tf.constant(True)
    nearest = tf.zeros([points.shape[0]], tf.int64)
    steps = 0
    while moved and steps < limit:
        distances = tf.reduce_sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=2)
        nearest = tf.argmin(distances, axis=1)
        members = tf.one_hot(nearest, 3)
        counts = tf.reduce_sum(members, axis=0)
        new_centers = tf.matmul(members, points, transpose_a=True) / counts[:, tf.newaxis]
        moved = tf.reduce_any(tf.abs(new_centers - centers) > 1e-4)
        centers = new_centers
        steps += 1
    return centers, nearest, steps


centers, nearest, steps = kmeans(points, tf.gather(points, [0, 25, 50]), tf.constant(20))
print(np.round(centers.numpy(), 2))
print(nearest)
print(steps)
