"""Ranks in connected network namespaces. Without UCG_NODE_ID each namespace is a node."""

import csv
import os
import subprocess
import tempfile
import unittest

from namespaces import Namespace, join, join_all, skip_without_namespaces
from processes import clean, outputs_of

PERF = os.environ["COLLECTIVES_PROGRAM"]
HOSTS = os.environ["HOSTS_PROGRAM"]
LIMIT = 120  # seconds that a run may take
PER_NODE = 2
# Variables that would distinguish nodes by other means, or start the ranks in another way.
KEPT_OUT = ("UCG_", "UCX_", "PMIX_", "RANK", "WORLD_SIZE", "MASTER_", "TORCHELASTIC_")
COLLECTIVES = ("barrier", "bcast", "reduce", "allreduce", "gather", "gatherv", "scatter", "scatterv", "allgather",
               "allgatherv", "reduce_scatter", "reduce_scatter_block", "alltoall", "alltoallv", "scan", "exscan")


def environment(ranks, address, **settings):
    return clean(*KEPT_OUT, UCX_TLS="tcp,self", WORLD_SIZE=str(ranks), MASTER_ADDR=address,
                 MASTER_PORT="29499", **settings)  # the namespace has no other user of the port


def ranks_in(nodes, base, *command, stderr=subprocess.PIPE):
    return [subprocess.Popen([*nodes[rank // PER_NODE].inside, *command], stdout=subprocess.PIPE, stderr=stderr,
                             text=True, env={**base, "RANK": str(rank)}) for rank in range(PER_NODE * len(nodes))]


class Hosts(unittest.TestCase):
    def setUp(self):
        skip_without_namespaces(self)
        self.nodes = []
        for _ in range(2):
            self.nodes.append(Namespace())
            self.addCleanup(self.nodes[-1].__exit__)
        join(*self.nodes, network="10.99.79", link_local=False)
        for each in self.nodes:
            each.do("ip link set lo up")  # a host reaches its own address through lo

    def perf(self, *arguments, **settings):
        """Returns the output of rank 0. The other ranks must print nothing, and no rank may log an error."""
        base = environment(PER_NODE * len(self.nodes), "10.99.79.1", **settings)
        with tempfile.TemporaryFile("w+") as complaints:
            ranks = ranks_in(self.nodes, base, PERF, *arguments, stderr=complaints)
            outputs = [text for text, _ in outputs_of(ranks, LIMIT)]
            complaints.seek(0)
            complained = "".join(line for line in complaints if not line.startswith("ucg_perf: row "))
        self.assertEqual([each.returncode for each in ranks], [0] * len(ranks), complained)
        self.assertEqual(complained, "")
        self.assertEqual(outputs[1:], [""] * (len(ranks) - 1))
        return outputs[0]

    def test_every_collective(self):
        self.check_every_collective()

    def test_addresses_that_are_looked_up(self):
        self.check_every_collective(UCG_LAZY_ADDRESSES="y")

    def check_every_collective(self, **settings):
        text = self.perf("-V", "-c", "all", "-s", "8,100k", "-n", "2", **settings)
        self.assertTrue(text.startswith("# 4 ranks on 2 nodes, "), text)
        rows = [line for line in text.splitlines() if line.split()[0] in COLLECTIVES]
        self.assertEqual([line.split()[0] for line in rows],
                         ["barrier"] + [name for name in COLLECTIVES[1:] for _ in range(2)], text)
        for line in rows:
            self.assertTrue(line.endswith("(right)"), line)

    def test_the_allreduce_that_knows_nodes(self):
        text = self.perf("-V", "-f", "-a", "hierarchical", "-c", "allreduce", "-s", "8,100k", "-n", "2")
        self.assertEqual([(row["algorithm"], row["ranks"], row["result"]) for row in csv.DictReader(text.splitlines())],
                         [("hierarchical", "4", "right")] * 2, text)


class FourHosts(unittest.TestCase):
    """Two ranks on each of four nodes."""

    def setUp(self):
        skip_without_namespaces(self)
        self.nodes = []
        for _ in range(4):
            self.nodes.append(Namespace())
            self.addCleanup(self.nodes[-1].__exit__)
        self.addCleanup(join_all(self.nodes, network="10.99.80").__exit__)
        for each in self.nodes:
            each.do("ip link set lo up")

    def begin(self, rounds):
        base = environment(PER_NODE * len(self.nodes), "10.99.80.1")
        ranks = ranks_in(self.nodes, base, HOSTS, str(rounds))
        for each in ranks:
            self.addCleanup(each.communicate)
            self.addCleanup(each.kill)
        return ranks

    def test_collectives_that_know_nodes_and_moe(self):
        for each in self.begin(3):
            output, errors = each.communicate(timeout=LIMIT)
            self.assertEqual(output.splitlines(), ["8 ranks on 4 nodes"] + [f"round {i}: Success" for i in range(3)],
                             errors)
            self.assertEqual((each.returncode, errors), (0, ""))

    def test_one_rank_of_eight_is_killed(self):
        ranks = self.begin(1_000_000)
        victim = ranks.pop(5)
        for line in victim.stdout:
            if line.startswith("round 1:"):
                break
        victim.kill()
        for each in ranks:
            said, complained = each.communicate(timeout=LIMIT)
            self.assertEqual(each.returncode, 4, complained)
            self.assertNotIn("Success", said.splitlines()[-1])
