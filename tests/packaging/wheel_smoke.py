"""A short program for an installed wheel: every shared object loads and the main paths work.

Run on each Python by `./dev wheel`; needs graphwright and what it depends on, nothing else.
"""

import sys
from importlib import metadata

import graphwright as tf


def check_installation() -> None:
    installed = {
        (d.metadata["Name"] or "").lower().replace("_", "-") for d in metadata.distributions()
    }
    allowed = {"graphwright", "numpy", "nanobind-backend", "protobuf", "ml-dtypes"}
    assert installed <= allowed, f"also installed: {sorted(installed - allowed)}"
    assert tf.__version__ == metadata.version("graphwright")
    assert "site-packages" in tf.__file__, tf.__file__
    assert any(
        file.name == "THIRD_PARTY_NOTICES.txt" for file in metadata.files("graphwright") or []
    )


def main() -> None:
    check_installation()
    print(f"graphwright {tf.__version__} works on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
