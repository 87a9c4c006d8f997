"""What `./dev` runs: builds the project and runs, tests, measures and checks it.

Needs only the standard library; everything else is installed into an environment of its own:
.venv (or $GW_VENV) for building and testing, build/parity (or $GW_PARITY_VENV) and build/peers for
comparisons.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import environment
import lint
import wheel
from environment import ROOT, say

RELEASE = ROOT / "build" / "release"
TENSORFLOW = "tensorflow-cpu==2.21.0"


def jobs() -> str:
    return os.environ.get("GW_JOBS") or str(len(os.sched_getaffinity(0)))


def build(preset: str = "release", targets: tuple[str, ...] = ()) -> Path:
    """Configures (when needed) and builds a preset; returns its build folder."""
    environment.need_system_packages()
    venv = environment.development()
    folder = ROOT / "build" / preset
    stamp = folder / "configured-for"
    presets = (ROOT / "CMakePresets.json").read_text()
    identity = f"{venv} {environment.digest([presets, environment.requirements_digest()])}"
    variables = environment.activated(venv)
    variables.setdefault("CCACHE_BASEDIR", str(ROOT))
    variables.setdefault("CCACHE_NOHASHDIR", "1")
    if not (folder / "build.ninja").exists() or not stamp.exists() or stamp.read_text() != identity:
        say(f"configuring build/{preset}")
        run(["cmake", "--preset", preset, "--fresh", "--log-level=WARNING"], env=variables)
        stamp.write_text(identity)
    say(f"building build/{preset}")
    run(["ninja", "-C", folder, "-j", jobs(), *targets], env=variables)
    return folder


def run(command: list, env: dict[str, str] | None = None, check: bool = True) -> int:
    """Runs a command in the project's folder; ends the program with its code where it fails."""
    try:
        code = subprocess.run([str(part) for part in command], cwd=ROOT, env=env).returncode
    except KeyboardInterrupt:
        code = 130
    if check and code != 0:
        sys.exit(code)
    return code


def package_environment(venv: Path, folder: Path = RELEASE) -> dict[str, str]:
    """Environment variables under which `import graphwright` finds the package just built."""
    variables = environment.activated(venv)
    paths = [str(folder / "python"), variables.get("PYTHONPATH", "")]
    variables["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    variables["GW_BUILD_DIR"] = str(folder)
    return variables


def command_run(arguments: argparse.Namespace) -> int:
    build(targets=("_core", "gw_python_package", "gw_runtime_files"))
    venv = environment.development()
    program = Path(arguments.file).resolve()
    return subprocess.run(
        [str(venv / "bin" / "python"), str(program), *arguments.arguments],
        env=package_environment(venv),
    ).returncode


def command_test(arguments: argparse.Namespace) -> int:
    build()
    venv = environment.development()
    selection: list[str] = []
    for what in arguments.what:
        if (ROOT / "tests" / what).is_dir():
            selection.append(f"tests/{what}")
        elif what == "long":
            selection += ["-m", "long"]
        elif what.startswith("-") or (ROOT / what.split("::")[0]).exists():
            selection.append(what)
        else:
            selection += ["-k", what]
    say("testing")
    return run(
        [venv / "bin" / "python", "-m", "pytest", *selection],
        env=package_environment(venv),
        check=False,
    )


def scripts(folder: str, what: list[str], leave_out: tuple[str, ...] = ()) -> list[Path]:
    """The scripts of a folder that `what` names, with or without test_, or by their beginning."""
    found = sorted(path for path in (ROOT / folder).glob("*.py") if path.stem not in leave_out)
    if what:
        names = {Path(name).stem for name in what}

        def named(path: Path, name: str) -> bool:
            return path.stem == name or path.stem.removeprefix("test_").startswith(name)

        unknown = {name for name in names if not any(named(path, name) for path in found)}
        if unknown:
            known = ", ".join(path.stem for path in found)
            sys.exit(f"dev: no {folder} called {', '.join(sorted(unknown))}; there are: {known}")
        found = [path for path in found if any(named(path, name) for name in names)]
    return found


def command_bench(arguments: argparse.Namespace) -> int:
    build()
    venv = environment.development()
    peers = os.environ.get("GW_PEERS", "").split()
    peer_venv = environment.scratch("peers", ["numpy>=2", *peers])
    variables = package_environment(venv)
    variables["GW_PEER_PYTHON"] = str(peer_venv / "bin" / "python")
    code = 0
    for script in scripts("benchmarks", arguments.what, leave_out=("harness", "conftest")):
        say(f"benchmark {script.stem}")
        code = run([venv / "bin" / "python", script], env=variables, check=False) or code
    return code


def command_parity(arguments: argparse.Namespace) -> int:
    build()
    runtime = environment.requirements()["runtime"]
    # An environment that has TensorFlow already is used as it is.
    given = os.environ.get("GW_PARITY_VENV")
    packages = [TENSORFLOW, "pytest", *runtime]
    venv = Path(given).absolute() if given else environment.scratch("parity", packages)
    if not (venv / "bin" / "python").exists():
        sys.exit(f"dev: GW_PARITY_VENV: there is no environment in {venv}")
    variables = package_environment(venv)
    variables.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    variables.setdefault("CUDA_VISIBLE_DEVICES", "")
    selection: list = scripts("tests/parity", arguments.what, leave_out=("conftest",))
    say("comparing with TensorFlow")
    return run(
        [venv / "bin" / "python", "-m", "pytest", "-p", "no:cacheprovider", *selection],
        env=variables,
        check=False,
    )


def command_lint(arguments: argparse.Namespace) -> int:
    folder = build()
    return lint.main(folder, environment.development(), fix=arguments.fix)


def command_sanitize(arguments: argparse.Namespace) -> int:
    folder = build(arguments.sanitizer, ("graphwright_tests", "gw_runtime_files"))
    variables = environment.activated(environment.development())
    variables.setdefault("ASAN_OPTIONS", "detect_stack_use_after_return=1:strict_string_checks=1")
    variables.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
    variables.setdefault("TSAN_OPTIONS", "halt_on_error=1:second_deadlock_stack=1")
    say(f"C++ unit tests under {arguments.sanitizer}")
    return run(
        [folder / "bin" / "graphwright_tests", *arguments.arguments], env=variables, check=False
    )


def command_stress(arguments: argparse.Namespace) -> int:
    folder = build("tsan", ("_core", "gw_python_package", "gw_runtime_files"))
    venv = environment.development()
    variables = package_environment(venv, folder)
    # The interpreter is not instrumented, so the sanitizer's library must be loaded before it.
    compiler = os.environ.get("CXX", "g++")
    found = subprocess.run(
        [compiler, "-print-file-name=libtsan.so"], capture_output=True, text=True, check=True
    )
    variables["LD_PRELOAD"] = str(Path(found.stdout.strip()).resolve())
    variables.setdefault("TSAN_OPTIONS", "halt_on_error=1:second_deadlock_stack=1")
    say("threads under the thread sanitizer")
    return run(
        [venv / "bin" / "python", "tests/stress/threads.py", arguments.seconds],
        env=variables,
        check=False,
    )


def command_wheel(arguments: argparse.Namespace) -> int:
    environment.need_system_packages()
    return wheel.main(environment.development(), arguments.python, arguments.tests)


def command_clean(arguments: argparse.Namespace) -> int:
    shutil.rmtree(ROOT / "build", ignore_errors=True)
    if arguments.all:
        shutil.rmtree(ROOT / ".venv", ignore_errors=True)
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev", description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, text: str, function) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(function=function)
        return command

    command = add("run", "build, then run a Python file with graphwright importable", command_run)
    command.add_argument("file")
    command.add_argument("arguments", nargs=argparse.REMAINDER)
    command = add("test", "build, then test: everything, or the parts named", command_test)
    command.add_argument(
        "what",
        nargs="*",
        help="cpp, python, long, a path, a pytest option, or words as for pytest -k",
    )
    command = add("bench", "build, then run benchmarks/*.py, or those named", command_bench)
    command.add_argument("what", nargs="*")
    command = add("lint", "format, style, types, layers and clang-tidy", command_lint)
    command.add_argument("--fix", action="store_true", help="format and repair what can be")
    command = add(
        "parity", f"compare with {TENSORFLOW} in an environment of its own", command_parity
    )
    command.add_argument("what", nargs="*")
    command = add("sanitize", "C++ unit tests under a sanitizer", command_sanitize)
    command.add_argument("sanitizer", choices=("asan", "tsan"))
    command.add_argument("arguments", nargs=argparse.REMAINDER)
    command = add("stress", "threads that call, trace and run ops, under tsan", command_stress)
    command.add_argument("seconds", nargs="?", default="60")
    command = add("wheel", "build the wheel and try it on every Python found", command_wheel)
    command.add_argument("python", nargs="*", help="versions to try it on, such as 3.12")
    command.add_argument("--tests", action="store_true", help="run tests/python on each as well")
    command = add("clean", "remove what was built", command_clean)
    command.add_argument("--all", action="store_true", help="and the environment .venv")

    arguments, unknown = parser.parse_known_args(
        ["--help"] if sys.argv[1:] == ["help"] else sys.argv[1:]
    )
    if unknown:
        if arguments.command != "test":
            parser.error(f"unrecognized arguments: {' '.join(unknown)}")
        arguments.what += unknown
    return arguments


def main() -> int:
    arguments = parse()
    return arguments.function(arguments)


if __name__ == "__main__":
    sys.exit(main())
