"""A process that lacks a resource, its healthy peer, and properties that both must keep."""

import resource
import signal

from harness import Case, Peer

MOST_LINES = 40  # limit for one process in a short run; more lines would fill a disk in a long one
TRANSPORTS = ("sm,self", "tcp,self", "all")
SIZES = (8, 100000, 1 << 20)

# The limits of setrlimit(2) with very low values. Those of memory suffice to load the program. "soft" only: a program
# may raise it again.
LIMITS = {
    "AS": (160 << 20, 96 << 20, 64 << 20),
    "CORE": (0,),
    "CPU": (30,),  # the kernel signals the program; a healthy program must not notice it
    "DATA": (64 << 20, 16 << 20),
    "FSIZE": (1 << 20, 65536),
    "MEMLOCK": (0,),
    "MSGQUEUE": (0,),
    "NICE": (0,),
    "NOFILE": (64, 40, 24, 12),
    "NPROC": (1,),
    "RSS": (0,),
    "RTPRIO": (0,),
    "RTTIME": (0,),
    "SIGPENDING": (0,),
    "STACK": (256 << 10,),
}
# RLIMIT_LOCKS counts nothing since Linux 2.4.25, and Python has no name for it.


def number_of(name):
    return getattr(resource, f"RLIMIT_{name}")


def lower(pid, name, value):
    """Lowers the soft limit of a running process."""
    resource.prlimit(pid, number_of(name), (value, resource.prlimit(pid, number_of(name))[1]))


def raised(pid, name):
    """Raises the soft limit to the hard one."""
    hard = resource.prlimit(pid, number_of(name))[1]
    resource.prlimit(pid, number_of(name), (hard, hard))


def limited(name, value):
    """Returns a command line that runs a program under this limit."""
    return ("prlimit", f"--{name.lower()}={value}:", "--")


def name_of_signal(status):
    return signal.Signals(-status).name if status < 0 else "none"


class PoorCase(Case):
    def orderly(self, done):
        """The program exited by itself, and printed a reason if it failed."""
        self.assertGreaterEqual(done.returncode, 0, f"{name_of_signal(done.returncode)}: {done}")
        self.assertLess(done.returncode, 128, done)
        if done.returncode != 0:
            self.assertTrue(done.stderr.strip() or done.stdout.strip(), "it failed without a word")
        self.assertLess(len(done.stderr.splitlines()), MOST_LINES, done.stderr)

    def begin(self, peer):
        """Makes context and worker; returns True if the peer can go on."""
        answer = peer.ask("init")
        self.assertRegex(answer, "^(ok|error ucp_)", peer.log())
        if answer == "ok":
            peer.address = peer.ok("address").strip()
            return True
        self.assertGreaterEqual(len(peer.lines()), 1, f"{answer}, and no reason was logged")
        return False

    def connect(self, one, other):
        """Makes an endpoint in each; returns True if both succeeded."""
        for peer, to in ((one, other), (other, one)):
            answer = peer.ask(f"ep 0 peer {to.address}")
            self.assertRegex(answer, "^(ok|error)", peer.log())
            if answer != "ok":
                self.assertGreaterEqual(len(peer.lines()), 1, f"{answer}, and no reason was logged")
                return False
        return True

    def talk(self, one, other, first_tag=10, sizes=SIZES):
        """Sends messages of all sizes in both directions. Each size arrives, or one side logs a reason. Returns True if
        all arrived."""
        for step, size in enumerate(sizes):
            tag = first_tag + 2 * step
            for peer, send_tag, receive_tag in ((one, tag, tag + 1), (other, tag + 1, tag)):
                for command in (f"recv in{tag} {receive_tag} {size} 2 6", f"send out{tag} 0 {send_tag} {size} 2 6"):
                    if not peer.ask(command).startswith("ok"):
                        return False  # the test program itself lacks memory
            for peer, partner in ((one, other), (other, one)):
                for channel in (f"out{tag}", f"in{tag}"):
                    if not self.gets_through(peer, partner, channel):
                        return False
        return True

    def all_well(self, one, other):
        """Both begin, connect, receive all messages and end."""
        self.assertTrue(self.begin(one) and self.begin(other))
        self.assertTrue(self.connect(one, other) and self.talk(one, other), one.log() + other.log())
        self.end(one, other)

    def pairs_are_well(self, transports, wrap, other_wrap, **settings):
        """The same for a pair of each kind of transport."""
        for tls in transports:
            with self.subTest(tls=tls), Peer(tls, wrap, **settings) as one, Peer(tls, other_wrap, **settings) as other:
                self.all_well(one, other)

    def gets_through(self, peer, partner, channel):
        """Returns True if all messages of the channel arrive. Otherwise one side must have logged a reason."""
        turns = 0
        counts = peer.wait(channel, 0.2)
        while counts.timeout and (turns < 5 or not peer.lines() + partner.lines()):
            self.assertLess(turns, 150, f"{channel}: {counts}, and no reason was logged")
            partner.ok("progress 0.05")
            counts = peer.wait(channel, 0.2)
            turns += 1
        self.assertEqual(counts.wrong, 0, counts)
        if not counts.timeout and counts.failed == 0:
            return True
        self.assertGreaterEqual(len(peer.lines()) + len(partner.lines()), 1,
                                f"{channel}: {counts}, and no reason was logged")
        return False

    def end(self, *peers):
        """Ends the peers in order, and checks that their logs are short."""
        for peer in peers:
            peer.ask("close 0 force 5")
            peer.ok("destroy")
        for peer in peers:
            self.assertEqual(peer.quit(), 0, peer.log())
            self.assertLess(len(peer.lines()), MOST_LINES, peer.log())
