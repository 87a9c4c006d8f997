import graphwright as tf

calls = []


@tf.function
def f(x):
    print("traced with", type(x).__name__)
    calls.append(1)
    tf.print("run with", x)
    return x


f(tf.constant(1))
f(tf.constant(2))
f(1)
f(1)
f(2)
f("a")
f(None)
print(len(calls))
counter = tf.Variable(0)


@tf.function
def ordered():
    counter.assign_add(1)
    tf.print("one", counter)
    counter.assign(counter * 10)
    tf.print("two", counter)


ordered()
ordered()
print(counter.numpy())
state = {"v": None}


@tf.function
def once(x):
    if state["v"] is None:
        state["v"] = tf.Variable(5.0)
    state["v"].assign_add(x)
    return state["v"].read_value()


print(once(tf.constant(1.0)), once(tf.constant(1.0)))
values = [1, 2, 3]


@tf.function
def unrolled(x):
    for v in values:
        print("unrolled", v)
        x += v
    return x


print(unrolled(tf.constant(0)))
values.append(4)
print(unrolled(tf.constant(0)))
