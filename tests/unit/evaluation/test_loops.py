"""The compiled loops compared with those in Python, and with invalid arguments."""

import importlib.machinery
import importlib.util
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hatch_build
from flagstaff.evaluation import loops, python_loops
from flagstaff.evaluation.bucketing import BUCKETS, VARIANT_SEED
from flagstaff.evaluation.matches import RuleMatch
from tests.support.loops import require_compiled

ADA = b"ada"
FRAGMENTS = (b'"a":{},', b'"a":{"enabled":true},')

PREFIXES = loops.prepare((b"a:",), 0)
WEIGHTS = loops.pack([1, 1000])
MATCH = RuleMatch(0, 5, 101)
SHARES = RuleMatch(0, 5, 101, percentage=50, by_bucket=(MATCH,) * 50 + (None,) * 51)

prefixes = st.binary(max_size=40) | st.text(max_size=40).map(str.encode)
identifiers = st.text(max_size=40).map(str.encode) | st.binary(max_size=9) | st.binary(min_size=1000, max_size=5000)
weights = (
    st.lists(st.integers(0, 100_000), min_size=1, max_size=255)
    .filter(any)
    .map(lambda each: loops.pack(accumulate(each)))
)
FLAGS = 12
# What a match may not have.
NO_NUMBER: Any = "5"
NO_MATCHES: Any = (5,)
NO_TUPLE: Any = [MATCH]
numbers = st.integers(0, FLAGS - 1)
plain_matches = st.builds(
    RuleMatch,
    position=numbers,
    rank=st.integers(0, 20),
    byte=st.integers(101, 255),
    needs=st.just(0) | st.integers(0, 7) | st.integers(0, 2**100),
    percentage=st.just(BUCKETS) | st.integers(0, BUCKETS),
    variant=st.none() | st.integers(0, 254),
    slot=numbers,
    by_bucket=st.none(),
)


@st.composite
def matches_by_bucket(draw: st.DrawFn) -> RuleMatch:
    """Rules of a flag for shares of the users with the same value."""
    match = draw(plain_matches)
    inside = st.none() | st.just(match._replace(rank=draw(st.integers(0, 20)))) | st.just(match)
    shares = draw(st.lists(inside, min_size=BUCKETS + 1, max_size=BUCKETS + 1))
    return match._replace(percentage=draw(st.integers(0, BUCKETS - 1)), by_bucket=tuple(shares))


some_matches = st.lists(plain_matches | matches_by_bucket(), max_size=30).map(tuple)


@pytest.fixture
def compiled() -> None:
    """Skip the test if the loops were not compiled."""
    require_compiled()


CALLS_WITH_MISTAKES: list[tuple[Callable[..., Any], tuple[Any, ...], type[Exception]]] = [
    (loops.prepare, ((b"a:",),), TypeError),
    (loops.prepare, ([b"a:"], 0), TypeError),
    (loops.prepare, ((b"a:", "b:"), 0), TypeError),
    (loops.prepare, ((b"a:",), None), TypeError),
    (loops.prepare, ((b"a:",), -1), OverflowError),
    (loops.find_buckets, (), TypeError),
    (loops.find_buckets, (PREFIXES,), TypeError),
    (loops.find_buckets, (PREFIXES, ADA, ADA), TypeError),
    (loops.find_buckets, ((b"a:",), ADA), TypeError),
    (loops.find_buckets, (None, ADA), TypeError),
    (loops.find_buckets, (b"a:", ADA), ValueError),
    (loops.find_buckets, (PREFIXES, "ada"), TypeError),
    (loops.find_buckets, (PREFIXES, bytearray(ADA)), TypeError),
    (loops.find_variants, (PREFIXES, ADA), TypeError),
    (loops.find_variants, ((b"a:",), (WEIGHTS,), ADA), TypeError),
    (loops.find_variants, (PREFIXES, [WEIGHTS], ADA), TypeError),
    (loops.find_variants, (PREFIXES, (WEIGHTS,), None), TypeError),
    (loops.find_variants, (PREFIXES, ("\0",), ADA), TypeError),
    (loops.find_variants, (PREFIXES, (), ADA), ValueError),
    (loops.find_variants, (PREFIXES, (b"",), ADA), ValueError),
    (loops.find_variants, (PREFIXES, (loops.pack([0, 0]),), ADA), ValueError),
    (loops.find_variants, (PREFIXES, (loops.pack(range(256)),), ADA), ValueError),
    (loops.apply_rules, ((), 0, (), b"", bytearray()), TypeError),
    (loops.apply_rules, ([], 0, (), b"", bytearray(), bytearray()), TypeError),
    (loops.apply_rules, ((), None, (), b"", bytearray(), bytearray()), TypeError),
    (loops.apply_rules, ((), 0, (), bytearray(), bytearray(), bytearray()), TypeError),
    (loops.apply_rules, ((), 0, (), b"", b"", bytearray()), TypeError),
    (loops.apply_rules, ((), 0, (), b"", bytearray(), b""), TypeError),
    (loops.apply_rules, ((None,), 0, (), b"", bytearray(1), bytearray()), TypeError),
    (loops.apply_rules, ((MATCH[:5],), 0, (), b"", bytearray(1), bytearray()), TypeError),
    (loops.apply_rules, ((MATCH._replace(rank=NO_NUMBER),), 0, (), b"", bytearray(1), bytearray()), TypeError),
    (loops.apply_rules, ((MATCH._replace(needs=NO_NUMBER),), 0, (), b"", bytearray(1), bytearray()), TypeError),
    (loops.apply_rules, ((MATCH,), 0, (), b"", bytearray(), bytearray()), IndexError),
    (loops.apply_rules, ((), 0, (MATCH._replace(position=-1),), b"", bytearray(1), bytearray()), IndexError),
    (loops.apply_rules, ((MATCH._replace(rank=-1),), 0, (), b"", bytearray(1), bytearray()), IndexError),
    (loops.apply_rules, ((MATCH._replace(byte=256),), 0, (), b"", bytearray(1), bytearray()), IndexError),
    (loops.apply_rules, ((MATCH._replace(percentage=101),), 0, (), b"", bytearray(1), bytearray()), IndexError),
    (loops.apply_rules, ((MATCH._replace(percentage=50),), 0, (), b"", bytearray(1), bytearray()), IndexError),
    (loops.apply_rules, ((MATCH._replace(variant=0),), 0, (), b"", bytearray(1), bytearray()), IndexError),
    (loops.apply_rules, ((MATCH._replace(variant=256),), 0, (), b"", bytearray(1), bytearray(1)), IndexError),
    (loops.apply_rules, ((SHARES,), 0, (), b"\x65", bytearray(1), bytearray()), IndexError),
    (loops.apply_rules, ((SHARES._replace(by_bucket=NO_MATCHES),), 0, (), b"\0", bytearray(1), bytearray()), TypeError),
    (loops.apply_rules, ((SHARES._replace(by_bucket=NO_TUPLE),), 0, (), b"\0", bytearray(1), bytearray()), TypeError),
    (loops.select_bytes, (ADA,), TypeError),
    (loops.select_bytes, (ADA, [0]), TypeError),
    (loops.select_bytes, ("ada", loops.pack([0])), TypeError),
    (loops.select_bytes, (ADA, loops.pack([3])), IndexError),
    (loops.join, (b"{", (FRAGMENTS,), b"\0"), TypeError),
    (loops.join, ("{", (FRAGMENTS,), b"\0", b""), TypeError),
    (loops.join, (b"{", [FRAGMENTS], b"\0", b""), TypeError),
    (loops.join, (b"{", (FRAGMENTS,), [0], b""), TypeError),
    (loops.join, (b"{", (FRAGMENTS,), b"\0", None), TypeError),
    (loops.join, (b"{", (FRAGMENTS, [*FRAGMENTS]), b"\0\0", b""), TypeError),
    (loops.join, (b"{", (FRAGMENTS, (b"", 1)), b"\0\1", b""), TypeError),
    (loops.join, (b"{", (FRAGMENTS, {1: 1}), b"\0\1", b""), TypeError),
    (loops.join, (b"{", ((FRAGMENTS, (1,)),), b"\1", b"\0"), TypeError),
    (loops.join, (b"{", (FRAGMENTS,), b"\0", b"", b"}", None), TypeError),
    (loops.join, (b"{", (FRAGMENTS, FRAGMENTS), b"\0", b""), ValueError),
    (loops.join, (b"{", (FRAGMENTS,), b"\0\0", b""), ValueError),
    (loops.join, (b"{", ((FRAGMENTS,),) * 2, b"\0\0", b"\0"), ValueError),
    (loops.join, (b"{", (FRAGMENTS,), b"\2", b""), IndexError),
    (loops.join, (b"{", ((),), b"\0", b""), IndexError),
    (loops.join, (b"{", ({},), b"\0", b""), IndexError),
    (loops.join, (b"{", ((FRAGMENTS,),), b"\0", b"\2"), IndexError),
]


@pytest.mark.parametrize(("function", "arguments", "error"), CALLS_WITH_MISTAKES)
def test_arguments_that_do_not_fit_are_refused(
    compiled: None, function: Callable[..., Any], arguments: tuple[Any, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        function(*arguments)


def test_no_call_keeps_memory_or_a_reference(compiled: None) -> None:
    prefix, sums, identifier, fragments = b"flag-%d:" % 1, loops.pack([1, 2]), b"user-%d" % 1, (*FRAGMENTS,)
    match = RuleMatch(0, 5, 101)
    mixed: Any = ((fragments,), {0: fragments}) * 150
    held = prefix, sums, identifier, fragments, *fragments, match

    def call_all() -> None:
        for _ in range(200):
            loops.find_buckets(loops.prepare((prefix,), 0), identifier)
            places = loops.find_variants(loops.prepare((prefix,) * 300, 1), (sums,) * 300, identifier)
            loops.apply_rules((match,), 0, (match,), b"", bytearray(1), bytearray())
            loops.select_bytes(identifier, loops.pack([0, 1]))
            loops.join(identifier, (fragments,) * 300, places, b"", prefix, sums)
            loops.join(identifier, mixed, bytes(300), places, prefix, sums)
            for function, arguments, error in CALLS_WITH_MISTAKES:
                with pytest.raises(error):
                    function(*arguments)

    call_all()
    counts = [*map(sys.getrefcount, held)]
    tracemalloc.start()
    try:
        call_all()
        before, _ = tracemalloc.get_traced_memory()
        call_all()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [*map(sys.getrefcount, held)] == counts
    assert after - before < 2000  # a leaked byte per call would be more than that: objects have 33 bytes


@given(st.lists(prefixes, max_size=20).map(tuple), st.booleans(), identifiers)
def test_buckets_are_the_same_as_in_python(found: tuple[bytes, ...], is_sorted: bool, identifier: bytes) -> None:
    require_compiled()
    flags = tuple(sorted(found, key=lambda prefix: len(prefix) % 4)) if is_sorted else found
    expected = python_loops.find_buckets(python_loops.prepare(flags, 0), identifier)
    assert loops.find_buckets(loops.prepare(flags, 0), identifier) == expected


@given(st.lists(st.tuples(prefixes, weights), max_size=20), identifiers)
def test_variants_are_the_same_as_in_python(flags: list[tuple[bytes, bytes]], identifier: bytes) -> None:
    require_compiled()
    found, sums = tuple(prefix for prefix, _ in flags), tuple(each for _, each in flags)
    expected = python_loops.find_variants(python_loops.prepare(found, VARIANT_SEED), sums, identifier)
    assert loops.find_variants(loops.prepare(found, VARIANT_SEED), sums, identifier) == expected


@given(
    some_matches, some_matches, st.integers(0, 2**100), st.lists(st.integers(0, 100), min_size=FLAGS, max_size=FLAGS)
)
def test_rules_decide_the_same_as_in_python(
    looked_up: tuple[RuleMatch, ...], others: tuple[RuleMatch, ...], holding: int, buckets: list[int]
) -> None:
    require_compiled()
    results = []
    for module in (loops, python_loops):
        decided, variants = bytearray(FLAGS), bytearray(FLAGS)
        found = module.apply_rules(looked_up, holding, others, bytes(buckets), decided, variants)
        results.append((found, decided, variants))
    assert results[0] == results[1]


@given(st.binary(min_size=1, max_size=300), st.data())
def test_selected_bytes_are_the_same_as_in_python(source: bytes, data: st.DataObject) -> None:
    require_compiled()
    places = loops.pack(data.draw(st.lists(st.integers(0, len(source) - 1), max_size=400)))
    assert loops.select_bytes(source, places) == python_loops.select_bytes(source, places)


@given(st.data(), st.binary(max_size=9), st.lists(st.binary(max_size=9), max_size=3))
def test_a_join_is_the_same_as_in_python(data: st.DataObject, head: bytes, tails: list[bytes]) -> None:
    require_compiled()
    one = st.binary(max_size=50)
    some = st.lists(one | st.lists(one, min_size=1, max_size=9).map(tuple), min_size=1, max_size=256)
    answers = tuple(data.draw(st.lists(some.map(tuple) | some.map(lambda each: dict(enumerate(each))), max_size=5)))
    places = bytes(data.draw(st.integers(0, len(fragments) - 1)) for fragments in answers)
    found = [fragments[place] for fragments, place in zip(answers, places, strict=True)]
    variants = bytes(data.draw(st.integers(0, len(each) - 1)) for each in found if isinstance(each, tuple))
    expected = python_loops.join(head, answers, places, variants, *tails)
    assert loops.join(head, answers, places, variants, *tails) == expected


def test_thousands_of_flags_are_the_same_as_in_python(compiled: None) -> None:
    many = tuple(b"flag-%d:" % number for number in range(5000))
    expected = python_loops.find_buckets(python_loops.prepare(many, 0), ADA)
    assert loops.find_buckets(loops.prepare(many, 0), ADA) == expected
    answers, places = (FRAGMENTS,) * 5000, bytes([0, 1] * 2500)
    assert loops.join(b"{", answers, places, b"", b"}") == python_loops.join(b"{", answers, places, b"", b"}")


@pytest.mark.parametrize("flag", ["-DWITHOUT_AVX2", "-UWITHOUT_AVX2"])
def test_hashes_are_the_same_with_and_without_avx2(compiled: None, tmp_path: Path, flag: str) -> None:
    made = tmp_path / "_loops.abi3.so"
    subprocess.run([*hatch_build.compiler_command(made), flag], check=True, timeout=120)
    loader = importlib.machinery.ExtensionFileLoader("_loops", str(made))
    specification = importlib.util.spec_from_loader("_loops", loader)
    assert specification is not None
    module = importlib.util.module_from_spec(specification)
    loader.exec_module(module)
    many, identifier = tuple(b"flag-%d:" % 7 ** (number % 9) for number in range(200)), b"abcdefg" * 600
    for flags in (many[:1], many[:15], many[:33], many):
        for length in (0, 1, 3, 4, 16, 1021, 4096):
            expected = python_loops.find_buckets(python_loops.prepare(flags, 0), identifier[:length])
            assert module.find_buckets(module.prepare(flags, 0), identifier[:length]) == expected, length


def test_the_loops_run_in_python_where_they_were_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flagstaff.evaluation._loops", None)
    specification = importlib.util.spec_from_file_location("other_loops", loops.__file__)
    assert specification is not None
    assert specification.loader is not None
    other = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(other)
    assert other.WHY_NOT_COMPILED
    assert (other.find_buckets, other.join) == (python_loops.find_buckets, python_loops.join)


def test_the_compiler_has_no_warning(compiled: None, tmp_path: Path) -> None:
    command = hatch_build.compiler_command(tmp_path / "loops.so")
    strict = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
    subprocess.run([*command, *strict], check=True, timeout=120)


@pytest.fixture
def checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with the source and an older compiled file, on a machine without a compiler."""
    (tmp_path / "_loops.c").write_bytes(hatch_build.LOOPS.read_bytes())
    (tmp_path / "_loops.abi3.so").touch()
    monkeypatch.setattr(hatch_build, "LOOPS", tmp_path / "_loops.c")
    monkeypatch.setattr(hatch_build, "COMPILED_LOOPS", tmp_path / "_loops.abi3.so")
    monkeypatch.setenv("CC", "false")
    return tmp_path


def test_a_build_without_a_compiler_says_so_and_changes_nothing(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hatch_build.compile_loops() is False
    assert "_loops.c was not compiled, so evaluations will run in Python" in capsys.readouterr().out
    assert sorted(each.name for each in checkout.iterdir()) == ["_loops.abi3.so", "_loops.c"]


def test_an_installation_without_a_compiler_removes_what_was_compiled_of_older_sources(checkout: Path) -> None:
    none: Any = None
    hook = hatch_build.PackageBuildHook(str(checkout), {}, none, none, str(checkout), "wheel")
    hook.initialize("editable", {})
    assert [each.name for each in checkout.iterdir()] == ["_loops.c"]
