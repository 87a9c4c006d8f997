import graphwright as tf


@tf.function
def fizzbuzz(limit):
    for i in tf.range(1, limit + 1):
        if i % 15 == 0:
            tf.print("FizzBuzz")
        elif i % 3 == 0:
            tf.print("Fizz")
        elif i % 5 == 0:
            tf.print("Buzz")
        else:
            tf.print(i)


print(fizzbuzz(tf.constant(15)))
