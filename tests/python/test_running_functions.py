"""How running functions end: with values, errors that name the line, or Ctrl-C."""

import os
import subprocess
import sys
import threading

import pytest

import graphwright as tf


@tf.function
def count_to(limit):
    i = tf.constant(0)
    while i < limit:
        i += 1
    return i


@tf.function
def divide(x, y):
    total = tf.constant(0)
    for i in tf.range(3):
        total += x // (y - i)  # fails in the iteration in which i equals y
    return total


CTRL_C = """
import os, signal, threading

# A parent that runs in the background may have told us to ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
import graphwright as tf


@tf.function
def count_to(limit):
    i = tf.constant(0)
    while i < limit:
        i = tf.minimum(i + 1, 1_000_000)
    return i


assert int(count_to(tf.constant(10))) == 10
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    count_to(tf.constant(2_000_000))  # is never reached
except KeyboardInterrupt:
    assert int(count_to(tf.constant(20))) == 20
    print("interrupted, and works afterwards")
"""


def test_ctrl_c_ends_a_loop_and_later_runs_are_not_disturbed(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(CTRL_C)
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "interrupted, and works afterwards\n", done.stderr


def test_errors_of_running_functions_name_node_and_line():
    assert int(divide(tf.constant(6), tf.constant(4))) == 6 // 4 + 6 // 3 + 6 // 2
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        divide(tf.constant(6), tf.constant(1))
    text = str(caught.value)
    assert "Integer division by zero" in text
    assert "node while/floordiv" in text
    assert os.path.basename(__file__) in text
    assert f"line {divide_line()}" in text
    # The function is whole afterwards.
    assert int(divide(tf.constant(6), tf.constant(-1))) == -6 + -3 + -2


def divide_line() -> int:
    with open(__file__) as source:
        return next(i for i, line in enumerate(source, 1) if "fails in the iteration" in line)


def test_functions_run_on_several_threads_at_once():
    results = []

    def work():
        for n in range(1, 50):
            results.append(int(count_to(tf.constant(n))) == n)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 * 49 and all(results)
