#!/usr/bin/env python3
"""Builds the presets and runs all tests, stage by stage; contrib/run-tests starts it.

A run without options tests the builds that find most problems: the release build, which users install, and those
with sanitizers. The tests of the development build (unit, conformance, sim, cuda: the asan stage runs the same tests)
run only with --quick, --long and --only.
The last line is always "N passed, N failed, N skipped"; every skipped test is listed before it with its
reason. The exit code is 0 only when nothing failed.
"""
import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ["ucm/all", "ucs/all", "uct/all", "ucp/all", "ucg/all", "tools/all"]
# Folders of test/ that the sanitizer stages run.
ASAN = ["unit", "conformance", "sim", "cuda"]
TSAN = ["unit/ucm", "unit/ucs", "unit/uct/sm", "unit/ucp/threads", "unit/ucg/node", "unit/ucg/threads",
        "cuda", "integration/api"]
TSAN_LONG = ["unit/uct", "conformance"]  # with --long
# Limit in seconds for a test without a limit of its own.
TEST_LIMIT = "300"
# Exit code of contrib/make-venv for a folder that another user can change.
UNSAFE_VENVS = 3
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


class Results:
    """Numbers of passed, failed and skipped tests so far; each test has one line."""

    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], []
        self.seconds = {}  # per stage

    def add(self, name, reason=None):
        if reason is None:
            self.passed += 1
        else:
            self.failed.append(f"{name}: {reason}")

    def skip(self, name, reason):
        self.skipped.append(f"{name}: {reason}")

    def add_junit(self, stage, path):
        """Counts every test of a ctest result file; returns False if it holds none."""
        cases = list(xml.parse(path).getroot().iter("testcase"))
        for case in cases:
            name = f"{stage}: {case.get('name')}"
            output = case.findtext("system-out") or ""
            skipped = case.find("skipped")
            message = skipped.get("message", "") if skipped is not None else ""
            if case.get("status") == "run":
                self.add(name)
            elif message.startswith(("SKIP_", "Disabled")) or case.get("status") == "disabled":
                reason = re.search(r"^SKIP: (.*)$", output, re.M)
                self.skip(name, reason.group(1) if reason else message or "disabled")
            else:
                failure = case.find("failure")
                text = failure.get("message", "") if failure is not None else ""
                self.add(name, text or message or "failed")
        return bool(cases)

    def add_line(self, stage, line):
        """Counts a test from a line of test/vm/run; returns False for other lines."""
        ended = re.match(r"(ok|FAILED) (\S+) [\d.]+ s$", line)
        skipped = re.match(r"skipped (\S+): (.*)$", line)
        if ended:
            self.add(f"{stage}: {ended[2]}", None if ended[1] == "ok" else "failed, see above")
        elif skipped:
            self.skip(f"{stage}: {skipped[1]}", skipped[2])
        return bool(ended or skipped)

    def finish(self):
        total = sum(self.seconds.values())
        if total > 0:
            print(f"\nTime: {total:.0f} s; " +
                  ", ".join(f"{name} {seconds:.0f}" for name, seconds in self.seconds.items()))
        for title, lines in (("Skipped", self.skipped), ("Failed", self.failed)):
            if lines:
                print(f"\n{title}:", *lines, sep="\n  ")
        print(f"\n{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped")
        return 1 if self.failed or not self.passed else 0


class Run:
    """One run of the stages; remembers which presets are built."""

    def __init__(self, args):
        self.args, self.results = args, Results()
        self.jobs = str(args.jobs)
        self.without_long = [] if args.long else ["-LE", "long"]  # options of ctest
        self.configured, self.broken = set(), set()
        self.chosen = [name for name in STAGES if not left_out(name, args)]
        self.env = {**os.environ, **SANITIZERS, "HAWSER_SEEDS": str(args.seeds)}

    def call(self, line, **more):
        print("+", " ".join(str(word) for word in line), flush=True)
        return subprocess.run(line, cwd=ROOT, env=self.env, check=False, **more).returncode

    def watch(self, line, use, **more):
        """Runs a command, prints its output, and calls `use` with each line of it. Returns the exit status."""
        print("+", *line, flush=True)
        with subprocess.Popen(line, cwd=ROOT, env=self.env, text=True, errors="replace", stdout=subprocess.PIPE,
                              **more) as running:
            for printed in running.stdout:
                print(printed, end="", flush=True)
                use(printed)
        return running.returncode

    @staticmethod
    def configuring(preset):
        return ["cmake", "--preset", preset, "-DHAWSER_TESTS=ON"]

    def building(self, preset, *folders):
        """The command that builds the libraries and the test folders."""
        # Tests start tools, which no test links. Tests under tsan start no tools.
        targets = ([] if preset == "tsan" else LAYERS) + [f"test/{folder}/all" for folder in folders]
        return ["cmake", "--build", "--preset", preset, "-j", self.jobs, "--target", *targets]

    @contextlib.contextmanager
    def building_ahead(self):
        """Builds the sanitizer presets in advance, with idle processor time, while tests run one at a time. The stages
        build the remaining targets themselves and report errors."""
        wanted = [("asan", self.building("asan", "fuzz", *ASAN)), ("tsan", self.building("tsan", *TSAN))]
        lines = [line for preset, build in wanted if preset in self.chosen for line in (self.configuring(preset), build)]
        if not lines:
            yield
            return
        print("+ (in idle time)", *(" ".join(line) for line in lines), sep="\n+   ", flush=True)
        script = " && ".join(" ".join(line) for line in lines)
        idly = ["chrt", "--idle", "0"] if shutil.which("chrt") else ["nice", "-n", "19"]
        with subprocess.Popen([*idly, "sh", "-c", script], cwd=ROOT, env=self.env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0) as ahead:
            try:
                yield
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(ahead.pid, signal.SIGTERM)  # ninja removes incomplete files

    def build(self, preset, *folders):
        """Configures the preset once and builds the libraries and the test folders; returns False on failure."""
        if preset in self.broken:
            return False
        if preset not in self.configured:
            if self.call(self.configuring(preset)) != 0:
                self.broken.add(preset)
                return False
            self.configured.add(preset)
        started = time.monotonic()
        built = self.call(self.building(preset, *folders)) == 0
        print(f"--- build of {preset}: {time.monotonic() - started:.0f} s", flush=True)
        return built

    def script(self, name, *arguments):
        code = self.call([ROOT / "contrib" / name, *arguments])
        self.results.add(f"contrib/{name}", None if code == 0 else f"ended with {code}")

    def ctest(self, stage, preset, folder, *selection, one_at_a_time=False):
        """Builds one test folder and runs its tests, each counted on its own."""
        if not self.build(preset, folder):
            self.results.add(f"{stage}: build of test/{folder}", f"preset {preset} does not build")
            return
        junit = ROOT / "build" / preset / f"results-{stage}-{folder.replace('/', '-')}.xml"
        junit.unlink(missing_ok=True)
        with self.building_ahead() if one_at_a_time else contextlib.nullcontext():
            self.call(["ctest", "--test-dir", f"build/{preset}/test/{folder}", "--output-on-failure",
                       "--no-tests=ignore", "--timeout", TEST_LIMIT, "-j", "1" if one_at_a_time else self.jobs,
                       "--output-junit", junit, *selection])
        if not junit.is_file():
            self.results.add(f"{stage}: test/{folder}", "ctest wrote no results")
        elif not self.results.add_junit(stage, junit):
            self.results.skip(f"{stage}: test/{folder}", "no test fits " + (" ".join(selection) or "here"))

    def fuzz(self):
        """Replays the collected inputs, then runs each fuzz target for the given time."""
        if not self.build("asan", "fuzz"):
            self.results.add("fuzz: build", "preset asan does not build")
            return
        programs = sorted(path for path in (ROOT / "build/asan/test/fuzz").rglob("*fuzz*")
                          if path.is_file() and os.access(path, os.X_OK) and "CMakeFiles" not in path.parts
                          and not path.suffix)
        if not programs:
            self.results.add("fuzz", "no target was built")
        with ThreadPoolExecutor(self.args.jobs) as pool:
            for program, done in zip(programs, pool.map(self.fuzz_one, programs)):
                print(done.stdout, flush=True)
                self.results.add(f"fuzz: {program.name}", None if done.returncode == 0 else
                                 f"ended with {done.returncode}; the input is "
                                 f"build/asan/fuzz-corpus/{program.name}-*")

    def fuzz_one(self, program):
        found = ROOT / "build/asan/fuzz-corpus" / program.name
        found.mkdir(parents=True, exist_ok=True)
        kept = [path for path in (ROOT / "test/fuzz/corpus").glob("*")
                if path.is_dir() and program.name in (path.name, f"fuzz_{path.name}", f"{path.name}_fuzz")]
        line = [program, f"-max_total_time={self.args.fuzz_seconds}", "-timeout=20", "-rss_limit_mb=2048",
                "-verbosity=0", "-print_final_stats=1", f"-artifact_prefix={found.parent}/{program.name}-",
                found, *kept]
        print("+", *line, flush=True)
        return subprocess.run(line, cwd=ROOT, env=self.env, check=False, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def of_others(self, stage, *labels, folder="integration", **more):
        """A stage that runs third-party programs. If the Python package index lacks one, its tests are skipped with the
        reason. If another user can change these programs, the stage fails."""
        made = subprocess.run([ROOT / "contrib/make-venv"], cwd=ROOT, env=self.env, check=False)
        if made.returncode == UNSAFE_VENVS:
            self.results.add(f"{stage}: contrib/make-venv", "another user can change the folder of its programs")
            return
        self.ctest(stage, "release", folder, *labels, **more)

    def guest(self):
        """Tests with RDMA devices, in guests; test/vm/run prints a line for each."""
        if not self.build("release", "conformance", "integration", "vm"):
            self.results.add("guest: build", "preset release does not build")
            return
        line = [ROOT / "test/vm/run", "--build", ROOT / "build/release"] + (["--long"] if self.args.long else [])
        counted = []
        with self.building_ahead():
            code = self.watch(line, lambda report: counted.append(self.results.add_line("guest", report)),
                              stderr=subprocess.STDOUT)
        if not any(counted) or code not in (0, 1):
            self.results.add("guest: test/vm/run", f"ended with {code} after {sum(counted)} tests")

    def asan(self):
        for folder in ASAN:
            self.ctest("asan", "asan", folder)
        for folder in ("integration", "adversary/faulty_peer"):
            self.ctest("asan", "asan", folder, "-L", "sanitizer", *self.without_long)

    def tsan(self):
        """Tests with threads; the others have one thread, so ThreadSanitizer finds nothing."""
        for folder in TSAN + (TSAN_LONG if self.args.long else []):
            self.ctest("tsan", "tsan", folder, *(["-L", "sanitizer"] if folder == "integration/api" else []))

    def quickstart(self):
        """The first steps of the README, with the build of the earlier stages."""
        said = [""]
        code = self.watch([ROOT / "contrib/quickstart", "--no-install", ROOT / "build/quickstart"], said.append)
        self.results.add("contrib/quickstart", None if code == 0 else f"ended with {code}")
        again = subprocess.run(["bash", "-c", said[-1]], cwd=ROOT, check=False, text=True, stdout=subprocess.PIPE,
                               env={name: value for name, value in self.env.items() if name != "LD_LIBRARY_PATH"})
        self.results.add("contrib/quickstart: its last line runs the program of README.md",
                         None if again.stdout == "hello\n" else f"it printed {again.stdout!r}")
        self.configured.discard("release")  # it was configured without the tests

    def coverage(self):
        """Builds a small program with the preset, which counts executed lines."""
        folder, name = ROOT / "build/coverage", "ucm_unit_tests"
        for old in folder.rglob("*.gcda"):
            old.unlink()
        good = all(self.call(line) == 0 for line in (
            ["cmake", "--preset", "coverage"],
            ["cmake", "--build", "--preset", "coverage", "-j", self.jobs, "--target", name],
            [folder / "test/unit/ucm" / name]))
        counted = good and any(folder.rglob("*.gcda"))
        self.results.add("coverage: preset", None if counted else
                         "no counts of lines" if good else "it does not configure, build or run")

    def symbols(self):
        if self.build("asan"):
            self.script("check-symbols", "build/asan")
        else:
            self.results.add("contrib/check-symbols", "preset asan does not build")

    def mpi(self):
        more = ["-L", "short"] if self.args.quick else self.without_long
        self.of_others("mpi", "-L", "mpi", *more, one_at_a_time=True)


# Name and function of every stage, in order.
STAGES = {
    **{name: partial(Run.script, name=script) for name, script in (
        ("format", "check-format"), ("layers", "check-layers"), ("docs", "check-docs"), ("words", "check-words"),
        ("classes", "count-public"), ("headers", "check-headers"))},
    **{name: partial(Run.ctest, stage=name, preset="dev", folder=name) for name in ("unit", "conformance", "sim", "cuda")},
    "coverage": Run.coverage,
    "abi": lambda run: run.of_others("abi", folder="abi"),
    "integration": lambda run: run.of_others("integration", "-LE", "mpi"),
    "mpi": Run.mpi,
    "adversary": lambda run: run.ctest("adversary", "release", "adversary", *run.without_long, one_at_a_time=True),
    "guest": Run.guest,
    "quickstart": Run.quickstart,
    "symbols": Run.symbols,
    "fuzz": Run.fuzz,
    "asan": Run.asan,
    "tsan": Run.tsan,
}
SLOW = ["coverage", "symbols", "fuzz", "asan", "tsan"]  # not with --quick
AGAIN = ["unit", "conformance", "sim", "cuda"]  # asan runs the same tests
LONG = ["coverage"]  # only with --long


def left_out(name, args):
    """Returns the reason why a run leaves this stage out, or None."""
    if args.only:
        return None if name in args.only else "not among --only"
    if args.quick:
        return "left out by --quick" if name in SLOW else None
    if args.long:
        return None
    if name in LONG:
        return f"only with --long or --only {name}"
    return "asan runs the same tests; without a sanitizer with --quick, --long or --only" if name in AGAIN else None


def arguments():
    parser = argparse.ArgumentParser(prog="contrib/run-tests", description="Installs packages, builds, and "
                                     "runs every test. The last line is: N passed, N failed, N skipped")
    parser.add_argument("--quick", action="store_true", help="leave out " + ", ".join(SLOW)
                        + " and all MPI runs but the short ones")
    parser.add_argument("--long", action="store_true", help="ten times the seeds, ten minutes per fuzz target, all "
                        "programs of the C interface and of MPI in guests, and " + ", ".join(AGAIN + LONG))
    parser.add_argument("--only", action="append", choices=STAGES, metavar="NAME",
                        help="run only this stage (repeatable): " + ", ".join(STAGES))
    parser.add_argument("--seeds", type=int, help="seeds of random traffic (HAWSER_SEEDS; default 10); the simulation "
                        "runs as many times more or fewer as this is than 10")
    parser.add_argument("--no-install", action="store_true", help="do not install packages")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="parallel jobs")
    args = parser.parse_args()
    if args.seeds is None:
        args.seeds = 100 if args.long else 10
    args.fuzz_seconds = 600 if args.long else 4
    return args


def main():
    args = arguments()
    run = Run(args)
    for name, stage in STAGES.items():
        if reason := left_out(name, args):
            if not args.only:
                run.results.skip(name, reason)
            continue
        print(f"\n=== {name} ===", flush=True)
        started = time.monotonic()
        stage(run)
        run.results.seconds[name] = time.monotonic() - started
        print(f"=== {name}: {run.results.seconds[name]:.0f} s ===", flush=True)
    return run.results.finish()


if __name__ == "__main__":
    sys.exit(main())
