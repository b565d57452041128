"""Strangers connect to the port of rank 0 of a TCP store, while two ranks of a job meet there."""

import os
import socket
import subprocess
import unittest

from limits import allow_descriptors, descriptors, memory, seeds
from processes import clean, free_port, wait_for_listener
from strangers import Stranger, record_client

RANK = os.environ["RANK_PROGRAM"]
LIMIT = 60  # seconds within which a job must end
KEY = {"UCX_JOB_KEY": "a job key of more than 16 characters"}
ANOTHER = {"UCG_OOB_JOB": "another"}
MOST = 2 + 64  # connections that have not sent their rank, in a job of two


def rank(number, port, mode, env):
    return subprocess.Popen(
        [RANK, "env", mode], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**clean("UCX_", "UCG_", "PMIX_"), "RANK": str(number), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
             "MASTER_PORT": str(port), "UCG_OOB": "tcp", "UCG_OOB_TIMEOUT": f"{LIMIT}s", **env})


class Case(unittest.TestCase):
    def check_end(self, process, number):
        with process:
            out, err = process.communicate(timeout=2 * LIMIT)
        self.assertIn(f"END rank {number} of 2: Success", out, err)
        return err

    def check_bounded(self, process, before):
        self.assertLessEqual(len(descriptors(process.pid)), before[0] + MOST + 2)
        self.assertLess(memory(process.pid), before[1] + (4 << 20))


class Crowd(Case):
    def test_a_job_starts_while_four_thousand_are_silent(self):
        allow_descriptors(self, 4200)
        port = free_port()
        first = rank(0, port, "rounds", {})
        wait_for_listener(port)
        before = (len(descriptors(first.pid)), memory(first.pid))
        crowd = []
        for _ in range(4000):
            one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
            crowd.append(one)
        self.check_bounded(first, before)
        second = rank(1, port, "rounds", {})
        self.check_end(second, 1)
        err = self.check_end(first, 0)
        self.assertEqual(err.count("have not sent their rank"), 1, err)
        for one in crowd:
            one.close()


class Attack(Case):
    def attacked(self, seed, env, kinds):
        recordings = [record_client(lambda port, its=each: rank(1, port, "rounds", its)) for each in kinds]
        self.assertTrue(all(said.startswith(b"HWSO") for said in recordings), recordings)
        port = free_port()
        first = rank(0, port, "lookups", env)
        wait_for_listener(port)
        before = (len(descriptors(first.pid)), memory(first.pid))
        with Stranger(port, recordings, seed) as stranger:
            while stranger.made < 500:
                self.check_bounded(first, before)
            second = rank(1, port, "lookups", env)
            errs = self.check_end(second, 1), self.check_end(first, 0)
        self.assertEqual(errs[0], "")
        self.assertNotIn(" error ", errs[1])
        self.assertLess(errs[1].count("\n"), 60, errs[1])

    def test_without_a_job_key(self):
        for seed in seeds():
            with self.subTest(seed=seed):
                # Without a key a full recording of this job's rank 1 would be accepted as rank 1.
                self.attacked(seed, {}, (ANOTHER, KEY))

    def test_with_a_job_key(self):
        for seed in seeds():
            with self.subTest(seed=seed):
                self.attacked(seed, KEY, ({}, KEY))
