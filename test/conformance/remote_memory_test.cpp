// get_zcopy and put_zcopy move the right bytes and no others.
#include <array>

#include "test/conformance/support/suite.hpp"
#include "uct/sim/random.hpp"

namespace conformance {

namespace {

// Local pieces and the remote block of one operation, with bytes around them that must not change.
struct blocks {
    blocks(std::size_t length, std::size_t piece_count, std::uint32_t seed)
        : remote(length + 2 * guard), local(length + piece_count * guard) {
        uct::sim::random dice(seed);
        for (std::byte& each : remote)
            each = static_cast<std::byte>(dice.next());
        for (std::byte& each : local)
            each = static_cast<std::byte>(dice.next());
        std::size_t at = 0;
        std::size_t rest = length;
        for (std::size_t i = 0; i < piece_count; ++i) {
            const std::size_t here =
                i + 1 == piece_count ? rest : static_cast<std::size_t>(dice.below(rest + 1));
            pieces.push_back({local.data() + at, here});
            at += here + guard;
            rest -= here;
        }
    }

    std::uint64_t remote_address() {
        return reinterpret_cast<std::uintptr_t>(remote.data() + guard);
    }

    // What the target of a copy must look like afterwards.
    void copy(bool is_get) {
        std::byte* there = remote.data() + guard;
        for (const uct::iov& piece : pieces) {
            if (piece.length == 0) continue;
            if (is_get) {
                std::memcpy(piece.base, there, piece.length);
            } else {
                std::memcpy(there, piece.base, piece.length);
            }
            there += piece.length;
        }
    }

    static constexpr std::size_t guard = 16;
    bytes remote;
    bytes local;
    std::vector<uct::iov> pieces;
};

ucs_status_t transfer(network& net, uct::ep& via, bool is_get, blocks& what, counted& done) {
    ucs_status_t status = UCS_OK;
    const bool over = net.run_until([&] {
        status = is_get ? via.get_zcopy(what.pieces, what.remote_address(), &done)
                        : via.put_zcopy(what.pieces, what.remote_address(), &done);
        return status != UCS_ERR_NO_RESOURCE;
    });
    return over ? status : UCS_ERR_TIMED_OUT;
}

constexpr std::size_t lengths_to_try[] = {0, 1, 7, 8, 4095, 4096, 4097, 65536, 1048576};

void check_transfer(network& net, uct::op which) {
    side& a = net.at(0);
    const bool is_get = which == uct::op::get_zcopy;
    std::vector<std::unique_ptr<counted>> done;
    const auto via = a.connect(net.at(1));
    std::uint32_t seed = 0;
    for (const std::size_t length : lengths_to_try) {
        for (const std::size_t pieces : std::array<std::size_t, 3>{1, 3, a.attr().max_iov}) {
            if (pieces > a.attr().max_iov || length > a.attr().max_rma) continue;
            CAPTURE(length, pieces);
            blocks actual(length, pieces, ++seed);
            blocks wanted(length, pieces, seed);
            wanted.copy(is_get);
            done.push_back(std::make_unique<counted>());
            const ucs_status_t status = transfer(net, *via, is_get, actual, *done.back());
            REQUIRE((status == UCS_OK || status == UCS_INPROGRESS));
            if (status == UCS_INPROGRESS) {
                REQUIRE(net.run_until([&] { return done.back()->told == 1; }));
                CHECK(done.back()->result == UCS_OK);
            } else {
                CHECK(done.back()->told == 0);
            }
            const bool same = actual.local == wanted.local && actual.remote == wanted.remote;
            CHECK(same);
        }
    }
}

}  // namespace

CONFORMANCE_CASE(get, "get_zcopy reads every byte of any list of pieces", needs::get_zcopy) {
    check_transfer(net, uct::op::get_zcopy);
}

CONFORMANCE_CASE(put, "put_zcopy writes every byte of any list of pieces", needs::put_zcopy) {
    check_transfer(net, uct::op::put_zcopy);
}

CONFORMANCE_CASE(refused_peer, "a refused get or put says unsupported and touches nothing",
                 needs::refused_memory) {
    side& a = net.at(0);
    side& b = net.at(1);
    net.where().refuse_rma_of_first_pair();
    const auto via = a.connect(b);
    for (const bool is_get : {true, false}) {
        if (!a.attr().ops.has(is_get ? uct::op::get_zcopy : uct::op::put_zcopy)) continue;
        blocks actual(100, 1, 5);
        const blocks untouched(100, 1, 5);
        counted done;
        CHECK(transfer(net, *via, is_get, actual, done) == UCS_ERR_UNSUPPORTED);
        net.settle();
        CHECK(done.told == 0);
        CHECK(actual.local == untouched.local);
        CHECK(actual.remote == untouched.remote);
    }
}

CONFORMANCE_CASE(bad_remote_address, "get and put of unmapped remote memory fail with an error",
                 needs::checked_memory) {
    side& a = net.at(0);
    const auto via = a.connect(net.at(1));
    for (const bool is_get : {true, false}) {
        if (!a.attr().ops.has(is_get ? uct::op::get_zcopy : uct::op::put_zcopy)) continue;
        std::uint64_t word = 0;
        const uct::iov piece{&word, sizeof word};
        counted done;
        const ucs_status_t status = is_get ? via->get_zcopy({&piece, 1}, 4096, &done)
                                           : via->put_zcopy({&piece, 1}, 4096, &done);
        if (status == UCS_INPROGRESS) {
            REQUIRE(net.run_until([&] { return done.told == 1; }));
            CHECK(done.result < 0);
        } else {
            CHECK(status < 0);
        }
    }
}

CONFORMANCE_CASE(rma_and_flush, "flush ends after every get and put before it", needs::put_zcopy) {
    side& a = net.at(0);
    constexpr std::size_t count = 20;
    std::vector<std::unique_ptr<blocks>> all;
    std::vector<std::unique_ptr<counted>> done;
    counted flushed;
    const auto via = a.connect(net.at(1));
    for (std::uint32_t i = 0; i < count; ++i) {
        all.push_back(std::make_unique<blocks>(5000, 1, i));
        done.push_back(std::make_unique<counted>());
        const ucs_status_t status = transfer(net, *via, false, *all[i], *done[i]);
        REQUIRE((status == UCS_OK || status == UCS_INPROGRESS));
    }
    const ucs_status_t status = via->flush(&flushed);
    REQUIRE((status == UCS_OK || status == UCS_INPROGRESS));
    if (status == UCS_INPROGRESS) REQUIRE(net.run_until([&] { return flushed.told == 1; }));
    for (std::uint32_t i = 0; i < count; ++i) {
        blocks wanted(5000, 1, i);
        wanted.copy(false);
        const bool same = wanted.remote == all[i]->remote;
        CHECK(same);
    }
}

}  // namespace conformance
