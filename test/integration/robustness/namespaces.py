"""Network namespaces and the veth pairs that join them, for tests that root runs."""

import os
import subprocess
import time


def commands(*lines):
    for line in lines:
        subprocess.run(line.split(), check=True, capture_output=True)


class Namespace:
    """A network namespace that lives as long as the process in it."""

    def __init__(self):
        # It ends with this process at the latest, because this process holds the only write end of the pipe.
        self.keeper = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec cat"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if not self.keeper.stdout.readline():  # unshare has printed the reason
            self.__exit__()
            raise OSError("unshare -n failed")
        self.inside = ("nsenter", "-t", str(self.keeper.pid), "-n")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.keeper.kill()
        self.keeper.wait()
        self.keeper.stdin.close()
        self.keeper.stdout.close()

    def do(self, *lines):
        commands(*(" ".join((*self.inside, line)) for line in lines))

    def hear(self, line):
        return subprocess.run([*self.inside, *line.split()], check=True, capture_output=True,
                              text=True).stdout


def join(one, other, device="hw0", network="10.99.77", link_local=True):
    """A veth pair of this name; the ends have the addresses 1 and 2 of the network.

    They also get IPv6 addresses, which are unusable for some seconds, or no IPv6 addresses at all.
    """
    one.do(f"ip link add {device} type veth peer name {device} netns {other.keeper.pid}")
    for number, each in enumerate((one, other), 1):
        if not link_local:
            each.do(f"ip link set {device} addrgenmode none")
        each.do(f"ip addr add {network}.{number}/24 dev {device}", f"ip link set {device} up")
    await_carrier(device, one, other)


def join_all(nodes, device="hw0", network="10.99.77"):
    """Makes a bridge in a namespace of its own, and a veth pair from each node to it; returns that namespace.

    Node i has the address i + 1 of the network on this device, and none of IPv6.
    """
    hub = Namespace()
    hub.do("ip link add hub type bridge", "ip link set hub addrgenmode none", "ip link set hub up")
    for i, node in enumerate(nodes):
        hub.do(f"ip link add port{i} type veth peer name {device} netns {node.keeper.pid}",
               f"ip link set port{i} addrgenmode none", f"ip link set port{i} master hub up")
        node.do(f"ip link set {device} addrgenmode none", f"ip addr add {network}.{i + 1}/24 dev {device}",
                f"ip link set {device} up")
    await_carrier(device, *nodes)
    return hub


def await_carrier(device, *namespaces):
    """Waits for the carrier, which the kernel reports some time after `up`."""
    for each in namespaces:
        for _ in range(500):
            if "state UP" in each.hear(f"ip -o link show {device}"):
                break
            time.sleep(0.02)


def skip_without_namespaces(case):
    """For setUp: skips the test, with the reason, if namespaces cannot be made and joined."""
    if os.geteuid() != 0:
        case.skipTest("only root may make network namespaces")
    try:
        with Namespace() as one, Namespace() as other:
            join(one, other)
    except (OSError, subprocess.CalledProcessError) as why:
        case.skipTest(f"no network namespaces or veth pairs here: {why}")
