// Conformance: get_zcopy and put_zcopy move the right bytes and no others.
#include <sys/mman.h>

#include "test/conformance/support/accessible_memory.hpp"
#include "test/conformance/support/suite.hpp"
#include "ucs/memory/mapped.hpp"
#include "ucs/random/seeded.hpp"

namespace conformance {

namespace {

// The content of the local pieces and of the remote block of one operation, with guard bytes around
// them that must not change.
struct pattern_blocks {
    pattern_blocks(std::size_t length, std::size_t piece_count, std::uint32_t seed)
        : remote(length + 2 * guard), local(length + piece_count * guard) {
        ucs::sys::random dice(seed);
        for (std::byte& each : remote)
            each = static_cast<std::byte>(dice.next());
        for (std::byte& each : local)
            each = static_cast<std::byte>(dice.next());
        std::size_t offset = 0;
        std::size_t rest = length;
        for (std::size_t i = 0; i < piece_count; ++i) {
            const std::size_t piece_length =
                i + 1 == piece_count ? rest : static_cast<std::size_t>(dice.below(rest + 1));
            pieces.push_back({offset, piece_length});
            offset += piece_length + guard;
            rest -= piece_length;
        }
    }

    // The expected result of a copy.
    void copy(bool is_get) {
        std::byte* there = remote.data() + guard;
        for (const auto& [offset, length] : pieces) {
            if (length == 0) continue;
            std::byte* const own = local.data() + offset;
            std::memcpy(is_get ? own : there, is_get ? there : own, length);
            there += length;
        }
    }

    static constexpr std::size_t guard = 16;
    struct piece {
        std::size_t offset;  // in `local`
        std::size_t length;
    };
    bytes remote;
    bytes local;
    std::vector<piece> pieces;
};

// The same in memory of the kinds of the environment.
struct blocks {
    static constexpr std::size_t guard = pattern_blocks::guard;

    blocks(network& net, const pattern_blocks& content)
        : remote(net.remote_block(content.remote)), local(net.local_block(content.local)) {
        for (const auto& [offset, length] : content.pieces)
            pieces.push_back({local.data() + offset, length});
    }
    blocks(network& net, std::size_t length, std::size_t piece_count, std::uint32_t seed)
        : blocks(net, pattern_blocks(length, piece_count, seed)) {}

    [[nodiscard]] bool holds(const pattern_blocks& wanted) const {
        return local.content() == wanted.local && remote.content() == wanted.remote;
    }

    const test::memory_block remote;
    const test::memory_block local;
    std::vector<uct::iov> pieces;
};

// Makes the remote block of the second side accessible to the first one.
accessible_memory reach(network& net, const blocks& data) {
    return {net.at(1), net.at(0), data.remote.span()};
}

ucs_status_t transfer(network& net, uct::ep& via, bool is_get, const blocks& data,
                      const accessible_memory& there, counted& done) {
    return retry(net, [&] {
        return is_get ? via.get_zcopy(data.pieces, there.at(blocks::guard), &done)
                      : via.put_zcopy(data.pieces, there.at(blocks::guard), &done);
    });
}

// Moves a whole piece to or from the begin of remote memory.
void move(network& net, uct::ep& via, bool is_get, const uct::iov& piece,
          const accessible_memory& there) {
    finish(net, [&](uct::completion* done) {
        return is_get ? via.get_zcopy({&piece, 1}, there.at(0), done)
                      : via.put_zcopy({&piece, 1}, there.at(0), done);
    });
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
            pattern_blocks wanted(length, pieces, ++seed);
            const blocks actual(net, wanted);
            wanted.copy(is_get);
            const accessible_memory there = reach(net, actual);
            done.push_back(std::make_unique<counted>());
            const ucs_status_t status = transfer(net, *via, is_get, actual, there, *done.back());
            REQUIRE(wait_for(net, status, *done.back()) == UCS_OK);
            CHECK(done.back()->calls == (status == UCS_INPROGRESS ? 1U : 0U));
            CHECK(actual.holds(wanted));
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

CONFORMANCE_CASE(put_and_tell, "a message after a put arrives after all of its data",
                 needs::put_zcopy | needs::keyed | needs::messages) {
    const auto via = a.connect(b);
    std::size_t found = 0;
    std::vector<std::unique_ptr<blocks>> all;
    std::vector<std::unique_ptr<pattern_blocks>> wanted;
    std::vector<std::unique_ptr<accessible_memory>> there;
    std::vector<std::unique_ptr<counted>> done;
    b.on_message = [&](const received& message) {
        const bool whole = message.data.size() == 1 + found % uct::ep::max_notification &&
                           all[found]->remote.content() == wanted[found]->remote;
        REQUIRE(whole);
        ++found;
    };
    constexpr std::uint32_t count = 60;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::size_t length = lengths_to_try[i % std::size(lengths_to_try)];
        const std::size_t pieces = i % 2 == 0 ? 1 : std::min<std::size_t>(3, a.attr().max_iov);
        wanted.push_back(std::make_unique<pattern_blocks>(length, pieces, i));
        all.push_back(std::make_unique<blocks>(net, *wanted.back()));
        wanted.back()->copy(false);
        there.push_back(std::make_unique<accessible_memory>(reach(net, *all.back())));
        done.push_back(std::make_unique<counted>());
        bytes word(1 + i % uct::ep::max_notification, std::byte{5});
        const ucs_status_t status = retry(net, [&] {
            const ucs_status_t put = via->put_zcopy_and_notify(
                all.back()->pieces, there.back()->at(blocks::guard), 1, word, done.back().get());
            std::ranges::fill(word, std::byte{5});  // the message was copied in the call
            return put;
        });
        REQUIRE(status == UCS_INPROGRESS);
    }
    REQUIRE(net.run_until([&] {
        return found == count &&
               std::ranges::all_of(done, [](const auto& each) { return each->calls == 1; });
    }));
    for (const auto& each : done)
        CHECK(each->result == UCS_OK);
    const bytes longer(uct::ep::max_notification + 1);
    CHECK(via->put_zcopy_and_notify(all[0]->pieces, there[0]->at(blocks::guard), 1, longer,
                                    nullptr) == UCS_ERR_INVALID_PARAM);
}

CONFORMANCE_CASE(refused_peer,
                 "a refused get or put returns UCS_ERR_UNSUPPORTED and changes nothing",
                 needs::refused_memory) {
    net.where().refuse_rma_of_first_pair();
    const auto via = a.connect(b);
    for (const bool is_get : {true, false}) {
        if (!a.attr().ops.has(is_get ? uct::op::get_zcopy : uct::op::put_zcopy)) continue;
        const pattern_blocks untouched(100, 1, 5);
        const blocks actual(net, untouched);
        counted done;
        CHECK(transfer(net, *via, is_get, actual, reach(net, actual), done) == UCS_ERR_UNSUPPORTED);
        net.settle();
        CHECK(done.calls == 0);
        CHECK(actual.holds(untouched));
    }
}

CONFORMANCE_CASE(bad_remote_address, "get and put of unmapped remote memory fail with an error",
                 needs::checked_memory) {
    for (const bool is_get : {true, false}) {
        if (!a.attr().ops.has(is_get ? uct::op::get_zcopy : uct::op::put_zcopy)) continue;
        const auto via = a.connect(b);
        const auto memory = net.remote_block(bytes(64));
        const accessible_memory there(b, a, memory.span());
        uct::remote_place nowhere = there.at(0);
        nowhere.address = 4096;
        std::uint64_t word = 0;
        const uct::iov piece{&word, sizeof word};
        counted done;
        const ucs_status_t status = is_get ? via->get_zcopy({&piece, 1}, nowhere, &done)
                                           : via->put_zcopy({&piece, 1}, nowhere, &done);
        if (status == UCS_INPROGRESS) {
            REQUIRE(net.run_until([&] { return done.calls == 1; }));
            CHECK(done.result < 0);
        } else {
            CHECK(status < 0);
        }
    }
}

CONFORMANCE_CASE(rma_and_flush, "flush ends after every get and put before it", needs::put_zcopy) {
    constexpr std::size_t count = 20;
    std::vector<std::unique_ptr<blocks>> all;
    std::vector<std::unique_ptr<accessible_memory>> there;
    std::vector<std::unique_ptr<counted>> done;
    counted flushed;
    const auto via = a.connect(b);
    for (std::uint32_t i = 0; i < count; ++i) {
        all.push_back(std::make_unique<blocks>(net, 5000, 1, i));
        there.push_back(std::make_unique<accessible_memory>(reach(net, *all[i])));
        done.push_back(std::make_unique<counted>());
        const ucs_status_t status = transfer(net, *via, false, *all[i], *there[i], *done[i]);
        REQUIRE((status == UCS_OK || status == UCS_INPROGRESS));
    }
    REQUIRE(wait_for(net, via->flush(&flushed), flushed) == UCS_OK);
    for (std::uint32_t i = 0; i < count; ++i) {
        pattern_blocks wanted(5000, 1, i);
        wanted.copy(false);
        CHECK(all[i]->holds(wanted));
    }
}

CONFORMANCE_CASE(put_and_get_copied, "copied puts and gets of every length move the right bytes",
                 needs::put_short | needs::put_bcopy | needs::get_bcopy) {
    const auto via = a.connect(b);
    const std::size_t longest =
        std::max({a.attr().max_put_short, a.attr().max_put_bcopy, a.attr().max_get_bcopy});
    const auto memory = net.remote_block(bytes(longest + 2 * blocks::guard, std::byte{0x11}));
    const accessible_memory there(b, a, memory.span());
    struct packed {
        const bytes* from;
        static std::size_t pack(void* arg, void* into, std::size_t capacity) {
            const bytes& from = *static_cast<packed*>(arg)->from;
            REQUIRE(from.size() <= capacity);
            std::copy(from.begin(), from.end(), static_cast<std::byte*>(into));
            return from.size();
        }
    };
    std::uint32_t number = 0;
    for (const std::size_t length : lengths_to_try) {
        for (const uct::op which : {uct::op::put_short, uct::op::put_bcopy}) {
            const bool is_short = which == uct::op::put_short;
            if (length > (is_short ? a.attr().max_put_short : a.attr().max_put_bcopy)) continue;
            CAPTURE(length, is_short);
            const bytes kept = make_message({7, ++number}, length);
            auto sent = net.local_block(kept);
            finish(net, [&](uct::completion*) -> ucs_status_t {
                if (is_short) return via->put_short(sent.data(), length, there.at(blocks::guard));
                packed packed_data{&kept};
                const ssize_t put =
                    via->put_bcopy(packed::pack, &packed_data, there.at(blocks::guard));
                if (put >= 0) CHECK(static_cast<std::size_t>(put) == length);
                return put < 0 ? static_cast<ucs_status_t>(put) : UCS_OK;
            });
            sent.write(bytes(length, std::byte{0xee}));
            finish(net, [&](uct::completion* done) { return via->flush(done); });
            const bytes written = memory.content();
            const bool same = std::equal(kept.begin(), kept.end(), written.begin() + blocks::guard);
            CHECK(same);
            CHECK(written.front() == std::byte{0x11});
            CHECK(written.back() == std::byte{0x11});
            if (length > a.attr().max_get_bcopy) continue;
            const auto got = net.local_block(bytes(length + 1, std::byte{0x33}));
            finish(net, [&](uct::completion* done) {
                return via->get_bcopy(got.data(), length, there.at(blocks::guard), done);
            });
            const bytes found = got.content();
            const bool read = std::equal(kept.begin(), kept.end(), found.begin());
            CHECK(read);
            CHECK(found.back() == std::byte{0x33});
        }
    }
}

CONFORMANCE_CASE(remapped,
                 "memory that is unmapped and mapped again between operations has its new content",
                 needs::put_zcopy | needs::get_zcopy) {
    const auto via = a.connect(b);
    const std::size_t length = std::min<std::size_t>(a.attr().max_rma, 1 << 18);
    auto remote = net.remote_block(bytes(length));
    const accessible_memory there(b, a, remote.span());
    const auto finish = [&](bool is_get, std::byte* local) {
        move(net, *via, is_get, {local, length}, there);
    };
    void* wanted = nullptr;
    for (std::uint32_t round = 1; round <= 4; ++round) {
        // Always at the same address.
        const int fixed = wanted == nullptr ? 0 : MAP_FIXED_NOREPLACE;
        void* const mapped = ::mmap(wanted, length, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
        REQUIRE(mapped != MAP_FAILED);
        wanted = mapped;
        auto* const local = static_cast<std::byte*>(mapped);
        const bytes sent = make_message({3, round}, length);
        std::memcpy(local, sent.data(), length);
        finish(false, local);
        CHECK(remote.content() == sent);
        const bytes answer = make_message({4, round}, length);
        remote.write(answer);
        finish(true, local);
        const bool read = std::equal(answer.begin(), answer.end(), local);
        CHECK(read);
        REQUIRE(::munmap(mapped, length) == 0);
    }
}

CONFORMANCE_CASE(constants,
                 "read-only memory can be put, and a get can change it once it is writable",
                 needs::put_zcopy | needs::get_zcopy) {
    const auto via = a.connect(b);
    const std::size_t length = std::min<std::size_t>(a.attr().max_rma, 10'000);
    auto remote = net.remote_block(bytes(length));
    const accessible_memory there(b, a, remote.span());
    const bytes sent = make_message({3, 1}, length);
    auto pages = ucs::memory::mapped::anonymous(length);
    REQUIRE(pages);
    std::copy(sent.begin(), sent.end(), pages->data());
    REQUIRE(::mprotect(pages->data(), pages->size(), PROT_READ) == 0);
    move(net, *via, false, {pages->data(), length}, there);
    CHECK(remote.content() == sent);
    const bytes answer = make_message({4, 1}, length);
    remote.write(answer);
    REQUIRE(::mprotect(pages->data(), pages->size(), PROT_READ | PROT_WRITE) == 0);
    move(net, *via, true, {pages->data(), length}, there);
    const bool read = std::equal(answer.begin(), answer.end(), pages->data());
    CHECK(read);
}

}  // namespace conformance
