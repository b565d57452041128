"""The transport ud_verbs."""

from catalog import on, tool
from machine import first_to_end
from programs import ENDLESS, LIMIT, await_traffic, output_of, passes, ucx_perftest, unplugged
from variants import DEVICES, HOSTS

MESSAGES = ("am_lat -s 8 -D short", "am_bw -s 4000 -D bcopy", "am_bw -s 4000 -D zcopy")
LOSSY = "UCX_UD_VERBS_TEST_DROP=0.1 UCX_UD_VERBS_TEST_DUPLICATE=0.1 UCX_UD_VERBS_TEST_REORDER=0.1"


def measured(server, client, test, address, settings=""):
    jobs = ucx_perftest(server, client, f"-d rxe0:1 -x ud_verbs -V -w 10 -f -t {test}", settings, address,
                        program=tool(server, "bin/ucx_perftest"))
    for job in jobs:
        output_of(job)


@on(DEVICES)
def passes_the_conformance_suite(guest):
    output = passes(guest, "test/conformance/conformance 'ud_verbs*'")
    assert "left out" not in output, output


@on(DEVICES)
def limits_are_kept(guest):
    passes(guest, "test/vm/programs/ud_limits")


@on(DEVICES)
def perftest_carries_messages(guest):
    for test in MESSAGES:
        measured(guest, guest, f"{test} -n 100", "localhost")


@on(HOSTS)
def perftest_runs_between_hosts(one, two):
    measured(one, two, f"{MESSAGES[1]} -n 100", "10.9.0.1")
    measured(one, two, f"{MESSAGES[1]} -n 100", "10.9.0.1", LOSSY)


@on(HOSTS)
def pulled_cable_is_survived_when_it_comes_back(one, two):
    jobs = ucx_perftest(one, two, "-d rxe0:1 -x ud_verbs -V -f -t am_lat -s 8 -n 3000", "", "10.9.0.1",
                        program=tool(one, "bin/ucx_perftest"))
    await_traffic(one)
    with unplugged(one):
        one.check("sleep 0.5", LIMIT)  # packets are lost meanwhile, and repeated
    for job in jobs:
        output_of(job)


@on(HOSTS)
def cut_cable_ends_the_endpoint(one, two):
    jobs = ucx_perftest(one, two, f"-d rxe0:1 -x ud_verbs -t am_lat -s 8 -n {ENDLESS}", "UCX_UD_VERBS_TIMEOUT=1s",
                        "10.9.0.1", program=tool(one, "bin/ucx_perftest"))
    await_traffic(one)
    with unplugged(one):
        broken = first_to_end(jobs, LIMIT)
        assert broken.status != 0 and "Endpoint timed out" in broken.output(), broken.output()
