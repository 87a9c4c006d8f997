"""Time of `import graphwright` beside `import numpy`, in fresh processes."""

from harness import compare_commands


def within_numpy(medians: dict[str, float]) -> tuple[str, bool]:
    extra = medians["graphwright"] - medians["numpy"]
    return f"at most 50 ms more than numpy (measured {extra * 1e3:.0f} ms more)", extra <= 0.05


if __name__ == "__main__":
    compare_commands(
        "import, process included",
        {
            "graphwright": ["-c", "import graphwright"],
            "numpy": ["-c", "import numpy"],
            "nothing": ["-c", "pass"],
            "tensorflow": ["-c", "import tensorflow"],
            "jax": ["-c", "import jax"],
            "torch": ["-c", "import torch"],
        },
        aim=within_numpy,
    )
