"""The transport rc_verbs."""

from catalog import on, tool
from machine import first_to_end
from programs import ENDLESS, LIMIT, await_traffic, output_of, ucx_perftest, unplugged
from variants import DEVICES, HOSTS

MESSAGES = ("am_lat -s 8 -D short", "am_bw -s 4096 -D bcopy", "am_bw -s 8000 -D zcopy")
MEMORY = ("put_lat -s 8 -D zcopy", "put_bw -s 65536 -D zcopy", "get -s 8 -D zcopy", "get_bw -s 65536 -D zcopy")
ATOMICS = ("add_lat -s 8", "fadd -s 8", "fadd -s 4", "swap -s 8", "cswap -s 8", "cswap -s 4")


def measured(server, client, test, address, settings=""):
    jobs = ucx_perftest(server, client, f"-d rxe0:1 -x rc_verbs -V -w 10 -f -t {test}", settings, address,
                        program=tool(server, "bin/ucx_perftest"))
    for job in jobs:
        output_of(job)


@on(DEVICES)
def passes_the_conformance_suite(guest):
    suite = tool(guest, "test/conformance/conformance")
    output = guest.check(f"{suite} 'rc_verbs*'", 2 * LIMIT)
    assert "All tests passed" in output and "left out" not in output, output


@on(DEVICES)
def perftest_carries_messages(guest):
    for test in MESSAGES:
        measured(guest, guest, f"{test} -n 100", "localhost")


@on(DEVICES)
def perftest_reaches_memory(guest):
    for test in MEMORY + ATOMICS:
        measured(guest, guest, f"{test} -n 100", "localhost")


@on(HOSTS)
def perftest_runs_between_hosts(one, two):
    for test in (MESSAGES[0], MEMORY[1], ATOMICS[-1]):
        measured(one, two, f"{test} -n 100", "10.9.0.1")


@on(HOSTS)
def cut_cable_ends_the_endpoint(one, two):
    settings = "UCX_RC_VERBS_RETRY_COUNT=2 UCX_RC_VERBS_TIMEOUT=100ms"
    jobs = ucx_perftest(one, two, f"-d rxe0:1 -x rc_verbs -t am_lat -s 8 -n {ENDLESS}", settings, "10.9.0.1",
                        program=tool(one, "bin/ucx_perftest"))
    await_traffic(one)
    with unplugged(one):
        broken = first_to_end(jobs, LIMIT)
        assert broken.status != 0 and "Endpoint timed out" in broken.output(), broken.output()
