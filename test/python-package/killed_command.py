# SPDX-License-Identifier: Apache-2.0
"""A program for tests: the command gpureg, which is killed as soon as a file gets a name for the first time.

python killed_command.py WHERE WORD...

WHERE says of which file: "half", one that is written where outputs are made, of which half is there then; "first" or "second", the first or the
second of the outputs, whose place it gets.
"""

import os
import signal
import sys
from pathlib import Path


def run(where, words):
    from gpuregistration import _program
    from gpuregistration.command.main import main

    _program.is_program = True
    replace, placed = os.replace, []

    def replace_or_die(source, target):
        is_placed = Path(source).parent.parent == Path(target).parent and Path(source).parent.name.startswith(".gpureg-")
        placed.extend([target] if is_placed else [])
        if where == "half" and not is_placed:
            os.truncate(source, os.path.getsize(source) // 2)
        if where == "half" or len(placed) == {"first": 1, "second": 2}[where]:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(source, target)

    os.replace = replace_or_die
    sys.exit(main(words))


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2:])
