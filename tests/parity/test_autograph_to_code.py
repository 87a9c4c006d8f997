"""Compares `to_code` with TensorFlow's, live, and checks that the recorded texts are TensorFlow's.

Run as a program with `--record` (needs TensorFlow only) to write the recorded texts anew.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

import autograph_corpus


def texts_of(to_code, tensorflow) -> dict[str, str]:
    return {
        name: to_code(function)
        for name, function in autograph_corpus.programs(tensorflow).items()
        if not name.startswith("unsupported_") and name not in autograph_corpus.OURS
    }


def normalised(texts: dict[str, str]) -> dict[str, str]:
    return {name: autograph_corpus.normalised(text) for name, text in texts.items()}


def test_texts_equal_tensorflows():
    import tensorflow

    import graphwright

    theirs = normalised(texts_of(tensorflow.autograph.to_code, tensorflow))
    assert normalised(texts_of(graphwright.autograph.to_code, graphwright)) == theirs
    assert normalised(autograph_corpus.recorded()) == theirs


if __name__ == "__main__" and sys.argv[1:] == ["--record"]:
    import tensorflow

    texts = texts_of(tensorflow.autograph.to_code, tensorflow)
    autograph_corpus.RECORDED.parent.mkdir(exist_ok=True)
    autograph_corpus.RECORDED.write_text(json.dumps(texts, indent=1) + "\n")
