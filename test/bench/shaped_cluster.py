"""Nodes on one host for measurements: network namespaces, joined by links of a chosen speed. This needs root."""

import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "integration/robustness"))
from namespaces import Namespace, await_carrier  # noqa: E402

DEVICE = "hw0"  # device of each node
HUB = 253  # index of the bridge's namespace among the addresses
BURST = 256 << 10  # bytes that may leave a link at once after a pause


def address(index):
    return f"10.99.78.{index + 1}"


class Cluster:
    """Network namespaces as nodes, joined by a bridge. Traffic is shaped in both directions.

    Node i has the address 10.99.78.(i + 1) on its device hw0. The namespace of the bridge has an address, too, which
    launchers use.
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
        for index, node in enumerate(self.nodes):
            port = f"port{index}"
            self.hub.do(f"ip link add {port} type veth peer name {DEVICE} netns {node.keeper.pid}",
                        f"ip link set {port} master br0", f"ip link set {port} up",
                        f"tc qdisc add dev {port} {shape}")
            # Without this, an IPv6 address is unusable for some seconds.
            node.do(f"ip link set {DEVICE} addrgenmode none", f"ip addr add {address(index)}/24 dev {DEVICE}",
                    f"ip link set {DEVICE} up", "ip link set lo up",
                    f"tc qdisc add dev {DEVICE} {shape}")
            await_carrier(DEVICE, node)
        # A port begins to forward some time after it has a carrier.
        for node in self.nodes:
            self.await_answer(node)

    def await_answer(self, node):
        """Returns when all other nodes respond, even if they refuse the connection."""
        others = [address(index) for index in range(len(self.nodes))]
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


def make_cluster(nodes, rate):
    """Returns a cluster and None, or None and the reason why this host cannot have one."""
    if os.geteuid() != 0:
        return None, "only root may make network namespaces and shape links"
    try:
        return Cluster(nodes, rate), None
    except subprocess.CalledProcessError as error:
        return None, f"no namespaces, bridges or shaped links here: {error.stderr.decode().strip()}"
    except OSError as error:
        return None, f"no namespaces, bridges or shaped links here: {error}"


def start(line, env):
    return subprocess.Popen([str(word) for word in line], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def start_ranks(cluster, ranks, place_and_line, folder, tls):
    """Starts ranks that find each other in a folder. `place_and_line` returns a rank's node and command."""
    started = []
    for rank in range(ranks):
        node, line = place_and_line(rank)
        # Shared memory would bypass the links, because all nodes are on one host.
        env = {**os.environ, "UCX_TLS": tls, "UCG_OOB": "directory", "UCG_OOB_DIR": folder, "UCG_OOB_RANK": str(rank),
               "UCG_OOB_SIZE": str(ranks), "UCG_OOB_JOB": "shaped"}
        started.append(start([*cluster.nodes[node].inside, *line], env))
    return started


def finish(started, limit):
    """Waits for all processes and returns the output of the first. No process is left running."""
    outputs = []
    try:
        for each in started:
            outputs.append(each.communicate(timeout=limit))
    finally:
        for each in started:
            if each.poll() is None:
                each.terminate()  # a launcher terminates its ranks
        for each in started:
            try:
                each.wait(10)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()
    for index, each in enumerate(started):
        if each.returncode != 0:
            raise RuntimeError(f"process {index} of {len(started)} ended with {each.returncode}: "
                               f"{(outputs[index][1] or outputs[index][0])[-800:].strip()}")
    return outputs[0][0]
