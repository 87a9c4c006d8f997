"""Print where the native build dependencies of this Python environment lie, as NAME=path lines.

The build takes its C++ dependencies from Python packages, so one lookup serves a virtual
environment, pip's isolated build environment and a system-wide installation alike.
"""

from __future__ import annotations

from importlib import metadata

# CMake variable, distribution, and the end of the path of a file in it. The variable is set to
# the folder `parents_up` levels above the file (0 is the file itself).
LOOKUPS = (
    ("nanobind_DIR", "nanobind", "cmake/nanobind-config.cmake", 1),
    ("GW_FMT_INCLUDE_DIR", "cmeel-fmt", "include/fmt/format.h", 2),
    ("GW_TBB_INCLUDE_DIR", "tbb-devel", "include/oneapi/tbb.h", 2),
    ("GW_TBB_LIBRARY", "tbb4u", "tbb4u/libtbb.so.12", 0),
    ("GW_TBB_LICENSE_DIR", "tbb4u", "licenses/LICENSE.txt", 1),
    ("GW_DNNL_INCLUDE_DIR", "onednn-devel-cpu-tbb", "include/dnnl.h", 1),
    ("GW_DNNL_LIBRARY", "onednn-cpu-tbb", "/libdnnl.so.3", 0),
    ("GW_DNNL_LICENSE_DIR", "onednn-cpu-tbb", "share/doc/onednn/LICENSE", 1),
    ("GW_OPENBLAS_INCLUDE_DIR", "scipy-openblas32", "include/cblas.h", 1),
    ("GW_OPENBLAS_LIBRARY", "scipy-openblas32", "/libscipy_openblas.so", 0),
    ("GW_OPENBLAS_LICENSE_DIR", "scipy-openblas32", "licenses/LICENSE.txt", 1),
)


def main() -> None:
    for variable, distribution, ending, parents_up in LOOKUPS:
        try:
            files = metadata.distribution(distribution).files or ()
        except metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.as_posix().endswith(ending):
                path = file.locate().resolve()  # type: ignore[attr-defined]
                for _ in range(parents_up):
                    path = path.parent
                print(f"{variable}={path.as_posix()}")
                break


if __name__ == "__main__":
    main()
