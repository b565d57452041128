"""A guest with real RDMA: Debian's kernel in QEMU with soft RoCE, on the root file system of this machine.

    with Guest(kernel, folder) as guest:
        guest.wait_until_ready()
        print(guest.run("ibv_devinfo", timeout=30).output)

All waits have a limit. docs/rdma-guest.md explains how it works.
"""

import contextlib
import dataclasses
import os
import pathlib
import select
import shlex
import shutil
import socket
import subprocess
import tempfile
import time

import qemu

HERE = pathlib.Path(__file__).resolve().parent
BOOT_LIMIT = 120   # seconds; an idle machine takes some
ANSWER_LIMIT = 20  # seconds for QEMU's immediate commands
CONSOLE_LINES = 30


class Failed(Exception):
    """The guest, or a command in it, failed; the text ends with the guest's last output."""


class Late(Failed):
    """The time is over; the command may still run."""


class Gone(Failed):
    """The guest has ended."""


@dataclasses.dataclass(frozen=True)
class Result:
    status: int
    output: str


class Job:
    """A command in a guest."""

    def __init__(self, guest, name, command):
        self.guest, self.name, self.command = guest, name, command
        self.status = None  # None while it runs

    def output(self):
        """The output so far."""
        return self.guest.text(f"{self.name}.log")

    def wait(self, timeout):
        """Waits for the end. Raises Late after the time limit, Gone if its guest has ended."""
        first_to_end([self], timeout)
        return Result(self.status, self.output())

    def end(self):
        """Kills it with all children in its process group, and waits for their end."""
        if self.status is None:
            mark = f"/run/guest/{self.name}.pid"
            # It may have ended since the last notification.
            self.guest.run(f"until [ -s {mark} ]; do sleep 0.05; done; "
                           f"while kill -s KILL -- -$(cat {mark}); do sleep 0.05; done", ANSWER_LIMIT)
            self.wait(ANSWER_LIMIT)


def first_to_end(jobs, timeout):
    """Waits for these jobs, in one or several guests; returns the first that has ended."""
    end = time.monotonic() + timeout
    while True:
        for job in jobs:
            if job.status is not None:
                return job
        guests = list({job.guest for job in jobs})
        ready = select.select(guests, [], [], max(0, end - time.monotonic()))[0]
        if not ready and time.monotonic() >= end:
            raise Late("\n".join(job.guest.story(f"{job.command}: no end in {timeout} s", job) for job in jobs))
        for guest in ready:
            guest.receive()


class Guest:
    """One machine, from its start. It ends with the `with` statement, or with this process.

    `cables`: as for qemu.command; QEMU owns these ends from here on. `build`: the build tree with the programs of
    tests.
    """

    def __init__(self, kernel, folder, shape=qemu.Shape(), host=1, cables=None, build=None):
        self.kernel, self.shape, self.host, self.build = kernel, shape, host, build
        self._jobs, self._unread = {}, b""
        if cables is None and (shape.nodes > 1 or shape.switch):
            cables = []  # cards without cables, because dummy interfaces have no PCI location
        self._has_cards = cables is not None
        with contextlib.ExitStack() as resources:
            self.folder = pathlib.Path(resources.enter_context(
                tempfile.TemporaryDirectory(prefix="guest-", dir=folder)))
            self._boot = self._job("boot", "boot")
            self._settings(kernel)
            pairs = [socket.socketpair() for _ in ("control", "shell", "monitor")]
            for pair in pairs:
                resources.enter_context(pair[0])
            self._control, self.shell, monitor = (pair[0] for pair in pairs)
            self._start(qemu.command(kernel, kernel.archive(self.folder, HERE / "init"), shape, host,
                                     folder=self.folder, cables=cables, sockets=[pair[1] for pair in pairs]),
                        [*(pair[1] for pair in pairs), *(cables or [])])
            resources.callback(self.kill)
            for each in (self._control, monitor):
                each.settimeout(ANSWER_LIMIT)
            with self._at_qemu():
                self._monitor = qemu.Monitor(monitor)
            self._resources = resources.pop_all()

    def _settings(self, kernel):
        values = {"modules": kernel.root, "devices": self.shape.devices, "host": self.host,
                  "network": "pci" if self._has_cards else "dummy"}
        lines = [f"{name}={shlex.quote(str(value))}\n" for name, value in values.items()]
        (self.folder / "settings").write_text("".join(lines))
        shutil.copy(HERE / "second_init", self.folder)

    def _start(self, line, sockets):
        # QEMU ends when this process ends.
        line = ["setpriv", "--pdeathsig", "KILL", *line]
        with (self.folder / "qemu").open("wb") as said:
            self._process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                             pass_fds=[each.fileno() for each in sockets])
        for each in sockets:
            each.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._resources.close()

    @property
    def process_id(self):
        """Called for QEMU's process."""
        return self._process.pid

    @property
    def alive(self):
        return self._process.poll() is None

    def fileno(self):
        """For select: readable if there is something to receive."""
        return self._control.fileno()

    def text(self, name):
        """Text of a file in the folder that guest and host share."""
        with contextlib.suppress(FileNotFoundError):
            return (self.folder / name).read_text(errors="replace")
        return ""

    def story(self, problem, job=None):
        """Describes a problem, with the last output of everything that may explain it."""
        lines = [f"host {self.host}: {problem}"]
        places = {"console": "console", "qemu": "QEMU"}
        if job is not None:
            places = {f"{job.name}.log": "command", **places}
        for name, title in places.items():
            lines += [f"  {title}: {line}" for line in self.text(name).splitlines()[-CONSOLE_LINES:]]
        return "\n".join(lines)

    def stories(self, problem):
        """The same for each running command, or once if there is none."""
        return [self.story(f"{job.command}: {problem}", job) for job in self._jobs.values()] or [self.story(problem)]

    def receive(self):
        """Notes which jobs ended. Blocks until there is something to receive."""
        try:
            got = self._control.recv(4096)
        except ConnectionError:
            got = b""
        if not got:
            self.kill()
            raise Gone(self.story(f"the guest is gone, QEMU ended with {self._process.returncode}"))
        *lines, self._unread = (self._unread + got).split(b"\n")
        for line in lines:
            name, status = line.decode().split()
            self._jobs.pop(name).status = int(status)

    def wait_until_ready(self):
        result = self._boot.wait(BOOT_LIMIT)
        if result.status != 0:
            raise Failed(self.story("not all of it came up"))

    def _job(self, name, command):
        self._jobs[name] = Job(self, name, command)
        return self._jobs[name]

    def start(self, command, *, environment=None, directory=None):
        """Starts a shell command, by default in the folder of this process; returns a Job."""
        if not self.alive:
            raise Gone(self.story(f"{command}: the guest is gone"))
        job = self._job(f"job{time.monotonic_ns()}", command)
        lines = [f"echo $$ >/run/guest/{job.name}.pid",
                 *(f"export {name}={shlex.quote(value)}" for name, value in (environment or {}).items()),
                 f"cd {shlex.quote(str(directory or os.getcwd()))} || exit", command]
        (self.folder / f"{job.name}.sh").write_text("\n".join(lines) + "\n")
        with self._at_qemu():
            self._control.sendall(f"{job.name}\n".encode())
        return job

    def run(self, command, timeout, **options):
        """Runs a command; returns a Result with any status."""
        return self.start(command, **options).wait(timeout)

    def check(self, command, timeout, **options):
        """Runs a command that must succeed; returns its output."""
        job = self.start(command, **options)
        if job.wait(timeout).status != 0:
            raise Failed(self.story(f"{command}: ended with {job.status}", job))
        return job.output()

    def end_jobs(self):
        """Kills all running commands."""
        for job in list(self._jobs.values()):
            job.end()

    @contextlib.contextmanager
    def _at_qemu(self):
        try:
            yield
        except OSError as error:
            raise Failed(self.story(str(error) or type(error).__name__)) from None

    def cable(self, card, plugged):
        """Unplugs a network card's cable, or plugs it in again. Only this end sees the missing carrier; the other host
        loses packets."""
        with self._at_qemu():
            self._monitor.do("set_link", name=f"cable{card}", up=plugged)

    def freeze(self):
        """Stops its processors, as if the machine had hung."""
        with self._at_qemu():
            self._monitor.do("stop")

    def thaw(self):
        with self._at_qemu():
            self._monitor.do("cont")

    def kill(self):
        """Ends it as if its power were cut."""
        self._process.kill()
        self._process.wait()
