"""ucx_info: every page, its recognisable lines, and wrong command lines."""

import os
import re
import tempfile
import unittest
from pathlib import Path

from processes import INFO, refused, run

ROOT = Path(__file__).resolve().parents[3]


def options_in(page):
    return set(re.findall(r"\bUCX_[A-Z0-9]+(?:_[A-Z0-9]+)*\b(?![_*…])", page.read_text(encoding="utf-8")))


class Pages(unittest.TestCase):
    def page(self, *arguments, env=None):
        done = run(INFO, *arguments, env=env)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def test_version(self):
        text = self.page("-v")
        self.assertRegex(text, r"(?m)^# Library version: 1\.\d+\.\d+$")
        self.assertRegex(text, r"(?m)^# Library path: /.*libucp\.so\.0")

    def test_devices(self):
        text = self.page("-d")
        for transport in ("self", "posix", "tcp"):
            self.assertRegex(text, rf"(?m)^#      Transport: {transport}$")
        self.assertRegex(text, r"(?m)^#         Device: lo$")
        self.assertRegex(text, r"(?m)^# +bandwidth: \d+\.\d\d/ppn \+ 0\.00 MB/sec$")
        self.assertRegex(text, r"(?m)^# +latency: \d+ nsec$")
        only = self.page("-d", "-t", "tcp")
        self.assertEqual(set(re.findall(r"Transport: (\S+)", only)), {"tcp"})

    def test_configuration_lines_can_be_parsed(self):
        values = dict(line.split("=", 1) for line in self.page("-c").splitlines())
        self.assertEqual(values["UCX_TLS"], "all")
        self.assertIn("UCX_RNDV_THRESH", values)
        self.assertTrue(all(re.fullmatch(r"UCX_[A-Z0-9_]+", name) for name in values))
        changed = self.page("-c", env={"UCX_TLS": "self,tcp"})
        self.assertIn("\nUCX_TLS=self,tcp\n", "\n" + changed)

    def test_documented_configuration_is_a_configuration_file(self):
        text = self.page("-cf")
        self.assertRegex(text, r"(?m)^#")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ucx.conf")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace("UCX_RNDV_THRESH=auto", "UCX_RNDV_THRESH=12K"))
            done = run(INFO, "-c", env={"UCX_CONFIG_DIR": folder})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        usual = self.page("-c").splitlines()
        changed = [line for line in done.stdout.splitlines() if line not in usual]
        self.assertEqual(changed, ["UCX_RNDV_THRESH=12K", f"UCX_CONFIG_DIR={folder}"])

    def test_every_option_of_the_pages_is_shown(self):
        accepted = ROOT / "docs/options.md"  # lists all options of OpenUCX; most have no effect here
        pages = {ROOT / "README.md", ROOT / "DESIGN.md", *(ROOT / "docs").glob("*.md")} - {accepted}
        named = set().union(*(options_in(page) for page in pages))
        self.assertGreater(len(named), 50)
        self.assertEqual(named - options_in(accepted) - set(re.findall(r"UCX_[A-Z0-9_]+", self.page("-caf"))), set())

    def test_configuration_filter_and_comments(self):
        lines = self.page("-c", "-F", "rndv").splitlines()
        self.assertTrue(lines and all("RNDV" in line.split("=")[0] for line in lines), lines)
        commented = self.page("-c", "-C").splitlines()
        self.assertTrue(all(line.startswith("# UCX_") for line in commented if "=" in line))
        self.assertGreaterEqual(len(self.page("-ca").splitlines()),
                                len(self.page("-c").splitlines()))

    def test_system_topology_build_and_types(self):
        self.assertRegex(self.page("-s"), r"(?m)^# Timer frequency: \d+\.\d{3} MHz$")
        self.assertRegex(self.page("-s"), r"(?m)^# CPU vendor: \w+")
        self.assertIn("# System topology:", self.page("-T"))
        self.assertRegex(self.page("-T"), r"(?m)^# NUMA node 0: CPUs \d")
        self.assertRegex(self.page("-b"), r"(?m)^#define ENABLE_MT +1$")
        for part in ("CUDA", "FUSE", "PMIX", "RDMA"):
            self.assertRegex(self.page("-b"), rf"(?m)^#define DETECTED_{part} +[01]$")
        self.assertRegex(self.page("-y"), r"(?m)^    sizeof\(ucp_params_t\) = \.+ \d+$")

    def test_context(self):
        text = self.page("-p", "-u", "t")
        self.assertRegex(text, r"(?m)^#\s+resource \d+\s+:\s+md \d+\s+dev \d+\s+flags .. self/")
        self.assertRegex(text, r"(?m)^# memory: -?\d+\.\d\dMB, file descriptors: \d+$")
        self.assertRegex(text, r"(?m)^# create time: \d+\.\d{3} ms$")

    def test_worker(self):
        text = self.page("-w", "-u", "t")
        self.assertRegex(text, r"(?m)^# UCP worker ")
        self.assertRegex(text, r"address: \d+ bytes")

    def test_endpoints(self):
        for where, transport in (("self", "self"), ("intra", "posix"), ("inter", "tcp")):
            with self.subTest(where=where):
                text = self.page("-e", "-u", "t", "-P", where)
                self.assertIn("# UCP endpoint", text)
                self.assertRegex(text, rf"lane\[0\]: .*{transport}/")
                self.assertNotIn("could not be reached", text)

    def test_device_kinds(self):
        for kind, transport in (("shm", "posix"), ("net", "tcp"), ("self", "self")):
            with self.subTest(kind=kind):
                text = self.page("-p", "-u", "t", "-D", kind)
                found = set(re.findall(r"-- (\w+)/", text))
                self.assertIn(transport, found)
                self.assertLessEqual(found, {transport, "cma"} if kind == "shm" else {transport})

    def test_transports_that_the_user_chose_stay_chosen(self):
        for where, tls, made, lanes in (
                ("intra", "tcp", "tcp", ["tcp"]), ("intra", "posix", "posix", ["posix"]),
                ("intra", "^sm", "^self,posix,cma", ["tcp"]), ("inter", "tcp,posix,self", "tcp", ["tcp"])):
            with self.subTest(where=where, tls=tls):
                text = self.page("-e", "-u", "t", "-P", where, env={"UCX_TLS": tls})
                self.assertEqual(re.findall(r"lane\[\d\]: \d+:(\w+)/", text), lanes)
                changed = f"# -P {where} makes UCX_TLS={made} out of UCX_TLS={tls}\n"
                reason = "self/*: not used, excluded by UCX_TLS, which the program set\n"
                self.assertEqual((changed in text, reason in text), (made != tls, made != tls), text)
        text = self.page("-p", "-u", "t", "-D", "shm", env={"UCX_TLS": "tcp,posix"})
        self.assertEqual(set(re.findall(r"-- (\w+)/", text)), {"posix"})
        text = self.page("-e", "-u", "t", env={"UCX_TLS": "self"})
        self.assertNotIn("which the program set", text)

    def test_no_transport_left(self):
        done = run(INFO, "-e", "-u", "t", "-P", "inter", env={"UCX_TLS": "posix,self"})
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("-P inter leaves no transport of UCX_TLS=posix,self", done.stderr)

    def test_help(self):
        text = self.page("-h")
        for letter in "vdbysTcpwetfaCFunNDPh":
            self.assertRegex(text, rf"(?m)^  -{letter}[ ,]")


class Mistakes(unittest.TestCase):
    def test_wrong_command_lines(self):
        for arguments in ([], ["-p"], ["-e"], ["-p", "-u", ""], ["-p", "-u", "q"], ["-t", "tcp"],
                          ["-Z"], ["-p", "-u", "t", "-D", "gpu"], ["-e", "-u", "t", "-P", "far"],
                          ["-p", "-u", "t", "-n", "x"], ["stray"], ["-A", "10.0.0.1"]):
            with self.subTest(arguments=arguments):
                refused(self, INFO, *arguments)

    def test_unknown_transport(self):
        done = run(INFO, "-d", "-t", "pigeon")
        self.assertEqual(done.returncode, 1)
        self.assertIn("pigeon", done.stderr)

    def test_wrong_configuration(self):
        done = run(INFO, "-c", env={"UCX_RNDV_THRESH": "soon"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("UCX_RNDV_THRESH", done.stdout + done.stderr)
