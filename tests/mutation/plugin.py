"""A plugin of pytest that runs tests on mutants of modules, and lists the mutants that no test notices.

Each mutant runs in a process that is forked after the tests have been collected. It replaces the code of the functions
that differ, so that nothing is imported again and no file changes. A mutant outside of functions, such as one of a
constant, gets a new interpreter. The quickest tests run first, and the first failure ends a mutant.
"""

import gc
import importlib.machinery
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

import hypothesis
import pytest

from tests.mutation.mutants import Mutant, find_mutants
from tests.support.examples import MOST_EXAMPLES

_LOADED = "MUTANT"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The modules, and which of their mutants."""
    parser.addoption("--mutate", action="append", default=[], help="a module of which mutants are made")
    parser.addoption("--sample", type=int, help="so many mutants at random instead of all")
    parser.addoption("--bodies-only", action="store_true", help="only mutants in bodies of functions, which are quick")
    parser.addoption("--seed", type=int, default=1, help="what is drawn at random")
    parser.addoption("--only", help="these mutants, by path#number, divided by commas")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let Hypothesis look for a failure, in the same examples each time, and not for the smallest one."""
    session.config.option.tbstyle = "no"
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    many = hypothesis.settings(phases=phases, derandomize=True, max_examples=MOST_EXAMPLES)
    hypothesis.settings.register_profile("mutants", many)
    hypothesis.settings.load_profile("mutants")


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests once as they are, and then on each mutant."""
    chosen = _choose(session.config)
    if not chosen or _LOADED in os.environ:
        return None
    session.config.pluginmanager.unregister(name="terminalreporter")
    begun = time.monotonic()
    items = _sorted(session)
    seconds = 20 + 4 * (time.monotonic() - begun)
    functions = _functions({each.path for each in chosen})
    survived = []
    failed: pytest.Item | str | None
    for number, mutant in enumerate(chosen, 1):
        if mutant.is_inside:
            failed = _run_forked(session, items, seconds, partial(_exchange, functions, mutant)).failed
            if isinstance(failed, pytest.Item):  # it may notice the next one, too
                items.insert(0, items.pop(items.index(failed)))
        else:
            failed = None
        if failed is None:  # also for functions, because decorators may have run at the import
            failed = _run_anew(session.config, mutant, seconds)
        if failed is None:
            survived.append(mutant)
        _print(f"{number}/{len(chosen)} {'SURVIVED' if failed is None else 'killed  '} {mutant}")
    _print(f"{len(chosen)} mutants, {len(survived)} survived:", *map(str, survived), sep="\n")
    os._exit(bool(survived))


def _print(*parts: str, sep: str = " ") -> None:
    os.write(2, (sep.join(parts) + "\n").encode())


def _choose(config: pytest.Config) -> list[Mutant]:
    found = [each for path in config.getoption("mutate") for each in find_mutants(Path(path))]
    if only := config.getoption("only"):
        wanted = set(only.split(","))
        return [each for each in found if f"{each.path}#{each.number}" in wanted]
    found = [each for each in found if each.is_inside or not config.getoption("bodies_only")]
    sample = config.getoption("sample")
    if sample is None or sample >= len(found):
        return found
    return random.Random(config.getoption("seed")).sample(found, sample)


def _sorted(session: pytest.Session) -> list[pytest.Item]:
    """Return the tests, the quickest first, after running each as it is. It exits if one fails."""
    run = _run_forked(session, session.items, 1800, lambda: None)
    if run.failed is not None:
        pytest.exit(f"a test fails without a mutant: {getattr(run.failed, 'nodeid', run.failed)}", 1)
    return [each for _, each in sorted(zip(run.seconds, session.items, strict=True), key=itemgetter(0))]


class _Run(NamedTuple):
    """How long the tests took, and the one that failed; "timeout" if they did not end, and None if all passed."""

    seconds: list[float]
    failed: pytest.Item | str | None


def _run_forked(session: pytest.Session, items: list[pytest.Item], seconds: float, prepare: Callable[[], None]) -> _Run:
    """Run tests in a forked process until one fails."""
    with tempfile.TemporaryFile() as report:
        child = os.fork()
        if not child:
            os.setsid()
            try:
                prepare()
                _run_items(session, items, report.fileno())
            finally:
                os._exit(0)
        deadline = time.monotonic() + seconds
        while not (ended := os.waitpid(child, os.WNOHANG)[0]) and time.monotonic() < deadline:
            time.sleep(0.01)
        if not ended:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return _Run([], "timeout")
        report.seek(0)
        took = [float(line) for line in report]
    return _Run(took, items[len(took)] if len(took) < len(items) else None)


def _run_items(session: pytest.Session, items: list[pytest.Item], report: int) -> None:
    for item, following in zip(items, [*items[1:], None], strict=True):
        begun = time.monotonic()
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            session._setupstate.teardown_exact(None)
            return
        os.write(report, f"{time.monotonic() - begun}\n".encode())


def _run_anew(config: pytest.Config, mutant: Mutant, seconds: float) -> str | None:
    """Run the tests in a new interpreter that imports a mutant. Return None if they pass."""
    command = [sys.executable, "-m", "pytest", *config.invocation_params.args, "-x"]
    environ = {**os.environ, _LOADED: f"{mutant.path}#{mutant.number}"}
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            return "failed" if process.wait(20 + seconds) else None
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "timeout"


def _functions(paths: set[Path]) -> dict[Path, list[FunctionType]]:
    """Return the functions of these modules that exist."""
    gc.unfreeze()
    found: dict[Path, list[FunctionType]] = {path: [] for path in paths}
    names = {str(path.resolve()): path for path in paths}
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename in names:
            found[names[each.__code__.co_filename]].append(each)
    gc.freeze()
    return found


def _exchange(functions: dict[Path, list[FunctionType]], mutant: Mutant) -> None:
    others = {(each.co_qualname, each.co_firstlineno): each for each in _codes(mutant.compile())}
    for function in functions[mutant.path]:
        other = others.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if other is not None and other.co_freevars == function.__code__.co_freevars:
            function.__code__ = other


def _codes(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def _load(wanted: str) -> None:
    """Import a mutant instead of its module."""
    path, _, number = wanted.partition("#")
    mutant = find_mutants(Path(path))[int(number)]
    name, original = str(mutant.path.resolve()), importlib.machinery.SourceFileLoader.get_code

    def get_code(loader: importlib.machinery.SourceFileLoader, fullname: str) -> CodeType | None:
        if loader.path == name:
            return mutant.compile()
        return original(loader, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


if _LOADED in os.environ:
    _load(os.environ[_LOADED])
