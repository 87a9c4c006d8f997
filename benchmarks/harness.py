"""Measures us and the peers side by side, so that noise of the machine hits all alike.

Every contender is a process of its own that stays alive; rounds go around the contenders in turn,
and the median over the rounds counts. A peer that is not installed is left out and named.

    compare("eager add, 0-d float32", {
        "graphwright": Snippet("import graphwright as tf; a = tf.constant(1.0)", "a + a"),
        "numpy": Snippet("import numpy as np; a = np.float32(1)", "a + a"),
    }, aim=Aim("numpy", 0.25))
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

OURS = "graphwright"


@dataclass(frozen=True)
class Snippet:
    """Code to measure: `statement` is timed, after `setup` ran once in the same namespace.

    `count` says how many units of work (calls, iterations, elements) one run of the statement is;
    times are printed for one unit.
    """

    setup: str
    statement: str
    count: int = 1


@dataclass(frozen=True)
class Aim:
    """Our time should be at most `ratio` times the peer's, and at most `seconds` per unit."""

    peer: str | None = None
    ratio: float | None = None
    seconds: float | None = None


def worker() -> None:
    """Serves one contender: reads a snippet, then times it for every line `seconds` it is sent."""
    snippet = json.loads(sys.stdin.readline())
    namespace: dict = {}
    try:
        exec(snippet["setup"], namespace)
        source = "def run(repetitions):\n    for _ in repetitions:\n"
        source += "\n".join(f"        {line}" for line in snippet["statement"].splitlines())
        exec(source, namespace)
        run = namespace["run"]
        run(range(1))
    except BaseException as error:  # told to the parent, which goes on without this contender
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
        return
    print(json.dumps({"ready": True}), flush=True)
    repetitions = 1
    for line in sys.stdin:
        wanted = float(line)
        while True:
            start = time.perf_counter()
            run(range(repetitions))
            elapsed = time.perf_counter() - start
            if elapsed >= wanted / 2:
                break
            repetitions = max(repetitions * 2, int(repetitions * wanted / max(elapsed, 1e-9)))
        print(json.dumps({"seconds": elapsed / repetitions}), flush=True)


class Contender:
    def __init__(self, name: str, snippet: Snippet) -> None:
        self.name = name
        self.count = snippet.count
        self.times: list[float] = []
        python = (
            sys.executable if name == OURS else os.environ.get("GW_PEER_PYTHON", sys.executable)
        )
        self.process = subprocess.Popen(
            [python, os.path.abspath(__file__), "--worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        answer = self.ask(json.dumps({"setup": snippet.setup, "statement": snippet.statement}))
        self.error = answer.get("error")

    def ask(self, line: str) -> dict:
        assert self.process.stdin and self.process.stdout
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
            return json.loads(answer) if answer else {"error": "the process ended"}
        except BrokenPipeError:
            return {"error": "the process ended"}

    def measure(self, seconds: float) -> None:
        answer = self.ask(str(seconds))
        self.error = answer.get("error")
        if self.error is None:
            self.times.append(answer["seconds"] / self.count)

    def close(self) -> None:
        self.process.communicate()


def show_time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def report(
    title: str, medians: dict[str, float], aim: Aim | None, left_out: dict[str, str]
) -> bool:
    """Prints the medians and ratios; returns False where the aim was measured and missed."""
    print(title)
    ours = medians.get(OURS)
    for name, seconds in medians.items():
        ratio = "" if name == OURS or ours is None else f"   ours is {ours / seconds:.3g} of it"
        print(f"  {name:<12} {show_time(seconds):>10}{ratio}")
    for name, reason in left_out.items():
        print(f"  {name:<12} left out: {reason}")
    met = True
    if aim is not None and ours is not None:
        if aim.seconds is not None:
            met = ours <= aim.seconds
            print(f"  aim: at most {show_time(aim.seconds)}: {'met' if met else 'missed'}")
        if aim.peer in medians and aim.ratio is not None:
            met = ours <= aim.ratio * medians[aim.peer] and met
            print(f"  aim: at most {aim.ratio:g} of {aim.peer}: {'met' if met else 'missed'}")
    sys.stdout.flush()
    return met and ours is not None


def compare(
    title: str,
    snippets: dict[str, Snippet],
    aim: Aim | None = None,
    rounds: int = 9,
    seconds: float = 0.05,
) -> bool:
    """Times the snippets, interleaved; prints medians and ratios. True where the aim is met."""
    contenders = [Contender(name, snippet) for name, snippet in snippets.items()]
    for _ in range(rounds):
        for contender in contenders:
            if contender.error is None:
                contender.measure(seconds)
    medians, left_out = {}, {}
    for contender in contenders:
        if contender.error is None:
            medians[contender.name] = statistics.median(contender.times)
        else:
            left_out[contender.name] = contender.error
        contender.close()
    return report(title, medians, aim, left_out)


def compare_commands(
    title: str,
    commands: dict[str, list[str]],
    aim: Callable[[dict[str, float]], tuple[str, bool]] | None = None,
    rounds: int = 7,
) -> bool:
    """Times whole processes, interleaved, each command being the arguments of a Python interpreter.

    `aim` maps the medians to a sentence and whether it holds.
    """
    times: dict[str, list[float]] = {name: [] for name in commands}
    left_out: dict[str, str] = {}
    for _ in range(rounds + 1):  # the first round only fills the caches of the file system
        for name, arguments in commands.items():
            if name in left_out:
                continue
            ours = name.startswith(OURS)
            python = sys.executable if ours else os.environ.get("GW_PEER_PYTHON", sys.executable)
            start = time.perf_counter()
            done = subprocess.run([python, *arguments], capture_output=True, text=True)
            times[name].append(time.perf_counter() - start)
            if done.returncode != 0:
                left_out[name] = (done.stderr.strip().splitlines() or ["it failed"])[-1]
    medians = {
        name: statistics.median(values[1:])
        for name, values in times.items()
        if name not in left_out
    }
    good = report(title, medians, None, left_out)
    if aim is not None:
        try:
            sentence, good = aim(medians)
            print(f"  aim: {sentence}: {'met' if good else 'missed'}", flush=True)
        except KeyError as missing:
            print(f"  aim: needs {missing}, which was not measured", flush=True)
    return good


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        worker()
    else:
        sys.exit(__doc__)
