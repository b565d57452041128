// Conformance: atomic operations change the right word exactly once, with concurrent users.
#include <atomic>
#include <thread>

#include "test/conformance/support/suite.hpp"
#include "test/support/log_capture.hpp"

namespace conformance {

namespace {

constexpr std::size_t words = 4;

// Memory of the second side that the first side can access.
struct target {
    explicit target(network& net, uct::memory_access wanted = uct::memory_access::change)
        : owner(share(net.at(1))),
          there(reach(net.at(0), owner, wanted)),
          via(net.at(0).connect(net.at(1))) {}

    static uct::shared_memory share(side& from) {
        auto made = from.iface().domain()->allocate(words * sizeof(std::uint64_t));
        REQUIRE(made.ok());
        REQUIRE(made->bytes.size() == words * sizeof(std::uint64_t));
        return std::move(*made);
    }
    static std::unique_ptr<uct::remote_memory> reach(side& from, const uct::shared_memory& source,
                                                     uct::memory_access wanted) {
        auto found = from.iface().domain()->attach(source.key, wanted);
        REQUIRE(found.ok());
        return std::move(*found);
    }

    [[nodiscard]] std::uint64_t address(std::size_t offset) const {
        return reinterpret_cast<std::uint64_t>(owner.bytes.data()) + offset;
    }
    template<class Word>
    [[nodiscard]] std::atomic_ref<Word> word(std::size_t offset) const {
        return std::atomic_ref<Word>(*reinterpret_cast<Word*>(owner.bytes.data() + offset));
    }
    ucs_status_t operate(const uct::atomic_op& change, std::size_t offset, void* before) {
        counted done;
        return via->atomic(change, {address(offset), there.get()}, before, &done);
    }

    uct::shared_memory owner;
    std::unique_ptr<uct::remote_memory> there;
    std::unique_ptr<uct::ep> via;
};

// Runs one operation and waits for its end.
ucs_status_t finish(network& net, target& on, const uct::atomic_op& change, std::size_t offset,
                    void* before) {
    counted done;
    const ucs_status_t started = retry(net, [&] {
        return on.via->atomic(change, {on.address(offset), on.there.get()}, before, &done);
    });
    return wait_for(net, started, done);
}

template<class Word>
Word after(const uct::atomic_op& op, Word was) {
    const auto operand = static_cast<Word>(op.operand);
    switch (op.kind) {
        case uct::atomic_kind::add:
            return static_cast<Word>(was + operand);
        case uct::atomic_kind::swap:
            return operand;
        case uct::atomic_kind::cswap:
            return was == operand ? static_cast<Word>(op.swap) : was;
        case uct::atomic_kind::bit_and:
            return was & operand;
        case uct::atomic_kind::bit_or:
            return was | operand;
        case uct::atomic_kind::bit_xor:
            break;
    }
    return was ^ operand;
}

template<class Word>
void check_kinds(network& net, target& on) {
    constexpr auto first = static_cast<Word>(0xf0e1d2c3b4a59687);
    constexpr std::size_t offset = sizeof(std::uint64_t);
    for (unsigned kind = 0; kind < uct::atomic_kinds; ++kind) {
        for (const std::uint64_t operand :
             {std::uint64_t{0x8123456789abcdef}, static_cast<std::uint64_t>(first)}) {
            const uct::atomic_op op{static_cast<uct::atomic_kind>(kind), sizeof(Word), operand,
                                    0x1122334455667788};
            for (const bool fetches : {true, false}) {
                CAPTURE(sizeof(Word), uct::atomic_names[kind], operand, fetches);
                if (!net.at(0).attr().atomics.has(op, fetches)) continue;
                for (std::size_t i = 0; i < words; ++i)
                    on.word<std::uint64_t>(8 * i).store(~std::uint64_t{i});
                on.word<Word>(offset).store(first);
                Word before[2] = {0, 77};
                REQUIRE(finish(net, on, op, offset, fetches ? before : nullptr) == UCS_OK);
                REQUIRE(net.run_until([&] { return on.word<Word>(offset) == after(op, first); }));
                if (fetches) CHECK(before[0] == first);
                CHECK(before[1] == 77);
                CHECK(on.word<std::uint64_t>(0) == ~std::uint64_t{0});
                CHECK(on.word<std::uint64_t>(16) == ~std::uint64_t{2});
                if (sizeof(Word) == 4) CHECK(on.word<std::uint32_t>(offset + 4) == ~0U);
            }
        }
    }
}

}  // namespace

CONFORMANCE_CASE(atomic_kinds, "each atomic operation changes its word and returns the old value",
                 needs::atomics) {
    target on(net);
    check_kinds<std::uint32_t>(net, on);
    check_kinds<std::uint64_t>(net, on);
}

CONFORMANCE_CASE(atomic_together,
                 "atomic operations of two peers and the owner's processor lose no update",
                 needs::atomics_of_processor | needs::two_sides) {
    constexpr unsigned rounds = 20'000;
    target on(net);
    side& other = net.at(2);
    const auto also_there = target::reach(other, on.owner, uct::memory_access::change);
    const auto also = other.connect(b);
    std::atomic<bool> failed{false};
    const auto add = [&](uct::ep& via, const uct::remote_memory& there) {
        for (unsigned i = 0; i < rounds; ++i) {
            std::uint64_t before = 0;
            if (via.atomic({uct::atomic_kind::add, 8, 1, 0}, {on.address(8), &there},
                           i % 2 == 0 ? &before : nullptr, nullptr) != UCS_OK) {
                failed = true;
            }
        }
    };
    std::thread first([&] { add(*on.via, *on.there); });
    std::thread second([&] { add(*also, *also_there); });
    for (unsigned i = 0; i < rounds; ++i)
        ++on.word<std::uint64_t>(8);
    first.join();
    second.join();
    CHECK_FALSE(failed);
    CHECK(on.word<std::uint64_t>(8) == 3 * rounds);
}

CONFORMANCE_CASE(atomics_of_two, "atomic operations of two peers lose no update",
                 needs::atomics | needs::two_sides) {
    constexpr std::uint64_t rounds = 200;
    target on(net);
    side& other = net.at(2);
    const auto also_there = target::reach(other, on.owner, uct::memory_access::change);
    const auto also = other.connect(b);
    // One peer adds with the device's own operation, one adds in half of the word, and both flip
    // bits.
    const uct::atomic_op steps[] = {{uct::atomic_kind::add, 8, std::uint64_t{1} << 32U, 0},
                                    {uct::atomic_kind::add, 4, 1, 0},
                                    {uct::atomic_kind::bit_xor, 8, std::uint64_t{1} << 63U, 0}};
    std::vector<std::unique_ptr<counted>> running;
    const auto start = [&](uct::ep& via, const uct::remote_memory& there,
                           const uct::atomic_op& change) {
        running.push_back(std::make_unique<counted>());
        const ucs_status_t status = retry(net, [&] {
            return via.atomic(change, {on.address(8), &there}, nullptr, running.back().get());
        });
        REQUIRE((status == UCS_OK || status == UCS_INPROGRESS));
        if (status == UCS_OK) running.pop_back();
    };
    for (std::uint64_t i = 0; i < rounds; ++i) {
        start(*on.via, *on.there, steps[i % 2 == 0 ? 0 : 2]);
        start(*also, *also_there, steps[i % 2 == 0 ? 1 : 2]);
    }
    REQUIRE(net.run_until([&] {
        return std::all_of(running.begin(), running.end(),
                           [](const auto& each) { return each->calls == 1; });
    }));
    for (const auto& each : running)
        CHECK(each->result == UCS_OK);
    const std::uint64_t half = rounds / 2;
    CHECK(on.word<std::uint64_t>(8) == ((half << 32U) | half));
}

namespace {

// Starts operations that some transports build from several, until there is no room.
std::vector<std::unique_ptr<counted>> flip_bits(network& net, target& on, unsigned most,
                                                std::uint32_t* before) {
    std::vector<std::unique_ptr<counted>> running;
    for (unsigned i = 0; i < most; ++i) {
        auto done = std::make_unique<counted>();
        ucs_status_t status = UCS_OK;
        REQUIRE(net.run_until([&] {
            status = on.via->atomic({uct::atomic_kind::bit_xor, 4, 1U << i, 0},
                                    {on.address(8), on.there.get()}, before + i, done.get());
            return status != UCS_ERR_NO_RESOURCE || i > 0;
        }));
        if (status == UCS_ERR_NO_RESOURCE) break;
        REQUIRE((status == UCS_OK || status == UCS_INPROGRESS));
        if (status == UCS_OK) done->finish(UCS_OK);
        running.push_back(std::move(done));
    }
    return running;
}

// Starts such operations repeatedly, with more and more progress before `then` is called.
template<class Then>
void flip_and(network& net, Then&& then) {
    constexpr unsigned most = 16;
    target on(net);
    if (!net.at(0).attr().atomics.has({uct::atomic_kind::bit_xor, 4, 0, 0}, true)) return;
    for (unsigned turns = 0; turns < 20; ++turns) {
        CAPTURE(turns);
        std::uint32_t before[most];
        on.word<std::uint32_t>(8).store(0);
        const auto running = flip_bits(net, on, most, before);
        for (unsigned i = 0; i < turns; ++i)
            net.progress();
        then(on, running);
    }
}

}  // namespace

CONFORMANCE_CASE(atomic_left, "atomic operations end with their endpoint", needs::atomics) {
    flip_and(net, [&](target& on, const auto& running) {
        on.via.reset();
        for (const auto& each : running) {
            CHECK(each->calls == 1);
            CHECK((each->result == UCS_OK || each->result == UCS_ERR_CANCELED));
        }
        on.via = a.connect(b);
    });
    CHECK(a.failures.empty());
}

CONFORMANCE_CASE(atomic_flush, "a flush waits for atomic operations, however many steps they take",
                 needs::atomics) {
    flip_and(net, [&](target& on, const auto& running) {
        counted flushed;
        REQUIRE(wait_for(net, on.via->flush(&flushed), flushed) == UCS_OK);
        for (const auto& each : running)
            CHECK(each->calls == 1);
        CHECK(on.word<std::uint32_t>(8) == (std::uint64_t{1} << running.size()) - 1);
    });
}

CONFORMANCE_CASE(atomic_refusals, "an invalid atomic operation is refused, with a log line",
                 needs::atomics) {
    target on(net);
    const test::log_capture log;
    std::uint64_t before = 7;
    const auto add = [](std::size_t size) {
        return uct::atomic_op{uct::atomic_kind::add, size, 1, 0};
    };
    CHECK(on.operate(add(8), 4, &before) == UCS_ERR_INVALID_PARAM);
    CHECK(on.operate(add(4), 2, &before) == UCS_ERR_INVALID_PARAM);
    CHECK(on.operate(add(2), 0, &before) == UCS_ERR_INVALID_PARAM);
    CHECK(on.operate({static_cast<uct::atomic_kind>(99), 8, 1, 0}, 0, &before) ==
          UCS_ERR_INVALID_PARAM);
    CHECK(on.operate({uct::atomic_kind::swap, 8, 1, 0}, 0, nullptr) == UCS_ERR_INVALID_PARAM);
    CHECK(on.operate(add(8), 8 * words, &before) == UCS_ERR_INVALID_ADDR);
    CHECK(on.operate(add(8), static_cast<std::size_t>(-8), &before) == UCS_ERR_INVALID_ADDR);
    CHECK(on.operate(add(8), std::size_t{1} << 40U, &before) == UCS_ERR_INVALID_ADDR);
    CHECK(finish(net, on, add(4), 8 * words - 4, &before) == UCS_OK);
    CHECK(log.count("is refused") == 8);
}

CONFORMANCE_CASE(atomic_read_only, "memory attached for reading is not changed", needs::atomics) {
    target on(net, uct::memory_access::read);
    const test::log_capture log;
    std::uint64_t before = 7;
    CHECK(on.operate({uct::atomic_kind::add, 8, 1, 0}, 0, &before) == UCS_ERR_REJECTED);
    CHECK(on.word<std::uint64_t>(0) == 0);
    CHECK(before == 7);
    CHECK(log.count("read only") == 1);
}

CONFORMANCE_CASE(atomic_keys, "an invalid key, or a key of removed memory, is refused",
                 needs::atomics_of_processor) {
    uct::shared_memory memory = target::share(b);
    const test::log_capture log;
    const auto status_of = [&](std::span<const std::byte> key) {
        return a.iface().domain()->attach(key, uct::memory_access::change).status();
    };
    CHECK(status_of({}) == UCS_ERR_INVALID_PARAM);
    CHECK(status_of(std::span(memory.key).first(memory.key.size() - 1)) == UCS_ERR_INVALID_PARAM);
    for (std::size_t i = 0; i < memory.key.size(); ++i) {
        bytes wrong(memory.key);
        wrong[i] ^= std::byte{0x40};
        CAPTURE(i);
        // The owner chooses the address and the used part of the page; everything else must be
        // right.
        const auto found = a.iface().domain()->attach(wrong, uct::memory_access::change);
        if (found.ok()) CHECK(i < 16);
    }
    memory.keeper.reset();
    CHECK(status_of(memory.key) == UCS_ERR_UNREACHABLE);
}

CONFORMANCE_CASE(atomic_after_death, "accessing the memory of a peer that is gone is safe",
                 needs::atomics_of_processor | needs::two_sides | needs::am_short) {
    target on(net);
    REQUIRE(out.send(a, *on.via, uct::op::am_short, 1, make_message({1, 0}, 16)));
    REQUIRE(net.run_until([&] { return b.inbox.size() == 1; }));
    const std::uint64_t where = on.address(8);
    on.owner = {};
    net.remove(1);
    const uct::atomic_op op{uct::atomic_kind::add, 8, 1, 0};
    std::uint64_t before = 0;
    const ucs_status_t early = on.via->atomic(op, {where, on.there.get()}, &before, nullptr);
    CHECK((early == UCS_OK || early < 0));
    REQUIRE(net.run_until([&] { return a.failures.size() == 1; }));
    CHECK(on.via->atomic(op, {where, on.there.get()}, &before, nullptr) < 0);
}

}  // namespace conformance
