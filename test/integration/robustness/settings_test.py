"""Wrong settings: an error status or a warning, in one clear line, and no other effect."""

import os
import tempfile

from harness import INFO, LOG_LINE, PERFTEST, Case, Peer, run, started


class Values(Case):
    WRONG = {
        "UCX_WARN_UNUSED_ENV_VARS": "perhaps",  # boolean
        "UCX_RNDV_THRESH": "soon",  # size
        "UCX_CMA_SEG_SIZE": "8 miles",
        "UCX_POSIX_FIFO_SIZE": "-1",  # number
        "UCX_TCP_KEEPIDLE": "a while",  # time
        "UCX_RNDV_SCHEME": "teleport",  # enumeration
        "UCX_LOG_LEVEL": "chatty",
    }
    OUT_OF_RANGE = {
        "UCX_POSIX_SEG_SIZE": "1k",
        "UCX_POSIX_MAX_POLL": "0",
        "UCX_CMA_SEG_SIZE": "0",
        "UCX_TCP_AF_PRIO": "foo",
        "UCX_TCP_SNDBUF": "0",
        "UCX_RNDV_FRAG_SIZE": "0",
        "UCX_POLL_SLOW_EVERY": "inf",
    }
    LIMITED = {  # the value that is used instead
        "UCX_POSIX_SEG_SIZE": ("1m", "64k"),
        "UCX_TCP_TX_SEG_SIZE": ("1g", "1m"),
        "UCX_TCP_MAX_IOV": ("inf", "16"),
    }
    FAMILIAR = {  # spellings of other UCX versions
        "UCX_TCP_TX_SEG_SIZE": "8kb",
        "UCX_RNDV_THRESH": "intra:8k,inter:inf",
        "UCX_RNDV_FRAG_SIZE": "host:512K,cuda:4M",
        "UCX_RNDV_SCHEME": "put_ppln",
        "UCX_PROTO_INFO": "used",
        "UCX_POSIX_BW": "12179MBs",
        "UCX_TCP_KEEPIDLE": "10000000us",
    }
    REPORTING = ("UCX_WARN_UNUSED_ENV_VARS", "UCX_LOG_LEVEL")  # not a reason to fail
    HARD = ("", "=", " ", "0x", "1e999", "9" * 40, "-" * 100, "y,n", "%s%n%s", "\x01\x02", "\udcff\udcfe",
            "z" * 100000)

    def refused(self, name, value):
        """ucp_init fails, or logs the value that it uses instead; in one line."""
        with Peer("all", **{name: value}) as peer:
            answer = peer.ask("init")
            lines = peer.lines(name)
            if answer.startswith("ok"):
                peer.ok("destroy")
            self.assertEqual(peer.quit(), 0)
            return answer, lines, peer.log()

    def test_wrong_values_are_refused_with_one_line(self):
        for name, value in self.WRONG.items():
            with self.subTest(name=name):
                answer, lines, log = self.refused(name, value)
                self.assertEqual(len(lines), 1, log)
                self.assertIn(f'"{value}"', lines[0])
                self.assertIn(" error ", lines[0])
                if name in self.REPORTING:
                    self.assertEqual(answer, "ok", log)
                else:
                    self.assertRegex(answer, "^error ucp_.*: Invalid parameter$", log)

    def has_one_line(self, name, value, answer, line):
        with self.subTest(name=name):
            said, lines, log = self.refused(name, value)
            self.assertEqual(said, answer, log)
            self.assertEqual(len(lines), 1, log)
            self.assertRegex(lines[0], line)

    def test_values_out_of_range_are_refused_with_one_line(self):
        for name, value in self.OUT_OF_RANGE.items():
            self.has_one_line(name, value, "error ucp_init: Invalid parameter", f' error .*"{value}".*; expected ')

    def test_values_that_are_limited_say_what_is_used(self):
        for name, (value, used) in self.LIMITED.items():
            self.has_one_line(name, value, "ok", f' warn .*"{value}".*; {used} is used')

    def test_familiar_values_are_taken_in_silence(self):
        for name, value in self.FAMILIAR.items():
            with self.subTest(name=name):
                answer, _, log = self.refused(name, value)
                self.assertEqual((answer, log), ("ok", ""), log)

    def test_hard_values_crash_nothing(self):
        for name in (*self.WRONG, "UCX_TLS", "UCX_NET_DEVICES", "UCX_CONFIG_DIR", "UCX_LOG_FILE"):
            for value in self.HARD:
                with self.subTest(name=name, value=value[:20]):
                    if name == "UCX_LOG_FILE":
                        continue  # nearly any text is a valid file name
                    answer, _, log = self.refused(name, value)
                    self.assertRegex(answer, "^(ok|error ucp_)", log)
                    if answer.startswith("error"):
                        self.assertGreaterEqual(len(LOG_LINE.findall(log)), 1, log)

    def test_tools_pass_it_on(self):
        done = run(INFO, "-p", "-u", "t", UCX_RNDV_THRESH="soon")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("UCX_RNDV_THRESH", done.stdout + done.stderr)
        done = run(PERFTEST, "-l", "-t", "tag_lat", "-n", "10", UCX_RNDV_THRESH="soon")
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)  # no header of a table
        self.assertIn("UCX_RNDV_THRESH", done.stderr)


class Names(Case):
    def test_near_miss_is_a_warning_with_the_right_name(self):
        for wrong, right in (("UCX_RNDV_TRESH", "UCX_RNDV_THRESH"), ("UCX_TLSS", "UCX_TLS"),
                             ("UCX_LOG_LEVLE", "UCX_LOG_LEVEL"),
                             ("UCX_NETDEVICES", "UCX_NET_DEVICES")):
            with self.subTest(wrong=wrong), started("all", **{wrong: "1"}, count=1) as (peer,):
                lines = peer.lines(wrong)
                self.assertEqual(len(lines), 1, peer.log())
                self.assertIn(" warn ", lines[0])
                self.assertRegex(lines[0], rf"{right}\b")
                peer.ok("destroy")

    def test_warning_can_be_switched_off(self):
        with started("all", UCX_TLSS="1", UCX_WARN_UNUSED_ENV_VARS="n", count=1) as (peer,):
            self.assertEqual(peer.log(), "")

    def test_transport_that_does_not_exist(self):
        for tls in ("pigeon", "pigeon,self", "pigeon,tcp,self", "^pigeon"):
            with self.subTest(tls=tls), Peer(tls) as peer:
                answer = peer.ask("init")
                self.assertGreaterEqual(len(peer.lines("pigeon")), 1, peer.log())
                if tls == "pigeon":
                    self.assertEqual(answer, "error ucp_init: No such device", peer.log())
                else:
                    self.assertEqual(len(peer.lines()), 1, peer.log())
                    self.assertEqual(answer, "ok")

    def test_device_that_does_not_exist(self):
        with Peer("tcp", UCX_NET_DEVICES="moon0") as peer:
            self.assertEqual(peer.ask("init"), "error ucp_init: No such device")
            self.assertGreaterEqual(len(peer.lines("moon0")), 1, peer.log())
        with started("tcp,self", UCX_NET_DEVICES="moon0,lo", count=1) as (peer,):
            self.assertEqual(len(peer.lines("moon0")), 1, peer.log())


class Files(Case):
    def with_file(self, content, mode=0o644):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ucx.conf")
            with open(path, "wb") as file:
                file.write(content)
            os.chmod(path, mode)
            with Peer("all", UCX_CONFIG_DIR=folder) as peer:
                answer = peer.ask("init")
                return answer, peer.lines()

    def test_malformed_file_is_one_warning(self):
        for content in (b"TLS\n", b"[open\n", b"\0\0\0\0", b"=\n", b"\xff\xfe\xfa\n" * 1000,
                        os.urandom(10000).replace(b"=", b"-"), b"garbage " * 100000):
            with self.subTest(content=content[:10]):
                answer, lines = self.with_file(content)
                self.assertEqual(answer, "ok")
                self.assertEqual(len(lines), 1, lines)
                self.assertIn("ucx.conf", lines[0])

    def test_good_lines_count_beside_bad_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "ucx.conf"), "w", encoding="utf-8") as file:
                file.write("nonsense\nUCX_RNDV_THRESH = 12k\n")
            done = run(INFO, "-c", UCX_CONFIG_DIR=folder)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("UCX_RNDV_THRESH=12", done.stdout)

    def test_wrong_value_in_file_names_the_file(self):
        answer, lines = self.with_file(b"RNDV_THRESH = soon\n")
        self.assertEqual(answer, "error ucp_init: Invalid parameter")
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("ucx.conf", lines[0])
        self.assertIn("RNDV_THRESH", lines[0])

    def test_unreadable_file_is_one_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "ucx.conf"))  # even root cannot read a folder as a file
            with started("all", UCX_CONFIG_DIR=folder, count=1) as (peer,):
                self.assertEqual(len(peer.lines("ucx.conf")), 1, peer.log())
        if os.geteuid() != 0:
            answer, lines = self.with_file(b"TLS=all\n", 0)
            self.assertEqual((answer, len(lines)), ("ok", 1), lines)

    def test_folder_that_does_not_exist_is_one_warning(self):
        for folder in ("/no/such/folder", "/etc/passwd"):
            with self.subTest(folder=folder), started("all", UCX_CONFIG_DIR=folder, count=1) as (peer,):
                self.assertEqual(len(peer.lines()), 1, peer.log())
                self.assertRegex(peer.log(), f' warn +UCX_CONFIG_DIR="{folder}": ')
        with tempfile.TemporaryDirectory() as folder, started("all", UCX_CONFIG_DIR=folder, count=1) as (peer,):
            self.assertEqual(peer.log(), "")  # the file need not exist

    def test_log_file_that_cannot_be_written(self):
        for path in ("/no/such/folder/log", "/"):
            with self.subTest(path=path), started("all", UCX_LOG_FILE=path, UCX_TLSS="1", count=1) as (peer,):
                peer.ok("destroy")
                self.assertEqual(peer.quit(), 0)
                self.assertEqual(len(peer.lines(f'"{path}"')), 1, peer.log())
                self.assertEqual(len(peer.lines("UCX_TLSS")), 1, peer.log())

    def test_log_file_that_is_full(self):
        with started("all", UCX_LOG_FILE="/dev/full", UCX_TLSS="1", count=1) as (peer,):
            peer.ok("destroy")
            self.assertEqual(peer.quit(), 0)
            self.assertEqual(len(peer.lines("UCX_TLSS")), 1, peer.log())
