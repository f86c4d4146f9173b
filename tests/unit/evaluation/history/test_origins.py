"""The origins of evaluations stay with their evaluations, however these are divided and joined."""

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstaff.projects.record_origins import Origin, Origins, joined_origins, origins_of_texts
from flagstaff.projects.sdk_keys import KeyKind

KEYS = [None, uuid4(), uuid4()]
Known = tuple[Origin | None, KeyKind | None]
origins = st.just((None, None)) | st.tuples(
    st.builds(
        Origin,
        st.integers(0, 2**63) | st.none(),
        st.sampled_from(KEYS),
        st.sampled_from(["evaluate", "ofrep"]),
        st.text(max_size=3),
    ),
    st.sampled_from([None, *KeyKind]),
)


def of_each(given_origins: list[Known]) -> Origins | None:
    return joined_origins(
        (None if origin is None else Origins([origin], (), [kind] if kind else ()), 1) for origin, kind in given_origins
    )


def each_of(found: Origins | None, size: int) -> list[Known]:
    return [(None, None) if found is None else (found.at(place), found.kind_at(place)) for place in range(size)]


@given(st.lists(st.lists(origins, min_size=1), min_size=1, max_size=4))
def test_each_evaluation_keeps_its_origin_and_the_kind_of_its_key(parts: list[list[Known]]) -> None:
    everything = [each for part in parts for each in part]
    joined = joined_origins((of_each(part), len(part)) for part in parts)
    assert each_of(joined, len(everything)) == everything
    assert (joined is None) is (set(everything) == {(None, None)})
    if joined is not None:
        joined.check(len(everything))
        middle = len(everything) // 2
        for part in (slice(0, middle), slice(middle, None)):
            some = everything[part]
            assert each_of(joined.part(part), len(some)) == some
        stored = origins_of_texts(joined.texts(), joined.places, joined.kinds)
        assert each_of(stored, len(everything)) == everything


@pytest.mark.parametrize(
    ("found", "size"),
    [
        (Origins([]), 0),
        (Origins([None], [0]), 2),
        (Origins([None], [0, 1]), 2),
        (Origins([None, None], [0, -1]), 2),
        (Origins([None, None], [0, 1], [None]), 2),
    ],
)
def test_damaged_origins_are_refused(found: Origins, size: int) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        found.check(size)
    with pytest.raises(ValueError, match="incomplete"):
        origins_of_texts(["1", None, "ofrep"], [])
