"""Freeing what nobody needs any more, one by one."""

from flagstaff.values.lists import dismantle, empty


def test_lists_and_dictionaries_are_emptied() -> None:
    items, by_name = [1, 2, 3], {"a": 1, "b": 2}
    empty(items, by_name)
    assert (items, by_name) == ([], {})


def test_decoded_json_is_emptied_to_its_depths() -> None:
    inner: dict[str, object] = {"a": [1]}
    body = {"one": inner, "two": [inner, {"b": {}}], "three": "text"}
    held = [body, inner, inner["a"], body["two"]]
    dismantle(body)
    assert held == [{}, {}, [], []]
