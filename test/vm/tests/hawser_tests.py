"""The build tree's own programs."""

from catalog import on
from programs import outputs_of, perftest
from variants import HOSTS


@on(HOSTS)
def tcp_joins_the_hosts(one, two):
    """The program needs no RDMA, but elsewhere the tests run on one host."""
    outputs_of(perftest(one, two, "-t tag_lat -s 8 -n 200 -w 10", "UCX_TLS=tcp,self", "10.9.0.1"))
