# SPDX-License-Identifier: Apache-2.0
"""Values as JSON has them."""

from __future__ import annotations

import json
import math
import re
from typing import Any


# Bytes of a file's name that are not UTF-8 are lone surrogates in what os.fsdecode() returns. JSON has an escape for these, by which Python
# reads the same name again; strict readers refuse a lone surrogate.
_SURROGATES = re.compile("[\ud800-\udfff]")


def plain(value: Any) -> Any:
    """Converts a value to Python's own types. A number that is not finite becomes None: JSON has none."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def text_of(value: Any) -> str:
    """Returns the text of a JSON file that people can read."""
    text = json.dumps(plain(value), indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    return _SURROGATES.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
