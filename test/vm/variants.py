"""The machines that tests run on."""

import contextlib
import dataclasses
import shutil
import socket
import sys

from kernel import Kernel, Missing
from machine import Guest, Late
from qemu import PROGRAM, Shape


@dataclasses.dataclass(frozen=True)
class Variant:
    """One or two guests. With two, each card has a cable to the same card of the other guest."""
    name: str
    shape: Shape
    hosts: int = 1


DEVICES = Variant("devices", Shape(devices=2))        # a network interface for each, without a link
NUMA = Variant("numa", Shape(devices=2, nodes=2))     # a device on each of two nodes
SWITCH = Variant("switch", Shape(devices=2, switch=True))  # the first of two devices behind a PCI switch
HOSTS = Variant("hosts", Shape(devices=2), hosts=2)   # two guests
NO_GUEST = Variant("no guest", Shape(), hosts=0)      # for tests of the runner and of the programs that it starts


def _kernel(folder):
    if shutil.which(PROGRAM) is None:
        raise Missing(f"{PROGRAM} is not installed")
    return Kernel.fetch(folder)


def _start(variant, kernel, folder, build, stack):
    cables = [None] * variant.hosts
    if variant.hosts == 2:
        cables = list(zip(*(socket.socketpair() for _ in range(variant.shape.devices))))
    return [stack.enter_context(Guest(kernel, folder, variant.shape, number + 1, cables[number], build))
            for number in range(variant.hosts)]


@contextlib.contextmanager
def booted(variant, folder, build=None):
    """Boots the guests. `folder` keeps the kernel. If a boot hangs, which QEMU causes, it is tried once more."""
    kernel = _kernel(folder) if variant.hosts else None
    with contextlib.ExitStack() as running:
        for last in (False, True):
            guests = _start(variant, kernel, folder, build, running)
            try:
                for guest in guests:
                    guest.wait_until_ready()
                break
            except Late as late:
                if last:
                    raise
                print(f"{late}\nThe boot is tried again.", file=sys.stderr, flush=True)
                running.close()
        yield guests
