"""The build tree's own programs."""

from catalog import on, tool
from programs import output_of, ucx_perftest
from variants import HOSTS


@on(HOSTS)
def tcp_joins_the_hosts(one, two):
    """The program needs no RDMA, but elsewhere the tests run on one host."""
    jobs = ucx_perftest(one, two, "-t tag_lat -s 8 -n 200 -w 10", "UCX_TLS=tcp,self", "10.9.0.1",
                        program=tool(one, "bin/ucx_perftest"))
    for job in jobs:
        output_of(job)
