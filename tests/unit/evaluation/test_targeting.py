"""An evaluation reads each value of a user once, however many flags need it."""

from flagstaff.evaluation.targeting import User, identifier_of


def test_an_attribute_that_many_flags_ask_for_is_encoded_once() -> None:
    user = User(b"ada", {"company": "Åcme"})
    first = identifier_of(user, "company")
    assert first == "Åcme".encode()
    assert identifier_of(user, "company") is first


def test_users_do_not_share_identifiers() -> None:
    assert identifier_of(User(b"ada", {"company": "a"}), "company") == b"a"
    assert identifier_of(User(b"eve", {"company": "b"}), "company") == b"b"


def test_an_attribute_identifies_nobody_beyond_a_kilobyte() -> None:
    user = User(b"ada", {"one": "ü" * 512, "more": "ü" * 513, "ascii": "a" * 1024, "too long": "a" * 1025})
    lengths = [len(identifier_of(user, name)) for name in ("one", "more", "ascii", "too long")]
    assert lengths == [1024, 0, 1024, 0]


def test_what_identifies_nobody_is_empty_each_time() -> None:
    user = User(b"ada", {"beta": True, "groups": ["a"], "none": None})
    for name in ("beta", "groups", "none", "absent"):
        assert [identifier_of(user, name), identifier_of(user, name)] == [b"", b""]
