"""Runs programs under low limits of setrlimit(2), set before the start or later. A program works, or a status and a log
line give the reason."""

import os
import tempfile

from harness import INFO, PERFTEST, Peer, run
from poor import LIMITS, TRANSPORTS, PoorCase, limited, lower, raised

UCG_PERF = os.environ["COLLECTIVES_PROGRAM"]

# Limits under which a program with a sanitizer cannot run: a sanitizer maps terabytes and enlarges stack frames.
OF_MEMORY = ("AS", "DATA", "STACK")


def cases():
    return [(name, value) for name, values in LIMITS.items() for value in values
            if not (os.environ.get("HAWSER_SANITIZER") and name in OF_MEMORY)]


class AtStart(PoorCase):
    def test_a_pair(self):
        """One of two processes starts under the limit."""
        for tls in TRANSPORTS:
            for name, value in cases():
                with self.subTest(tls=tls, limit=name, value=value), \
                        Peer(tls, limited(name, value)) as poor, Peer(tls) as other:
                    if not self.begin(poor):
                        poor.ok("destroy")
                        self.assertEqual(poor.quit(), 0, poor.log())
                        continue
                    self.assertTrue(self.begin(other))
                    if self.connect(poor, other):
                        self.talk(poor, other)
                    self.end(poor, other)

    def test_memory_files_are_under_the_limit_of_file_sizes(self):
        """Shared memory cannot be used, the log has the reason, and messages go over tcp."""
        with Peer("all", limited("FSIZE", 65536)) as poor, Peer("all") as other:
            self.assertTrue(self.begin(poor) and self.begin(other))
            self.assertTrue(self.connect(poor, other))
            self.assertTrue(self.talk(poor, other), poor.log() + other.log())
            self.assertTrue(any("tcp" in lane for lane in poor.lanes(0)), poor.lanes(0))
            self.end(poor, other)
        done = run(INFO, "-d", wrap=limited("FSIZE", 65536))
        self.orderly(done)
        self.assertRegex(done.stdout, r"Left out: posix/memory: the limit of file sizes \(RLIMIT_FSIZE")


class WhileRunning(PoorCase):
    def lowered(self, tls, name, value, after_traffic):
        with Peer(tls) as poor, Peer(tls) as other:
            self.assertTrue(self.begin(poor) and self.begin(other))
            if after_traffic:
                self.assertTrue(self.connect(poor, other))
                self.assertTrue(self.talk(poor, other, sizes=(8,)))
            lower(poor.pid, name, value)
            if after_traffic or self.connect(poor, other):
                self.talk(poor, other, first_tag=40)
            raised(poor.pid, name)
            self.end(poor, other)

    def test_between_start_and_connection(self):
        for tls in TRANSPORTS:
            for name, value in cases():
                with self.subTest(tls=tls, limit=name, value=value):
                    self.lowered(tls, name, value, after_traffic=False)

    def test_while_connected(self):
        for tls in TRANSPORTS:
            for name, value in cases():
                with self.subTest(tls=tls, limit=name, value=value):
                    self.lowered(tls, name, value, after_traffic=True)

    def test_file_sizes_after_the_start(self):
        """New rings in shared memory cannot be made, so connections use tcp."""
        with Peer("all") as poor, Peer("all") as other:
            self.assertTrue(self.begin(poor) and self.begin(other))
            lower(poor.pid, "FSIZE", 65536)
            self.assertTrue(self.connect(poor, other))
            self.assertTrue(self.talk(poor, other), poor.log() + other.log())
            self.assertEqual(len(poor.lines("no segment of")), 1, poor.log())
            self.end(poor, other)


class Tools(PoorCase):
    def test_info(self):
        for option in ("-d", "-c", "-e", "-w"):
            for name, value in [*cases(), ("FSIZE", 0)]:
                with self.subTest(option=option, limit=name, value=value):
                    needs = ("-u", "t") if option in ("-e", "-w") else ()
                    self.orderly(run(INFO, option, *needs, wrap=limited(name, value)))

    def test_perftest(self):
        for name, value in [*cases(), ("FSIZE", 0)]:
            for test in ("tag_lat", "ucp_put_bw"):
                with self.subTest(limit=name, value=value, test=test):
                    self.orderly(run(PERFTEST, "-t", test, "-l", "-n", "20", "-w", "5", "-s", "5000",
                                     wrap=limited(name, value)))

    def test_collectives(self):
        for name, value in [*cases(), ("FSIZE", 0)]:
            with self.subTest(limit=name, value=value):
                self.orderly(run(UCG_PERF, "-p", "2", "-c", "allreduce", "-n", "5", "-w", "1", "-s", "4096",
                                 wrap=limited(name, value)))

    def test_log_and_cache_files_that_may_not_grow(self):
        """Log lines go to the standard error, and no signal ends the process."""
        with tempfile.TemporaryDirectory() as folder:
            done = run(INFO, "-w", "-u", "t", wrap=limited("FSIZE", 0), UCX_LOG_LEVEL="debug",
                       UCX_LOG_FILE=os.path.join(folder, "log"), XDG_CACHE_HOME=folder)
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            self.assertIn("debug", done.stderr)
            self.assertEqual(os.path.getsize(os.path.join(folder, "log")), 0)
            self.assertEqual(os.listdir(os.path.join(folder, "hawser")), [])
