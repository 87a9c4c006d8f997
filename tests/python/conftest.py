"""Plans made by these tests check their graph after every pass."""

import os

os.environ.setdefault("GRAPHWRIGHT_VERIFY_PASSES", "1")
