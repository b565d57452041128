"""QEMU's command line for a guest of a given shape, and the monitor that changes a running guest."""

import dataclasses
import itertools
import json

PROGRAM = "qemu-system-x86_64"
BUSES = 32   # numbers of PCI buses for each NUMA node
FAR = 21  # distance of two NUMA nodes, where 10 is that of a node to itself


@dataclasses.dataclass(frozen=True)
class Shape:
    """The hardware of a guest."""
    devices: int = 1     # RDMA devices
    nodes: int = 1       # NUMA nodes; processors and devices are distributed over them in turn
    processors: int = 2  # at least as many as nodes
    memory: int = 2048   # MB
    switch: bool = False  # the first device is behind a PCI switch; only with one node


def _processors(shape):
    line = ["-smp", str(shape.processors), "-m", str(shape.memory)]
    if shape.nodes == 1:
        return line
    for node in range(shape.nodes):
        line += ["-object", f"memory-backend-ram,id=memory{node},size={shape.memory // shape.nodes}M"]
        own = [f"cpus={cpu}" for cpu in range(node, shape.processors, shape.nodes)]
        line += ["-numa", ",".join([f"node,nodeid={node},memdev=memory{node}", *own])]
    for one, other in itertools.combinations(range(shape.nodes), 2):
        line += ["-numa", f"dist,src={one},dst={other},val={FAR}"]
    return line


def _switch():
    """A PCI switch in a slot, with one downstream port."""
    return ["-device", "pcie-root-port,id=above,bus=pcie.0,chassis=1",
            "-device", "x3130-upstream,id=upwards,bus=above",
            "-device", "xio3130-downstream,id=downwards,bus=upwards,chassis=2"]


def _cards(shape, host, cables):
    """Network cards, each on a PCI bus of its NUMA node. Cards without a cable are up, too, but reach no host."""
    line = _switch() if shape.switch else []
    if shape.nodes > 1:
        for node in range(shape.nodes):
            line += ["-device", f"pxb-pcie,id=node{node},bus=pcie.0,bus_nr={BUSES * (node + 1)},numa_node={node}"]
    for card in range(shape.devices):
        bus = "downwards" if shape.switch and card == 0 else "pcie.0"
        if shape.nodes > 1:
            bus = f"port{card}"
            line += ["-device", f"pcie-root-port,id={bus},bus=node{card % shape.nodes},chassis={card + 1}"]
        if cables:
            line += ["-netdev", f"stream,id=cable{card},addr.type=fd,addr.str={cables[card].fileno()}"]
        else:
            line += ["-netdev", f"hubport,id=cable{card},hubid={card}"]
        line += ["-device", f"virtio-net-pci,netdev=cable{card},bus={bus},romfile=,"
                            f"host_mtu=4200,mac=52:54:00:00:{card:02x}:{host:02x}"]
    return line


def _folder(tag, path, options=""):
    return ["-fsdev", f"local,id={tag},path={path},security_model=none{options}",
            "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag},romfile="]


def _socket(name, end):
    return ["-chardev", f"socket,id={name},fd={end.fileno()}"]


def command(kernel, archive, shape, host, *, folder, cables, sockets):
    """`folder`: the folder that is shared with the guest. `cables`: one end of a socket pair for each network card;
    empty: the cards have no cables; None: there are no cards. `sockets`: QEMU's ends of control, shell and monitor.
    """
    control, shell, monitor = sockets
    words = ["console=ttyS0", "panic=-1", "quiet",
             # On a busy host the kernel would consider the clocks too slow, and may not boot.
             "no_timer_check", "tsc=reliable",
             # QEMU 7.2 sometimes runs stale instructions if the kernel patches its code while a second processor runs,
             # and the boot hangs. The kernel does that when it boots, so second_init starts the other processors.
             "maxcpus=1", "noreplace-smp",
             # Saves time: emulation translates a program again for each address at which it is loaded.
             "norandmaps", "mitigations=off", "cryptomgr.notests"]
    return [PROGRAM, "-accel", "tcg,thread=multi", "-machine", "q35", "-cpu", "max", "-no-reboot", "-nodefaults",
            "-display", "none", "-kernel", str(kernel.image), "-initrd", str(archive), "-append", " ".join(words),
            *_processors(shape), *_folder("root", "/", ",multidevs=remap,readonly=on"), *_folder("folder", folder),
            *(["-nic", "none"] if cables is None else _cards(shape, host, cables)),
            "-serial", f"file:{folder}/console",
            *_socket("control", control), "-serial", "chardev:control",
            *_socket("shell", shell), "-serial", "chardev:shell",
            *_socket("monitor", monitor), "-mon", "chardev=monitor,mode=control"]


class Monitor:
    """QEMU's monitor protocol (QMP)."""

    def __init__(self, link):
        self._link = link
        self._file = link.makefile("rw", encoding="utf-8")
        self._file.readline()  # the greeting
        self.do("qmp_capabilities")

    def do(self, name, /, **arguments):
        self._file.write(json.dumps({"execute": name, "arguments": arguments}) + "\n")
        self._file.flush()
        while line := self._file.readline():
            answer = json.loads(line)
            if "error" in answer:
                raise OSError(f"QEMU, {name}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
        raise OSError(f"QEMU, {name}: no answer")
