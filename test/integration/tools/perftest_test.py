"""ucx_perftest: both processes, every option, and error handling."""

import contextlib
import csv
import io
import os
import re
import signal
import socket
import tempfile
import time
import unittest

from processes import LIMIT, PERFTEST, Pair, Server, free_port, refused, run, start

MESSAGE_TESTS = ("tag_lat", "tag_bw", "tag_sync_lat", "tag_sync_bw", "ucp_am_lat", "ucp_am_bw",
                 "stream_lat", "stream_bw")
TRANSPORTS = ("sm,self", "tcp,self")
BATCHES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools/perf/batch")
FEW = ("-n", "500", "-w", "50")
SHORT = ("-n", "60", "-w", "5")
FINAL = re.compile(r"^Final: +(\d+)( +\d+\.\d{3}){3}( +\d+\.\d{2}){2}( +\d+){2}$", re.M)
CSV_HEADER = ["iterations", "50.0_percentile_lat", "avg_lat", "overall_lat", "avg_bw",
              "overall_bw", "avg_mr", "overall_mr"]


def write_batch(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def names_of(path):
    """The names of the tests in a batch file."""
    with open(path, encoding="utf-8") as file:
        return [line.split()[0] for line in file if line.strip() and not line.startswith("#")]


class Runs(unittest.TestCase):
    """Tests that succeed."""

    def pair(self, *arguments, **options):
        done = Pair(*arguments, **options)
        self.assertEqual((done.client.returncode, done.server_status), (0, 0), done.said)
        return done

    def together(self, tests, *arguments, **options):
        """Runs many tests, each a list of words, one after the other in one pair of processes, because the start takes
        longer than most tests."""
        names = [f"test{number}" for number in range(len(tests))]
        lines = [" ".join([name, *words]) for name, words in zip(names, tests)]
        with tempfile.TemporaryDirectory() as folder:
            path = write_batch(folder, "tests", "\n".join(lines) + "\n")
            done = Pair("-b", path, "-f", *arguments, limit=LIMIT + 5 * len(tests), **options)
        ran = [row.split()[0] for row in done.client.stdout.splitlines()[5:]]
        stopped_at = lines[len(ran):][:1]
        self.assertEqual((done.client.returncode, done.server_status), (0, 0),
                         f"at {stopped_at}: {done.said}")
        self.assertEqual(ran, names, f"at {stopped_at}: {done.said}")
        return done

    def test_table_of_client_and_box_of_server(self):
        done = self.pair("-t", "tag_lat", "-s", "8", *FEW)
        lines = done.client.stdout.splitlines()
        self.assertGreaterEqual(len(lines), 6)  # the header, a row for each second, the last row
        self.assertTrue(all(len(line) == 108 for line in lines[:5]))
        self.assertEqual(FINAL.search(done.client.stdout).group(1), "500")
        self.assertIn("| Test:         tag match latency ", done.server_out)
        self.assertIn("| Message size: 8 ", done.server_out)
        self.assertRegex(done.server_out, r"^Waiting for connection\.\.\.\nAccepted connection from ")

    def test_every_test_with_checked_data(self):
        sizes = ("0", "1", "8", "1000", "70000", "1m")
        self.together([["-t", test, "-s", size] for test in MESSAGE_TESTS for size in sizes
                       if not (test.startswith("stream") and size == "0")],
                      "-V", *SHORT)

    def test_remote_memory(self):
        one_sided = ("ucp_put_lat", "ucp_put_bw", "ucp_get")
        atomics = ("ucp_add", "ucp_fadd", "ucp_swap", "ucp_cswap")
        tests = [["-t", test, "-s", size] for test in one_sided for size in ("1", "1000", "70000", "1m")]
        tests += [["-t", test, "-s", size, "-z"] for test in one_sided for size in ("8", "70000")]
        tests += [["-t", test, "-s", size] for test in atomics for size in ("4", "8")]
        for tls in TRANSPORTS:
            with self.subTest(tls=tls):
                self.together(tests, *SHORT, env={"UCX_TLS": tls})
        self.together([["-t", test, *options] for test in ("ucp_put_lat", "ucp_put_bw", "ucp_get", "ucp_fadd")
                       for options in (["-m", "host,host"], ["-e"], ["-E", "sleep"], ["-I"], ["-O", "5"],
                                       ["-T", "2"], ["-T", "2", "-M", "multi"], ["-R", "90"])], *SHORT)

    def test_layouts_with_checked_data(self):
        self.together([["-t", "tag_bw", "-D", layout, "-s", sizes, *options]
                       for layout in ("iov", "iov,contig", "contig,iov", "iov,iov")
                       for sizes in ("1,2,3", "1024:16", "100000:3,7")
                       for options in ([], ["-z"])] +
                      [["-t", "tag_lat", "-D", "iov,iov", "-s", "8:5", "-i", "64"]],
                      "-V", *SHORT)

    def test_matching_options_with_checked_data(self):
        self.together([["-t", test, *options] for test in ("tag_lat", "tag_bw", "tag_sync_bw")
                       for options in (["-U"], ["-C"], ["-U", "-C"], ["-e"], ["-e", "none"],
                                       ["-O", "1"], ["-O", "100"], ["-r", "recv"], ["-m", "host"],
                                       ["-m", "host,host"], ["-E", "poll"], ["-E", "sleep"],
                                       ["-I"], ["-z"], ["-z", "-s", "300k", "-n", "50"])],
                      "-s", "3000", "-V", *SHORT)

    def checked(self, tests, all_options):
        """Each combination over shared memory and over the network; messages of both kinds."""
        for tls in TRANSPORTS:
            with self.subTest(tls=tls):
                self.together([["-t", test, *options] for test in tests for options in all_options],
                              "-V", *SHORT, env={"UCX_TLS": tls})

    def test_active_messages_with_checked_data(self):
        long = ["-s", "300000", "-n", "50"]
        self.checked(("ucp_am_lat", "ucp_am_bw"), (
            ["-H", "0"], ["-H", "8", "-s", "0"], ["-H", "1000", "-s", "3000"], ["-y", "-s", "700"],
            ["-y", "-H", "13", "-D", "iov,iov", "-s", "1,700:3"], ["-r", "recv_data"],
            ["-r", "recv_data", "-D", "contig,iov", "-s", "100:7"], ["-e"], ["-O", "3"], ["-z"],
            ["-E", "sleep"], ["-I"], [*long, "-z"],
            [*long, "-H", "24"], [*long, "-D", "iov,iov", "-s", "100000:3"],
            [*long, "-r", "recv_data"], [*long, "-y", "-O", "5"]))

    def test_streams_with_checked_data(self):
        self.checked(("stream_lat", "stream_bw"), (
            ["-r", "recv", "-s", "5"], ["-r", "recv_data", "-s", "5"], ["-D", "iov,iov", "-s", "1,700:3"],
            ["-D", "iov", "-r", "recv_data", "-s", "1,700:3"], ["-e"], ["-O", "3", "-s", "5000"],
            ["-E", "sleep"], ["-I"], ["-z", "-s", "700"],
            ["-s", "300000", "-n", "50"], ["-s", "300000", "-n", "50", "-r", "recv_data"]))

    def test_threads_with_checked_data(self):
        self.together([["-t", "tag_bw", "-T", "2", "-M", mode]
                       for mode in ("single", "serialized", "multi")] +
                      [["-t", test, *options] for test in ("tag_lat", "ucp_am_bw", "stream_bw")
                       for options in (["-T", "2"], ["-T", "2", "-z"],
                                       ["-T", "2,shared", "-M", "multi"])], "-V", *SHORT)
        done = self.pair("-t", "tag_lat", "-T", "2,shared", "-M", "multi", "-V", *FEW)
        self.assertRegex(done.client.stdout, r"Final: +500 +\d+\.\d{3} +\d+\.\d\d +\d+\n")

    def test_processors(self):
        cpu = str(min(os.sched_getaffinity(0)))
        self.pair("-t", "tag_lat", "-c", cpu, *FEW, server_arguments=("-c", cpu))

    def test_csv_can_be_read_by_its_header(self):
        for options in ([], ["-f"], ["-T", "2"]):
            with self.subTest(options=options):
                done = self.pair("-t", "tag_bw", "-v", *options, *FEW)
                header, row = csv.reader(io.StringIO(done.client.stdout))
                self.assertEqual(header, CSV_HEADER)
                self.assertEqual(len(row), len(header))
                self.assertEqual(row[0], "500")
                self.assertGreater(float(row[7]), 0)

    def test_percentile_rank_and_separators(self):
        done = self.pair("-t", "tag_lat", "-R", "99.9", "-N", "-n", "5000")
        self.assertIn("| 99.9%ile |", done.client.stdout)
        self.assertRegex(done.client.stdout, r"Final: +5,000 ")

    def test_quiet(self):
        done = self.pair("-t", "tag_lat", "-q", "-f", *FEW)
        self.assertEqual(done.client.stdout.count("\n"), 1)

    def test_extra_information(self):
        done = self.pair("-t", "tag_lat", "-X", "-f", *FEW)
        last = done.client.stdout.splitlines()[-1]
        self.assertGreater(len(last), 108, last)

    def test_batches_combine(self):
        with tempfile.TemporaryDirectory() as folder:
            tests = write_batch(folder, "tests", "lat -t tag_lat\n# no -t foo\nbw -t tag_bw\n")
            sizes = write_batch(folder, "sizes", "s8 -s 8\ns9k -s 9k -n 100\n")
            both = ("-b", tests, "-b", sizes)
            names = ["lat/s8", "lat/s9k", "bw/s8", "bw/s9k"]
            done = self.pair(*both, "-f", *FEW)
            rows = done.client.stdout.splitlines()[5:]
            self.assertEqual([row.split()[0] for row in rows], names)
            self.assertEqual([row.split()[1] for row in rows], ["500"] * 4)
            done = self.pair(*both, *FEW)
            titles = re.findall(r"^\+([a-z][^-+]*)[-+]+", done.client.stdout, re.M)
            self.assertEqual(titles, [f"{name} ({place} of 4)" for place, name in enumerate(names, 1)])
            done = self.pair(*both, "-v", *FEW)
            table = list(csv.reader(io.StringIO(done.client.stdout)))
            self.assertEqual(table[0], ["tests", "sizes"] + CSV_HEADER)
            self.assertEqual(["/".join(row[:2]) for row in table[1:]], names)

    def test_ipv6(self):
        try:
            with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
                probe.bind(("::1", 0))
        except OSError:
            self.skipTest("no IPv6 here")
        self.pair("-t", "tag_lat", "-6", *FEW, host="::1", server_arguments=("-6",))

    def test_loopback(self):
        for options in (*([test] for test in MESSAGE_TESTS), ["ucp_am_bw", "-r", "recv_data"],
                        ["stream_lat", "-r", "recv_data"],
                        ["stream_bw", "-r", "recv_data", "-s", "100000"]):
            with self.subTest(options=options):
                done = run(PERFTEST, "-l", "-V", "-s", "20000", *FEW, "-t", *options)
                self.assertEqual(done.returncode, 0, done)
                self.assertRegex(done.stdout, FINAL)

    def on_transport(self, transport, device, tests):
        with self.subTest(transport=transport):
            self.together(tests, "-x", transport, "-d", device, "-V", *SHORT)

    def test_messages_of_transports_with_checked_data(self):
        short = (["-D", "short"], ["-D", "short", "-s", "60"], ["-D", "bcopy", "-s", "4000"],
                 ["-s", "100", "-W", "1"], ["-s", "100", "-W", "300"], ["-O", "1"])
        long = (["-s", "40000"], ["-H", "24", "-s", "100"], ["-H", "0", "-s", "100", "-O", "5"])
        both = ("am_lat", "am_bw")
        copied = [["-t", test, *options] for options in short for test in both]
        self.on_transport("posix", "memory", copied)
        self.on_transport("tcp", "lo", copied + [["-t", test, "-D", "zcopy", *options]
                                                 for options in long for test in both])

    def test_memory_access_of_transports_with_checked_data(self):
        if "cma/memory" not in self.offered():
            self.skipTest("cma cannot be used here")
        self.on_transport("cma", "memory", [
            ["-t", test, *options] for test in ("put_lat", "put_bw", "get", "get_bw")
            for options in (["-s", "1"], ["-s", "100000"], ["-D", "zcopy", "-O", "7", "-X"])])

    def test_atomics_of_transports_with_checked_results(self):
        self.on_transport("posix", "memory", [
            ["-t", test, "-s", size, *options] for test in ("add_lat", "add_mr", "fadd", "swap", "cswap")
            for size in ("4", "8") for options in ([], ["-D", "short", "-O", "3", "-X"])])

    @staticmethod
    def offered():
        return run(PERFTEST, "-l", "-t", "am_lat", "-x", "none", "-d", "none").stderr

    def test_transports_in_one_process(self):
        for test in ("am_lat", "am_bw", "put_lat", "put_bw", "get_bw"):
            with self.subTest(test=test):
                done = run(PERFTEST, "-l", "-V", "-t", test, "-x", "self", "-d", "memory", *FEW)
                self.assertEqual(done.returncode, 0, done)
                self.assertRegex(done.stdout, FINAL)

    def test_box_says_what_a_transport_test_is_about(self):
        done = self.pair("-t", "am_bw", "-x", "posix", "-d", "memory", "-D", "bcopy", *FEW)
        self.assertIn("| API:          transport layer ", done.server_out)
        self.assertIn("| Data layout:  bcopy ", done.server_out)

    def test_batch_leaves_out_what_a_transport_has_not(self):
        done = self.pair("-b", os.path.join(BATCHES, "test_types_uct"), "-x", "posix", "-d",
                         "memory", "-f", *FEW)
        names = [row.split()[0] for row in done.client.stdout.splitlines()[5:]]
        self.assertEqual(names, ["am_short_lat", "am_bcopy_lat", "am_short_bw", "am_bcopy_bw",
                                 "add_lat", "add_mr", "fadd", "swap", "cswap"])
        self.assertIn("put_zcopy_bw is left out: posix/memory: no put_zcopy", done.client.stderr)

    def test_what_is_installed_can_be_run(self):
        for batch, some in (("test_types_ucp", ("ucp_am_bw", "ucp_contig_stream_data_lat")),
                            ("test_types_ucp_rma", ("ucp_put_lat", "ucp_put_bw", "ucp_get")),
                            ("test_types_ucp_amo", ("ucp_add_4", "ucp_cswap_8"))):
            with self.subTest(batch=batch):
                done = self.pair("-b", os.path.join(BATCHES, batch), "-f", *SHORT)
                names = [row.split()[0] for row in done.client.stdout.splitlines()[5:]]
                for name in some:
                    self.assertIn(name, names)

    def test_transports_and_their_tests_and_sizes_combine(self):
        with tempfile.TemporaryDirectory() as folder:
            sizes = write_batch(folder, "sizes", "s8 -s 8\ns64 -s 64\n")
            batches = (os.path.join(BATCHES, "transports"), os.path.join(BATCHES, "test_types_uct"), sizes)
            done = self.pair(*(word for path in batches for word in ("-b", path)), "-f", *SHORT,
                             limit=2 * LIMIT)
        rows = [row.split()[0].split("/") for row in done.client.stdout.splitlines()[5:]]
        left_out = re.findall(r"^ucx_perftest: (\S+) is left out: ", done.client.stderr, re.M)
        # Every combination runs, or is left out with a line, in the order of the files.
        every = [f"{transport}/{test}/{size}" for transport in names_of(batches[0])
                 for test in names_of(batches[1]) for size in ("s8", "s64")]
        self.assertEqual(sorted(["/".join(row) for row in rows] + left_out), sorted(every))
        self.assertEqual(["/".join(row) for row in rows], [name for name in every if name not in left_out])
        self.assertIn(["posix", "am_short_lat", "s8"], rows)
        self.assertIn(["tcp", "am_bcopy_bw", "s64"], rows)
        self.assertIn("posix/put_zcopy_bw/s8", left_out)

    def test_lists_of_sizes_are_well_formed(self):
        # They would take minutes to run; their mistakes must be reported before the client connects.
        for batch in ("msg_pow2", "msg_pow2_large"):
            done = run(PERFTEST, "127.0.0.1", "-p", str(free_port()), "-t", "tag_lat", "-b",
                       os.path.join(BATCHES, batch))
            self.assertIn("cannot connect", done.stderr, done)

    def test_help_names_every_option(self):
        done = run(PERFTEST, "-h")
        self.assertEqual(done.returncode, 0)
        for letter in "tsnwObRVcTMDiCUrHyzxdWmeEIp6lfvNXqh":
            self.assertRegex(done.stdout, rf"(?m)^  -{letter}[ ,]")


class Failures(unittest.TestCase):
    def fails(self, reason, *arguments, env=None):
        done = run(PERFTEST, *arguments, env=env)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(reason, done.stderr)
        return done


class Mistakes(Failures):
    """Wrong command lines exit at once with one line that states the problem."""

    def refused(self, *arguments):
        return refused(self, PERFTEST, *arguments)

    def test_wrong_values_are_named(self):
        client = ("localhost", "-t", "tag_lat")
        for options in (["-s", "abc"], ["-s", "8,,8"], ["-n", "0"], ["-w", "-3"], ["-R", "101"],
                        ["-O", "x"], ["-T", "0"], ["-M", "some"], ["-D", "flat"], ["-r", "other"],
                        ["-r", "recv_data"], ["-m", "cuda"], ["-E", "doze"],
                        ["-p", "0"], ["-c", "65000"], ["-c", "x"], ["-b", "/no/such/file"],
                        ["-T", "2,shared"], ["-i", "4", "-s", "8:2"],
                        ["-E", "sleep", "-T", "2,shared", "-M", "multi"]):
            with self.subTest(options=options):
                self.assertIn(options[0], self.refused(*client, *options))

    def test_transports_that_are_not_there(self):
        test = ("localhost", "-t", "am_lat")
        for options in ([], ["-x", "posix"], ["-d", "memory"], ["-x", "rc", "-d", "mlx5_0:1"]):
            with self.subTest(options=options):
                self.assertIn("posix/memory", self.refused(*test, *options))
        posix = (*test, "-x", "posix", "-d", "memory")
        self.assertIn("am_zcopy", self.refused(*posix, "-D", "zcopy"))
        self.assertIn("am_short", self.refused(*posix, "-s", "1m"))
        for options in (["-s", "4"], ["-H", "16", "-s", "100"], ["-T", "2"], ["-M", "multi"],
                        ["-e"], ["-C"], ["-D", "iov"], ["-y"], ["-z"], ["-W", "0"]):
            with self.subTest(options=options):
                self.assertIn(options[0], self.refused(*posix, *options))
        self.assertIn("put_zcopy", self.refused(*posix, "-t", "put_lat"))
        self.assertIn("4 or 8 bytes", self.refused(*posix, "-t", "fadd", "-s", "16"))
        tcp = ("localhost", "-x", "tcp", "-d", "lo")
        self.assertIn("no fetching atomic swap", self.refused(*tcp, "-t", "swap"))
        self.assertIn("no atomic add", self.refused(*tcp, "-t", "add_mr"))

    def test_peer_that_a_transport_does_not_reach(self):
        with Server() as server:
            self.fails("does not reach the peer", "127.0.0.1", "-p", server.port, "-t", "am_lat", "-x", "self",
                       "-d", "memory")
            self.assertEqual(server.finish()[0], 1)

    def test_wrong_combinations(self):
        self.assertIn("-l", self.refused("localhost", "-l", "-t", "tag_lat"))
        self.assertIn("-t", self.refused("localhost"))
        self.assertIn("foo", self.refused("localhost", "-t", "foo"))
        self.assertIn("-Z", self.refused("-Z"))
        self.assertIn("-s", self.refused("localhost", "-s"))
        self.assertIn("second", self.refused("first", "second", "-t", "tag_lat"))
        self.assertIn("-d", self.refused("localhost", "-t", "tag_lat", "-d", "mlx5_0"))
        for test, options in (("tag_lat", ["-H", "8"]), ("tag_bw", ["-y"]), ("stream_bw", ["-C"]),
                              ("stream_lat", ["-s", "0"]), ("ucp_am_lat", ["-U"]),
                              ("stream_lat", ["-H", "0"]), ("ucp_fadd", ["-z"]),
                              ("ucp_get", ["-H", "8"]), ("ucp_put_lat", ["-y"]), ("ucp_get", ["-V"])):
            with self.subTest(test=test, options=options):
                self.assertIn(options[0], self.refused("localhost", "-t", test, *options))

    def test_buffers_that_would_take_all_memory(self):
        for options in (["-t", "tag_bw", "-V", "-O", "65536", "-s", "1g"], ["-t", "ucp_put_bw", "-s", "1023g"],
                        ["-t", "put_bw", "-x", "self", "-d", "memory", "-s", "1023g"]):
            with self.subTest(options=options):
                self.fails("more than an eighth of the memory", "-l", *options, env={"UCX_LOG_LEVEL": "fatal"})

    def test_wrong_setting_ends_the_client_before_the_head(self):
        with Server() as server:
            done = self.fails("UCX_RNDV_THRESH", "127.0.0.1", "-p", server.port, "-t", "tag_lat",
                              env={"UCX_RNDV_THRESH": "soon"})
            self.assertEqual(done.stdout, "", done)
            status, _, err = server.finish()
            self.assertEqual((status, err.count("\n")), (1, 1), err)

    def test_wrong_batch_line_is_located(self):
        with tempfile.TemporaryDirectory() as folder:
            path = write_batch(folder, "batch", "good -t tag_lat\nbad -t tag_lat -s x\n")
            self.assertIn("batch:2:", self.refused("localhost", "-b", path))


KEY = {"UCX_JOB_KEY": "a key of the job, long enough"}
OPENING = b"HWSO\2\1\0\0" + bytes(16)  # of a client without a job key


class LostPeers(Failures):
    """If one side fails, the other one ends soon and reports that."""

    ENDLESS = ("-n", "1000000000")

    def survivor(self, number, victim, *options, both=(), env=None, pause=0):
        """Sends a signal to one side of an endless test; returns the error output of the other side."""
        with Server(*both, env=env) as server:
            client = start("127.0.0.1", "-p", server.port, *both, *options, *self.ENDLESS, env=env)
            # The box is printed when the test begins.
            while not server.process.stdout.readline().startswith("| Message size"):
                self.assertIsNone(server.process.poll())
            time.sleep(pause)
            lost, left = (server.process, client) if victim == "server" else (client, server.process)
            lost.send_signal(number)
            try:
                _, err = left.communicate(timeout=LIMIT)
            finally:
                lost.send_signal(signal.SIGCONT)
                client.kill()
                client.communicate()
            self.assertEqual(left.returncode, 1, err)
            return err

    def test_killed_peer_ends_the_other_side(self):
        for victim in ("server", "client"):
            for options in (["-t", "tag_lat"], ["-t", "tag_bw", "-s", "1m"],
                            ["-t", "tag_lat", "-e", "peer"], ["-t", "tag_bw", "-T", "2"],
                            ["-t", "ucp_am_bw", "-s", "1m"], ["-t", "stream_lat", "-r", "recv_data"],
                            ["-t", "am_bw", "-x", "tcp", "-d", "lo"],
                            ["-t", "am_lat", "-x", "posix", "-d", "memory"]):
                with self.subTest(victim=victim, options=options):
                    self.assertIn("ucx_perftest: ", self.survivor(signal.SIGKILL, victim, *options))

    def test_no_server(self):
        self.fails("cannot connect to 127.0.0.1", "127.0.0.1", "-p", str(free_port()), "-t", "tag_lat")

    def test_port_in_use(self):
        with Server() as server:
            self.fails(f"port {server.port}", "-p", server.port)

    def test_stopped_peer_ends_the_other_side(self):
        """The peer of a stopped process ends, and names the missing data. No keepalive wakes it while it sleeps."""
        for victim, options in (("server", ["-t", "tag_lat"]), ("server", ["-t", "tag_lat", "-E", "sleep"]),
                                ("client", ["-t", "tag_bw", "-s", "1m", "-E", "sleep"])):
            with self.subTest(victim=victim, options=options):
                # The signal comes when messages flow: before that, no side sleeps in the library.
                err = self.survivor(signal.SIGSTOP, victim, *options, both=("--peer-timeout", "5"),
                                    env={"UCX_KEEPALIVE_INTERVAL": "inf"}, pause=1)
                self.assertIn("the peer has said nothing for 5 s", err)

    STRANGERS = (b"GET / HTTP/1.1\r\nHost: here\r\n\r\n", b"\0" * 64, OPENING[:10], OPENING,
                 OPENING + b"HWPF\2\0\2\0\xff\xff\xff\xff", OPENING + b"HWPF\2\0\2\0\4\0\0\0-t\0x", b"")

    def served(self, server, *environments):
        done = run(PERFTEST, "127.0.0.1", "-p", server.port, "-t", "tag_lat", "-n", "100", "-f",
                   env=environments[0] if environments else None)
        self.assertEqual(done.returncode, 0, done.stderr)
        status, _, err = server.finish()
        self.assertEqual(status, 0, err)
        return err

    def test_strangers_do_not_end_the_server(self):
        with Server() as server, contextlib.ExitStack() as crowd:
            for said in self.STRANGERS:
                stranger = crowd.enter_context(socket.create_connection(("127.0.0.1", int(server.port))))
                stranger.sendall(said)
            err = self.served(server)
            self.assertLessEqual(err.count("\n"), len(self.STRANGERS), err)

    def test_keys_that_fit(self):
        with Server(env=KEY) as server:
            self.assertEqual(self.served(server, KEY), "")

    def test_keys_that_do_not_fit(self):
        other = {"UCX_JOB_KEY": "the key of another job"}
        for server_env, client_env, said in ((KEY, other, "its job key is another one"), (KEY, {}, "it has a job key and this process has none"),
                                   ({}, KEY, "it has no job key and this process has one")):
            with self.subTest(server_env=server_env, client_env=client_env), Server(env=server_env) as server:
                self.fails(said, "127.0.0.1", "-p", server.port, "-t", "tag_lat", env=client_env)
                # A client with the key is served.
                self.assertEqual(self.served(server, server_env).count("no connection with the client"), 1)

    @staticmethod
    def frame(kind, content):
        return b"HWPF\2\0" + kind.to_bytes(2, "little") + len(content).to_bytes(4, "little") + content

    def said_by_server(self, *frames):
        """Returns the error output of a server to which a stranger sends these frames after the hello."""
        with Server(env={"UCX_LOG_LEVEL": "fatal"}) as server:
            with socket.create_connection(("127.0.0.1", int(server.port))) as stranger:
                stranger.settimeout(LIMIT)
                stranger.sendall(OPENING + self.frame(1, b"") + b"".join(frames))
                status, _, err = server.finish()
                answer = b"".join(iter(lambda: stranger.recv(4096), b""))
        self.assertNotEqual(status, 0)
        self.assertTrue(err.startswith("ucx_perftest: "), err)
        self.assertIn(b"HWPF\2\0\5\0", answer)  # a failure frame notifies the client
        return err

    def request(self, *words):
        return self.frame(2, b"".join(word + b"\0" for word in [b"label", *words]))

    # With a sanitizer this fails if the server reads more than was sent.
    def test_server_refuses_an_address_that_is_shorter_than_it_says(self):
        header = b"HW\2\0" + (1024).to_bytes(2, "little") + bytes(4)
        check = 0xa5
        for byte in header[:6]:
            check ^= byte
        address = header[:3] + bytes([check]) + header[4:]
        err = self.said_by_server(self.request(b"-t", b"tag_lat"),
                                  self.frame(3, len(address).to_bytes(4, "little") + address))
        self.assertIn("ucx_perftest: ucp_ep_create: Address not valid", err)

    def test_server_refuses_impossible_tests(self):
        for words in ([b"-t", b"foo"], [b"-t", b"tag_lat", b"-n", b"0"], [b"-p", b"1"], [b"host"]):
            with self.subTest(words=words):
                self.said_by_server(self.request(*words))
