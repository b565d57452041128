"""The object tree of running processes, mounted by ucx_vfs: reads during traffic, and all kinds of ends."""

import errno
import os
import resource
import select
import signal
import subprocess
import tempfile
import time

from harness import LIMIT, Case, Peer, both_ways, connect, environment, run, started
from sockets import abstract_names

VFS = os.environ["VFS_PROGRAM"]
HAS_MODULE = os.environ["VFS_MODULE_BUILT"] == "1"


def mounts(folder):
    with open("/proc/self/mountinfo", encoding="utf-8") as table:
        points = [line.split()[4] for line in table]
    return [point for point in points if point.startswith(folder + "/")]


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def number(path):
    return int(text(path).split()[0])


def everything(folder):
    """All files below a folder with their texts; links are not followed."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if not os.path.islink(path):
                found[os.path.relpath(path, folder)] = text(path)
    return found


def processor_time(pid):
    """CPU seconds of the process."""
    values = text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")


class Daemon:
    """ucx_vfs in the foreground; ends with the context."""

    def __init__(self, folder, key, *options):
        self.process = subprocess.Popen(
            [VFS, "-f", "-v", "-d", folder, *options, "start"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment({"UCX_VFS_SOCK_PATH": key}))
        self.said = b""
        self.folder = folder
        self.first = self.hear("looking for processes")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=LIMIT)

    def hear(self, words):
        """Waits for a line of output; earlier output is in `said`."""
        end = time.monotonic() + LIMIT
        while words.encode() not in self.said:
            if select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                got = os.read(self.process.stdout.fileno(), 65536)
                self.said += got
                if got:
                    continue
            raise AssertionError(
                f"ucx_vfs did not say '{words}' but: {self.said.decode()}"
                f"{self.process.stderr.read().decode() if self.process.poll() is not None else ''}")
        return self.said.decode()

    def forget(self):
        self.said = b""


class Starts(Case):
    """The daemon checks its prerequisites before it goes to the background."""

    def test_module_that_is_missing(self):
        for module, word in (("/nowhere", "/nowhere/fuse.so"), (os.path.dirname(os.__file__), "fuse.so")):
            for options in ([], ["-f"]):
                done = run(VFS, *options, "start", UCX_MODULE_DIR=module, UCX_VFS_SOCK_PATH="starts")
                self.assertEqual((done.returncode, done.stdout), (1, ""), done)
                self.assertIn("ucx_vfs: no process can be shown: ", done.stderr)
                self.assertIn(word, done.stderr)
                self.assertIn("contrib/install-packages vfs", done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)


class Mounted(Case):
    def setUp(self):
        if not HAS_MODULE:
            self.skipTest("built without libfuse3 (package libfuse3-dev)")
        place = tempfile.TemporaryDirectory(prefix="ucx_vfs_test_")
        self.addCleanup(place.cleanup)
        self.folder = os.path.realpath(place.name) + "/tree"
        self.key = place.name
        tried = run("unshare", "-m", "true")
        if os.geteuid() == 0 and tried.returncode != 0:
            self.skipTest(f"nothing may be mounted here: {tried.stderr.strip()}")
        with tempfile.TemporaryDirectory() as other:
            start = subprocess.run([VFS, "-d", other, "start"], capture_output=True, text=True,
                                   env=environment({"UCX_VFS_SOCK_PATH": other}), timeout=LIMIT)
            self.assertNotIn("cannot be loaded", start.stderr)
            if "fuse" in start.stderr:
                self.skipTest(start.stderr.strip())
            self.stop(other)

    def daemon(self):
        return Daemon(self.folder, self.key)

    def stop(self, key=None):
        return run(VFS, "stop", UCX_VFS_SOCK_PATH=key or self.key)

    def peers(self, count, tls="posix,cma,self", **settings):
        return started(tls, count=count, UCX_VFS_SOCK_PATH=self.key, **settings)

    def place(self, peer, daemon):
        """Waits for the folder of a peer; returns it."""
        daemon.hear(f"{peer.pid}: robustness_peer appears")
        return f"{self.folder}/{peer.pid}"

    def worker(self, top):
        context = f"{top}/ucp/context"
        context += "/" + os.listdir(context)[0]
        return f"{context}/worker/" + os.listdir(f"{context}/worker")[0]

    def eventually(self, condition, problem):
        end = time.monotonic() + LIMIT
        while not condition():
            self.assertLess(time.monotonic(), end, f"not so within {LIMIT} s: {problem}")
            time.sleep(0.01)

    def endless_traffic(self, one, other):
        connect(one, other)
        both_ways(one, other, 3000, 4, 0)

    def traffic_was_right(self, *peers):
        for peer in peers:
            peer.ok("stop out")
        for peer in peers:
            counts = peer.state("in")
            self.assertEqual((counts.failed, counts.wrong), (0, 0), counts)
            self.assertGreater(counts.succeeded, 0)


class Reading(Mounted):
    def test_all_files_of_busy_processes(self):
        for tls in ("posix,cma,self", "tcp,self"):
            with self.subTest(tls=tls), self.daemon() as daemon, self.peers(2, tls) as (one, other):
                self.endless_traffic(one, other)
                tops = [self.place(peer, daemon) for peer in (one, other)]
                for top in tops:
                    files = everything(top)
                    self.assertEqual([name for name, has in files.items() if " s old: " in has], [])
                self.check_names(tops[0], files)
                self.check_endpoint(self.worker(tops[0]), tls, other)
                self.traffic_was_right(one, other)

    def check_names(self, top, files):
        """Names that users of ucx_vfs know."""
        ends = ("memory_address", "address_name", "thread_mode", "num_all_eps", "peer_name",
                "error_mode", "counters/ep_creations", "counters/ep_creation_failures",
                "counters/ep_closures", "counters/ep_failures", "capability/am/max_short",
                "capability/flag/am_short", "ucs/global_opts/log_level")
        for end in ends:
            self.assertTrue([name for name in files if name.endswith(end)], end)
        transports = f"{top}/uct/worker"
        transports += "/" + os.listdir(transports)[0]
        self.assertTrue(os.path.islink(f"{transports}/iface"))
        self.assertTrue(os.listdir(f"{transports}/iface"))

    def check_endpoint(self, worker, tls, peer):
        self.assertEqual(text(f"{worker}/num_all_eps"), "1\n")
        ep = f"{worker}/ep/" + os.listdir(f"{worker}/ep")[0]
        self.assertEqual(text(f"{ep}/state"), "ready\n")
        self.assertTrue(text(f"{ep}/peer_name").strip().endswith(f":{peer.pid}"))
        lane = f"{ep}/lane/0"
        self.assertEqual(text(f"{lane}/transport").strip(), tls.split(",", 1)[0])
        bytes_before = number(f"{lane}/bytes")  # first, since traffic goes on between two reads
        before = number(f"{lane}/operations")
        self.eventually(lambda: number(f"{lane}/operations") > before + 100, "operations grow")
        self.assertGreater(number(f"{lane}/bytes"), bytes_before + 100 * 3000)
        self.assertGreaterEqual(number(f"{lane}/queued"), 0)
        self.assertIn("not used", text(f"{ep}/transports"))
        self.assertRegex(text(f"{ep}/protocols"), r"0\.\.\d+ +eager/short")
        self.assertIn("rndv", text(f"{ep}/protocols"))
        page = text(f"{ep}/info")
        for part in ("transports", "protocols"):
            self.assertIn(text(f"{ep}/{part}"), page)

    def test_level_of_messages_can_be_changed(self):
        with self.daemon() as daemon, self.peers(1) as (one,):
            level = self.place(one, daemon) + "/ucs/global_opts/log_level"
            self.assertEqual(text(level), "warn\n")
            one.connect(0, one)
            one.ok("close 0 force 10")
            self.assertEqual(one.log(), "")
            with open(level, "w", encoding="utf-8") as file:
                file.write("debug\n")
            self.assertEqual(text(level), "debug\n")
            one.connect(0, one)
            one.ok("recv in 1 100 1 1")
            one.ok("send out 0 1 100 1 1")
            self.settled(one.wait("in"), 1)
            one.ok("close 0 force 10")
            self.assertTrue(one.lines(" debug "))
            with self.assertRaises(OSError) as wrong:
                with open(level, "w", encoding="utf-8") as file:
                    file.write("chatty")
            self.assertEqual(wrong.exception.errno, errno.EINVAL)
            self.assertEqual(text(level), "debug\n")
            with self.assertRaises(OSError):
                open(os.path.dirname(level) + "/new", "w", encoding="utf-8").close()

    def test_worker_that_is_not_progressed(self):
        with self.daemon() as daemon, self.peers(1) as (one,):
            worker = self.worker(self.place(one, daemon))
            self.assertEqual(text(f"{worker}/num_all_eps"), "0\n")
            self.assertNotIn("does not answer", text(f"{worker}/owner"))
            one.ok("idle")
            self.assertRegex(text(f"{worker}/num_all_eps"), r"^0\n# \d+\.\d s old: ")
            self.assertIn("does not answer", text(f"{worker}/owner"))
            self.assertEqual(text(f"{worker}/counters/ep_creations"), "0\n")
            with self.assertRaises(OSError) as late:
                text(f"{worker}/unexpected")
            self.assertEqual(late.exception.errno, errno.ETIMEDOUT)
            one.connect(0, one)
            self.eventually(lambda: text(f"{worker}/num_all_eps") == "1\n", "it answers again")
            self.assertNotIn("does not answer", text(f"{worker}/owner"))

    def test_messages_that_nobody_wants(self):
        with self.daemon() as daemon, self.peers(2) as (one, other):
            one.connect(0, other)
            one.ok("send out 0 5 700 4 10")
            self.settled(one.wait("out"), 10)
            worker = self.worker(self.place(other, daemon))
            self.eventually(lambda: text(f"{worker}/unexpected") == "10\n", "all came")
            self.assertGreaterEqual(number(f"{worker}/unexpected_bytes"), 7000)


class Ending(Mounted):
    def test_process_is_killed(self):
        with self.daemon() as daemon, self.peers(2) as (one, other):
            self.endless_traffic(one, other)
            tops = [self.place(peer, daemon) for peer in (one, other)]
            one.process.kill()
            one.process.wait()
            daemon.hear(f"{one.pid}: is gone")
            self.assertEqual(mounts(self.folder), [tops[1]])
            self.assertFalse(os.path.exists(tops[0]))
            self.assertTrue(everything(tops[1]))

    def test_child_that_outlives_its_parent(self):
        """The child has inherited the connection and the descriptor of the mount."""
        with self.daemon() as daemon, self.peers(1) as (one,):
            self.place(one, daemon)
            child = int(one.ok("fork stay").split()[0])
            one.process.kill()
            one.process.wait()
            daemon.hear(f"{one.pid}: is gone")
            self.assertEqual(mounts(self.folder), [])
            os.kill(child, signal.SIGKILL)

    def test_worker_is_destroyed_and_made_again(self):
        with self.daemon() as daemon, Peer("posix,cma,self", UCX_VFS_SOCK_PATH=self.key) as one:
            before = one.descriptors()
            for _ in range(3):
                daemon.forget()
                one.init()
                self.assertTrue(everything(self.place(one, daemon)))
                one.ok("destroy")
                daemon.hear(f"{one.pid}: is gone")
                self.assertEqual(mounts(self.folder), [])
                self.assertEqual(one.descriptors(), before)
            self.assertEqual(one.quit(), 0)
            self.assertEqual(one.log(), "")

    def test_daemon_is_stopped_and_started_again(self):
        with self.peers(2) as (one, other):
            self.endless_traffic(one, other)
            threads = f"/proc/{one.pid}/task"
            alone = len(os.listdir(threads))
            for _ in range(3):
                with self.daemon() as daemon:
                    self.assertTrue(everything(self.place(one, daemon)))
                    self.place(other, daemon)
                    self.assertEqual(len(os.listdir(threads)), alone + 1)
                    done = self.stop()
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertEqual(mounts(self.folder), [])
                    self.assertFalse(os.path.exists(self.folder))
                    self.assertEqual(daemon.process.wait(LIMIT), 0)
                # The thread ends with the next connection, or with the worker.
            self.traffic_was_right(one, other)
            for peer in (one, other):
                self.assertEqual(peer.log(), "")

    def test_daemon_is_killed(self):
        with self.peers(1) as (one,):
            with self.daemon() as daemon:
                top = self.place(one, daemon)
                daemon.process.kill()
                daemon.process.wait()
            self.assertEqual(mounts(self.folder), [top])
            with self.daemon() as daemon:
                self.assertTrue(everything(self.place(one, daemon)))
                self.assertEqual(mounts(self.folder), [top])
            self.assertEqual(mounts(self.folder), [])

    def test_daemon_in_the_background(self):
        key = {"UCX_VFS_SOCK_PATH": self.key}
        with self.peers(1) as (one,):
            done = run(VFS, "-d", self.folder, "start", **key)
            self.addCleanup(self.stop)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(self.folder, done.stdout)
            again = run(VFS, "-d", self.folder + "2", "start", **key)
            self.assertEqual(again.returncode, 1)
            self.assertIn("runs already", again.stderr)
            same_folder = run(VFS, "-d", self.folder, "start", UCX_VFS_SOCK_PATH=self.key + "x")
            self.assertEqual(same_folder.returncode, 1)
            self.assertIn("another ucx_vfs", same_folder.stderr)
            self.eventually(lambda: mounts(self.folder), "the process appears")
            self.assertEqual(self.stop().returncode, 0)
            self.assertEqual(mounts(self.folder), [])
            nobody = self.stop()
            self.assertEqual(nobody.returncode, 1)
            self.assertIn("no ucx_vfs", nobody.stderr)


class Mistakes(Mounted):
    def test_process_that_does_not_want_it(self):
        for wanted in ("y", "n"):
            with self.peers(1, UCX_VFS_ENABLE=wanted) as (one,):
                listening = abstract_names(one.pid, "hawser-vfs-")
                self.assertEqual(len(listening), 1 if wanted == "y" else 0)

    def test_module_that_is_missing(self):
        with self.daemon() as daemon, self.peers(1, UCX_MODULE_DIR="/nowhere") as (one,):
            said = daemon.hear(f"{one.pid}: cannot be shown: ")
            self.assertIn("/nowhere/fuse.so", said)
            self.assertEqual(mounts(self.folder), [])

    def test_folder_that_cannot_be_used(self):
        open_to_all = self.key + "/open"
        os.mkdir(open_to_all)
        os.chmod(open_to_all, 0o777)
        for folder, word in ((self.key + "/a/b", "made"), (VFS, "folder"), (open_to_all, "belong")):
            done = run(VFS, "-f", "-d", folder, "start", UCX_VFS_SOCK_PATH=self.key)
            self.assertEqual(done.returncode, 1, folder)
            self.assertIn(word, done.stderr)
            self.assertIn("-d", done.stderr)

    def test_command_that_cannot_be_accepted(self):
        """The daemon must not poll without a pause."""
        with self.daemon() as daemon:
            pid = daemon.process.pid
            _, most = resource.prlimit(pid, resource.RLIMIT_NOFILE)
            # A limit below the current number, because a count would include the descriptors opened for counting.
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, most))
            stopping = subprocess.Popen([VFS, "stop"], env=environment({"UCX_VFS_SOCK_PATH": self.key}))
            before = processor_time(pid)
            time.sleep(2)
            self.assertLess(processor_time(pid) - before, 0.5)
            self.assertIsNone(stopping.poll())
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, most))
            self.assertEqual(stopping.wait(LIMIT), 0)
            self.assertEqual(daemon.process.wait(LIMIT), 0)
