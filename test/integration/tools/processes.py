"""Starting the tools under test, always with a time limit."""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from ports import free_port

PERFTEST = os.environ["PERFTEST_PROGRAM"]
INFO = os.environ["INFO_PROGRAM"]
LIMIT = 60  # limit in seconds for any process


def run(program, *arguments, env=None, limit=LIMIT):
    """Runs a program to its end; the result has returncode, stdout and stderr."""
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=limit,
                          env={**os.environ, **(env or {})}, check=False)


def start(*arguments, env=None):
    return subprocess.Popen([PERFTEST, *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})


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
