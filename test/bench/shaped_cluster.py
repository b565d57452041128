"""Nodes on one host for measurements: network namespaces, and links between them of a chosen speed. Only root may."""

import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "integration/robustness"))
from namespaces import Namespace, await_carrier  # noqa: E402

DEVICE = "hw0"  # of each node
HUB = 253  # place of the bridge's namespace among the addresses
BURST = 256 << 10  # bytes that may leave a link at once after a pause


def address(place):
    return f"10.99.78.{place + 1}"


class Cluster:
    """Network namespaces that are nodes, joined by a bridge; what each sends and gets is shaped.

    Node i has the address 10.99.78.(i + 1) on its device hw0; the namespace of the bridge has an address as well, for
    launchers.
    """

    def __init__(self, nodes, rate):
        self.rate = rate
        self.hub = Namespace()
        self.nodes = []
        try:
            for _ in range(nodes):
                self.nodes.append(Namespace())
            self.join()
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for each in (*self.nodes, self.hub):
            each.__exit__()

    def join(self):
        self.hub.do("ip link add br0 type bridge", "ip link set br0 addrgenmode none",
                    f"ip addr add {address(HUB)}/24 dev br0", "ip link set br0 up", "ip link set lo up")
        shape = f"root tbf rate {self.rate} burst {BURST} latency 50ms"
        for place, node in enumerate(self.nodes):
            port = f"port{place}"
            self.hub.do(f"ip link add {port} type veth peer name {DEVICE} netns {node.keeper.pid}",
                        f"ip link set {port} master br0", f"ip link set {port} up",
                        f"tc qdisc add dev {port} {shape}")
            # An address of IPv6 could not be used for seconds.
            node.do(f"ip link set {DEVICE} addrgenmode none", f"ip addr add {address(place)}/24 dev {DEVICE}",
                    f"ip link set {DEVICE} up", "ip link set lo up",
                    f"tc qdisc add dev {DEVICE} {shape}")
            await_carrier(DEVICE, node)
        # A port forwards a little after it has a carrier.
        for node in self.nodes:
            self.await_answer(node)

    def await_answer(self, node):
        """Until all others answer, if only that nobody listens."""
        others = [address(place) for place in range(len(self.nodes))]
        knock = ("import socket, sys\n"
                 "for host in sys.argv[1:]:\n"
                 "    with socket.socket() as one:\n"
                 "        one.settimeout(1)\n"
                 "        try: one.connect((host, 9))\n"
                 "        except ConnectionRefusedError: pass\n")
        for _ in range(100):
            if subprocess.run([*node.inside, sys.executable, "-c", knock, *others], capture_output=True,
                              check=False).returncode == 0:
                return
            time.sleep(0.1)
        raise OSError("the namespaces do not reach each other")


def made_or_why(nodes, rate):
    """A cluster, or None and the reason why there is none here."""
    if os.geteuid() != 0:
        return None, "only root may make network namespaces and shape links"
    try:
        return Cluster(nodes, rate), None
    except subprocess.CalledProcessError as why:
        return None, f"no namespaces, bridges or shaped links here: {why.stderr.decode().strip()}"
    except OSError as why:
        return None, f"no namespaces, bridges or shaped links here: {why}"
