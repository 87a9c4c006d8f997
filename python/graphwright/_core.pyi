# The extension module. Its functions and types are described by their docstrings.
from typing import Any

def __getattr__(name: str) -> Any: ...
