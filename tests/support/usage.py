"""Programs that the dashboard shows under “Use in code”, filled in as the dashboard does (applications/usage.ts)."""

import re
from pathlib import Path
from typing import NamedTuple

SNIPPETS = Path(__file__).parents[2] / "dashboard" / "src" / "features" / "applications" / "snippets"
_BLOCK = re.compile(r"^\{\{#([a-z ]+)\}\}\n(.*?)^\{\{/\}\}\n", re.DOTALL | re.MULTILINE)
_PLACE = re.compile(r"\{\{(\w+)\}\}")


class Usage(NamedTuple):
    """The installation of a program's libraries, as commands or coordinates, which may be empty; and the program."""

    install: str
    code: str


def render(language: str, way: str, *, kind: str = "boolean", has_variants: bool = False, **values: str) -> Usage:
    """The program of a language (`python`) for a way to ask (`http`, `openfeature`, `unleash`).

    `kind` is the type of the flag's value: `boolean`, `string`, `integer`, `float` or `object`. The values are
    `address`, `key`, `environment` and `flag`.
    """
    names = {kind, "variant" if has_variants else "plain"}
    template = (SNIPPETS / f"{language}.{way}.snippet").read_text()
    chosen = _BLOCK.sub(lambda block: block[2] if names & set(block[1].split()) else "", template)
    install, code = _PLACE.sub(lambda place: values[place[1]], chosen).split("---\n", 1)
    return Usage(install.rstrip(), code.rstrip())
