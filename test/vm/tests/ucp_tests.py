"""The protocols over RDMA, as programs of the C interface and Open MPI use them."""

import pathlib
import time

from catalog import on, tool
from programs import ENDLESS, LIMIT, await_state, await_traffic, outputs_of, passes, perftest, served, unplugged
from variants import DEVICES, HOSTS, NUMA, SWITCH

ONLY_RDMA = "UCX_TLS=rc_verbs,self"
MEET_OVER_RDMA = "UCX_TLS=rc_verbs,ud_verbs,self UCX_SOCKADDR_TLS_PRIORITY=rdmacm HAWSER_TEST_HOST=10.9.0.1"
SUITE = "test/integration/api/ucp_api_test"
PLACED_PAGES = pathlib.Path(__file__).parents[1] / "placed_pages"
MPI = pathlib.Path(__file__).parents[3] / "test/integration/mpi"
FILES = ("endpoint", "rma", "atomic", "memory", "dead_target")
MORE_FILES = ("am", "stream", "match", "request", "query", "address")
# With --long.
REST_OF_FILES = ("arguments", "config", "flood", "stream_types", "thread", "thread_families", "transfer", "user_request", "wakeup")
NAMED = ("sixteen megabytes arrive as they were sent*",)
# A dead peer is noticed because it does not respond: after a short time in these tests.
NOTICED_SOON = "UCX_KEEPALIVE_INTERVAL=1s UCX_RC_VERBS_TIMEOUT=100ms UCX_RC_VERBS_RETRY_COUNT=2"


def measured(server, client, test, address):
    outputs_of(perftest(server, client, f"-w 10 -f -t {test}", ONLY_RDMA, address))


def run_programs(guest, transports, files, names=()):
    wanted = ",".join([f"[#{file}_test]" for file in files] + [f'"{name}"' for name in names])
    passes(guest, f"{SUITE} --filenames-as-tags '{wanted}'", f"UCX_TLS={transports} {NOTICED_SOON}", 3 * LIMIT)


@on(DEVICES)
def programs_of_the_c_interface_run_on_rc_verbs(guest):
    run_programs(guest, "rc_verbs,self", FILES, NAMED)


@on(DEVICES, long=True)
def more_programs_of_the_c_interface_run_on_rc_verbs(guest):
    run_programs(guest, "rc_verbs,self", MORE_FILES)


for each in REST_OF_FILES:
    on(DEVICES, long=True, name=f"{each}_of_the_c_interface_runs_on_rc_verbs")(
        lambda guest, file=each: run_programs(guest, "rc_verbs,self", (file,)))


@on(DEVICES)
def programs_of_the_c_interface_run_on_datagrams(guest):
    run_programs(guest, "ud_verbs,self", ("rma", "am"))


@on(DEVICES, long=True)
def endpoints_of_the_c_interface_are_connected_over_datagrams(guest):
    """RDMA carries the connection data itself, because tcp is not enabled."""
    run_programs(guest, "rc_verbs,ud_verbs,self", ("endpoint",))


# Test cases whose clients are programs of the library, not plain TCP sockets.
CONNECTION_CASES = ("a client reaches a server by its socket address*", "messages that a client sends before*", "endpoints know the*",
            "hundreds of clients at once*", "both sides may close together*", "a worker can be its own client",
            "a client that the server rejects*", "a client that finds no server*", "requests without a reply*",
            "a client may give up at any time", "the handler may destroy its listener*")
# Hundreds of clients connect at once and share the time limit, which a busy machine may need many times over.
PATIENT = "UCX_CM_TIMEOUT=100s"
FORKING = "a client process that dies is reported*"


@on(DEVICES)
def clients_and_servers_meet_over_rdma_alone(guest):
    opened = "$(awk '/^Tcp: [0-9]/ { print $6 }' /proc/net/snmp)"
    suite = tool(guest, SUITE)
    names = ",".join(f'"{name}"' for name in CONNECTION_CASES)
    # A case that forks must run first: librdmacm does not work in children of processes that have used it.
    # Both sides of 300 connections that are being made, three descriptors each.
    output = guest.check(f"ulimit -n 4096; before={opened}; export {MEET_OVER_RDMA} {NOTICED_SOON} {PATIENT}; "
                         f"{suite} '{FORKING}' && {suite} '{names}' && [ $before = {opened} ]", 2 * LIMIT)
    assert output.count("All tests passed") == 2, output


@on(DEVICES)
def clients_and_servers_prove_a_job_key_over_rdma(guest):
    names = ",".join(f'"{name}"' for name in CONNECTION_CASES[:4])
    key = "UCX_JOB_KEY=of-more-than-16-characters"
    passes(guest, f"{SUITE} {names}", f"ulimit -n 4096; {MEET_OVER_RDMA} {key} {NOTICED_SOON} {PATIENT}")


@on(DEVICES)
def client_that_finds_no_server_over_rdma_finds_one_by_tcp(guest):
    passes(guest, f"{SUITE} 'a client tries the next transport*'", f"{ONLY_RDMA} HAWSER_TEST_HOST=10.9.0.1", LIMIT)


def run_mpi(guest, program, ranks):
    programs = tool(guest, "test/integration/mpi/bin")
    guest.check(f"python3 {MPI / 'run.py'} --lib {guest.build}/lib --bin {programs} --tls rc_verbs,self --np {ranks} "
                f"--timeout {LIMIT} --program {program}", LIMIT + 20)


@on(DEVICES)
def open_mpi_runs_on_rc_verbs(guest):
    for program, ranks in (("p2p_modes", 2), ("win_transfer", 2), ("datatypes", 2), ("random_traffic", 3),
                           ("win_atomics", 3), ("collectives", 4)):
        run_mpi(guest, program, ranks)


for each, processes in (("wildcards", 3), ("probe_cancel", 2), ("truncation", 2), ("collectives_overlap", 2), ("communicators", 4),
                        ("threads", 2), ("self_messages", 2), ("sizes", 2), ("storm", 4), ("win_sync", 2),
                        ("win_dynamic", 2), ("spawn", 2), ("memory_hooks", 2), ("netpipe", 2)):
    on(DEVICES, long=True, name=f"open_mpi_{each}_runs_on_rc_verbs")(
        lambda guest, program=each, ranks=processes: run_mpi(guest, program, ranks))


def packets_sent(guest, device):
    return int(guest.check(f"cat /sys/class/infiniband/{device}/ports/1/hw_counters/sent_pkts", LIMIT))


def await_packets(guest, device, count):
    guest.check(f"counter=/sys/class/infiniband/{device}/ports/1/hw_counters/sent_pkts; before=$(cat $counter); "
                f"until [ $(cat $counter) -gt $((before + {count})) ]; do sleep 0.05; done", LIMIT)


@on(DEVICES)
def both_rails_carry_long_transfers(guest):
    for test in ("ucp_put_bw -s 1000000 -n 10", "ucp_get -s 1000000 -n 10", "tag_bw -s 1000000 -n 10 -V"):
        before = [packets_sent(guest, device) for device in ("rxe0", "rxe1")]
        measured(guest, guest, test, "localhost")
        sent = [packets_sent(guest, device) - count for device, count in zip(("rxe0", "rxe1"), before)]
        total = 11_000_000 // 4096
        assert min(sent) > total // 5 and sum(sent) > total, f"{test}: {sent} packets"


@on(DEVICES)
def rail_that_goes_down_is_done_without(guest):
    settings = f"{ONLY_RDMA} UCX_IB_PORT_DOWN_TIMEOUT=100ms"
    jobs = perftest(guest, guest, "-t tag_bw -s 1000000 -w 2 -n 60 -V", settings)
    await_packets(guest, "rxe1", 500)
    guest.check("ip link set net1 down", LIMIT)
    try:
        outputs = outputs_of(jobs)
    finally:
        guest.check("ip link set net1 up; until grep -q ACTIVE /sys/class/infiniband/rxe1/ports/1/state; "
                    "do sleep 0.1; done", LIMIT)
    assert any("the rail rc_verbs/rxe1:1" in output for output in outputs), outputs


def lane_of_messages(guest, starter="", transports="rc_verbs", more=""):
    info = tool(guest, "bin/ucx_info")
    lanes = guest.check(f"UCX_TLS={transports} {starter} {info} -e -u t {more}", LIMIT)
    return next(line for line in lanes.splitlines() if "lane[0]" in line)


@on(NUMA)
def near_device_carries_messages(guest):
    for node in (0, 1):
        lane = lane_of_messages(guest, f"taskset -c {node}")
        assert f"rxe{node}:1" in lane, lane


BIND, INTERLEAVE = 2, 3


def with_memory_policy(policy, *nodes):
    """Starts the following program with this policy of set_mempolicy()."""
    mask = sum(1 << node for node in nodes)
    call = (f"import ctypes, os, sys; mask = ctypes.c_ulong({mask}); "
            f"assert ctypes.CDLL(None).syscall(238, {policy}, ctypes.byref(mask), 64) == 0; os.execv(sys.argv[1], sys.argv[1:])")
    return f"python3 -c '{call}'"


@on(NUMA)
def device_near_memory_carries_messages(guest):
    """If memory is bound to a node, the processor's place is irrelevant."""
    for node in (0, 1):
        lane = lane_of_messages(guest, f"taskset -c {1 - node} {with_memory_policy(BIND, node)}")
        assert f"rxe{node}:1" in lane, lane


@on(NUMA)
def collectives_have_a_level_for_numa_nodes(guest):
    """Ranks that are bound to one node each, in turn. A rank that may run on both has no home node."""
    everything = f"{tool(guest, 'bin/ucg_perf')} -p 4 -V -c reduce,allreduce,bcast,allgatherv,reduce_scatter -s 200k -n 1"
    for binding, nodes in (("-C 0,1", 2), ("", 1)):
        said = guest.check(f"UCX_LOG_LEVEL=debug {everything} {binding} 2>&1", LIMIT)
        assert f"4 ranks of 4 on this node, on {nodes} of its NUMA nodes" in said, said


def await_placed(guest, jobs, program, process, node, memory):
    """Waits until a process that is bound to a node has much memory that prefers `node`, and checks its pages. The peer
    may have written few pages before."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        text = guest.check(f"{PLACED_PAGES} {program}", LIMIT)
        for bound, wanted, near, present, rest in (line.split(maxsplit=4) for line in text.splitlines()):
            if (bound, wanted) == (str(process), str(node)) and memory in rest and int(present) >= 32:
                assert int(near) >= int(present) - 4, text
                return
        time.sleep(0.2)
    raise AssertionError(f"{text}\n" + "\n".join(job.output() for job in jobs))


def messages_between_nodes(guest, server, client, transports, more=""):
    """ucx_perftest, without end, on two processors."""
    program = f"{tool(guest, 'bin/ucx_perftest')} -p 13337"
    settings = f"UCX_TLS={transports},self {more} taskset -c"
    return [served(guest, f"{settings} {server} {program}", 13337),
            guest.start(f"{settings} {client} {program} localhost -t tag_bw -s 4000 -n {ENDLESS}")]


@on(NUMA)
def rings_lie_with_their_reader(guest):
    """The kernel alone would take the pages from the node of the sender, which writes them first."""
    for server in (0, 1):
        jobs = messages_between_nodes(guest, server, 1 - server, "posix")
        await_placed(guest, jobs, "ucx_perftest", server, server, "hawser-posix")
        for job in jobs:
            job.end()


@on(NUMA)
def receive_buffers_lie_with_their_device(guest):
    for node in (0, 1):
        jobs = messages_between_nodes(guest, 1 - node, 1 - node, "rc_verbs", f"UCX_NET_DEVICES=rxe{node}:1")
        await_placed(guest, jobs, "ucx_perftest", 1 - node, node, "anon=")
        for job in jobs:
            job.end()


@on(NUMA)
def slots_of_a_node_lie_with_their_rank(guest):
    job = guest.start(f"{with_memory_policy(INTERLEAVE, 0, 1)} {tool(guest, 'bin/ucg_perf')} -p 2 -C 0,1 "
                      f"-c allreduce -s 200k -n 1000000")
    for node in (0, 1):
        await_placed(guest, [job], "ucg_perf", node, node, "hawser-node")
    job.end()


@on(DEVICES)
def datagrams_carry_messages_where_many_peers_are_expected(guest):
    for peers, transport in ((256, "rc_verbs"), (257, "ud_verbs")):
        lane = lane_of_messages(guest, transports="ib", more=f"-n {peers}")
        assert transport in lane, lane


@on(SWITCH)
def device_behind_a_switch_is_farther(guest):
    """Without the switch it would be selected, because it is the first of two equal ones."""
    lane = lane_of_messages(guest)
    assert "rxe1:1" in lane, lane
    page = guest.check(f"{tool(guest, 'bin/ucx_info')} -d -t rc_verbs", LIMIT)
    places = [line for line in page.splitlines() if "System device" in line]
    assert ["switch" in place for place in places] == [True, False], page


@on(HOSTS)
def messages_and_memory_reach_the_other_host(one, two):
    for test in ("tag_lat -s 8 -n 200 -V", "tag_bw -s 1000000 -n 20 -V", "ucp_put_lat -s 8 -n 200",
                 "ucp_put_bw -s 65536 -n 50", "ucp_get -s 65536 -n 50"):
        measured(one, two, test, "10.9.0.1")


@on(HOSTS)
def cut_cable_of_the_second_rail_is_done_without(one, two):
    """Read by the receiver or written by the sender. One host gets an event that its port is down; the other one finds
    out by timeouts."""
    for scheme in ("get_zcopy", "put_zcopy"):
        settings = f"{ONLY_RDMA} {NOTICED_SOON} UCX_IB_PORT_DOWN_TIMEOUT=100ms UCX_RNDV_SCHEME={scheme}"
        jobs = perftest(one, two, "-t tag_bw -s 1000000 -w 2 -n 60 -V", settings, "10.9.0.1")
        await_packets(two, "rxe1", 500)
        with unplugged(one, card=1):
            outputs = outputs_of(jobs)
        await_state(one, "ACTIVE", "rxe1")
        assert any("the rail rc_verbs/rxe1:1" in output for output in outputs), outputs


@on(HOSTS)
def cut_cable_ends_the_endpoint(one, two):
    jobs = perftest(one, two, f"-t tag_lat -s 8 -n {ENDLESS}", f"{ONLY_RDMA} {NOTICED_SOON}", "10.9.0.1")
    await_traffic(one)
    with unplugged(one):
        results = [job.wait(LIMIT) for job in jobs]
    # The side that finds out first notifies the other one over the remaining device.
    assert all(result.status != 0 for result in results), results
    assert any("Endpoint timed out" in result.output for result in results), results


@on(HOSTS)
def killed_host_ends_the_endpoint(one, two):
    """Runs last, because it stops one guest."""
    jobs = perftest(one, two, f"-t tag_lat -s 8 -n {ENDLESS}", f"{ONLY_RDMA} {NOTICED_SOON}", "10.9.0.1")
    await_traffic(one)
    two.kill()
    result = jobs[0].wait(LIMIT)  # the server, on the remaining host
    assert "Endpoint timed out" in result.output or "Connection reset" in result.output, result.output
