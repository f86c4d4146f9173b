"""The dialect of Unleash's frontend API, which answers the flags that are on.

A variant's value is text there, and says of which type it is: `string`, `number` or `json`. Clients read a boolean as
text, so its type is `string`.
"""

import json

from flagstaff.evaluation.fragments import SEPARATOR
from flagstaff.evaluation.history.layout import Decision
from flagstaff.evaluation.snapshot import Dialect
from flagstaff.evaluation.targets import Contents

_NO_VARIANT = '{"name":"disabled","enabled":false,"feature_enabled":true}'


def _write(decision: Decision, contents: Contents) -> bytes:
    if not decision.outcome.enabled:
        return b""
    # JSON escapes no character of a flag's key.
    start = f'{{"name":"{decision.flag.key}","enabled":true,"impressionData":false,"variant":'
    return f"{start}{_variant(decision.variant, contents)}}}".encode() + SEPARATOR


def _variant(key: str | None, contents: Contents) -> str:
    if key is None:
        return _NO_VARIANT
    kind, text = _payload(contents.values[key])
    payload = f'{{"type":"{kind}","value":{json.dumps(text, ensure_ascii=False)}}}'
    return f'{{"name":{json.dumps(key)},"enabled":true,"feature_enabled":true,"payload":{payload}}}'


def _payload(value: str) -> tuple[str, str]:
    """The type of a value and its text, given its JSON."""
    match value[0]:
        case '"':
            return "string", json.loads(value)
        case "{":
            return "json", value
        case "t" | "f":
            return "string", value
        case _:
            return "number", value


FRONTEND = Dialect(head=b'{"toggles":[', tail=b"]}", write=_write)
"""The dialect of `/unleash/api/frontend`."""
