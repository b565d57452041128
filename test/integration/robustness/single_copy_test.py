"""The kernel forbids single copy in various ways: messages must be copied completely, without an error."""

import itertools
import os

from harness import Case, Peer, connect

SIZE, COUNT = 3 << 20, 8


class SingleCopy(Case):
    def copies(self, forbid_when, commands, mode, **settings):
        with Peer("sm,self", **settings) as one, Peer("sm,self", **settings) as other:
            for peer in (one, other):
                for command in commands if forbid_when == "before" else ():
                    peer.ok(command)
                peer.init()
            connect(one, other, mode)
            if forbid_when == "connected":
                self.exchange(one, 0, other, 0, 2, SIZE, COUNT)
                for peer in (one, other):
                    for command in commands:
                        peer.ok(command)
            self.exchange(one, 0, other, 0, 4, SIZE, COUNT)
            self.exchange(one, 0, other, 0, 6, 100, COUNT)
            for peer in (one, other):
                self.assertEqual(peer.errors(0), 0)
                self.assertEqual(peer.lines(" error "), [])
            self.leave(one, other)

    def test_system_call_refused(self):
        # Without error handling the sender writes a part, too, and is also refused.
        for error, when, scheme, mode in itertools.product(
                ("EPERM", "ESRCH"), ("before", "connected"), ("auto", "get_zcopy", "put_zcopy"),
                ("peer", "none")):
            with self.subTest(error=error, when=when, scheme=scheme, mode=mode):
                self.copies(when, [f"forbid-single-copy {error}"], mode, UCX_RNDV_SCHEME=scheme)

    def test_process_that_cannot_be_traced(self):
        # In this mode neither root's right nor a common user suffices; without the right the kernel returns EPERM.
        wrap = ("setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace")
        if os.geteuid() == 0 and os.system("setpriv --version >/dev/null 2>&1") == 0:
            one, other = Peer("sm,self", wrap), Peer("sm,self", wrap)
        else:
            one, other = Peer("sm,self"), Peer("sm,self")
        with one, other:
            for peer in (one, other):
                peer.init()
                peer.ok("undumpable")
            connect(one, other)
            self.exchange(one, 0, other, 0, 2, SIZE, COUNT)
            for peer in (one, other):
                self.assertEqual(peer.errors(0), 0)
                self.assertEqual(peer.lines(" error "), [])
