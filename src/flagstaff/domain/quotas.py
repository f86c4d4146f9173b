"""Quotas: how many resources of a kind there may be in one place, so that no account uses all of the memory."""

from dataclasses import dataclass

from flagstaff.domain.errors import Code, Error


@dataclass(frozen=True, slots=True)
class Quota:
    """At most `maximum` `resources` in a `place`; `setting` names the variable that sets it."""

    maximum: int
    place: str
    resources: str
    setting: str

    def has_room(self, present: int) -> bool:
        """Whether there may be one more."""
        return present < self.maximum

    def require_room(self, present: int) -> None:
        """Raise Error CONFLICT if the quota is reached."""
        if not self.has_room(present):
            raise Error(
                Code.CONFLICT,
                f"The {self.place} has {present} {self.resources}, and {self.setting} allows {self.maximum}. "
                f"Delete {self.resources} that are no longer used, or ask the operator to raise the setting.",
            )


@dataclass(frozen=True, slots=True)
class ConditionsQuota:
    """At most `maximum` characters of conditions in a place, because every evaluation may have to check all of them."""

    maximum: int

    def require_within(self, place: str, characters: int) -> None:
        """Raise Error CONFLICT if a place has more characters of conditions."""
        if characters > self.maximum:
            raise Error(
                Code.CONFLICT,
                f"The conditions of the {place} would have {characters} characters, and "
                f"FLAGSTAFF_MAX_CONDITION_CHARACTERS allows {self.maximum}. Delete conditions or values that are no "
                "longer used, or ask the operator to raise the setting.",
            )


def projects_per_account(maximum: int) -> Quota:
    """The quota of an account's projects."""
    return Quota(maximum, "account", "projects", "FLAGSTAFF_MAX_PROJECTS_PER_ACCOUNT")


def environments_per_project(maximum: int) -> Quota:
    """The quota of a project's environments."""
    return Quota(maximum, "project", "environments", "FLAGSTAFF_MAX_ENVIRONMENTS_PER_PROJECT")


def segments_per_project(maximum: int) -> Quota:
    """The quota of a project's segments."""
    return Quota(maximum, "project", "segments", "FLAGSTAFF_MAX_SEGMENTS_PER_PROJECT")


def flags_per_environment(maximum: int) -> Quota:
    """The quota of an environment's flags."""
    return Quota(maximum, "environment", "flags", "FLAGSTAFF_MAX_FLAGS_PER_ENVIRONMENT")


def rules_per_flag(maximum: int) -> Quota:
    """The quota of a flag's rules."""
    return Quota(maximum, "flag", "rules", "FLAGSTAFF_MAX_RULES_PER_FLAG")


def rules_per_environment(maximum: int) -> Quota:
    """The quota of the rules of all flags of an environment."""
    return Quota(maximum, "environment", "rules", "FLAGSTAFF_MAX_RULES_PER_ENVIRONMENT")
