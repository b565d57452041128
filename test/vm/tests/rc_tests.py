"""The transport rc_verbs."""

import contextlib
import re

from catalog import on, tool
from programs import (ENDLESS, LIMIT, await_traffic, cut_cable_ends_endpoint, outputs_of, passes, passes_conformance,
                      perftest, unplugged)
from variants import DEVICES, HOSTS

MESSAGES = ("am_lat -s 8 -D short", "am_bw -s 4096 -D bcopy", "am_bw -s 8000 -D zcopy")
MEMORY = ("put_lat -s 8 -D zcopy", "put_bw -s 65536 -D zcopy", "get -s 8 -D zcopy", "get_bw -s 65536 -D zcopy",
          "put_lat -s 8 -D short", "put_bw -s 64 -D short", "put_lat -s 100 -D bcopy", "put_bw -s 8000 -D bcopy",
          "get -s 8 -D bcopy", "get_bw -s 8000 -D bcopy")
ATOMICS = ("add_lat -s 8", "fadd -s 8", "fadd -s 4", "swap -s 8", "cswap -s 8", "cswap -s 4")


@contextlib.contextmanager
def another_device(guest):
    """rxe9 on an interface that is down."""
    guest.check("ip link add t9 type dummy && rdma link add rxe9 type rxe netdev t9", LIMIT)
    try:
        yield
    finally:
        guest.check("ip link del t9", LIMIT)


def measured(server, client, tests, address):
    """All of them in one run, because programs need longer to start here than to run a test."""
    lines = "".join(f"{number} -t {test}\\n" for number, test in enumerate(tests))
    client.check(f"printf '{lines}' >/tmp/batch", LIMIT)
    jobs = perftest(server, client, "-d rxe0:1 -x rc_verbs -V -w 10 -n 100 -f -b /tmp/batch", address=address)
    for output in outputs_of(jobs):
        assert "left out" not in output, output


def both_say_once(guest, test, settings, words):
    for output in outputs_of(perftest(guest, guest, test, settings)):
        assert output.count(words) == 1, output


@on(DEVICES)
def ports_are_listed_with_reasons(guest):
    info = f"{tool(guest, 'bin/ucx_info')} -d -t rc_verbs"
    with another_device(guest):
        listed = guest.check(info, LIMIT)
        assert "Device: rxe0:1" in listed and re.search("rxe9:1.*the port is DOWN", listed), listed
        assert re.search("link: RoCE v2", listed) and re.search("gid: 10.9.0.1", listed), listed
    hidden = guest.check(f"unshare -m sh -c 'mount -t tmpfs tmpfs /dev/infiniband && {info}'", LIMIT)
    assert "rxe0" in hidden and "uverbs0 cannot be opened" in hidden, hidden


@on(DEVICES)
def passes_the_conformance_suite(guest):
    passes_conformance(guest, "rc_verbs")


@on(DEVICES)
def limits_are_kept(guest):
    passes(guest, "test/vm/programs/rc_limits")


@on(DEVICES)
def connections_by_address_stand_what_anybody_does(guest):
    passes(guest, "test/vm/programs/rdmacm_connections")


@on(DEVICES)
def perftest_carries_messages(guest):
    measured(guest, guest, MESSAGES, "localhost")


@on(DEVICES)
def perftest_reaches_memory(guest):
    measured(guest, guest, MEMORY + ATOMICS, "localhost")


@on(DEVICES)
def device_that_cannot_fetch_pages_pins_them_and_says_so(guest):
    both_say_once(guest, "-d rxe0:1 -x rc_verbs -V -w 10 -n 100 -f -t put_bw -s 65536 -D zcopy", "UCX_IB_ODP=y",
                  "cannot page on demand (all of it); memory is pinned")


@on(DEVICES)
def device_that_cannot_gather_completions_wakes_for_each_and_says_so(guest):
    both_say_once(guest, "-w 10 -n 100 -f -t tag_lat -s 8 -E sleep", "UCX_TLS=rc_verbs,self UCX_IB_CQ_EVENT_COUNT=16",
                  "the device cannot gather completions")


@on(HOSTS)
def perftest_runs_between_hosts(one, two):
    measured(one, two, (MESSAGES[0], MEMORY[1], ATOMICS[-1]), "10.9.0.1")


@on(HOSTS)
def port_that_stays_down_ends_the_endpoint(one, two):
    """Soft RoCE retries for ever with a retry count of seven, so only the port's event ends it."""
    settings = "UCX_RC_RETRY_COUNT=7 UCX_IB_PORT_DOWN_TIMEOUT=300ms"
    jobs = perftest(one, two, f"-d rxe0:1 -x rc_verbs -t am_lat -s 8 -n {ENDLESS}", settings, "10.9.0.1")
    await_traffic(one)
    with unplugged(one):
        broken = jobs[0].wait(LIMIT)
        assert broken.status != 0 and "Endpoint timed out" in broken.output, broken.output
        assert "the port is down for 0.3 s" in broken.output, broken.output


@on(HOSTS)
def cut_cable_ends_the_endpoint(one, two):
    cut_cable_ends_endpoint(one, two, "rc_verbs", "UCX_RC_VERBS_RETRY_COUNT=2 UCX_RC_VERBS_TIMEOUT=100ms "
                            "UCX_IB_PORT_DOWN_TIMEOUT=inf")
