import graphwright as tf


@tf.function
def mandelbrot(real, imaginary, limit):
    zr, zi = tf.zeros_like(real), tf.zeros_like(real)
    counts = tf.zeros(tf.shape(real), tf.int32)
    for _ in tf.range(limit):
        zr, zi = zr * zr - zi * zi + real, 2 * zr * zi + imaginary
        alive = zr * zr + zi * zi < 4.0
        counts += tf.cast(alive, tf.int32)
        zr = tf.where(alive, zr, 2.0)
        zi = tf.where(alive, zi, 2.0)
        if not tf.reduce_any(alive):
            break
    return counts


x = tf.linspace(-2.0, 0.5, 31)[tf.newaxis, :] + tf.zeros([13, 1])
y = tf.linspace(-1.2, 1.2, 13)[:, tf.newaxis] + tf.zeros([1, 31])
for row in mandelbrot(x, y, tf.constant(20)).numpy():
    print("".join(" .:-=+*#%@"[min(9, c // 2)] for c in row))
