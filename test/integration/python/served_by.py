"""A pytest plug-in that fails a run whose UCX libraries are not those of HAWSER_EXPECT_FOLDER.

Run with "-p served_by". The tests themselves stay as their authors wrote them.
"""
import os
import re

import pytest


def ucx_libraries():
    """Real paths of the UCX libraries that this process has mapped."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[5].strip() for line in maps if len(line.split(maxsplit=5)) == 6}
    return {path for path in paths if re.match(r"libuc[mstp](_signal)?[.-].*so", os.path.basename(path))}


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    folder = os.path.realpath(os.environ["HAWSER_EXPECT_FOLDER"])
    found = ucx_libraries()
    foreign = sorted(path for path in found if os.path.dirname(path) != folder)
    if foreign or not any(os.path.basename(path).startswith("libucp.") for path in found):
        print(f"\nserved_by: not served by {folder}: {sorted(found)}")
        session.exitstatus = 99
    else:
        print(f"\nserved_by: {', '.join(sorted(os.path.basename(path) for path in found))} of {folder}")
