"""Quotas: how many resources of a kind there may be in one place, so that no account uses all of the memory."""

from dataclasses import dataclass

from flagstaff.values.errors import Code, Error


@dataclass(frozen=True, slots=True)
class Quota:
    """At most `maximum` `resources` in a `place`; `setting` names the variable that sets it.

    `remedy` is what is to be done with those that are no longer used.
    """

    maximum: int
    place: str
    resources: str
    setting: str
    remedy: str = "Delete"

    def has_room(self, present: int, more: int = 1) -> bool:
        """Return whether there may be one more, or as many more."""
        return present + more <= self.maximum

    def require_room(self, present: int, more: int = 1) -> None:
        """Raise Error CONFLICT if there is no room for one more, or as many more."""
        if not self.has_room(present, more):
            raise Error(
                Code.CONFLICT,
                f"The {self.place} has {present} {self.resources}, and {self.setting} allows {self.maximum}. "
                f"{self.remedy} {self.resources} that are no longer used, or ask the operator to raise the setting.",
            )


@dataclass(frozen=True, slots=True)
class CharactersQuota:
    """At most `maximum` characters of `parts` of resources, as JSON, in a place; `setting` names the variable."""

    maximum: int
    parts: str
    setting: str

    def require_within(self, place: str, characters: int, before: int = 0) -> None:
        """Raise Error CONFLICT if a place has more characters, and also more than `before` a change."""
        if characters > max(self.maximum, before):
            raise Error(
                Code.CONFLICT,
                f"The {self.parts} of the {place} would have {characters} characters, and {self.setting} allows "
                f"{self.maximum}. Delete {self.parts} or values that are no longer used, or ask the operator to raise "
                "the setting.",
            )


@dataclass(frozen=True, slots=True)
class WorkQuota:
    """At most `maximum` microseconds of work at worst for the conditions of a place; `setting` names the variable."""

    maximum: int
    setting: str

    def message(self, place: str, micros: float) -> str:
        """Return what is wrong with so much work in a place, such as `environment`, and what to do."""
        return (
            f"exceeds the budget of conditions: those of the {place} would cost an evaluation up to {micros:,.0f} "
            f"microseconds, and {self.setting} allows {self.maximum:,}. Compare fewer attributes, delete "
            "conditions that are no longer used, or use cheaper operators: in is the cheapest, and matches the most "
            "expensive. Or ask the operator to raise the setting"
        )


def require_fewer(present: int, most: int, resources: str) -> None:
    """Raise Error CONFLICT if there are `most` already, a bound that no setting raises.

    `resources` are those in words, such as "comments" or "favourites in this project".
    """
    if present >= most:
        raise Error(Code.CONFLICT, f"There are {present} {resources}, which is the maximum. Remove some first.")
