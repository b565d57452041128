"""Common behaviour of all tools: help, version, CSV, JSON, and replies to mistyped names."""

import csv
import io
import json
import os
import tempfile
import unittest

from processes import INFO, PERFTEST, refused, run

PERF = os.environ["COLLECTIVES_PROGRAM"]
SIM = os.environ["SIM_PROGRAM"]
VFS = os.environ["VFS_PROGRAM"]
TOOLS = {"ucx_perftest": PERFTEST, "ucx_info": INFO, "ucx_vfs": VFS, "ucg_perf": PERF, "ucg_sim": SIM}
# A quick run of each tool that prints results.
RUNS = {"ucx_perftest": (PERFTEST, "-l", "-t", "tag_lat", "-n", "200", "-w", "10"),
        "ucg_perf": (PERF, "-p", "2", "-s", "8,64", "-n", "5"),
        "ucg_sim": (SIM, "-n", "8", "-s", "8,64", "-a", "ring")}


class Texts(unittest.TestCase):
    def test_help(self):
        for name, program in TOOLS.items():
            with self.subTest(tool=name):
                done = run(program, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""), done)
                self.assertIn("--help", done.stdout)
                self.assertIn("--version", done.stdout)
                self.assertEqual(done.stdout, run(program, "-h").stdout)

    def test_version(self):
        for name, program in TOOLS.items():
            with self.subTest(tool=name):
                done = run(program, "--version")
                self.assertEqual((done.returncode, done.stderr), (0, ""), done)
                first, *libraries = done.stdout.splitlines()
                self.assertRegex(first, rf"^{name} of Hawser \d+\.\d+\.\d+ \(revision \S+\)$")
                for line in libraries:
                    self.assertRegex(line, r"^lib\w+ [\d.]+: /")
                    self.assertTrue(os.path.isfile(line.split(": ")[1]), line)
                self.assertEqual([line.split()[0] for line in libraries],
                                 {"ucg_perf": ["libucg", "libucp"], "ucx_perftest": ["libucp"],
                                  "ucx_info": ["libucp"]}.get(name, []))

    def test_unknown_names(self):
        for name, program in TOOLS.items():
            with self.subTest(tool=name):
                for word, problem in (("--hlep", "unknown option --hlep; did you mean --help?"),
                                   ("--nonsense", "unknown option --nonsense")):
                    self.assertIn(f"{name}: {problem} (-h shows", refused(self, program, word))

    def test_mistyped_names_are_answered_with_the_nearest(self):
        for program, arguments, option, wanted, names in (
                (PERFTEST, ["localhost", "-t", "tag_lta"], "-t", "tag_lat", ["stream_bw", "cswap"]),
                (PERFTEST, ["-t", "tag_lta"], "-t", "tag_lat", ["stream_bw"]),
                (PERFTEST, ["-l", "-t", "tag_lat", "-E", "slepe"], "-E", "sleep", ["poll"]),
                (PERF, ["-p", "2", "-a", "rign"], "-a", "ring", ["shared_memory", "recursive_doubling"]),
                (PERF, ["-p", "2", "-c", "alreduce"], "-c", "allreduce", ["bcast"]),
                (SIM, ["-a", "rign"], "-a", "ring", ["recursive_doubling"]),
                (SIM, ["-c", "moe_notfy"], "-c", "moe_notify", ["bcast"])):
            with self.subTest(arguments=arguments):
                said = refused(self, program, *arguments)
                self.assertRegex(said, rf"^\w+: {option}: .*; did you mean \"{wanted}\"\?")
                for name in names:
                    self.assertIn(name, said)

    def test_a_test_that_there_is_not_ends_a_server_at_once(self):
        self.assertIn("-t: \"nonsense\" is none of: tag_lat, tag_bw, ", refused(self, PERFTEST, "-t", "nonsense"))


class Forms(unittest.TestCase):
    def output(self, name, *more, env=None):
        done = run(*RUNS[name], *more, env=env)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def test_csv(self):
        for name in RUNS:
            with self.subTest(tool=name):
                head, *rows = csv.reader(io.StringIO(self.output(name, "--csv")))
                self.assertTrue(rows)
                self.assertEqual({len(row) for row in rows}, {len(head)})

    def test_one_form(self):
        for name in RUNS:
            self.assertIn("--csv and --json exclude each other", refused(self, *RUNS[name], "--csv", "--json"))

    def test_json_has_the_conditions(self):
        for name in RUNS:
            with self.subTest(tool=name):
                env = {"UCX_TLS": "posix,self", "UCX_JOB_KEY": "a secret that is not to be seen"}
                text = self.output(name, "--json", env=env)
                self.assertNotIn("not to be seen", text)
                report = json.loads(text)
                self.assertEqual((report["tool"], report["error"]), (name, None))
                conditions = report["conditions"]
                self.assertEqual(conditions["command"], [name, *RUNS[name][1:], "--json"])
                self.assertEqual(conditions["environment"]["UCX_TLS"], "posix,self")
                self.assertEqual(conditions["environment"]["UCX_JOB_KEY"], "(not shown)")
                self.assertEqual(conditions["binding"], sorted(os.sched_getaffinity(0)))
                self.assertEqual(conditions["host"]["name"], os.uname().nodename)
                for each in conditions["libraries"]:
                    self.assertTrue(os.path.isfile(each["path"]), each)
                self.assertRegex(conditions["tool_version"], r"^\d+\.\d+\.\d+$")
                self.assertRegex(conditions["started"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
                self.assertTrue(report["settings"])

    def test_json_rows_of_perftest(self):
        (row,) = json.loads(self.output("ucx_perftest", "--json", "-s", "100"))["rows"]
        self.assertEqual((row["test"], row["message_size"], row["iterations"], row["threads"]), ("tag_lat", 100, 200, 1))
        self.assertGreater(row["overall_us"], 0)
        self.assertGreater(row["percentile_us"], 0)
        (row,) = json.loads(self.output("ucx_perftest", "--json", "-T", "2"))["rows"]
        self.assertEqual((row["threads"], row["percentile_us"]), (2, None))

    def test_json_rows_of_collectives(self):
        rows = json.loads(self.output("ucg_perf", "--json", "-x"))["rows"]
        self.assertEqual([(row["collective"], row["bytes"], row["iterations"], row["result"]) for row in rows],
                         [("allreduce", size, 5, "right") for size in (8, 64)])
        self.assertTrue(all(row["min_us"] <= row["median_us"] <= row["max_us"] for row in rows))

    def test_json_rows_of_the_simulator(self):
        rows = json.loads(self.output("ucg_sim", "--json"))["rows"]
        self.assertEqual([(row["algorithm"], row["bytes"], row["ranks"], row["result"]) for row in rows],
                         [("ring", size, 8, "checked") for size in (8, 64)])

    def test_json_of_a_run_that_failed_says_why(self):
        done = run(*RUNS["ucx_perftest"], "--json", env={"UCX_RNDV_THRESH": "soon"})
        self.assertEqual(done.returncode, 1, done)
        said = json.loads(done.stdout)
        self.assertEqual(said["rows"], [])
        self.assertIn("Invalid parameter", said["error"])


class Batches(unittest.TestCase):
    """Rows of a batch are counted, and -n on the command line takes precedence."""

    def run_batch(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tests")
            with open(path, "w", encoding="utf-8") as file:
                file.write("lat -t tag_lat -n 300\nbw -t tag_bw -n 400 -w 3\n")
            done = run(PERFTEST, "-l", "-b", path, *arguments)
        self.assertEqual(done.returncode, 0, done)
        return done

    def test_rows_are_counted(self):
        for form in ("-f", "--csv", "--json"):
            with self.subTest(form=form):
                self.assertEqual(self.run_batch(form).stderr.splitlines(),
                                 ["ucx_perftest: row 1 of 2: lat", "ucx_perftest: row 2 of 2: bw"])
                self.assertEqual(self.run_batch(form, "-q").stderr, "")
        done = self.run_batch()
        self.assertEqual(done.stderr, "")
        self.assertIn("\n+lat (1 of 2)--", done.stdout)
        self.assertIn("\n+bw (2 of 2)---", done.stdout)

    def test_rows_of_collectives_are_counted(self):
        for form in ("--csv", "--json"):
            with self.subTest(form=form):
                done = run(*RUNS["ucg_perf"], "-c", "barrier,bcast", "-a", "shared_memory", form)
                self.assertEqual(done.stderr.splitlines(),
                                 ["ucg_perf: row 1 of 3: barrier by shared_memory",
                                  "ucg_perf: row 2 of 3: bcast of 8 bytes by shared_memory",
                                  "ucg_perf: row 3 of 3: bcast of 64 bytes by shared_memory"])
                self.assertEqual(run(*RUNS["ucg_perf"], form, "-q").stderr, "")
        # One row, and no terminal formatting.
        self.assertEqual(run(*RUNS["ucg_perf"][:3], "-n", "5", "-s", "8", "--csv").stderr, "")
        self.assertEqual(run(*RUNS["ucg_perf"]).stderr, "")

    def test_iterations_of_the_command_line_outlive_those_of_the_file(self):
        for arguments, wanted in ((["-n", "50"], [50, 50]), ([], [300, 400])):
            rows = json.loads(self.run_batch("--json", *arguments).stdout)["rows"]
            self.assertEqual([row["iterations"] for row in rows], wanted)
            self.assertEqual([row["names"] for row in rows], [["lat"], ["bw"]])


class Log(unittest.TestCase):
    """UCX_LOG_LEVEL=info shows which library serves the program, and the traffic of each lane."""

    def lines(self, *arguments, tls, level="info"):
        done = run(PERFTEST, "-l", "-t", "tag_bw", "-n", "2000", "-w", "10", *arguments,
                   env={"UCX_LOG_LEVEL": level, "UCX_TLS": tls})
        self.assertEqual(done.returncode, 0, done)
        return done.stderr.splitlines()

    def test_library_once(self):
        for arguments in ([], ["-T", "2"]):
            said = [line for line in self.lines(*arguments, tls="self") if "loaded from" in line]
            self.assertEqual(len(said), 1, said)
            path = said[0].split("loaded from ")[1]
            self.assertTrue(os.path.samefile(path, run(PERFTEST, "--version").stdout.split(": ")[1].strip()), said)
            self.assertRegex(said[0], r" ucp +info +Hawser \d+\.\d+\.\d+, loaded from /")

    def test_a_line_for_each_endpoint_configuration(self):
        for tls, lanes in (("tcp", "lane[0] tcp/lo carries messages"),
                           ("self", "lane[0] self/memory carries messages, lane[1] self/memory carries memory access")):
            for arguments in ([], ["-T", "2"]):
                with self.subTest(tls=tls, arguments=arguments):
                    said = [line for line in self.lines(*arguments, tls=tls) if "ep_cfg[" in line]
                    self.assertEqual([line.split("info ")[1].strip() for line in said], [f"ep_cfg[0]: {lanes}"])

    def test_nothing_at_the_level_of_warnings(self):
        self.assertEqual(self.lines(tls="self", level="warn"), [])
