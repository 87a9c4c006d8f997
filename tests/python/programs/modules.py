import graphwright as tf


class Counter(tf.Module):
    def __init__(self, name=None):
        super().__init__(name)
        self.count = tf.Variable(0, trainable=False, name="count")
        self.scale = tf.Variable(2.0, name="scale")

    @tf.function
    def increment(self, by=1):
        self.count.assign_add(by)
        return self.count

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def scaled(self, x):
        return x * self.scale


counter = Counter()
print(
    counter.name, [v.name for v in counter.variables], [v.name for v in counter.trainable_variables]
)
print(counter.increment(), counter.increment(5), counter.increment(tf.constant(3)))
print(counter.count.numpy(), counter.scaled(tf.constant([1.0, 2.0])), counter.scaled([3.0]))
try:
    counter.scaled(tf.constant([[1.0]]))
except Exception as error:
    print(type(error).__name__)
try:
    counter.scaled(tf.constant([1]))
except Exception as error:
    print(type(error).__name__)
print(Counter("named").name, counter.count.trainable)
v = tf.Variable([1, 2, 3])
print(v.assign([4, 5, 6]), v.assign_add([1, 1, 1]).numpy(), v[1], v + 1, v.read_value())
for bad in ([1, 2], [1.5, 2, 3], "text"):
    try:
        v.assign(bad)
    except Exception as error:
        print(type(error).__name__)
print(v.numpy(), int(tf.reduce_sum(v)), list(v.numpy()))
print(tf.Variable(1.0, dtype=tf.float64), tf.Variable(tf.ones([2]), shape=[None]).shape)
