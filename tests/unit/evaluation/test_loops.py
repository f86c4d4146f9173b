"""The compiled loops compared with those in Python, and with arguments that do not fit."""

import importlib.util
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hatch_build
from flagstaff.evaluation import loops, python_loops
from tests.support.loops import require_compiled

ADA = b"ada"
FRAGMENTS = (b'"a":{},', b'"a":{"enabled":true},')

prefixes = st.binary(max_size=40) | st.text(max_size=40).map(str.encode)
identifiers = st.text(max_size=40).map(str.encode) | st.binary(max_size=9) | st.binary(min_size=1000, max_size=5000)
tables = st.binary(min_size=1, max_size=1000)


@pytest.fixture
def compiled() -> None:
    """The loops are compiled."""
    require_compiled()


CALLS_WITH_MISTAKES: list[tuple[Callable[..., Any], tuple[Any, ...], type[Exception]]] = [
    (loops.find_buckets, (), TypeError),
    (loops.find_buckets, ((b"a:",),), TypeError),
    (loops.find_buckets, ((b"a:",), ADA, ADA), TypeError),
    (loops.find_buckets, ([b"a:"], ADA), TypeError),
    (loops.find_buckets, (None, ADA), TypeError),
    (loops.find_buckets, ((b"a:",), "ada"), TypeError),
    (loops.find_buckets, ((b"a:",), bytearray(ADA)), TypeError),
    (loops.find_buckets, ((b"a:", "b:"), ADA), TypeError),
    (loops.find_variants, ((b"a:",), ADA), TypeError),
    (loops.find_variants, ([b"a:"], (b"\0",), ADA), TypeError),
    (loops.find_variants, ((b"a:",), [b"\0"], ADA), TypeError),
    (loops.find_variants, ((b"a:",), (b"\0",), None), TypeError),
    (loops.find_variants, ((b"a:", None), (b"\0", b"\0"), ADA), TypeError),
    (loops.find_variants, ((b"a:", b"b:"), (b"\0", "\0"), ADA), TypeError),
    (loops.find_variants, ((b"a:", b"b:"), (b"\0",), ADA), ValueError),
    (loops.find_variants, ((b"a:", b"b:"), (b"\0", b""), ADA), ValueError),
    (loops.join, (b"{", (FRAGMENTS,)), TypeError),
    (loops.join, ("{", (FRAGMENTS,), b"\0"), TypeError),
    (loops.join, (b"{", [FRAGMENTS], b"\0"), TypeError),
    (loops.join, (b"{", (FRAGMENTS,), [0]), TypeError),
    (loops.join, (b"{", (FRAGMENTS, [*FRAGMENTS]), b"\0\0"), TypeError),
    (loops.join, (b"{", (FRAGMENTS, (b"", 1)), b"\0\1"), TypeError),
    (loops.join, (b"{", (FRAGMENTS,), b"\0", b"}", None), TypeError),
    (loops.join, (b"{", (FRAGMENTS, FRAGMENTS), b"\0"), ValueError),
    (loops.join, (b"{", (FRAGMENTS,), b"\0\0"), ValueError),
    (loops.join, (b"{", (FRAGMENTS,), b"\2"), IndexError),
    (loops.join, (b"{", ((),), b"\0"), IndexError),
]


@pytest.mark.parametrize(("function", "arguments", "error"), CALLS_WITH_MISTAKES)
def test_arguments_that_do_not_fit_are_refused(
    compiled: None, function: Callable[..., Any], arguments: tuple[Any, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        function(*arguments)


def test_no_call_keeps_memory_or_a_reference(compiled: None) -> None:
    prefix, table, identifier, fragments = b"flag-%d:" % 1, bytes([0, 1] * 500), b"user-%d" % 1, (*FRAGMENTS,)
    held = prefix, table, identifier, fragments, *fragments

    def call_all() -> None:
        for _ in range(200):
            loops.find_buckets((prefix,), identifier)
            places = loops.find_variants((prefix,) * 300, (table,) * 300, identifier)
            loops.join(identifier, (fragments,) * 300, places, prefix, table)
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
    assert after - before < 2000  # a byte of each of 200 calls would be more than that: objects have 33


@given(st.lists(prefixes, max_size=8).map(tuple), identifiers)
def test_buckets_are_the_same_as_in_python(found: tuple[bytes, ...], identifier: bytes) -> None:
    require_compiled()
    assert loops.find_buckets(found, identifier) == python_loops.find_buckets(found, identifier)


@given(st.lists(st.tuples(prefixes, tables), max_size=8), identifiers)
def test_variants_are_the_same_as_in_python(flags: list[tuple[bytes, bytes]], identifier: bytes) -> None:
    require_compiled()
    columns = tuple(prefix for prefix, _ in flags), tuple(table for _, table in flags)
    assert loops.find_variants(*columns, identifier) == python_loops.find_variants(*columns, identifier)


@given(st.data(), st.binary(max_size=9), st.lists(st.binary(max_size=9), max_size=3))
def test_a_join_is_the_same_as_in_python(data: st.DataObject, head: bytes, tails: list[bytes]) -> None:
    require_compiled()
    each = st.lists(st.binary(max_size=50), min_size=1, max_size=256).map(tuple)
    answers = tuple(data.draw(st.lists(each, max_size=5)))
    places = bytes(data.draw(st.integers(0, len(fragments) - 1)) for fragments in answers)
    assert loops.join(head, answers, places, *tails) == python_loops.join(head, answers, places, *tails)


def test_thousands_of_flags_are_the_same_as_in_python(compiled: None) -> None:
    many = tuple(b"flag-%d:" % number for number in range(5000))
    assert loops.find_buckets(many, ADA) == python_loops.find_buckets(many, ADA)
    answers, places = (FRAGMENTS,) * 5000, bytes([0, 1] * 2500)
    assert loops.join(b"{", answers, places, b"}") == python_loops.join(b"{", answers, places, b"}")


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
    """A folder with the source and what was compiled of an older one, on a machine without a compiler."""
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
    hook = hatch_build.PackageBuildHook(str(checkout), {}, None, None, str(checkout), "wheel")
    hook.initialize("editable", {})
    assert [each.name for each in checkout.iterdir()] == ["_loops.c"]
