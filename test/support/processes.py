"""Processes of tests, always with a time limit."""

import importlib.machinery
import importlib.util
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PERFTEST = os.environ.get("PERFTEST_PROGRAM")
INFO = os.environ.get("INFO_PROGRAM")
LIMIT = 60  # limit in seconds for any process


def free_port():
    """A free TCP port below the range of ephemeral ports. A connecting socket could take a port of that range before
    the server does."""
    while True:
        port = random.randrange(15000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
                return port
            except OSError:
                pass


def wait_for_listener(port, server=None, limit=LIMIT):
    """Returns when a socket listens on the port, without connecting to it. Raises an error if the server ends."""
    end = time.monotonic() + limit
    while time.monotonic() < end and (server is None or server.poll() is None):
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            rows = [line.split() for line in Path(table).read_text(encoding="ascii").splitlines()[1:]] \
                if os.path.exists(table) else []
            if any(row[3] == "0A" and row[1].endswith(f":{port:04X}") for row in rows):
                return
        time.sleep(0.01)
    said = f": {server.stderr.read()[-500:]}" if server and server.poll() is not None and server.stderr else ""
    raise RuntimeError(f"nothing listens at port {port}{said}")


def clean(*prefixes, **settings):
    """Returns the environment without variables whose names begin so, and with these settings."""
    return {**{name: value for name, value in os.environ.items() if not name.startswith(prefixes)}, **settings}


def run(program, *arguments, env=None, limit=LIMIT):
    """Runs a program to its end; the result has returncode, stdout and stderr."""
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=limit,
                          env={**os.environ, **(env or {})}, check=False)


def refused(test, program, *arguments):
    """Checks that a tool refuses a command line with one line of error output; returns this line."""
    done = run(program, *arguments)
    test.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done)
    test.assertTrue(done.stderr.startswith(f"{Path(program).name}: "), done.stderr)
    return done.stderr


def folder_of(test):
    """Makes a folder that is removed at the end of the test."""
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    return Path(folder.name)


def run_group(line, env, limit, **options):
    """Runs a program; returns exit status and output. After the limit, the program and its children are killed, and the
    status is "timeout"."""
    with subprocess.Popen(line, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True, **options) as program:
        try:
            output, _ = program.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            output, _ = program.communicate()
            return "timeout", f"{output}\nended after {limit} s"
        return program.returncode, output


def outputs_of(processes, limit=LIMIT):
    """Waits for all processes; returns their output and error output. No process is left running."""
    try:
        return [each.communicate(timeout=limit) for each in processes]
    finally:
        for each in processes:
            each.kill()
            each.communicate()


def start(*arguments, env=None, program=PERFTEST, stderr=subprocess.PIPE):
    return subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=stderr, text=True,
                            env={**os.environ, **(env or {})})


class Server:
    """A perftest server that waits for its client when the constructor returns."""

    def __init__(self, *arguments, env=None):
        self.port = str(free_port())
        self.process = start("-p", self.port, *arguments, env=env)
        self.first_line = self.process.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def finish(self, limit=LIMIT):
        """Waits for its end; returns exit status, output and error output."""
        out, err = self.process.communicate(timeout=limit)
        return self.process.returncode, self.first_line + out, err


class Pair:
    """The results of a server and a client that ran the same command line."""

    def __init__(self, *arguments, host="127.0.0.1", server_arguments=(), env=None, limit=LIMIT):
        with Server(*server_arguments, env=env) as server:
            self.client = run(PERFTEST, host, "-p", server.port, *arguments, env=env,
                              limit=limit)
            self.server_status, self.server_out, self.server_err = server.finish(limit)

    @property
    def said(self):
        return f"client: {self.client}\nserver: {self.server_status} {self.server_err}"


def load_script(path):
    """Imports a script whose name does not end with .py, and which may import modules beside it."""
    sys.path.insert(0, str(Path(path).parent))
    loader = importlib.machinery.SourceFileLoader(Path(path).name.replace("-", "_"), str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def main():
    """Runs the tests of a script: python3 -m processes SCRIPT [CLASS...]. A suite that ran no test ends with status 77,
    and with the reason for ctest."""
    done = unittest.main(sys.argv[1], argv=sys.argv[1:], verbosity=2, exit=False).result
    if done.wasSuccessful() and done.skipped and len(done.skipped) == done.testsRun:
        print("SKIP: " + "; ".join(sorted({reason for _, reason in done.skipped})))
        sys.exit(77)
    sys.exit(not done.wasSuccessful())


if __name__ == "__main__":
    main()
