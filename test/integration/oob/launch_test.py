#!/usr/bin/env python3
"""Ranks of real launchers find each other: over PMIx, MPI, and the variables of torchrun.

RANK_PROGRAM is rank.c on our objects. RANK_MPI_PROGRAM is the same with MPI, if there is an MPI. PMIX_BUILT is 1 if
the build has PMIx.
"""
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

from processes import clean, free_port, outputs_of, run_group

PROGRAM = os.environ["RANK_PROGRAM"]
MPI_PROGRAM = os.environ.get("RANK_MPI_PROGRAM", "")
VENVS = os.environ.get("HAWSER_CLIENT_VENVS", "")
HAS_PMIX = os.environ.get("PMIX_BUILT") == "1"
SECONDS = 120
# Only the settings of a test: the test's own launcher may have set other variables.
CLEAN = clean("PMI", "OMPI_", "PRTE", "SLURM", "UCG_", "MASTER_", "TORCHELASTIC", "RANK", "WORLD_SIZE")


def run(command, settings=None):
    """Returns exit code and output. All started processes are killed."""
    return run_group(command, {**CLEAN, **(settings or {})}, SECONDS)


def mpirun(ranks):
    path = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if path is None:
        raise unittest.SkipTest("mpirun is not installed (package openmpi-bin)")
    return [path, "-n", str(ranks), "--allow-run-as-root", "--oversubscribe"]


def prterun(ranks):
    """The launcher of PRRTE, which Open MPI 5 contains: from the path, or from contrib/make-venv."""
    path = shutil.which("prterun") or shutil.which("prterun", path=os.path.join(VENVS, "openmpi", "bin"))
    if path is None:
        raise unittest.SkipTest(f"prterun is not installed: contrib/make-venv brings it to {VENVS}/openmpi")
    return [path, "-n", str(ranks), "--allow-run-as-root", "--map-by", ":oversubscribe"]


def srun(ranks, *options):
    """Runs in the Slurm cluster that this machine belongs to. Tests do not create a cluster."""
    path = shutil.which("srun")
    if path is None or subprocess.run(["scontrol", "ping"], capture_output=True, check=False).returncode != 0:
        raise unittest.SkipTest("this machine belongs to no cluster of Slurm")
    return [path, *options, "-n", str(ranks), "--oversubscribe"]


class Ranks(unittest.TestCase):
    def assert_all_end(self, output, ranks, status="Success", times=1):
        for rank in range(ranks):
            self.assertEqual(output.count(f"END rank {rank} of {ranks}: {status}\n"), times, output)


class OverPmix(Ranks):
    def setUp(self):
        if not HAS_PMIX:
            self.skipTest("built without PMIx (package libpmix-dev)")


class Prterun(OverPmix):
    def test_rounds(self):
        code, output = run([*prterun(3), PROGRAM, "env", "rounds"])
        self.assertEqual(code, 0, output)
        self.assert_all_end(output, 3)
        # The server may have another version than the library that the ranks load.
        self.assertNotIn("PMIX ERROR", output)


class Srun(OverPmix):
    def test_rounds(self):
        code, output = run([*srun(2, "--mpi=pmix"), PROGRAM, "env", "rounds"])
        self.assertEqual(code, 0, output)
        self.assert_all_end(output, 2)

    def test_without_pmix_it_is_refused(self):
        code, output = run([*srun(2, "--mpi=none"), PROGRAM, "env", "rounds"])
        self.assertNotEqual(code, 0, output)
        self.assertEqual(output.count("srun --mpi=pmix"), 2, output)


class Pmix(OverPmix):
    def test_mpirun(self):
        for ranks in (1, 3, 8):
            code, output = run([*mpirun(ranks), PROGRAM, "env", "rounds"])
            self.assertEqual(code, 0, output)
            self.assert_all_end(output, ranks)

    def test_lookups(self):
        for ranks in (1, 2, 5):
            code, output = run([*mpirun(ranks), PROGRAM, "env", "lookups"])
            self.assertEqual(code, 0, output)
            self.assert_all_end(output, ranks)

    def test_one_object_after_the_other(self):
        code, output = run([*mpirun(2), PROGRAM, "env", "again"])
        self.assertEqual(code, 0, output)
        self.assert_all_end(output, 2, times=2)

    def test_a_rank_that_does_not_come_is_named(self):
        code, output = run([*mpirun(3), PROGRAM, "env", "absent"], {"UCG_OOB_TIMEOUT": "1s"})
        self.assertEqual(code, 0, output)
        for rank in (0, 1):
            self.assertIn(f"END rank {rank} of 3: Operation timed out\n", output)
        self.assertEqual(output.count("round 1: rank 2 did not take part within 1 s"), 2, output)
        self.assertEqual(output.count("THEN Request canceled\n"), 2, output)
        self.assertEqual(output.count("THEN Success\n"), 1, output)

    def test_a_killed_rank_hangs_nobody(self):
        code, output = run([*mpirun(3), PROGRAM, "env", "die"])
        self.assertNotIn(code, (0, "timeout"), output)
        self.assertNotIn("Success", output)


class Mpi(Ranks):
    def setUp(self):
        if not MPI_PROGRAM:
            self.skipTest("built without MPI (packages openmpi-bin libopenmpi-dev)")

    def test_rounds(self):
        for ranks in (1, 4):
            code, output = run([*mpirun(ranks), MPI_PROGRAM, "mpi", "rounds"])
            self.assertEqual(code, 0, output)
            self.assert_all_end(output, ranks)

    def test_a_round_that_is_given_up_writes_nothing_more(self):
        code, output = run([*mpirun(3), MPI_PROGRAM, "mpi", "giveup"])
        self.assertEqual(code, 0, output)
        self.assert_all_end(output, 3)

    def test_pmix_beside_mpi(self):
        if not HAS_PMIX:
            self.skipTest("built without PMIx (package libpmix-dev)")
        code, output = run([*mpirun(2), MPI_PROGRAM, "mpi", "again"])
        self.assertEqual(code, 0, output)
        self.assert_all_end(output, 2, times=2)


class Variables(Ranks):
    """Processes that are started one by one."""

    def launch(self, ranks, mode, settings, names=("RANK", "WORLD_SIZE")):
        processes = [subprocess.Popen([PROGRAM, "env", mode], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      env={**CLEAN, **settings, names[0]: str(rank), names[1]: str(ranks)})
                     for rank in range(ranks)]
        output = "".join(text for text, _ in outputs_of(processes, SECONDS))
        return [each.returncode for each in processes], output

    def test_what_torchrun_sets(self):
        settings = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        codes, output = self.launch(4, "again", settings)
        self.assertEqual(codes, [0] * 4, output)
        self.assert_all_end(output, 4, times=2)

    def test_lookups(self):
        settings = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        codes, output = self.launch(4, "lookups", settings)
        self.assertEqual(codes, [0] * 4, output)
        self.assert_all_end(output, 4)

    def test_a_killed_rank_is_named(self):
        settings = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        codes, output = self.launch(4, "die", settings)
        self.assertEqual(codes[1], -signal.SIGKILL, output)
        for rank in (0, 2, 3):
            self.assertIn(f"END rank {rank} of 4: Connection reset by the remote peer\n", output)
        self.assertIn("round 1: rank 1 died or left", output)

    def test_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            settings = {"UCG_OOB_DIR": folder, "UCG_OOB_JOB": "of-the-test"}
            codes, output = self.launch(3, "rounds", settings, ("UCG_OOB_RANK", "UCG_OOB_SIZE"))
            self.assertEqual(codes, [0] * 3, output)
            self.assert_all_end(output, 3)
            self.assertEqual(os.listdir(folder), [])

    def test_alone(self):
        code, output = run([PROGRAM, "env", "rounds"])
        self.assertEqual(code, 0, output)
        self.assert_all_end(output, 1)
