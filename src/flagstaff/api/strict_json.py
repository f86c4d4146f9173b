"""JSON as RFC 8259 has it: UTF-8, each name of an object once, and only its numbers.

Python's decoder also accepts UTF-16 and UTF-32, `NaN` and `Infinity`, and drops all but the last of equal names.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NoReturn

from flagstaff.values.errors import invalid_field


def decode_json(body: bytes) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: if it is not UTF-8, or not JSON.
        Error: INVALID for names that are given twice.
    """
    return json.loads(body.decode(), object_pairs_hook=_object, parse_constant=_refuse_constant)


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise invalid_field(name, "is given more than once; give it once")
    return made


def _refuse_constant(name: str) -> NoReturn:
    raise invalid_field("body", f"is not valid JSON: {name} is not a number")
