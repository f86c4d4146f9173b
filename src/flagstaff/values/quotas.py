"""Quotas: how many resources of a kind there may be in one place, so that no account uses all of the memory."""

from dataclasses import dataclass

from flagstaff.values.errors import Code, Error


@dataclass(frozen=True, slots=True)
class Quota:
    """At most `maximum` `resources` in a `place`; `setting` names the variable that sets it."""

    maximum: int
    place: str
    resources: str
    setting: str

    def has_room(self, present: int, more: int = 1) -> bool:
        """Whether there may be one more, or as many more."""
        return present + more <= self.maximum

    def require_room(self, present: int, more: int = 1) -> None:
        """Raise Error CONFLICT if there is no room for one more, or as many more."""
        if not self.has_room(present, more):
            raise Error(
                Code.CONFLICT,
                f"The {self.place} has {present} {self.resources}, and {self.setting} allows {self.maximum}. "
                f"Delete {self.resources} that are no longer used, or ask the operator to raise the setting.",
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
    setting: str = "FLAGSTAFF_MAX_CONDITION_WORK"

    def message(self, place: str, micros: float) -> str:
        """Return what is wrong with so much work in a place, such as `environment`, and what to do."""
        return (
            f"exceeds the budget of conditions: those of the {place} would cost an evaluation up to {micros:,.0f} "
            f"microseconds, and {self.setting} allows {self.maximum:,}. Use fewer conditions or cheaper "
            "ones, such as in or ends_with instead of matches, or ask the operator to raise the setting"
        )


def condition_characters(maximum: int) -> CharactersQuota:
    """The quota of conditions, in an environment's rules or a project's segments: evaluations may check all of them."""
    return CharactersQuota(maximum, "conditions", "FLAGSTAFF_MAX_CONDITION_CHARACTERS")


def variant_characters(maximum: int) -> CharactersQuota:
    """The quota of the variants of an environment's flags: a response may have the value of one of each flag."""
    return CharactersQuota(maximum, "variants", "FLAGSTAFF_MAX_VARIANT_CHARACTERS")


def projects_per_account(maximum: int) -> Quota:
    """The quota of an account's projects."""
    return Quota(maximum, "account", "projects", "FLAGSTAFF_MAX_PROJECTS_PER_ACCOUNT")


def tokens_per_account(maximum: int) -> Quota:
    """The quota of an account's personal access tokens."""
    return Quota(maximum, "account", "access tokens", "FLAGSTAFF_MAX_TOKENS_PER_ACCOUNT")


def tokens_per_project(maximum: int) -> Quota:
    """The quota of the access tokens for a project."""
    return Quota(maximum, "project", "access tokens", "FLAGSTAFF_MAX_TOKENS_PER_PROJECT")


def environments_per_project(maximum: int) -> Quota:
    """The quota of a project's environments."""
    return Quota(maximum, "project", "environments", "FLAGSTAFF_MAX_ENVIRONMENTS_PER_PROJECT")


def sdk_keys_per_project(maximum: int) -> Quota:
    """The quota of the SDK keys of a project's environments: the hot path compiles all of them at each change."""
    return Quota(maximum, "project", "SDK keys", "FLAGSTAFF_MAX_SDK_KEYS_PER_PROJECT")


def segments_per_project(maximum: int) -> Quota:
    """The quota of a project's segments."""
    return Quota(maximum, "project", "segments", "FLAGSTAFF_MAX_SEGMENTS_PER_PROJECT")


def metrics_per_project(maximum: int) -> Quota:
    """The quota of a project's metrics: each server has their keys in memory."""
    return Quota(maximum, "project", "metrics", "FLAGSTAFF_MAX_METRICS_PER_PROJECT")


def views_per_project(maximum: int) -> Quota:
    """The quota of a project's saved views."""
    return Quota(maximum, "project", "views", "FLAGSTAFF_MAX_VIEWS_PER_PROJECT")


def webhooks_per_project(maximum: int) -> Quota:
    """The quota of a project's webhooks: each change writes a message to each."""
    return Quota(maximum, "project", "webhooks", "FLAGSTAFF_MAX_WEBHOOKS_PER_PROJECT")


def flags_per_environment(maximum: int) -> Quota:
    """The quota of an environment's flags."""
    return Quota(maximum, "environment", "flags", "FLAGSTAFF_MAX_FLAGS_PER_ENVIRONMENT")


def rules_per_flag(maximum: int) -> Quota:
    """The quota of a flag's rules."""
    return Quota(maximum, "flag", "rules", "FLAGSTAFF_MAX_RULES_PER_FLAG")


def rules_per_environment(maximum: int) -> Quota:
    """The quota of the rules of all flags of an environment."""
    return Quota(maximum, "environment", "rules", "FLAGSTAFF_MAX_RULES_PER_ENVIRONMENT")
