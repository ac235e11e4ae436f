# SPDX-License-Identifier: Apache-2.0
"""python -m gpuregistration: the command gpureg."""

import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main())
