"""ucg_perf: every collective with its results compared, the ways to start it, mistakes, and dying ranks."""

import csv
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from processes import LIMIT, clean, free_port, outputs_of, refused, run

PERF = os.environ["COLLECTIVES_PROGRAM"]
COLLECTIVES = ("barrier", "bcast", "reduce", "allreduce", "gather", "gatherv", "scatter", "scatterv", "allgather",
               "allgatherv", "reduce_scatter", "reduce_scatter_block", "alltoall", "alltoallv", "scan", "exscan")
NO_ENGINE = {"UCG_NODE_ENGINE": "n"}
# Variables of other launchers must not be visible.
LAUNCHERS = ("PMIX_NAMESPACE", "PMIX_RANK", "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "UCG_OOB")


def rows(text):
    return list(csv.DictReader(text.splitlines()))


class Runs(unittest.TestCase):
    """Runs that succeed."""

    def perf(self, *arguments, env=None):
        done = run(PERF, *arguments, env=env, limit=5 * LIMIT)
        self.assertEqual(done.returncode, 0, done)
        lines = [line for line in done.stderr.splitlines() if not line.startswith("ucg_perf: row ")]
        self.assertEqual(lines, [], done)
        return done.stdout

    def measured(self, *arguments, env=None):
        """Returns the rows, all of which must be correct."""
        got = rows(self.perf(*arguments, "-n", "10", "-w", "1", "-V", "-f", env=env))
        for each in got:
            self.assertEqual(each["result"], "right", each)
            times = [float(each[name]) for name in ("min_us", "median_us", "p95_us", "p99_us", "max_us")]
            self.assertEqual(times, sorted(times), each)
            self.assertGreater(times[0], 0, each)
            self.assertEqual(each["iterations"], "10")
        return got

    def test_every_collective(self):
        for ranks in ("1", "3"):
            for env in ({}, NO_ENGINE):
                for more in ((), ("-i", "-r", str(int(ranks) - 1))):
                    with self.subTest(ranks=ranks, env=env, more=more):
                        got = self.measured("-p", ranks, "-c", "all", "-s", "4,60k", *more, env=env)
                        self.assertEqual([row["collective"] for row in got],
                                         ["barrier"] + [name for name in COLLECTIVES[1:] for _ in range(2)])
                        self.assertEqual({row["ranks"] for row in got}, {ranks})

    def test_types_and_operations(self):
        for kind, operation in (("fp16", "sum"), ("bf16", "maximum"), ("fp8_e4m3", "product"), ("int8", "bitwise_xor"),
                                ("uint64", "average"), ("complex64", "sum"), ("fp32_at", "minimum_at"),
                                ("fp64", "average")):
            with self.subTest(type=kind, operation=operation):
                names = "allreduce,reduce_scatter_block" + (",scan" if operation != "average" else "")
                got = self.measured("-p", "3", "-c", names, "-s", "0,16,1k", "-d", kind, "-o", operation)
                self.assertEqual({(row["type"], row["operation"]) for row in got}, {(kind, operation)})

    def test_ways_to_call(self):
        for more in (["-m", "blocking"], ["-m", "blocking", "-b", "3"], ["-W", "4"], ["-W", "2", "-b", "5"], ["-D"],
                     ["-T", "60"], ["-C", "auto"], ["-x"]):
            with self.subTest(more=more):
                self.measured("-p", "2", "-c", "allreduce,bcast,alltoallv", "-s", "8,40k", *more)

    def test_algorithms_are_those_asked_for(self):
        got = self.measured("-p", "3", "-s", "1k", "-a", "ring,recursive_doubling")
        self.assertEqual([row["algorithm"] for row in got], ["ring", "recursive_doubling"])

    def test_bandwidth(self):
        (row,) = self.measured("-p", "4", "-c", "allgather", "-s", "64k")
        algorithm = 4 * 65536 / float(row["median_us"]) / 1e3
        self.assertAlmostEqual(float(row["algorithm_GBps"]), algorithm, delta=algorithm / 50)
        self.assertAlmostEqual(float(row["bus_GBps"]), algorithm * 0.75, delta=algorithm / 50)

    def test_compared_once(self):
        (row,) = rows(self.perf("-p", "2", "-s", "1k", "-n", "5", "-x", "-f"))
        self.assertEqual(row["result"], "right")
        (row,) = rows(self.perf("-p", "2", "-s", "1k", "-n", "5", "-f"))
        self.assertEqual(row["result"], "not compared")

    def test_text(self):
        text = self.perf("-p", "2", "-s", "8:32", "-t", "0.05", "-v")
        self.assertTrue(text.startswith("# 2 ranks on 1 node, fp32 sum, persistent requests"), text)
        lines = [line for line in text.splitlines() if line.startswith("allreduce")]
        self.assertEqual([line.split()[1] for line in lines], ["8", "16", "32"])
        self.assertIn("    shared_memory: ", text)
        quiet = self.perf("-p", "2", "-s", "8", "-n", "5", "-q")
        self.assertEqual(len(quiet.splitlines()), 1, quiet)

    def started(self, ranks, arguments, environments):
        """Starts one process for each environment; returns the output of rank 0."""
        running = [subprocess.Popen([PERF, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    env=clean(*LAUNCHERS, **each)) for each in environments]
        outputs = outputs_of(running)
        self.assertEqual([each.returncode for each in running], [0] * ranks, outputs)
        self.assertEqual([out for out, _ in outputs[1:]], [""] * (ranks - 1))
        return outputs[0][0]

    def test_started_by_others(self):
        arguments = ("-c", "allreduce,bcast", "-s", "8,64k", "-n", "5", "-V", "-f", "-C", "auto")
        with tempfile.TemporaryDirectory() as folder:
            out = self.started(2, arguments, [
                {"UCG_OOB_DIR": folder, "UCG_OOB_JOB": "one", "UCG_OOB_RANK": str(rank), "UCG_OOB_SIZE": "2"}
                for rank in range(2)])
            self.assertEqual({row["ranks"] for row in rows(out)}, {"2"})
        port = str(free_port())
        out = self.started(2, arguments, [
            {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
            for rank in range(2)])
        self.assertEqual(len(rows(out)), 4)

    def test_started_by_mpirun(self):
        mpirun = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
        if not mpirun:
            self.skipTest("no mpirun")
        # Encryption needs a job key, which the ranks get over PMIx.
        random_key = {**NO_ENGINE, "UCX_TLS": "tcp,self", "UCX_TCP_ENCRYPTION": "y", "UCG_RANDOM_JOB_KEY": "y"}
        for more in ({}, random_key):
            done = subprocess.run(
                [mpirun, "--oversubscribe", "-n", "2", PERF, "-s", "8", "-n", "5", "-V", "-f"],
                capture_output=True, text=True, timeout=LIMIT, check=False,
                env=clean(*LAUNCHERS, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **more))
            if done.returncode != 0 and "no PMIx library" in done.stderr:
                self.skipTest("built without PMIx")
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual([(row["ranks"], row["result"]) for row in rows(done.stdout)], [("2", "right")])


class Mistakes(unittest.TestCase):
    """Each mistake is reported in one line that says what to do."""

    def test_options(self):
        for arguments, said in ((["-c", "gossip"], "-c: collective \"gossip\" is none of: barrier, "),
                                (["-a", "magic"], "-a: algorithm \"magic\" is none of: "),
                                (["-s", "6"], "-s: 6 bytes are not a whole number of elements"),
                                (["-s", "1k:8"], "-s: the range \"1k:8\" is empty"),
                                (["-d", "fp4"], "-d: type \"fp4\" is none of: "),
                                (["-o", "bitwise_or"], "-o: bitwise_or is not defined for fp32; -d chooses"),
                                (["-p", "2", "-r", "2"], "-r: there is no rank 2 of 2"),
                                (["-p", "0"], "-p: \"0\" is not a number from 1"),
                                (["-m", "lazy"], "-m: \"lazy\" is neither"),
                                (["-m", "blocking", "-W", "2"], "-W: blocking calls are one at a time"),
                                (["-C", "65000"], "-C: processor 65000 is not one this process may use"),
                                (["-n"], "option -n needs a value"),
                                (["-y"], "unknown option -y"),
                                (["hello"], "\"hello\" is not an option")):
            with self.subTest(arguments=arguments):
                self.assertIn(said, refused(self, PERF, *arguments))

    def test_more_memory_than_there_is(self):
        done = run(PERF, "-p", "1", "-s", "1t", "-b", "4000", "-n", "1")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("-s and -b need less", done.stderr)

    def test_help_and_lists(self):
        self.assertIn("usage: ucg_perf", run(PERF, "-h").stdout)
        text = run(PERF, "-l").stdout
        for name in (*COLLECTIVES, "fp8_e5m2", "minimum_at", "recursive_doubling", "shared_memory"):
            self.assertIn(name, text)


def children_of(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


class LostRanks(unittest.TestCase):
    """The remaining ranks end by themselves, with an error."""

    def signal_one(self, number, env, *arguments):
        """Starts three ranks, sends the signal to rank 1, and returns the ranks and the output of the job."""
        job = subprocess.Popen([PERF, "-p", "3", "-n", "10000000", *arguments], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=clean(*LAUNCHERS, **env))
        try:
            job.stdout.readline()  # the ranks have started
            time.sleep(0.3)
            ranks = children_of(job.pid)
            if len(ranks) == 3:
                os.kill(ranks[1], number)
            _, err = job.communicate(timeout=LIMIT)
        finally:
            job.kill()
            job.communicate()
        self.assertEqual(len(ranks), 3, err)
        self.assertEqual(job.returncode, 1, err)
        return ranks, err

    def lose(self, env, *arguments):
        _, err = self.signal_one(signal.SIGKILL, env, *arguments)
        self.assertIn("ucg_perf: rank 1 was ended by signal 9", err)
        for rank in (0, 2):
            self.assertIn(f"ucg_perf: rank {rank}: ", err)
        self.assertNotIn("does not end", err)

    def test_killed_rank(self):
        for env in ({}, NO_ENGINE):
            for arguments in (["-s", "8"], ["-s", "1m"], ["-c", "alltoall", "-s", "4k", "-W", "4"]):
                with self.subTest(env=env, arguments=arguments):
                    self.lose(env, *arguments)

    def test_stopped_rank(self):
        """The time limit holds in operations and between them."""
        # The limit mostly expires in the operation, or in the barriers before it.
        for env, arguments in ((NO_ENGINE, ["-s", "1m"]), ({}, ["-s", "8"]), ({}, ["-s", "8", "-m", "blocking"])):
            with self.subTest(env=env, arguments=arguments):
                self.stop_one(env, *arguments)

    def stop_one(self, env, *arguments):
        # The ranks must also meet within this time, on a machine that is busy with other tests.
        ranks, err = self.signal_one(signal.SIGSTOP, env, "-T", "8", *arguments)
        self.assertIn("ucg_perf: rank 1 was stopped by signal 19", err)
        # The library's line names rank 1, and mostly the tool's line, too. The tool prints no line for a rank whose
        # operation ends later than the tool's limit (data that rank 1 did not receive is given up after ten seconds),
        # and no line that names rank 1 if a blocking call gave it no request to query.
        self.assertRegex(err, "ucg_perf: rank [02]: .*rank 1 is missing|rank [02] of 3: it waits for rank 1\n")
        self.assertRegex(err, "ucg_perf: rank [02]: ")
        self.assertIn("ucg_perf: rank 1 does not end; it is killed", err)
        self.assertFalse([rank for rank in ranks if self.lives(rank)])

    def test_killed_job_leaves_nobody(self):
        job = subprocess.Popen([PERF, "-p", "3", "-n", "10000000", "-s", "8"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, env=clean(*LAUNCHERS))
        try:
            job.stdout.readline()
            ranks = children_of(job.pid)
        finally:
            job.kill()
            job.communicate()
        self.assertEqual(len(ranks), 3)
        until = time.monotonic() + LIMIT
        while any(self.lives(rank) for rank in ranks):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)

    @staticmethod
    def lives(process):
        try:
            with open(f"/proc/{process}/stat", encoding="ascii") as file:
                return file.read().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False
