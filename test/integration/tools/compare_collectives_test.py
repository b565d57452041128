"""test/bench/compare-collectives: its evaluation of given rows, and a small run."""

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from processes import LIMIT, folder_of, load_script

SCRIPT = Path(__file__).resolve().parents[2] / "bench/compare-collectives"
PROGRAMS = os.environ.get("BENCH_PROGRAMS", "")
HEAD = "collective,bytes,min_us,median_us,result\n"


def row(median):
    return {("bcast", 8): {"median_us": str(median), "min_us": str(median / 2)}}


class Reckoning(unittest.TestCase):
    def setUp(self):
        self.module = load_script(SCRIPT)

    def test_ratios_are_of_the_same_repeat(self):
        samples = self.module.Samples()
        for repeat, (ours, peer) in enumerate([(1, 2), (8, None), (3, 4)]):
            samples.add("ours", repeat, row(ours))
            if peer is not None:  # this side failed in the second repeat
                samples.add("sm", repeat, row(peer))
        self.assertEqual(samples.pairs(("bcast", 8), "ours", "sm"), [0.5, 0.75])
        self.assertEqual(samples.spread(("bcast", 8), "ours", "sm"), "0.50 to 0.75")
        self.assertEqual(samples.median(("bcast", 8), "ours"), 3)

    def test_ours_is_no_peer(self):
        samples = self.module.Samples()
        for side, time in (("ours", 3), ("ours_mpi", 1), ("sm", 5), ("tuned", 4)):
            samples.add(side, 0, row(time))
        self.assertEqual(samples.best(("bcast", 8)), "tuned")

    def test_ours_through_mpi_is_compared_with_ours(self):
        samples = self.module.Samples()
        for repeat, (ours, through) in enumerate([(2, 2), (4, 5), (4, 4)]):
            samples.add("ours", repeat, row(ours))
            samples.add("ours_mpi", repeat, row(through))
        self.assertEqual(self.module.through_mpi(samples, ("bcast", 8)), (["1.00", "1.00 to 1.25", "yes"], True))
        for repeat in range(3):
            samples.add("ours_mpi", repeat, row(5))
        self.assertEqual(self.module.through_mpi(samples, ("bcast", 8)), (["1.25", "1.25 to 2.50", "**no**"], False))

    def test_a_side_that_is_missing_is_not_compared(self):
        samples = self.module.Samples()
        samples.add("ours", 0, row(2))
        self.assertEqual(self.module.through_mpi(samples, ("bcast", 8)), (["", "", ""], True))

    def test_ranks_of_a_node_are_on_different_cores(self):
        for name, place in self.module.PLACEMENTS.items():
            places = [place(rank, 4, 2) for rank in range(8)]
            self.assertEqual(sorted(places), [(node, one) for node in range(4) for one in range(2)], name)

    def test_each_side_is_first(self):
        names = ["ours", "ours_mpi", "sm"]
        orders = [self.module.in_turn(names, repeat) for repeat in range(4)]
        self.assertEqual([order[0] for order in orders], ["ours", "ours_mpi", "sm", "ours"])
        for order in orders:
            self.assertEqual(sorted(order), sorted(names))

    def test_a_wrong_result_is_no_measurement(self):
        self.assertEqual(list(self.module.rows_of(HEAD + "bcast,8,1,2,right\n")), [("bcast", 8)])
        for result in ("WRONG", "not compared"):
            with self.assertRaisesRegex(RuntimeError, result):
                self.module.rows_of(HEAD + f"bcast,8,1,2,{result}\n")

    def test_what_was_not_taken_is_not_ours(self):
        self.module.check_taken("# ucg_mpi: MPI_Reduce: 7 taken, 0 handed over\n", "reduce")
        for text in ("", "# ucg_mpi: MPI_Reduce: 7 taken, 1 handed over: 1 datatype\n",
                     "# ucg_mpi: MPI_Reduce_scatter_block: 7 taken, 0 handed over\n"):
            with self.assertRaisesRegex(RuntimeError, "has not taken reduce"):
                self.module.check_taken(text, "reduce")


class Run(unittest.TestCase):
    def test_all_sides(self):
        perf, taken = Path(os.environ["COLLECTIVES_PROGRAM"]), Path(os.environ.get("TAKEN_LIBRARY", ""))
        if not (shutil.which("mpirun.openmpi") and (Path(PROGRAMS) / "mpi_collectives").exists() and taken.is_file()):
            self.skipTest("no Open MPI")
        peers = "tuned" + (",mpich" if (Path(PROGRAMS) / "mpich_collectives").exists() else "")
        samples = folder_of(self) / "samples.json"
        done = subprocess.run(
            [sys.executable, str(SCRIPT), "--perf", str(perf), "--bin", PROGRAMS, "--taken", str(taken), "--peers", peers,
             "--groups", "allreduce,alltoall,bf16", "--largest", "64", "--repeats", "1", "--seconds", "0.01",
             "--json", str(samples)], capture_output=True, text=True, timeout=4 * LIMIT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("not measured", done.stdout)
        for name in ("ours/best", "ours_mpi/best", "ours_mpi/ours", *peers.split(",")):
            self.assertIn(name, done.stdout)
        self.assertRegex(done.stdout, r"\| alltoall 64 B \| [\d.]")
        self.assertRegex(done.stdout, r"bf16, 2 ranks; .*; ours alone")
        rows = {(row["group"], row["bytes"]): row["samples"] for row in json.loads(samples.read_text(encoding="utf-8"))["rows"]}
        self.assertEqual(set(rows["allreduce", 8]), {"ours", "ours_mpi", *peers.split(",")})
        self.assertEqual(set(rows["bf16", 8]), {"ours"})
        self.assertEqual([set(sample) for sample in rows["alltoall", 64]["ours"]], [{"p50", "min", "algorithm"}])
