"""Python environments and system packages that building and testing need."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def say(text: str) -> None:
    print(f"-- {text}", flush=True)


def read_pyproject() -> dict:
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10; pip carries the same parser
        from pip._vendor import tomli as tomllib  # type: ignore[no-redef]
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def requirements() -> dict[str, list[str]]:
    """The packages needed to build, at run time, and to develop."""
    project = read_pyproject()
    return {
        "build": project["build-system"]["requires"],
        "runtime": project["project"]["dependencies"],
        "dev": project["dependency-groups"]["dev"],
    }


def all_requirements() -> list[str]:
    return [package for group in requirements().values() for package in group]


def digest(packages: list[str]) -> str:
    return hashlib.sha256("\n".join(sorted(packages)).encode()).hexdigest()


def requirements_digest() -> str:
    return digest(all_requirements())


def need_system_packages() -> None:
    """Installs (as root) or names the Debian packages that are missing."""
    missing = []
    if not shutil.which(os.environ.get("CXX", "g++")):
        missing.append("g++")
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        missing.append(f"libpython{sys.version_info.major}.{sys.version_info.minor}-dev")
    if not Path("/usr/include/doctest/doctest.h").exists():
        missing.append("doctest-dev")
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ModuleNotFoundError:
        missing.append(f"python{sys.version_info.major}.{sys.version_info.minor}-venv")
    if not missing:
        return
    apt_get = shutil.which("apt-get")
    if apt_get and os.geteuid() == 0:
        say(f"installing {' '.join(missing)}")
        variables = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        install = [apt_get, "install", "-y", "-q", "--no-install-recommends", *missing]
        if subprocess.run(install, env=variables).returncode == 0:
            return
        subprocess.run([apt_get, "update", "-q"], env=variables)
        if subprocess.run(install, env=variables).returncode == 0:
            return
        sys.exit("dev: the packages above could not be installed")
    sys.exit(f"dev: please run once: sudo apt-get install -y {' '.join(missing)}")


def ensure(venv: Path, packages: list[str], what: str) -> Path:
    """Makes an environment, or brings one up to date; does nothing where it is."""
    stamp = venv / "graphwright-packages"
    wanted = digest(packages)
    if stamp.exists() and stamp.read_text() == wanted:
        return venv
    if not (venv / "bin" / "python").exists():
        say(f"making an environment for {what}: {venv}")
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    say(f"installing packages for {what}")
    pip = [str(venv / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    if subprocess.run([*pip, "install", "--quiet", *packages]).returncode != 0:
        sys.exit(f"dev: installing the packages for {what} failed")
    stamp.write_text(wanted)
    return venv


def development() -> Path:
    """The environment that builds and tests: $GW_VENV, or .venv."""
    venv = Path(os.environ.get("GW_VENV") or ROOT / ".venv").absolute()
    return ensure(venv, all_requirements(), "building and testing")


def scratch(name: str, packages: list[str]) -> Path:
    """An environment under build/, apart from the development one."""
    return ensure(ROOT / "build" / name, packages, name)


def activated(venv: Path) -> dict[str, str]:
    variables = dict(os.environ)
    variables["PATH"] = f"{venv / 'bin'}{os.pathsep}{variables.get('PATH', '')}"
    variables["VIRTUAL_ENV"] = str(venv)
    variables.pop("PYTHONHOME", None)
    return variables
