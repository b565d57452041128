"""contrib/plot-performance: charts from measurements, and the files of measurements that the benchmarks write."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

from processes import folder_of, load_script

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "contrib/plot-performance"
SVG = "{http://www.w3.org/2000/svg}"
COLOURS = {"ours": "#1b6ca8", "peer": "#c77d0a"}
CONDITIONS = {"machine": "a <small> machine", "date": "2026-01-02", "command": "test/bench/compare-peers --json a/file --short"}


def samples(**sides):
    return {side: [{"p50": time} for time in times] for side, times in sides.items()}


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = folder_of(self)
        self.script = load_script(SCRIPT)
        self.peers = [{"name": name, "samples": samples(ours=[1, 9, 2], OpenUCX=[4])}
                      for name in self.script.LATENCIES.values()]
        self.collectives = [{"group": "allreduce", "type": "fp32", "bytes": size,
                             "samples": samples(ours=[size / 8], ours_mpi=[0.1], tuned=[size], sm=[size / 2])}
                            for size in (64, 8)]

    def plot(self, **fields):
        for name, rows in (("peers", self.peers), ("collectives", self.collectives)):
            (self.folder / name).write_text(json.dumps({**CONDITIONS, "rows": rows, **fields}), encoding="utf-8")
        return subprocess.run([sys.executable, SCRIPT, "--peers", self.folder / "peers", "--collectives",
                               self.folder / "collectives", "--folder", self.folder], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def picture(self):
        done = self.plot()
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        return ElementTree.parse(self.folder / "performance.svg").getroot()


class Pictures(Folder):
    def test_bars_are_as_long_as_the_medians(self):
        self.peers[0]["samples"] = samples(ours=[3], OpenUCX=[8], ob1=[6])
        root = self.picture()
        widths = {side: [float(box.get("width")) for box in root.iter(f"{SVG}rect")
                         if box.get("fill") == colour and box.get("height") == "13.0"] for side, colour in COLOURS.items()}
        self.assertEqual(len(widths["ours"]), len(self.peers))
        self.assertAlmostEqual(widths["ours"][0] / widths["peer"][0], 3 / 6, delta=0.01)  # the faster of the two
        self.assertAlmostEqual(widths["ours"][1] / widths["peer"][1], 2 / 4, delta=0.01)
        texts = [each.text for each in root.iter(f"{SVG}text")]
        for wanted in ("3.0", "6.0", "2.0", "4.0", *self.script.LATENCIES):
            self.assertIn(wanted, texts)

    def test_lines_show_each_size_and_the_fastest_peer(self):
        root = self.picture()
        points = {side: [(float(dot.get("cx")), float(dot.get("cy"))) for dot in root.iter(f"{SVG}circle")
                         if dot.get("fill") == colour] for side, colour in COLOURS.items()}
        for side in points:
            self.assertEqual(len(points[side]), 2)
            self.assertLess(points[side][0][0], points[side][1][0])  # in ascending order of sizes
        # Ours and the peer's differ by a factor of 4 at both sizes.
        self.assertAlmostEqual(points["ours"][0][1] - points["peer"][0][1], points["ours"][1][1] - points["peer"][1][1],
                               delta=0.2)
        self.assertGreater(points["ours"][0][1], points["peer"][0][1])  # a shorter time is lower

    def test_the_conditions_are_in_the_picture(self):
        texts = [each.text for each in self.picture().iter(f"{SVG}text")]
        for line in ("test/bench/compare-peers --short", "2026-01-02: a <small> machine"):
            self.assertEqual(texts.count(line), 2)

    def test_the_picture_of_the_pages_is_of_their_measurements(self):
        done = subprocess.run([sys.executable, SCRIPT, "--folder", self.folder], check=False)
        self.assertEqual(done.returncode, 0)
        self.assertEqual((self.folder / "performance.svg").read_text(encoding="utf-8"),
                         (ROOT / "docs/performance.svg").read_text(encoding="utf-8"), "run contrib/plot-performance")

    def test_ucg_sim_draws_the_simulated_charts(self):
        program = os.environ.get("SIM_PROGRAM", "")
        if not program:
            self.skipTest("no ucg_sim")
        first = self.script.SIMULATED[:1]
        small = [(title, chart, options.replace("512", "16").replace("64m", "16m")) for title, chart, options in first]
        with mock.patch.object(self.script, "SIMULATED", small):
            self.script.simulate(Path(program), self.folder)
        self.assertIn("hierarchical", (self.folder / first[0][1]).read_text(encoding="utf-8"))


class Mistakes(Folder):
    def refused(self, reason, **fields):
        done = self.plot(**fields)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, rf"^plot-performance: .*{reason}")
        self.assertFalse((self.folder / "performance.svg").exists())

    def test_a_row_is_missing(self):
        name = self.peers.pop(2)["name"]
        self.refused(f'peers: has no row "{name}"')

    def test_a_side_is_missing(self):
        self.collectives[0]["samples"] = samples(ours=[1], ours_mpi=[2], flags=[3])
        self.refused("collectives: no times of both sides")

    def test_a_time_is_zero(self):
        self.peers[0]["samples"] = samples(ours=[0], OpenUCX=[1])
        self.refused("peers: no times of both sides")

    def test_one_size_is_no_line(self):
        self.collectives.pop()
        self.refused("collectives: has fewer than two sizes")

    def test_conditions_are_missing(self):
        for field in CONDITIONS:
            self.refused(f'peers: has no "{field}"', **{field: ""})

    def test_there_is_no_such_file(self):
        done = subprocess.run([sys.executable, SCRIPT, "--peers", self.folder / "none"], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, "^plot-performance: .*none")


class Measurements(Folder):
    """Files that the benchmarks write are those that the script reads."""

    def write(self, rows, problems=()):
        sys.path.insert(0, str(ROOT / "test/bench"))
        import measurements  # pylint: disable=import-outside-toplevel
        path = self.folder / "written.json"
        with mock.patch.object(sys, "argv", [str(ROOT / "test/bench/compare-peers"), "--json", f"{ROOT}/docs/x.json"]):
            measurements.write(path, rows, list(problems))
        return path

    def test_of_peers(self):
        module = load_script(ROOT / "test/bench/compare-peers")
        table = module.Table.__new__(module.Table)
        table.rows = [module.Row(name, "us") for name in self.script.LATENCIES.values()]
        for row in table.rows:
            row.samples = {"ours": [{"p50": 1.0, "p99": 2.0}], "OpenUCX": [{"p50": 2.0}]}
        read = self.script.Measurement(self.write(table.json_rows()))
        self.assertEqual(read.latencies(), [(label, 1.0, 2.0) for label in self.script.LATENCIES])

    def test_of_collectives(self):
        module = load_script(ROOT / "test/bench/compare-collectives")
        group, measured = module.GROUPS[0], module.Samples()
        for size in (64, 8):
            for side, time in (("ours", 1), ("ours_mpi", 0.5), ("sm", 3), ("tuned", 2)):
                measured.add(side, 0, {("allreduce", size): {"median_us": str(time), "min_us": "0.1"}})
        read = self.script.Measurement(self.write(module.json_rows(group, measured)))
        self.assertEqual(read.allreduce(), [(8, 1.0, 2.0), (64, 1.0, 2.0)])

    def test_paths_are_those_of_the_repository(self):
        path = self.write([{"name": "row"}], [f"{ROOT}/build/release is not there"])
        data = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(data["command"], "test/bench/compare-peers --json docs/x.json")
        self.assertEqual(data["problems"], ["build/release is not there"])
        self.assertEqual(data["rows"], [{"name": "row"}])
        self.assertRegex(data["date"], r"^\d{4}-\d\d-\d\d$")
        self.assertRegex(data["machine"], r"\d+ processors$")
