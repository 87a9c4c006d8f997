"""Eight threads call, trace and run eager ops at once, each checking what it gets.

Run under the thread sanitizer by `./dev stress [seconds]`; ends with code 1 if a result was wrong.
"""

import sys
import threading
import time

import graphwright as tf

THREADS = 8


@tf.function
def shared(x, n):
    """Called by all threads, with shapes and dtypes that make it trace anew now and then."""
    total = x
    i = tf.constant(0)
    while i < n:
        total = total + tf.tanh(x) * 0.5
        i += 1
    return tf.reduce_sum(total)


def expect(name, value, wanted):
    if abs(float(value) - wanted) > 1e-3 * max(1.0, abs(wanted)):
        raise AssertionError(f"{name}: {float(value)} instead of {wanted}")


def call_shared(round_number, tanh_of_one):
    count = round_number % 7 + 1
    x = tf.ones([count])
    steps = round_number % 5
    wanted = count * (1.0 + steps * 0.5 * tanh_of_one)
    expect("shared function", shared(x, tf.constant(steps)), wanted)


def trace_new(round_number):
    """A function of the thread's own is converted, traced and differentiated."""
    scale = float(round_number % 11 + 1)

    @tf.function
    def own(x):
        if x > 0.0:
            return x * scale
        return x - scale

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = own(x)
    expect("new function", y, 2.0 * scale)
    expect("its gradient", tape.gradient(y, x), scale)


def run_eager(round_number, counter):
    a = tf.constant([[1.0, 2.0], [3.0, 4.0]]) + float(round_number % 3)
    product = tf.matmul(a, tf.ones([2, 1]))
    expect("eager ops", tf.reduce_sum(product), 10.0 + 4.0 * (round_number % 3))
    counter.assign_add(1.0)


def work(end, counter, failures, rounds, index):
    tanh_of_one = float(tf.tanh(tf.constant(1.0)))
    round_number = 0
    try:
        while time.monotonic() < end:
            call_shared(round_number + index, tanh_of_one)
            run_eager(round_number, counter)
            if round_number % 4 == 0:
                trace_new(round_number)
            round_number += 1
    except BaseException as error:
        failures.append(f"thread {index}, round {round_number}: {type(error).__name__}: {error}")
    rounds[index] = round_number


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    counter = tf.Variable(0.0)
    failures, rounds = [], [0] * THREADS
    arguments = [(time.monotonic() + seconds, counter, failures, rounds, i) for i in range(THREADS)]
    threads = [threading.Thread(target=work, args=each) for each in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        print(failure)
    if not failures:
        expect("counter", counter, float(sum(rounds)))
    print(f"{THREADS} threads, {sum(rounds)} rounds in {seconds:.0f} s, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
