import graphwright as tf


@tf.function
def square(x):
    print("tracing square", x.dtype.name, x.shape)
    return x * x


@tf.function
def sum_of_squares(x, y):
    print("tracing sum")
    return square(x) + square(y)


print(sum_of_squares(tf.constant(2), tf.constant(3)))
print(sum_of_squares(tf.constant(4), tf.constant(5)))
print(sum_of_squares(tf.constant(2.0), tf.constant(3.0)))


@tf.function
def outer(x):
    def helper(v):
        if v > 0:
            return v * 2
        else:
            return -v

    @tf.function
    def inner(v):
        return helper(v) + x

    return inner(x) + helper(-x)


print(outer(tf.constant(3)), outer(tf.constant(-3)))


@tf.function
def factorial(n):
    result = 1
    for i in tf.range(2, n + 1):
        result *= i
    return result


print(factorial(tf.constant(10)))
print(tf.function(lambda x: x + 1)(tf.constant(1)))
concrete = square.get_concrete_function(tf.TensorSpec([None], tf.int32))
print(concrete(tf.constant([1, 2, 3])))
print(concrete.structured_outputs)
