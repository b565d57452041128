"""Strangers connect to the port of a ucx_perftest server, until its client comes."""

import os
import socket
import subprocess
import unittest

from limits import allow_descriptors, descriptors, memory
from processes import clean, free_port, wait_for_listener

PERFTEST = os.environ["PERFTEST_PROGRAM"]
KEY = {"UCX_JOB_KEY": "a job key of more than 16 characters"}
LIMIT = 120
MOST = 256 + 8  # connections without any proof
WAITING = 1024  # connections of a crowd that begin to prove a job key
MEMORY = 4 << 20


class Perftest(unittest.TestCase):
    def crowded(self, said, key, most=MOST):
        allow_descriptors(self, 3300)
        env = clean("UCX_", **key)
        port = free_port()
        server = subprocess.Popen([PERFTEST, "-p", str(port), "-q"], env=env, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        crowd = []
        try:
            wait_for_listener(port)
            before = (len(descriptors(server.pid)), memory(server.pid))
            for number in range(3000):
                stranger = socket.create_connection(("127.0.0.1", port), timeout=60)
                stranger.sendall(said)
                crowd.append(stranger)
                if number % 100 == 0:
                    self.assertLess(len(descriptors(server.pid)), before[0] + most)
                    self.assertLess(memory(server.pid), before[1] + MEMORY)
            client = subprocess.run([PERFTEST, "127.0.0.1", "-p", str(port), "-t", "tag_lat", "-n", "100", "-f"], env=env,
                                    capture_output=True, text=True, timeout=LIMIT, check=False)
            self.assertEqual(client.returncode, 0, client.stderr)
            _, err = server.communicate(timeout=LIMIT)
            self.assertEqual(server.returncode, 0, err)
            self.assertEqual(err.count("have not identified themselves"), 1, err)
        finally:
            server.kill()
            server.communicate()
            for stranger in crowd:
                stranger.close()

    def test_three_thousand_silent_ones(self):
        self.crowded(b"", {})

    def test_three_thousand_without_the_job_key(self):
        self.crowded(b"HWSO\2\1\1\0" + bytes(16), KEY, MOST + WAITING)
