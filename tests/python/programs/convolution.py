import numpy as np

import graphwright as tf

images = tf.constant(np.arange(2 * 5 * 5 * 1).reshape(2, 5, 5, 1), tf.float32)
kernel = tf.Variable(tf.reshape(tf.range(9.0), [3, 3, 1, 1]) / 9.0)
for padding in ["SAME", "VALID"]:
    for strides in [1, 2]:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(images)
            y = tf.nn.conv2d(images, kernel, strides=strides, padding=padding)
            loss = tf.reduce_sum(y)
        print(padding, strides, y.shape, f"{float(loss):.2f}")
        print(np.round(tape.gradient(loss, kernel).numpy()[:, :, 0, 0], 2))
        print(np.round(tape.gradient(loss, images).numpy()[0, :, :, 0], 2))
try:
    tf.nn.conv2d(images, tf.zeros([3, 3, 2, 1]), 1, "SAME")
except Exception as error:
    print(type(error).__name__)
try:
    tf.nn.conv2d(images, kernel, 1, "WRONG")
except Exception as error:
    print(type(error).__name__)
