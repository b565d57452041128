"""The tests: functions that get the guests of a variant, in files of one folder."""

import dataclasses
import importlib.util
import sys
import typing

from variants import NO_GUEST, Variant

TESTS = []


class Skipped(Exception):
    """A test cannot run here; the text says why."""


@dataclasses.dataclass(frozen=True)
class Test:
    name: str
    variant: Variant
    function: typing.Callable
    long: bool = False  # takes minutes: only when it is asked for


def on(variant, long=False, name=None):
    """Declares a test: a function that takes as many guests as the variant has, and raises what is wrong."""
    def declare(function):
        TESTS.append(Test(f"{function.__module__}.{name or function.__name__}", variant, function, long))
        return function
    return declare


def without_guest(function):
    return on(NO_GUEST)(function)


def tool(guest, path):
    """A file of the build tree that the runner was given."""
    file = guest.build / path
    if not file.exists():
        raise Skipped(f"{file} is not built")
    return file


def load(folder):
    """All tests of the folder, those of one variant together."""
    sys.path.insert(0, str(folder))  # for what its files share
    for file in sorted(folder.glob("*_tests.py")):
        spec = importlib.util.spec_from_file_location(file.stem.removesuffix("_tests"), file)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    variants = list(dict.fromkeys(test.variant for test in TESTS))
    return sorted(TESTS, key=lambda test: variants.index(test.variant))
