// Conformance: access to memory by keys. Each violation ends its own operation and its own
// endpoint, changes nothing, and affects no other endpoint.

#include "test/conformance/support/accessible_memory.hpp"
#include "test/conformance/support/suite.hpp"
#include "test/support/log_capture.hpp"

namespace conformance {

namespace {

constexpr std::size_t length = 64;

enum class access : std::uint8_t {
    put_short,
    put_bcopy,
    put_zcopy,
    get_bcopy,
    get_zcopy,
    atomic,
    atomic_by_swaps  // of 32 bits, which no device supports directly
};
constexpr access all_accesses[] = {access::put_short,      access::put_bcopy, access::put_zcopy,
                                   access::get_bcopy,      access::get_zcopy, access::atomic,
                                   access::atomic_by_swaps};

bool changes(access which) {
    return which != access::get_bcopy && which != access::get_zcopy;
}
bool is_atomic(access which) {
    return which == access::atomic || which == access::atomic_by_swaps;
}

// Two interfaces, memory of the second one with a known content, and a pair of endpoints that never
// violates anything.
struct scene {
    explicit scene(network& n)
        : net(n),
          a(n.at(0)),
          b(n.at(1)),
          memory(static_cast<std::byte*>(std::aligned_alloc(4096, 4096))),
          good_memory(64, std::byte{0x42}),
          good_key(b, a, good_memory),
          good(a.connect(b)),
          out(n) {
        std::fill_n(memory.get(), 4096, std::byte{0x5a});
    }
    // In the middle of a page, so that the memory around it is accessible to the owner, too.
    [[nodiscard]] std::span<std::byte> block() const { return {memory.get() + 1024, length}; }

    // Returns how the operation ended, on an endpoint of its own.
    ucs_status_t attempt(access which, const uct::remote_place& where, std::size_t size) {
        via = a.connect(b);
        counted done;
        const ucs_status_t started = retry(net, [&] { return start(which, where, size, done); });
        if (started != UCS_OK && started != UCS_INPROGRESS) return started;
        counted flushed;
        const ucs_status_t flush = wait_for(net, via->flush(&flushed), flushed);
        if (flush == UCS_ERR_TIMED_OUT || started == UCS_OK) return flush;
        return wait_for(net, started, done);
    }

    // Checks that the device refused: the endpoint fails with that status, once, and nothing was
    // changed.
    void check_refused(access which, const uct::remote_place& where, std::size_t size = length) {
        CAPTURE(static_cast<int>(which));
        const std::size_t failures = a.failures.size();
        CHECK(attempt(which, where, size) == UCS_ERR_INVALID_ADDR);
        REQUIRE(net.run_until([&] { return a.failures.size() == failures + 1; }));
        CHECK(a.failures.back().which == via.get());
        CHECK(a.failures.back().status == UCS_ERR_INVALID_ADDR);
        CHECK(via->flush(nullptr) == UCS_ERR_INVALID_ADDR);
        check_untouched();
    }
    void check_untouched() const {
        CHECK(std::all_of(memory.get(), memory.get() + 4096,
                          [](std::byte each) { return each == std::byte{0x5a}; }));
    }
    // The well-behaved endpoint still carries messages and accesses memory.
    void check_others() {
        const std::uint32_t number = ++messages;
        const uct::op which = message_ops(a.attr()).front();
        REQUIRE(out.send(a, *good, which, 1, make_message({9, number}, 16)));
        REQUIRE(net.run_until([&] { return b.count(9) == number; }));
        bytes got(good_memory.size());
        counted done;
        const ucs_status_t started = retry(
            net, [&] { return good->get_bcopy(got.data(), got.size(), good_key.at(0), &done); });
        REQUIRE(started == UCS_INPROGRESS);
        REQUIRE(wait_for(net, started, done) == UCS_OK);
        CHECK(got == good_memory);
    }

    network& net;
    side& a;
    side& b;
    struct free_memory {
        void operator()(std::byte* pointer) const { std::free(pointer); }
    };
    std::unique_ptr<std::byte, free_memory> memory;
    bytes good_memory;
    accessible_memory good_key;
    std::unique_ptr<uct::ep> good;
    std::unique_ptr<uct::ep> via;
    sender out;
    std::uint32_t messages = 0;
    std::array<std::byte, 2 * length> local{};
    std::uint64_t before = 0;
    const test::log_capture log{};  // of the refusals

private:
    ucs_status_t start(access which, const uct::remote_place& where, std::size_t size,
                       counted& done) {
        const uct::iov piece{local.data(), size};
        switch (which) {
            case access::put_short:
                return via->put_short(local.data(), std::min(size, a.attr().max_put_short), where);
            case access::put_bcopy: {
                const ssize_t put = via->put_bcopy(
                    [](void* arg, void* into, std::size_t) {
                        const std::size_t count = *static_cast<std::size_t*>(arg);
                        std::memset(into, 0, count);
                        return count;
                    },
                    &size, where);
                return put < 0 ? static_cast<ucs_status_t>(put) : UCS_OK;
            }
            case access::put_zcopy:
                return via->put_zcopy({&piece, 1}, where, &done);
            case access::get_bcopy:
                return via->get_bcopy(local.data(), size, where, &done);
            case access::get_zcopy:
                return via->get_zcopy({&piece, 1}, where, &done);
            case access::atomic:
                return via->atomic({uct::atomic_kind::add, 8, 1, 0}, where, &before, &done);
            case access::atomic_by_swaps:
                break;
        }
        return via->atomic({uct::atomic_kind::add, 4, 1, 0}, where, &before, &done);
    }
};

constexpr unsigned needed = needs::keyed | needs::two_sides | needs::messages | needs::put_short |
                            needs::put_bcopy | needs::put_zcopy | needs::get_bcopy |
                            needs::get_zcopy | needs::atomics;

// Memory of the second side, accessed by a peer that forges its keys.
struct forged {
    forged(scene& in, uct::memory_access allowed) {
        auto made = in.b.iface().domain()->share(in.block(), allowed);
        REQUIRE(made.ok());
        owner = std::move(*made);
    }
    // The key of a device (uct/ib/base/memory/domain.cpp) with one byte changed. Returns nullptr if
    // it is refused.
    std::unique_ptr<uct::remote_memory> with(side& user, std::size_t position,
                                             std::byte flipped) const {
        bytes key(owner.key);
        key.at(position) ^= flipped;
        auto found = user.iface().domain()->attach(key, uct::memory_access::change);
        return found.ok() ? std::move(*found) : nullptr;
    }
    uct::shared_memory owner;
    static constexpr std::size_t number_at =
        16;  // the 4 bytes by which the device identifies the memory
    static constexpr std::size_t access_at = 21;
};

// Attaches a key and claims that it gives the right to change all of the page.
std::unique_ptr<uct::remote_memory> claimed(side& user, std::span<const std::byte> key,
                                            std::span<std::byte> all) {
    const auto base = reinterpret_cast<std::uint64_t>(all.data());
    const std::uint64_t size = all.size();
    bytes lie(key.begin(), key.end());
    std::memcpy(lie.data(), &base, sizeof base);
    std::memcpy(lie.data() + 8, &size, sizeof size);
    lie.at(forged::access_at) = std::byte{1};
    auto found = user.iface().domain()->attach(lie, uct::memory_access::change);
    REQUIRE(found.ok());
    return std::move(*found);
}

}  // namespace

CONFORMANCE_CASE(wrong_key, "operations with an unknown key are refused", needed) {
    scene in(net);
    const forged keys(in, uct::memory_access::change);
    const auto place = reinterpret_cast<std::uint64_t>(in.block().data());
    std::size_t turn = 0;
    for (const access which : all_accesses) {
        const std::size_t position = forged::number_at + turn++ % 4;
        const auto there = keys.with(in.a, position, std::byte{0x21});
        REQUIRE(there != nullptr);
        in.check_refused(which, {place, there.get()});
    }
    in.check_others();
}

CONFORMANCE_CASE(outside, "operations that go beyond the memory of their key are refused", needed) {
    scene in(net);
    const accessible_memory there(in.b, in.a, in.block());
    for (const access which : all_accesses) {
        if (is_atomic(which)) {  // detected locally: the endpoint stays usable
            for (const std::uint64_t offset : {length, std::size_t{0} - 8}) {
                CHECK(in.attempt(which, there.at(offset), 8) == UCS_ERR_INVALID_ADDR);
                CHECK(in.via->flush(nullptr) == UCS_OK);
            }
            continue;
        }
        const std::size_t size = which == access::put_short ? 8 : length;
        in.check_refused(which, there.at(length - size + 1), size);
        in.check_refused(which, there.at(std::uint64_t{0} - 1), size);
    }
    in.check_others();
}

CONFORMANCE_CASE(read_only, "memory shared for reading can be read, but not changed", needed) {
    scene in(net);
    const accessible_memory there(in.b, in.a, in.block(), uct::memory_access::read);
    const forged keys(in, uct::memory_access::read);
    const auto lie = keys.with(in.a, forged::access_at, std::byte{1});
    REQUIRE(lie != nullptr);
    const uct::remote_place claimed{reinterpret_cast<std::uint64_t>(in.block().data()), lie.get()};
    for (const access which : all_accesses) {
        CAPTURE(static_cast<int>(which));
        if (!changes(which)) {
            in.local.fill(std::byte{0});
            CHECK(in.attempt(which, there.at(0), length) == UCS_OK);
            CHECK(std::equal(in.block().begin(), in.block().end(), in.local.begin()));
            continue;
        }
        if (is_atomic(which)) {
            CHECK(in.attempt(which, there.at(0), 8) == UCS_ERR_REJECTED);
            CHECK(in.via->flush(nullptr) == UCS_OK);
        } else {
            in.check_refused(which, there.at(0));
        }
        // The owner's device enforces the rights, whatever the key claims.
        in.check_refused(which, claimed);
    }
    in.check_others();
}

CONFORMANCE_CASE(withdrawn,
                 "memory that is not shared any more is inaccessible, and can be shared again",
                 needed) {
    scene in(net);
    accessible_memory there(in.b, in.a, in.block());
    CHECK(in.attempt(access::get_bcopy, there.at(0), length) == UCS_OK);
    there.withdraw();
    const accessible_memory again(in.b, in.a, in.block());
    for (const access which : all_accesses)
        in.check_refused(which, there.at(0));
    CHECK(in.attempt(access::get_zcopy, again.at(0), length) == UCS_OK);
    CHECK(std::equal(in.block().begin(), in.block().end(), in.local.begin()));
    in.check_others();
}

// The owner has used the pages around the memory in both ways, which must give no access.
CONFORMANCE_CASE(
    exposed,
    "exposed memory is accessible to its last byte, in one direction, until it is withdrawn",
    needed) {
    scene in(net);
    uct::memory_domain& owner = *in.b.iface().domain();
    const std::span<std::byte> page{in.memory.get(), 4096};
    for (const access operation : {access::get_zcopy, access::put_zcopy}) {
        const bool writes = changes(operation);
        CAPTURE(writes);
        const access other = writes ? access::get_zcopy : access::put_zcopy;
        for (const uct::memory_access each : {uct::memory_access::change, uct::memory_access::read})
            REQUIRE(owner.expose(page, each).ok());
        REQUIRE(owner.prepare(page, uct::memory_access::change) == UCS_OK);
        const auto allowed = writes ? uct::memory_access::change : uct::memory_access::read;
        const auto expose = [&] {
            auto made = owner.expose(in.block(), allowed);
            REQUIRE(made.ok());
            return std::move(*made);
        };
        uct::shared_memory lent = expose();
        const auto there = claimed(in.a, lent.key, page);
        const auto begin = reinterpret_cast<std::uint64_t>(in.block().data());
        in.local.fill(std::byte{0x5a});
        CHECK(in.attempt(operation, {begin, there.get()}, length) == UCS_OK);
        in.local.fill(std::byte{0});
        in.check_refused(operation, {begin - 1, there.get()});
        in.check_refused(operation, {begin + 1, there.get()});
        in.check_refused(other, {begin, there.get()});
        lent = {};
        in.check_refused(operation, {begin, there.get()});
        lent = expose();
        in.check_refused(operation, {begin, there.get()});
        const auto again = claimed(in.a, lent.key, page);
        in.local.fill(std::byte{0x5a});
        CHECK(in.attempt(operation, {begin, again.get()}, length) == UCS_OK);
    }
    in.check_others();
}

CONFORMANCE_CASE(aborted, "no peer can access memory over an aborted endpoint", needed) {
    scene in(net);
    const accessible_memory there(in.b, in.a, in.block());
    for (const bool puts : {true, false}) {
        in.via = in.a.connect(in.b);
        const uct::op which = message_ops(in.a.attr()).front();
        const std::uint32_t stream = puts ? 1 : 2;
        REQUIRE(in.out.send(in.a, *in.via, which, 1, make_message({stream, 0}, 16)));
        REQUIRE(net.run_until([&] { return in.b.count(stream) == 1; }));
        in.b.newest_partner().abort();
        CHECK(in.b.newest_partner().flush(nullptr) == UCS_ERR_CANCELED);
        counted done;
        const uct::iov piece{in.local.data(), length};
        const uct::remote_place where = there.at(0);
        const ucs_status_t started = retry(net, [&] {
            return puts ? in.via->put_zcopy({&piece, 1}, where, &done)
                        : in.via->get_zcopy({&piece, 1}, where, &done);
        });
        REQUIRE(started == UCS_INPROGRESS);
        REQUIRE(net.run_until([&] { return done.calls == 1; }));
        CHECK(done.result != UCS_OK);
        in.check_untouched();
        CHECK(std::ranges::all_of(in.local, [](std::byte each) { return each == std::byte{}; }));
    }
    in.check_others();
}

CONFORMANCE_CASE(misaligned, "misaligned atomic operations are refused, and do no harm", needed) {
    scene in(net);
    const accessible_memory there(in.b, in.a, in.block());
    for (const std::uint64_t offset : {1U, 4U, 7U}) {
        CHECK(in.attempt(access::atomic, there.at(offset), 8) == UCS_ERR_INVALID_PARAM);
        CHECK(in.via->flush(nullptr) == UCS_OK);
    }
    CHECK(in.attempt(access::atomic_by_swaps, there.at(2), 4) == UCS_ERR_INVALID_PARAM);
    in.check_untouched();
    CHECK(in.a.failures.empty());
    in.check_others();
}

}  // namespace conformance
