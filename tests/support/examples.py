"""How many examples Hypothesis tries of a property: few by default, and four times as many with `nightly`.

`pytest --hypothesis-profile=nightly` chooses the second, as the tests of mutants do.
"""

import hypothesis

FEW = "flagstaff"
MANY = "nightly"
MOST_EXAMPLES = 100
_FEW_EXAMPLES = 25


def register_profiles() -> None:
    """Describe both profiles, and load the one with few examples."""
    # A test must not fail because the machine is busy.
    common = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
    hypothesis.settings.register_profile(FEW, common, max_examples=_FEW_EXAMPLES)
    hypothesis.settings.register_profile(MANY, common, max_examples=MOST_EXAMPLES)
    hypothesis.settings.load_profile(FEW)


def times_the_examples(factor: int) -> hypothesis.settings:
    """Return the settings of a property that needs more examples than others, because its inputs vary more."""
    return hypothesis.settings(max_examples=factor * hypothesis.settings().max_examples)


def are_many() -> bool:
    """Return whether a run tries all that there is to try, however long it takes."""
    return hypothesis.settings().max_examples >= MOST_EXAMPLES
