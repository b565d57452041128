"""The tests: functions with the guests of a variant as arguments, in the files of one folder."""

import dataclasses
import importlib.util
import sys
import typing

from variants import NO_GUEST, Variant

TESTS = []


class Skipped(Exception):
    """A test cannot run on this machine; the text has the reason."""


@dataclasses.dataclass(frozen=True)
class Test:
    name: str
    variant: Variant
    function: typing.Callable
    long: bool = False  # takes minutes: runs only with --long


def on(variant, long=False, name=None):
    """Declares a test: a function with as many arguments as the variant has guests. It raises on failure."""
    def declare(function):
        TESTS.append(Test(f"{function.__module__}.{name or function.__name__}", variant, function, long))
        return function
    return declare


def without_guest(function):
    return on(NO_GUEST)(function)


def tool(guest, path):
    """A file of the runner's build tree."""
    file = guest.build / path
    if not file.exists():
        raise Skipped(f"{file} is not built")
    return file


def load(folder):
    """All tests of the folder, grouped by variant."""
    sys.path.insert(0, str(folder))  # for modules that its files share
    for file in sorted(folder.glob("*_tests.py")):
        spec = importlib.util.spec_from_file_location(file.stem.removesuffix("_tests"), file)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    variants = list(dict.fromkeys(test.variant for test in TESTS))
    return sorted(TESTS, key=lambda test: variants.index(test.variant))
