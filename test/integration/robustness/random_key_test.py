"""Ranks of a group that agree on a random job key, and a process that has their address but not the key."""

import os
import glob
import subprocess
import tempfile
import time

from harness import LIMIT, Case, environment, started

PERF = os.environ["COLLECTIVES_PROGRAM"]
RANKS = 2
LAUNCHERS = ("PMIX_NAMESPACE", "PMIX_RANK", "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "UCG_OOB")
SETTINGS = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo", "UCG_NODE_ENGINE": "n", "UCG_RANDOM_JOB_KEY": "y"}
HEADER = 40  # bytes of a file before a rank's block (ucg/oob/tcp/wire.hpp)


class Job:
    """Ranks that meet in a folder and do allreduce."""

    def __init__(self, folder, name, *arguments, **settings):
        base = {key: value for key, value in environment({}).items() if key not in LAUNCHERS}
        self.folder = os.path.join(folder, "ucg-" + name)
        self.log = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.ranks = [subprocess.Popen(
            [PERF, "-c", "allreduce", "-s", "8k", "-q", *arguments], stdout=subprocess.PIPE, stderr=self.log, text=True,
            env={**base, **SETTINGS, **settings, "UCG_OOB": "directory", "UCG_OOB_DIR": folder, "UCG_OOB_JOB": name,
                 "UCG_OOB_RANK": str(rank), "UCG_OOB_SIZE": str(RANKS)}) for rank in range(RANKS)]

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for each in self.ranks:
            each.kill()
            each.communicate()
        self.log.close()

    def ends(self):
        return [(each.communicate(timeout=LIMIT)[0], each.returncode) for each in self.ranks]

    def output(self):
        self.log.seek(0)
        return self.log.read()

    def address(self):
        """Worker address of rank 0, from the round in which the ranks exchanged their addresses."""
        until = time.monotonic() + LIMIT
        ready = os.path.join(self.folder, "round.3.0")
        while not os.path.exists(ready):
            if time.monotonic() > until:
                raise AssertionError(f"the group was not made: {self.output()}")
            time.sleep(0.02)
        with open(os.path.join(self.folder, "round.2.0"), "rb") as file:
            return file.read()[HEADER:].hex()


class Jobs(Case):
    def run_job(self, **settings):
        with tempfile.TemporaryDirectory() as folder, Job(folder, "a", "-V", "-n", "20", **settings) as job:
            (text, status), (_, other) = job.ends()
            return text, (status, other), job.output()

    def test_the_ranks_talk_over_tcp(self):
        for settings in ({}, {"UCX_TCP_ENCRYPTION": "y"}):
            with self.subTest(settings=settings):
                text, statuses, output = self.run_job(**settings)
                self.assertEqual((statuses, output), ((0, 0), ""))
                self.assertIn("right", text)

    def test_encryption_without_any_key_is_refused(self):
        _, statuses, output = self.run_job(UCX_TCP_ENCRYPTION="y", UCG_RANDOM_JOB_KEY="n")
        self.assertEqual(statuses, (1, 1))
        self.assertIn("UCX_TCP_ENCRYPTION=y needs a job key", output)

    def refused(self, job, told, **settings):
        """A process with the address of rank 0 is refused."""
        with started("tcp,self", UCX_NET_DEVICES="lo", **settings, count=1) as (stranger,):
            stranger.ok(f"ep 0 peer {job.address()}")
            stranger.ok("send out 0 1 8 1 1")
            counts = stranger.wait("out")
            self.assertEqual((counts.timeout, counts.failed), (False, 1), counts)
            self.assertEqual(len(stranger.lines(told)), 1, stranger.log())

    def test_a_stranger_without_the_key_is_refused(self):
        with tempfile.TemporaryDirectory() as folder, Job(folder, "a", "-n", "10000000") as job:
            self.refused(job, "the peer has a job key and this process has none")
            self.refused(job, "the job keys differ", UCX_JOB_KEY="0123456789abcdef0123456789abcdef")
            self.assertTrue(all(each.poll() is None for each in job.ranks), job.output())
            self.assertIn("has no job key and this process has one", job.output())
            # Neither the key nor its name may be visible to children or other users.
            for each in job.ranks:
                with open(f"/proc/{each.pid}/environ", "rb") as file:
                    self.assertNotIn(b"JOB_KEY=", file.read().replace(b"UCG_RANDOM_JOB_KEY=", b""))
            modes = {os.stat(each).st_mode & 0o777 for each in glob.glob(os.path.join(job.folder, "*"))}
            self.assertEqual(modes, {0o600})
            self.assertEqual(glob.glob(os.path.join(job.folder, "round.0.*")), [])

    def test_without_the_option_a_process_with_the_address_is_let_in(self):
        with tempfile.TemporaryDirectory() as folder:
            with Job(folder, "a", "-n", "10000000", UCG_RANDOM_JOB_KEY="n") as job:
                with started("tcp,self", UCX_NET_DEVICES="lo", count=1) as (stranger,):
                    stranger.ok(f"ep 0 peer {job.address()}")
                    stranger.ok("send out 0 1 8 1 1")
                    self.assertEqual(stranger.wait("out").failed, 0)
