import graphwright as tf

words = tf.constant([["a", "b"], ["c", "a"]])
print(words == "a", words != "a", tf.equal(words, ["a", "b"]), tf.not_equal("x", b"x"))
print(tf.constant("a") == tf.constant("a"), tf.constant("a") != "a", words == ["a", "b", "c"])
print(
    tf.where(words == "a", "yes", "no"),
    tf.reduce_any(words == "b"),
    words == tf.zeros([0, 2], tf.string),
)


@tf.function
def apply(operation, x, y):
    if operation == "add":
        result = x + y
    elif operation == "multiply":
        result = x * y
    else:
        result = x
    return result


for name in ["add", "multiply", "none"]:
    print(apply(tf.constant(name), 3, 4), apply(name, 3, 4))


@tf.function
def count(words, wanted):
    found = 0
    for word in words:
        if word == wanted:
            found += 1
    return found, words != wanted


print(count(tf.constant(["a", "b", "a"]), tf.constant("a")))


@tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec(None, tf.string)])
def compare(a, b):
    return a == b, tf.reduce_all(tf.not_equal(a, b))


print(compare(["x", "y"], ["x", "z"]), compare(["x", "y"], "y"))
try:
    print(tf.constant("a") == 1)
except Exception as error:
    print(type(error).__name__)
try:
    print(tf.constant("a") < "b")
except Exception as error:
    print(type(error).__name__)
try:
    print(tf.constant(1) == "b")
except Exception as error:
    print(type(error).__name__)
try:
    print(tf.equal(["a"], ["a", "b", "c"]), tf.equal(["a", "b"], ["a", "b", "c"]))
except Exception as error:
    print(type(error).__name__)
