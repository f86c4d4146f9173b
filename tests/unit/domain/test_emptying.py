"""Freeing what nobody needs any more in small steps."""

from flagstaff.values.lists import dismantling, emptying


def test_lists_and_dictionaries_are_emptied_one_item_at_a_time() -> None:
    items, by_name = [1, 2, 3], {"a": 1, "b": 2}
    left = [len(items) + len(by_name) for _ in emptying(items, by_name)]
    assert left == [4, 3, 2, 1, 0]


def test_decoded_json_is_emptied_to_its_depths_in_small_steps() -> None:
    inner: dict[str, object] = {"a": [1]}
    body = {"one": inner, "two": [inner, {"b": {}}], "three": "text"}
    held = [body, inner, inner["a"], body["two"]]
    steps = sum(1 for _ in dismantling(body))
    assert held == [{}, {}, [], []]
    assert steps == 9
