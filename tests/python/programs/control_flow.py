import graphwright as tf


@tf.function
def sign(x):
    if x > 0:
        result = "positive"
    elif x < 0:
        result = "negative"
    else:
        result = "zero"
    return result


print(sign(tf.constant(1)), sign(tf.constant(-1)), sign(tf.constant(0)))


@tf.function
def sum_even(n):
    total = 0
    for i in tf.range(n):
        if i % 2 == 1:
            continue
        if i > 10:
            break
        total += i
    return total


print(sum_even(tf.constant(100)))


@tf.function
def nested(n):
    count = 0
    for i in tf.range(n):
        j = 0
        while j < i:
            j += 1
            count += j
    return count


print(nested(tf.constant(6)))


@tf.function
def rows(x):
    total = tf.zeros([2])
    for row in x:
        if tf.reduce_sum(row) > 1.0:
            total += row
    return total


print(rows(tf.constant([[1.0, 2.0], [0.0, 0.5], [3.0, 4.0]])))


@tf.function
def logic(a, b):
    if a > 0 and b > 0 or not a > -5:
        return a < b
    return tf.constant(False) if b > 2 else a == b


print(
    logic(tf.constant(1), tf.constant(2)),
    logic(tf.constant(-1), tf.constant(-1)),
    logic(tf.constant(-9), tf.constant(2)),
)


@tf.function
def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return a


print(gcd(tf.constant(48), tf.constant(36)))


@tf.function
def bisect(low, high):
    while high - low > 1e-4:
        middle = (low + high) / 2
        if middle**3 - 2.0 < 0:
            low = middle
        else:
            high = middle
    return low


print(f"{float(bisect(tf.constant(0.0), tf.constant(2.0))):.3f}")


@tf.function
def primes(n):
    sieve = tf.ones([n], tf.bool)
    sieve = tf.tensor_scatter_nd_update(sieve, [[0], [1]], [False, False])
    for i in range(2, 6):
        if sieve[i]:
            sieve = sieve & ~((tf.range(n) % i == 0) & (tf.range(n) > i))
    return tf.where(sieve)[:, 0]


print(primes(30))
