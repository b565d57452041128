"""A transport that cannot work on this machine is left out, and ucx_info -d gives the reason."""

import os
import re
import subprocess

from harness import INFO, Case, Peer, init, run
from namespaces import Namespace

RUN_WITHOUT = os.environ["RUN_WITHOUT_PROGRAM"]


class Unreachable(Case):
    def test_line_has_every_transport(self):
        """At the default log level."""
        with Peer("self") as one, Peer("posix,self") as other:
            init(one, other)
            one.connect(0, other)
            one.ok("send out 0 1 100 1 1")
            one.wait("out")
            lines = one.lines("is unreachable")
            self.assertEqual(len(lines), 1, one.log())
            for part in ("self/memory: not used, ", "posix/*: not used, excluded by UCX_TLS",
                         "cma/*: not used, excluded by UCX_TLS",
                         "tcp/*: not used, excluded by UCX_TLS"):
                self.assertIn(part, lines[0])


class LeftOut(Case):
    def devices(self, wrap):
        """Returns the transports that ucx_info -d opened, and the reason for each that it left out."""
        done = run(INFO, "-d", wrap=wrap)
        if done.returncode == 77:
            self.skipTest(done.stderr)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        self.assertNotIn("cannot be opened", done.stdout)
        return (re.findall(r"^#      Transport: (\S+)$", done.stdout, re.M),
                dict(re.findall(r"^#      Left out: (\S+): (.*)$", done.stdout, re.M)))

    def test_nothing_forbidden(self):
        used, left_out = self.devices((RUN_WITHOUT, "--"))
        self.assertIn("posix", used)
        self.assertNotIn("posix/memory", left_out)

    def test_single_copy_forbidden(self):
        used, left_out = self.devices((RUN_WITHOUT, "process_vm_readv", "--"))
        self.assertIn("posix", used)
        self.assertNotIn("cma", used)
        self.assertEqual(left_out["cma/memory"],
                         "process_vm_readv is refused here: Operation not permitted")

    def test_no_memfd(self):
        used, left_out = self.devices((RUN_WITHOUT, "memfd_create", "--"))
        self.assertNotIn("posix", used)
        self.assertEqual(left_out["posix/memory"], "memfd_create failed: Operation not permitted")
        self.assertIn("self", used)

    def test_interface_down(self):
        if os.geteuid() != 0:
            self.skipTest("only root may make network namespaces")
        try:
            with Namespace() as inside:
                # A new namespace has only lo, and it is down.
                self.check_interfaces(inside)
        except (OSError, subprocess.CalledProcessError) as why:
            self.skipTest(f"no network namespaces here: {why}")

    def check_interfaces(self, inside):
        used, left_out = self.devices(inside.inside)
        self.assertNotIn("tcp", used)
        self.assertEqual(left_out["tcp/lo"], "interface is down")
        inside.do("ip link set lo up", "ip addr flush dev lo")
        used, left_out = self.devices(inside.inside)
        self.assertNotIn("tcp", used)
        self.assertEqual(left_out["tcp/lo"], "has no IPv4 or IPv6 address")
        inside.do("ip addr add 127.0.0.1/8 dev lo")
        used, left_out = self.devices(inside.inside)
        self.assertIn("tcp", used)
        self.assertNotIn("tcp/lo", left_out)
