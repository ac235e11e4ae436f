#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the sources include each other in one direction, as docs/architecture.md draws it. Prints each include that does not."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Each subject's folder, with those that it may include besides itself.
SUBJECTS = {"core": []}
for subject, lower in [
    ("runtime", ["core"]),
    ("image", ["runtime"]),
    ("transform", ["image"]),
    ("filter", ["transform"]),
    ("resample", ["filter"]),
    ("field", ["filter"]),
    ("penalty", ["transform"]),
    ("metric/samples", ["filter"]),
    ("metric", ["metric/samples"]),
    ("metric/histogram", ["metric"]),
    ("metric/pairs", ["metric"]),
    ("metric/neighborhood", ["metric"]),
    ("registration", ["resample", "field", "penalty", "metric/histogram", "metric/pairs", "metric/neighborhood"]),
    ("registration/free_form", ["registration"]),
    ("registration/global", ["registration"]),
    ("registration/diffeomorphic", ["registration"]),
]:
    SUBJECTS[subject] = sorted({below for name in lower for below in [name, *SUBJECTS[name]]})

# Each layer's folder, the prefix of its includes, and the layers that it may include besides itself.
LAYERS = {
    "kernels": ("src/kernels", []),
    "gpureg": ("include/gpureg", []),
    "engine": ("src/engine", ["kernels", "gpureg"]),
    "host": ("src/host", ["kernels", "gpureg", "engine"]),
    "cuda": ("cuda", ["kernels", "gpureg", "engine"]),
    "opencl": ("opencl", ["kernels", "gpureg", "engine"]),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"(%s)/([^"]+)"' % "|".join(LAYERS), re.MULTILINE)


def find_wrong_includes():
    """Yields a line of text for each include that points up, or to a neighbouring subject or layer."""
    for layer, (folder, lower_layers) in LAYERS.items():
        for path in sorted((ROOT / folder).rglob("*")):
            subject = path.parent.relative_to(ROOT / folder).as_posix()
            if not path.is_file() or subject == ".":  # what stands in a layer's own folder knows all subjects
                continue
            if subject not in SUBJECTS:
                yield f"{path.relative_to(ROOT)} is in no subject's folder"
                continue
            for of_layer, rest in INCLUDE.findall(path.read_text("utf-8")):
                of_subject = Path(rest).parent.as_posix()
                if of_layer not in [layer, *lower_layers] or of_subject not in [subject, *SUBJECTS[subject]]:
                    yield f"{path.relative_to(ROOT)} includes {of_layer}/{rest}"


if __name__ == "__main__":
    wrong = list(find_wrong_includes())
    print("\n".join(wrong))
    sys.exit(f"{len(wrong)} includes point the wrong way" if wrong else 0)
