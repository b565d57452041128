"""A full disk, missing rights, a control group, a stopped peer: problems of the environment, not of the process's
limits."""

import os
import pathlib
import signal
import stat
import subprocess
import tempfile

from harness import PEER, Peer, both_ways, need_private_mounts, started
from poor import PoorCase

PAUSE = float(os.environ.get("POOR_MACHINE_PAUSE", "1.5"))  # seconds
GROUPS = pathlib.Path("/sys/fs/cgroup")
NOBODY = 65534


class FullDisk(PoorCase):
    """Each written file is on a file system without a free block."""

    def wrap(self, folder):
        """Mounts a full tmpfs over the folder, for this program only."""
        return ("unshare", "-m", "sh", "-c",
                f"mount -t tmpfs -o size=16k,nr_inodes=20 none {folder} && chmod 700 {folder} && "
                f"mkdir -m 700 {folder}/hawser && "
                f"(head -c 1000000 /dev/zero > {folder}/filler 2>/dev/null; true) && "
                'exec "$0" "$@"')

    def test_cache_of_measured_costs(self):
        need_private_mounts(self)
        with tempfile.TemporaryDirectory() as folder, \
                started("all", self.wrap(folder), XDG_CACHE_HOME=folder, count=1) as (peer,):
            self.end(peer)
            self.assertEqual(peer.log(), "")

    def test_log_file(self):
        """Log lines go to the standard error instead."""
        need_private_mounts(self)
        with tempfile.TemporaryDirectory() as folder, \
                Peer("all", self.wrap(folder), UCX_LOG_FILE=f"{folder}/log", UCX_TLSS="1",
                     XDG_CACHE_HOME=folder) as peer:
            peer.init()
            self.end(peer)
            self.assertEqual(len(peer.lines("UCX_TLSS")), 1, peer.log())

    def test_messages_need_no_disk(self):
        need_private_mounts(self)
        with tempfile.TemporaryDirectory() as folder:
            wrap = self.wrap(folder)
            for tls in ("sm,self", "tcp,self"):
                with self.subTest(tls=tls), Peer(tls, wrap, XDG_CACHE_HOME=folder) as one, \
                        Peer(tls, wrap, XDG_CACHE_HOME=folder) as other:
                    self.all_well(one, other)
                    self.assertEqual(one.log() + other.log(), "")


class FilesInTheWay(PoorCase):
    """A foreign object exists at the path of one of the library's files."""

    def kinds(self, path):
        """Creates one object after the other at the path; yields its kind and the expected log text."""
        target = path.with_name("target")
        target.write_text("TLS=self\n")
        os.mkfifo(path)
        yield "pipe", "it is a pipe"
        path.unlink()
        path.symlink_to(target)
        yield "link", "it is a symbolic link"
        path.unlink()
        path.mkdir()
        yield "folder", "it is a folder"
        path.rmdir()
        if os.geteuid() != 0:
            return
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
        yield "device", "it is a device"
        path.unlink()
        path.write_text("TLS=self\n")
        os.chown(path, NOBODY, NOBODY)
        yield "file of another user's", f"it belongs to user {NOBODY}"
        path.unlink()

    def check_one_line(self, peer, reason):
        """The start continues, with one log line that has the reason."""
        peer.init()
        self.assertEqual(len(peer.lines(reason)), 1, peer.log())
        self.assertEqual(len(peer.lines()), 1, peer.log())
        self.end(peer)

    def test_configuration(self):
        with tempfile.TemporaryDirectory() as folder:
            for kind, reason in self.kinds(pathlib.Path(folder, "ucx.conf")):
                with self.subTest(kind=kind), Peer("all", UCX_CONFIG_DIR=folder) as peer:
                    self.check_one_line(peer, reason)

    def test_log_file(self):
        with tempfile.TemporaryDirectory() as folder:
            for kind, reason in self.kinds(pathlib.Path(folder, "log")):
                with self.subTest(kind=kind), \
                        started("all", UCX_LOG_FILE=f"{folder}/log", UCX_TLSS="1", count=1) as (peer,):
                    self.assertEqual(len(peer.lines(reason)), 1, peer.log())
                    self.assertEqual(len(peer.lines("UCX_TLSS")), 1, peer.log())
                    self.end(peer)

    def test_cache_of_measured_costs(self):
        with tempfile.TemporaryDirectory() as folder:
            with started("all", XDG_CACHE_HOME=folder, count=1) as (peer,):
                self.end(peer)
            [name] = os.listdir(f"{folder}/hawser")
            path = pathlib.Path(folder, "hawser", name)
            path.unlink()
            for kind, reason in self.kinds(path):
                with self.subTest(kind=kind), Peer("all", XDG_CACHE_HOME=folder) as peer:
                    self.check_one_line(peer, reason)

    def test_folder_that_others_can_write_to(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "ucx.conf").write_text("TLS=nonsense\n")
            os.chmod(folder, 0o777)
            with started("all", UCX_CONFIG_DIR=folder, count=1) as (peer,):
                self.assertEqual(len(peer.lines("others can write to its folder")), 1, peer.log())
                self.end(peer)


class Rights(PoorCase):
    def test_without_any_capability(self):
        """As in a container without rights: no capability, and no way to gain one."""
        if os.geteuid() != 0:
            self.skipTest("only root has capabilities to lose")
        wrap = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--")
        self.pairs_are_well(("all", "sm,self", "tcp,self"), wrap, wrap)

    def test_as_a_user_without_a_home(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        wrap = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", "--")
        if subprocess.run([*wrap, "test", "-x", PEER], check=False).returncode != 0:
            self.skipTest(f"user {NOBODY} cannot run the programs in this folder")
        self.pairs_are_well(("all", "sm,self", "tcp,self"), wrap, wrap, HOME="/nonexistent")


class ControlGroup(PoorCase):
    def limited(self, controller, file, older_file, value):
        """Makes a control group with this limit; returns a command that runs a program in it. Skips the test if that
        fails."""
        newer = (GROUPS / "cgroup.controllers").exists()
        made = (GROUPS if newer else GROUPS / controller) / f"poor-machine-{os.getpid()}"
        try:
            made.mkdir()
            self.addCleanup(made.rmdir)
            (made / (file if newer else older_file)).write_text(str(value))
        except OSError as why:
            self.skipTest(f"no control group with a limit can be made: {why}")
        return ("sh", "-c", f'echo $$ > {made}/cgroup.procs && exec "$0" "$@"')

    def test_number_of_tasks(self):
        """No thread can be created."""
        wrap = self.limited("pids", "pids.max", "pids.max", 1)
        self.pairs_are_well(("sm,self", "tcp,self"), wrap, ())

    def test_memory(self):
        """Just enough memory: the kernel reclaims pages and kills nothing."""
        wrap = self.limited("memory", "memory.max", "memory.limit_in_bytes", 64 << 20)
        self.pairs_are_well(("sm,self", "tcp,self"), wrap, ())


class Stopped(PoorCase):
    """A peer is stopped and continues later: no message is lost, and no side declares it dead."""

    def test_stopped(self):
        for tls in ("sm,self", "tcp,self"):
            with self.subTest(tls=tls), Peer(tls) as awake, Peer(tls) as sleeper:
                self.assertTrue(self.begin(awake) and self.begin(sleeper) and self.connect(awake, sleeper))
                self.assertTrue(self.talk(awake, sleeper))
                both_ways(sleeper, awake, 5000, 8, 500)
                sleeper.process.send_signal(signal.SIGSTOP)
                try:
                    awake.ok(f"progress {PAUSE}", PAUSE + 60)
                finally:
                    sleeper.process.send_signal(signal.SIGCONT)
                self.all_came(500, awake, sleeper)
                self.end(awake, sleeper)
