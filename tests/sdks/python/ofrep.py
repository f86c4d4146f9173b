"""An application with OpenFeature's SDK. It reads commands as lines of JSON and answers each with one line.

{"connect": key, "name", "url"} makes a client; {"ask": [[flag, type, default, context]], "name"} asks it.
"""

import json
import sys
from typing import Any

from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext


def connect(key: str, name: str, url: str) -> Any:
    """Make a client with this key."""
    api.set_provider(OFREPProvider(url, headers_factory=lambda: {"Authorization": f"Bearer {key}"}), name)
    return {"connected": True}


def ask(questions: list[Any], name: str) -> Any:
    """The answers to questions."""
    client = api.get_client(name)
    answers = []
    for flag, kind, default, context in questions:
        others = {key: value for key, value in context.items() if key != "targetingKey"}
        given = EvaluationContext(context.get("targetingKey"), others)
        details = getattr(client, f"get_{kind}_details")(flag, default, given)
        error = details.error_code.value if details.error_code else None
        reason = details.reason.value if details.reason else None
        answer = {"value": details.value, "variant": details.variant, "reason": reason, "error": error}
        answers.append({**answer, "metadata": dict(details.flag_metadata)})
    return answers


for line in sys.stdin:
    command = json.loads(line)
    answer = (
        connect(command["connect"], command["name"], command["url"])
        if "connect" in command
        else ask(command["ask"], command["name"])
    )
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
