"""Tests ucp_ep_create with worker addresses that are damaged, or that another library wrote."""

import itertools
import random
import struct

from harness import TRANSPORTS, Case, Peer, connect, init, started

# A shortened worker address of OpenUCX 1.13 with one tcp interface: version 0 in the low nibble, its flags, its random
# uid, then devices. Any format other than Hawser's serves the test.
FOREIGN = ("00b3a48f2c1d7e6605f08b7f0000018a12050a00023a7f000001000000000000000000000000000000"
           "0a4b7f000001ffff02200804d2")


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def sealed(address):
    """Corrects the checksums of an address, so that the reader goes on to its fields. See ucp/address/wire.hpp."""
    packed = bytearray(address)
    packed[3] = packed[0] ^ packed[1] ^ packed[2] ^ packed[4] ^ packed[5] ^ 0xA5
    packed[6:10] = struct.pack("<I", crc32c(packed[:6] + packed[10:]))
    return bytes(packed)


class Addresses(Case):
    def refused(self, peer, address):
        answer = peer.ask(f"ep 5 peer {address.hex()}")
        self.assertRegex(answer, "^error (Address not valid|Unsupported operation|Invalid parameter)")

    def test_truncated_damaged_and_foreign(self):
        dice = random.Random(7)
        with Peer("posix,tcp,self", UCX_LOG_REPEATS="inf") as peer, Peer("posix,tcp,self") as other:
            init(peer, other)
            good = bytes.fromhex(other.address)
            # The reader reads as many bytes as the address states, so zeros must replace the bytes that are cut off.
            for length in (0, 1, 9, 10, 11, len(good) // 2, len(good) - 1):
                self.refused(peer, good[:length] + bytes(1024 - length))
            for _ in range(200):
                bit = dice.randrange(len(good) * 8)
                damaged = bytearray(good)
                damaged[bit // 8] ^= 1 << bit % 8
                self.refused(peer, bytes(damaged) + bytes(1024))
            self.refused(peer, bytes.fromhex(FOREIGN) + bytes(1024))
            for _ in range(50):
                self.refused(peer, dice.randbytes(1100))
            self.assertGreaterEqual(len(peer.lines(" error ")), 1, peer.log()[:2000])
            # There is one log line for each of the 7 + 200 + 1 + 50 refusals, and the worker stays usable.
            self.assertEqual(len(peer.lines()), 258)
            connect(peer, other)
            self.exchange(peer, 0, other, 0, 10)

    def test_padding_is_tolerated(self):
        with started("tcp,self") as (peer, other):
            other.address += "00" * 500
            connect(peer, other)
            self.exchange(peer, 0, other, 0, 10)

    def test_nonsense_with_right_checks(self):
        """An address with damaged fields and correct checksums is refused, or gives an endpoint that may not reach the
        worker. An endpoint with the undamaged address still works."""
        for tls in TRANSPORTS:
            dice = random.Random(tls)
            with self.subTest(tls=tls), Peer(tls) as peer, Peer(tls) as other:
                before = peer.descriptors()
                init(peer, other)
                good = bytes.fromhex(other.address)
                for number in range(1, 31):
                    damaged = bytearray(good)
                    for _ in range(dice.choice((1, 2, 8))):
                        damaged[dice.randrange(10, len(damaged))] = dice.randrange(256)
                    answer = peer.ask(f"ep {number} peer {sealed(damaged).hex()}")
                    if answer.startswith("ok"):
                        peer.ok(f"send s{number} {number} 1 8 1 1")
                peer.ok("progress 0.5")
                connect(peer, other)
                self.exchange(peer, 0, other, 0, 10)
                for number in range(1, 31):
                    peer.ask(f"close {number} force 5")
                self.leave(peer, other, before=before)

    def test_good_address_after_a_wrong_one(self):
        """A wrong address of a worker must not damage endpoints with its correct address."""
        # The public key behind its first 8 bytes, which are the uid (every other byte is tested); then the flags, the
        # name and the first interface.
        key = range(18, 42, 2)
        place = range(42, 64)
        for tls, damage in itertools.product(("posix,self", "sm,self"), (key, place)):
            with self.subTest(tls=tls, damage=damage), started(tls) as (peer, other):
                good = bytes.fromhex(other.address)
                for offset in damage:
                    damaged = bytearray(good)
                    damaged[offset] ^= 0x10
                    answer = peer.ask(f"ep 1 peer {sealed(damaged).hex()}")
                    if not answer.startswith("ok"):
                        continue
                    peer.ok(f"send w{offset} 1 1 8 1 1")
                    if damage is place:  # with a wrong key no worker replies, so the send does not end
                        peer.wait(f"w{offset}")
                    connect(peer, other)
                    with self.subTest(byte=offset):
                        self.exchange(peer, 0, other, 0, 2 * offset, count=2)
                    for each, number in ((peer, 1), (peer, 0), (other, 0)):
                        each.ok(f"close {number} force 5")
                for each in (peer, other):
                    each.ok("destroy")
                self.assertEqual((peer.quit(), other.quit()), (0, 0))
