// Unit tests: access to memory by keys, on the simulated network.
#include <algorithm>

#include "test/support/log_capture.hpp"
#include "test/unit/uct/sim/paired_fixture.hpp"

namespace {

using namespace sim_fixture;
using uct::memory_access;
using uct::sim::parameters;

// A block of the second worker, and the first worker's access to it.
struct shared_block {
    explicit shared_block(network& both, memory_access allowed = memory_access::change,
                          std::size_t length = 64)
        : memory(length, std::byte{0x11}),
          owner(std::move(*both.b.iface->domain()->share(memory, allowed))),
          there(std::move(*both.a.iface->domain()->attach(owner.key, memory_access::change))) {}

    [[nodiscard]] uct::remote_place at(std::size_t offset) const {
        return {reinterpret_cast<std::uint64_t>(memory.data()) + offset, there.get()};
    }

    bytes memory;
    uct::shared_memory owner;
    std::unique_ptr<uct::remote_memory> there;
};

struct local_word {
    std::uint64_t value = 0;
    uct::iov piece{&value, sizeof value};
    [[nodiscard]] std::span<const uct::iov> pieces() const { return {&piece, 1}; }
};

void check_refused(network& both, const shared_block& block, const counting_completion& done) {
    const bytes before = block.memory;
    both.let_run(give_up_time(both.net));
    CHECK(done.times == 1);
    CHECK(done.status == UCS_ERR_INVALID_ADDR);
    CHECK(both.a.failures == std::vector{UCS_ERR_INVALID_ADDR});
    CHECK(both.b.failures == std::vector{UCS_ERR_REJECTED});
    CHECK(block.memory == before);
}

}  // namespace

TEST_CASE("sim memory: an interface reaches memory by keys, and its component opens the domain") {
    const network both(1);
    const uct::iface_attr& attr = both.a.iface->attr();
    CHECK(attr.keyed);
    CHECK_FALSE(attr.atomics_of_processor);
    const uct::resource where = both.component.query(both.a.config).usable.front();
    const auto shared = *both.component.open_domain(where, both.a.config);
    REQUIRE(shared != nullptr);
    const auto opened = *both.component.open(
        where, {.events = *both.a.events, .config = both.a.config, .domain = shared});
    CHECK(opened->domain() == shared.get());
    const auto made = shared->allocate(20);
    REQUIRE(made.ok());
    CHECK(made->bytes.size() == 20);
    CHECK(std::all_of(made->bytes.begin(), made->bytes.end(),
                      [](std::byte each) { return each == std::byte{0}; }));
}

TEST_CASE("sim memory: memory is accessed between the begin and the end of an operation") {
    bool early = false;
    bool late = false;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        network both(seed);
        both.connect();
        const shared_block block(both);
        local_word from{.value = 1};
        local_word into;
        counting_completion put;
        counting_completion got;
        REQUIRE(both.there->put_zcopy(from.pieces(), block.at(8), &put) == UCS_INPROGRESS);
        REQUIRE(both.there->get_zcopy(into.pieces(), block.at(8), &got) == UCS_INPROGRESS);
        CHECK(block.memory[8] == std::byte{0x11});
        from.value = 2;  // the buffer is changed too early, which the put must reveal
        both.finish();
        CHECK(put.status == UCS_OK);
        CHECK(got.status == UCS_OK);
        CHECK(put.times + got.times == 2);
        CHECK(block.memory[8] == std::byte{2});
        CHECK(block.memory[7] == std::byte{0x11});
        CHECK(block.memory[16] == std::byte{0x11});
        // The operations may end in any order.
        (into.value == 2 ? late : early) = true;
        CHECK((into.value == 2 || into.value == 0x1111111111111111));
    }
    CHECK(early);
    CHECK(late);
}

TEST_CASE("sim memory: copied puts take their bytes at once, and a flush waits for them") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        network both(seed);
        both.connect();
        const shared_block block(both);
        std::uint64_t word = 5;
        const auto pack = [](void* arg, void* into, std::size_t) {
            std::memcpy(into, arg, sizeof word);
            return sizeof word;
        };
        REQUIRE(both.there->put_short(&word, sizeof word, block.at(0)) == UCS_OK);
        word = 6;
        REQUIRE(both.there->put_bcopy(pack, &word, block.at(8)) == sizeof word);
        word = 7;
        counting_completion flushed;
        REQUIRE(both.there->flush(&flushed) == UCS_INPROGRESS);
        bool there = false;
        REQUIRE(both.loop.run_until([&] {
            there = block.memory[0] == std::byte{5} && block.memory[8] == std::byte{6};
            return flushed.times == 1;
        }));
        CHECK(there);
        counting_completion got;
        std::uint64_t read = 0;
        REQUIRE(both.there->get_bcopy(&read, sizeof read, block.at(8), &got) == UCS_INPROGRESS);
        both.finish();
        CHECK(got.status == UCS_OK);
        CHECK(read == 6);
    }
}

TEST_CASE(
    "sim memory: an access that the key does not allow fails the connection and changes nothing") {
    local_word word{.value = 9};
    counting_completion done;
    network both(2);
    both.connect();
    SECTION("the key was taken back") {
        shared_block block(both);
        block.owner.keeper.reset();
        REQUIRE(both.there->get_zcopy(word.pieces(), block.at(0), &done) == UCS_INPROGRESS);
        check_refused(both, block, done);
    }
    SECTION("it is taken back while an operation is under way") {
        shared_block block(both);
        REQUIRE(both.there->put_zcopy(word.pieces(), block.at(0), &done) == UCS_INPROGRESS);
        block.owner.keeper.reset();
        check_refused(both, block, done);
    }
    SECTION("beyond the end") {
        const shared_block block(both);
        REQUIRE(both.there->put_zcopy(word.pieces(), block.at(57), &done) == UCS_INPROGRESS);
        check_refused(both, block, done);
    }
    SECTION("before the begin") {
        const shared_block block(both);
        REQUIRE(both.there->put_zcopy(word.pieces(), block.at(std::size_t(-1)), &done) ==
                UCS_INPROGRESS);
        check_refused(both, block, done);
    }
    SECTION("memory that may only be read") {
        const shared_block block(both, memory_access::read);
        REQUIRE(both.there->put_zcopy(word.pieces(), block.at(0), &done) == UCS_INPROGRESS);
        check_refused(both, block, done);
    }
    SECTION("a key of another process") {
        const shared_block block(both);
        const auto own = *both.a.iface->domain()->share(std::as_writable_bytes(std::span(&word, 1)),
                                                        memory_access::change);
        const auto wrong = *both.a.iface->domain()->attach(own.key, memory_access::change);
        REQUIRE(both.there->put_zcopy(word.pieces(), {block.at(0).address, wrong.get()}, &done) ==
                UCS_INPROGRESS);
        check_refused(both, block, done);
    }
    CHECK(word.value == 9);
}

TEST_CASE("sim memory: read-only memory can be read, and an access of 0 bytes needs no valid key") {
    network both(3);
    both.connect();
    shared_block block(both, memory_access::read);
    local_word word;
    counting_completion got;
    REQUIRE(both.there->get_zcopy(word.pieces(), block.at(56), &got) == UCS_INPROGRESS);
    both.finish();
    CHECK(got.status == UCS_OK);
    CHECK(word.value == 0x1111111111111111);
    block.owner.keeper.reset();
    counting_completion put;
    REQUIRE(both.there->put_zcopy({}, block.at(1000), &put) == UCS_INPROGRESS);
    both.finish();
    CHECK(put.status == UCS_OK);
}

TEST_CASE("sim memory: a reply after its endpoint was destroyed changes nothing") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        network both(seed);
        both.connect();
        const shared_block block(both);
        auto into = std::make_unique<std::uint64_t>(2);
        const uct::iov piece{into.get(), sizeof *into};
        counting_completion got;
        REQUIRE(both.there->get_zcopy({&piece, 1}, block.at(0), &got) == UCS_INPROGRESS);
        both.net.advance(both.net.dice().below(1500));
        both.there.reset();
        CHECK(got.times == 1);
        CHECK(got.status == UCS_ERR_CANCELED);
        into.reset();
        both.finish();
    }
}

TEST_CASE("sim memory: operations wait for a partner that is connected late, or fail in the end") {
    local_word word;
    network both(4);
    const shared_block block(both);
    counting_completion early;
    CHECK(both.there->get_zcopy(word.pieces(), block.at(0), &early) == UCS_ERR_NO_RESOURCE);
    REQUIRE(both.connect_a() == UCS_OK);
    counting_completion got;
    REQUIRE(both.there->get_zcopy(word.pieces(), block.at(0), &got) == UCS_INPROGRESS);
    both.let_run(2 * both.net.network().paired.retransmission_time);
    CHECK(got.times == 0);
    REQUIRE(both.connect_b() == UCS_OK);
    both.finish();
    CHECK(got.status == UCS_OK);
    CHECK(word.value == 0x1111111111111111);

    network apart(5);
    apart.net.break_path(0, 1);
    apart.connect();
    const shared_block far(apart);
    counting_completion lost;
    REQUIRE(apart.there->put_short(&word, sizeof word, far.at(0)) == UCS_OK);
    REQUIRE(apart.there->get_zcopy(word.pieces(), far.at(0), &lost) == UCS_INPROGRESS);
    apart.let_run(give_up_time(apart.net));
    CHECK(lost.status == UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK(apart.a.failures == std::vector{UCS_ERR_ENDPOINT_TIMEOUT});
}

TEST_CASE("sim memory: atomic operations of two endpoints lose nothing") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        network both(seed, {.tx_window = 64});
        both.connect();
        const auto memory = *both.b.iface->domain()->allocate(16);
        const auto there = *both.a.iface->domain()->attach(memory.key, memory_access::change);
        const auto own = *both.b.iface->domain()->attach(memory.key, memory_access::change);
        const auto loop = both.b.connect(both.b);
        REQUIRE(loop->connect_to(sim_fixture::connection_of(both.b, *loop)) == UCS_OK);
        const auto address = reinterpret_cast<std::uint64_t>(memory.bytes.data());
        const uct::atomic_op add{uct::atomic_kind::add, 8, 1, 0};
        std::vector<std::uint64_t> before(20);
        std::vector<counting_completion> done(20);
        for (std::size_t i = 0; i < 10; ++i) {
            REQUIRE(both.there->atomic(add, {address, there.get()}, &before[i], &done[i]) ==
                    UCS_INPROGRESS);
            REQUIRE(loop->atomic(add, {address, own.get()}, &before[10 + i], &done[10 + i]) ==
                    UCS_INPROGRESS);
        }
        both.finish();
        std::uint64_t sum = 0;
        std::memcpy(&sum, memory.bytes.data(), sizeof sum);
        CHECK(sum == 20);
        std::sort(before.begin(), before.end());
        for (std::uint64_t i = 0; i < 20; ++i)
            CHECK(before[i] == i);
    }
}

TEST_CASE("sim memory: malformed keys are refused, and registration may fail") {
    const test::every_line all_lines;
    parameters options;
    network both(6, options);
    const shared_block block(both);
    const test::log_capture log;
    uct::memory_domain& domain = *both.a.iface->domain();
    const bytes& key = block.owner.key;
    for (std::size_t length = 0; length < key.size(); ++length) {
        const auto part = std::span(key).first(length);
        CHECK(domain.attach(part, memory_access::read).status() == UCS_ERR_INVALID_PARAM);
    }
    for (std::size_t i = 20; i < key.size(); ++i) {
        bytes wrong = key;
        wrong[i] ^= std::byte{0x40};
        CHECK(domain.attach(wrong, memory_access::read).status() == UCS_ERR_INVALID_PARAM);
    }
    CHECK(log.count("is malformed") == key.size() + 4);

    options.paired.registration_failure = 1;
    const network full(7, options);
    bytes memory(8);
    CHECK(full.a.iface->domain()->share(memory, memory_access::read).status() == UCS_ERR_NO_MEMORY);
    CHECK(full.a.iface->domain()->allocate(8).status() == UCS_ERR_NO_MEMORY);
    CHECK(log.count("cannot be registered") == 2);
}
