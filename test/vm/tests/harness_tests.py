"""The runner itself: it does not hang, leaves nothing behind, and reports failures."""

import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import textwrap
from unittest import mock

VM = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(VM.parent.parent / "contrib"))

import run_tests
import variants
from catalog import Test, on, without_guest
from machine import Late
from programs import LIMIT
from variants import DEVICES


def story_of_late(action):
    try:
        action()
    except Late as late:
        return str(late)
    raise AssertionError("it ended")


@on(DEVICES)
def hanging_command_is_told_with_the_console(guest):
    story = story_of_late(lambda: guest.run("echo on my way; echo last words >/dev/console; sleep 1000", 2))
    assert "sleep 1000: no end in 2 s" in story, story
    assert "command: on my way" in story, story
    assert "console: last words" in story, story


@on(DEVICES)
def hanging_guest_is_told(guest):
    guest.freeze()
    try:
        assert "true: no end in 0.5 s" in story_of_late(lambda: guest.run("true", 0.5))
    finally:
        guest.thaw()
    guest.check("true", LIMIT)


@on(DEVICES)
def test_that_takes_too_long_is_told_with_its_jobs(guest):
    """Also if none of its own waits has ended."""
    def late(same):
        same.start("echo started first >/dev/console; tail -f /dev/null")
        same.run("echo on my way; tail -f /dev/null", LIMIT)

    loader = importlib.machinery.SourceFileLoader("runner", str(VM / "run"))
    the_runner = importlib.util.module_from_spec(importlib.util.spec_from_loader("runner", loader))
    loader.exec_module(the_runner)
    with mock.patch.multiple(the_runner, TEST_LIMIT=2, booted=lambda *_: contextlib.nullcontext([guest])), \
            contextlib.redirect_stdout(io.StringIO()) as said:
        the_runner.Runner(argparse.Namespace(folder=None, build=None, keep=False)).all([Test("late", DEVICES, late)])
    told = said.getvalue()
    assert "harness_tests.py" in told and "0 passed, 1 failed" in told, told
    for wanted in ("the test did not end in 2 s", "command: on my way", "console: started first"):
        assert wanted in told, told
    assert told.count("tail -f /dev/null: the test did not end") == 2, told
    guest.check("! grep -qx tail /proc/[0-9]*/comm", LIMIT)


@on(DEVICES)
def job_ends_with_its_children(guest):
    count = "$(cat /proc/[0-9]*/comm | grep -cx tail)"
    job = guest.start("tail -f /dev/null & tail -f /dev/null")
    guest.check(f"until [ {count} = 2 ]; do sleep 0.1; done", LIMIT)
    job.end()
    guest.check(f"[ {count} = 0 ]", LIMIT)


@on(DEVICES)
def command_has_its_environment_and_status(guest):
    result = guest.run('echo "$word" $PWD; exit 3', LIMIT, environment={"word": "it's  one"}, directory="/usr/lib")
    assert (result.status, result.output) == (3, "it's  one /usr/lib\n"), result


@on(DEVICES)
def host_files_are_seen_and_kept(guest):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "file"
        file.write_text("from the host")
        guest.check(f"grep 'from the host' {file} && echo other >{file} && grep other {file}", LIMIT)
        assert file.read_text() == "from the host"
    assert guest.run("touch /etc/passwd", LIMIT).status != 0


STARTER = """
import pathlib, signal, sys
sys.path.insert(0, sys.argv[1])
from kernel import Kernel
from machine import Guest
# A process that a script starts in the background ignores SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
with Guest(Kernel(sys.argv[2]), pathlib.Path(sys.argv[3])) as guest:
    print(guest.process_id, flush=True)
    signal.pause()
"""


@on(DEVICES)
def qemu_ends_with_its_starter(guest):
    for end in (signal.SIGKILL, signal.SIGINT):
        with tempfile.TemporaryDirectory() as folder, subprocess.Popen(
                [sys.executable, "-c", STARTER, VM, guest.kernel.root, folder], stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL) as starter:
            qemu = os.pidfd_open(int(starter.stdout.readline()))
            starter.send_signal(end)
            assert select.select([qemu], [], [], LIMIT)[0], f"QEMU lives on after {end.name}"
            os.close(qemu)


def runner(tests, environment=None):
    """Status and output of another runner that runs tests with this text."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "sample_tests.py").write_text(textwrap.dedent(tests))
        done = subprocess.run([sys.executable, VM / "run", "--tests", folder, "--folder", folder], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT, check=False)
        return done.returncode, done.stdout


@without_guest
def hanging_boot_is_tried_once_more():
    class Slow(contextlib.AbstractContextManager):
        started, ended = 0, 0

        def __init__(self, *_):
            Slow.started += 1

        def wait_until_ready(self):
            if Slow.started == 1:
                raise Late("it hangs")

        def __exit__(self, *_):
            Slow.ended += 1

    with mock.patch.multiple(variants, Guest=Slow, _kernel=lambda folder: None), \
            contextlib.redirect_stderr(io.StringIO()) as said, variants.booted(DEVICES, VM) as guests:
        assert (len(guests), Slow.started, Slow.ended) == (1, 2, 1), (guests, Slow.started, Slow.ended)
        assert "it hangs" in said.getvalue(), said.getvalue()
    assert Slow.ended == 2


@without_guest
def every_test_is_counted():
    status, output = runner("""
        from catalog import Skipped, without_guest

        @without_guest
        def good():
            pass

        @without_guest
        def bad():
            assert 1 == 2, "one is not two"

        @without_guest
        def absent():
            raise Skipped("no reason")
    """)
    good, bad, *why, absent, total = output.splitlines()
    assert re.fullmatch(r"ok sample\.good \d+\.\d s", good), output
    assert re.fullmatch(r"FAILED sample\.bad \d+\.\d s", bad), output
    assert why[-1] == "    AssertionError: one is not two", output
    assert absent == "skipped sample.absent: no reason", output
    assert (status, total) == (1, "1 passed, 1 failed, 1 skipped"), output
    results = run_tests.Results()
    counted = [results.add_line("guest", line) for line in output.splitlines(keepends=True)]
    assert (sum(counted), results.passed, len(results.failed), len(results.skipped)) == (3, 1, 1, 1), output


@without_guest
def without_qemu_all_is_skipped():
    status, output = runner("""
        from catalog import on
        from variants import DEVICES

        @on(DEVICES)
        def some(guest):
            pass
    """, environment={"PATH": "/nowhere"})
    first, total = output.splitlines()
    assert first.startswith("skipped sample.some: qemu-system-x86_64 is not installed"), output
    assert (status, total) == (0, "0 passed, 0 failed, 1 skipped"), output
