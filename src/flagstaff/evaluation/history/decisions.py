"""The results of flags in recorded evaluations. Most evaluations share them, so each is converted only once."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from flagstaff.evaluation.history.layout import Decision, Layout, decide

Form = TypeVar("Form")

MOST_KNOWN = 50_000  # forms that are kept; an environment of thousands of flags may have more


class DecisionForms(Generic[Form]):
    """Decisions in the form that `convert` gives them."""

    def __init__(self, convert: Callable[[Decision], Form]) -> None:
        self._convert = convert
        self._layouts: dict[bytes, _LayoutForms[Form]] = {}
        self._known = 0  # forms

    def of_layout(self, layout: Layout) -> Callable[[bytes], Iterator[Form]]:
        """A function from an evaluation's recorded bytes to the form of every flag's decision."""
        if self._known > MOST_KNOWN:
            self.forget()
        known = self._layouts.get(layout.digest)
        if known is None:
            known = self._layouts[layout.digest] = _LayoutForms(layout, self._convert_new)
        return known.of_recorded

    def _convert_new(self, decision: Decision) -> Form:
        self._known += 1
        return self._convert(decision)

    def forget(self) -> None:
        """Drop all that is known."""
        self._layouts.clear()
        self._known = 0


class _LayoutForms(Generic[Form]):
    def __init__(self, layout: Layout, convert: Callable[[Decision], Form]) -> None:
        self._convert = convert
        self._constant = [convert(Decision(flag, flag.default)) for flag in layout.constant]
        self._flags: list[tuple[int, slice, dict[bytes, Form]]] = []
        self._recorded = layout.recorded
        column = len(layout.recorded)
        for position, flag in enumerate(layout.recorded):
            self._flags.append((position, slice(column, column + flag.columns), {}))
            column += flag.columns

    def of_recorded(self, recorded: bytes) -> Iterator[Form]:
        """The form of every flag's decision."""
        for position, columns, known in self._flags:
            key = recorded[position : position + 1] + recorded[columns]
            form = known.get(key)
            if form is None:
                decision = decide(self._recorded[position], key[0], key[1:])
                form = known[key] = self._convert(decision)
            yield form
        yield from self._constant
