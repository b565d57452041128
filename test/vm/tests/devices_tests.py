"""Devices of one guest: they exist, and third-party programs work with them."""

from catalog import on
from programs import LIMIT, OPENUCX, devices, iterations_done, output_of, pingpong, ucx_perftest
from variants import DEVICES, NUMA


@on(DEVICES)
def all_are_active(guest):
    found = devices(guest)
    assert list(found) == ["rxe0", "rxe1"], found
    for values in found.values():
        assert values["state"] == "PORT_ACTIVE", values
        assert values["active_mtu"] == "4096", values


@on(DEVICES)
def two_processes_play_pingpong(guest):
    for job in pingpong(guest, guest, iterations=200):
        assert iterations_done(job) == 200


@on(DEVICES)
def openucx_puts_8_bytes(guest):
    for job in ucx_perftest(guest, guest, "-t ucp_put_lat -s 8 -n 200 -w 10", f"{OPENUCX} UCX_NET_DEVICES=rxe0:1"):
        output_of(job)


@on(NUMA)
def nodes_have_processors_and_memory(guest):
    place = "/sys/devices/system/node"
    assert guest.check(f"cat {place}/online", LIMIT).strip() == "0-1"
    for node in (0, 1):
        text = guest.check(f"cat {place}/node{node}/cpulist {place}/node{node}/distance", LIMIT)
        assert text.splitlines() == [str(node), "10 21" if node == 0 else "21 10"], text
        memory = int(guest.check(f"grep MemTotal {place}/node{node}/meminfo", LIMIT).split()[3])
        assert memory > 900_000, memory


@on(NUMA)
def each_node_has_a_device(guest):
    for node in (0, 1):
        text = guest.check(f"cat /sys/class/infiniband/rxe{node}/parent /sys/class/net/net{node}/device/../numa_node",
                           LIMIT)
        assert text.split() == [f"net{node}", str(node)], text
        assert devices(guest)[f"rxe{node}"]["state"] == "PORT_ACTIVE"
