#include "ucp/mem/memory_table.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "test/support/log_capture.hpp"
#include "ucp/mem/map.hpp"

using namespace ucp::mem;

namespace {

memory& add(memory_table& into, std::vector<std::byte>& bytes, std::uint8_t allowed = all_access) {
    const auto made =
        map(into, {.address = bytes.data(), .length = bytes.size(), .allowed = allowed});
    REQUIRE(made.ok());
    return **made;
}

access_request request_for(const memory& target, std::size_t offset, std::size_t length,
                           std::uint8_t wanted = may_read) {
    return {target.owner(), target.address() + offset, length, wanted};
}

}  // namespace

TEST_CASE("a peer can access memory only with its key", "[ucp][mem]") {
    memory_table table;
    memory_accessor worker(table);
    std::vector<std::byte> bytes(100);
    memory& shared = add(table, bytes);
    const auto status = [&](const access_request& request) {
        return scoped_access(worker, request).status();
    };

    CHECK(scoped_access(worker, request_for(shared, 40, 60)).address() == bytes.data() + 40);
    CHECK(status(request_for(shared, 40, 61)) == UCS_ERR_INVALID_ADDR);
    CHECK(status(request_for(shared, ~std::size_t{0}, 1)) == UCS_ERR_INVALID_ADDR);
    access_request guess = request_for(shared, 0, 1);
    guess.owner.secret ^= 1;
    CHECK(status(guess) == UCS_ERR_INVALID_ADDR);
    guess = request_for(shared, 0, 1);
    guess.owner.id += 1;
    CHECK(status(guess) == UCS_ERR_INVALID_ADDR);

    std::vector<std::byte> other(100);
    memory& readable = add(table, other, may_read);
    CHECK(status(request_for(readable, 0, 100, may_read)) == UCS_OK);
    CHECK(status(request_for(readable, 0, 100, may_write)) == UCS_ERR_REJECTED);

    const access_request old = request_for(shared, 0, 1);
    table.remove(shared);
    CHECK(status(old) == UCS_ERR_INVALID_ADDR);
    add(table, bytes);
    CHECK(status(old) == UCS_ERR_INVALID_ADDR);
}

TEST_CASE("memory is not unmapped while another thread accesses it", "[ucp][mem]") {
    memory_table table;
    std::vector<std::byte> bytes(100);
    memory& shared = add(table, bytes);
    const access_request request = request_for(shared, 0, 100, may_write);
    std::atomic<bool> inside{false};
    std::atomic<bool> removed{false};
    bool early = false;
    std::thread other([&] {
        memory_accessor worker(table);
        {
            const scoped_access now(worker, request);
            inside = true;
            for (int turn = 0; turn < 1000; ++turn) {
                std::memset(now.address(), turn, 100);
                std::this_thread::yield();
            }
            early = removed;
        }
        while (!removed)
            std::this_thread::yield();
        early = early || scoped_access(worker, request).status() == UCS_OK;
    });
    while (!inside)
        std::this_thread::yield();
    table.remove(shared);
    removed = true;
    bytes.assign(1, std::byte{1});  // a program that frees the memory might do this
    other.join();
    CHECK_FALSE(early);
}

TEST_CASE("a worker can move to other memory while its memory is unmapped", "[ucp][mem]") {
    memory_table table;
    std::vector<std::byte> bytes(100), more(100);
    memory& shared = add(table, bytes);
    const access_request request = request_for(shared, 0, 100);
    const access_request next = request_for(add(table, more), 0, 100);
    std::atomic<bool> inside{false};
    ucs_status_t status = UCS_INPROGRESS;
    std::thread other([&] {
        memory_accessor worker(table);
        const bool entered = worker.enter(request).status == UCS_OK;
        inside = true;
        while (table.size() == 2)  // until it is being removed
            std::this_thread::yield();
        status = entered ? worker.enter(next).status : UCS_ERR_INVALID_ADDR;
        worker.leave();
    });
    while (!inside)
        std::this_thread::yield();
    table.remove(shared);
    other.join();
    CHECK(status == UCS_OK);
}

TEST_CASE("a callback may unmap memory that its own worker accesses", "[ucp][mem]") {
    memory_table table;
    memory_accessor worker(table);
    std::vector<std::byte> bytes(100);
    memory& shared = add(table, bytes);
    const scoped_access now(worker, request_for(shared, 0, 100));
    table.remove(shared);
    CHECK(table.size() == 0);
}

TEST_CASE("a key to memory of the same context gives its address directly", "[ucp][mem]") {
    memory_table table;
    std::vector<std::byte> bytes(100);
    const memory& shared = add(table, bytes);
    CHECK(table.open_window(shared.to_key()).base == bytes.data());
    key forged = shared.to_key();
    forged.length += 1;
    CHECK(table.open_window(forged).base == nullptr);
    forged = shared.to_key();
    forged.owner.secret ^= 1;
    CHECK(table.open_window(forged).base == nullptr);
    forged = shared.to_key();
    forged.base += 1;
    CHECK(table.open_window(forged).base == nullptr);
}

TEST_CASE("a block of another process is mapped once for all keys to it", "[ucp][mem]") {
    memory_table owner, peer;
    const auto made = map(owner, {.length = 5000, .allocate = true});
    REQUIRE(made.ok());
    memory& shared = **made;
    const auto first = peer.open_window(shared.to_key());
    INFO(first.reason);
    REQUIRE(first.base != nullptr);
    REQUIRE(first.base != shared.base());
    CHECK(peer.open_window(shared.to_key()).base == first.base);
    first.base[10] = std::byte{3};
    CHECK(shared.base()[10] == std::byte{3});
    // The mapping stays when the owner releases the block.
    owner.remove(shared);
    first.base[4999] = std::byte{4};
}

TEST_CASE("without shared memory only the context's own memory is mapped", "[ucp][mem]") {
    memory_table owner, peer(false);
    const auto made = map(owner, {.length = 5000, .allocate = true});
    REQUIRE(made.ok());
    const memory& shared = **made;
    CHECK(peer.open_window(shared.to_key()).base == nullptr);
    CHECK(peer.import(shared.to_key()).base != nullptr);
    memory_table alone(false);
    const auto own = map(alone, {.length = 5000, .allocate = true});
    REQUIRE(own.ok());
    CHECK(alone.open_window((*own)->to_key()).base == (*own)->base());
}

TEST_CASE("a key allows only the accesses that were granted", "[ucp][mem]") {
    memory_table table;
    std::vector<std::byte> bytes(64);
    for (std::uint8_t allowed = 0; allowed <= all_access; ++allowed) {
        memory& shared = add(table, bytes, allowed);
        const packed_key packed = pack(shared.to_key());
        const auto made = unpack(table, packed.bytes.data());
        REQUIRE(made.ok());
        const rkey& key = **made;
        const std::uint64_t base = shared.address();
        const bool reads = (allowed & may_read) != 0;
        const bool writes = (allowed & may_write) != 0;
        CHECK((key.readable(base, 64) == bytes.data()) == reads);
        CHECK((key.writable(base + 8, 56) == bytes.data() + 8) == writes);
        CHECK((key.changeable(base, 8) != nullptr) == (reads && writes));
        CHECK(key.readable(base, 65) == nullptr);
        CHECK(key.writable(base - 1, 1) == nullptr);
        CHECK(key.check(base, 64, may_read) == (reads ? UCS_OK : UCS_ERR_REJECTED));
        CHECK(key.check(base, 65, may_read) == UCS_ERR_INVALID_ADDR);
        table.remove(shared);
    }
}

TEST_CASE("impossible mappings are refused with a log line", "[ucp][mem]") {
    memory_table table;
    test::log_capture log;
    CHECK(map(table, {.length = 1}).status() == UCS_ERR_INVALID_PARAM);
    CHECK(map(table, {.address = &table, .length = ~std::size_t{0}}).status() ==
          UCS_ERR_INVALID_PARAM);
    CHECK(map(table, {.address = &table, .length = 1, .fixed = true}).status() ==
          UCS_ERR_INVALID_PARAM);
    CHECK(map(table, {.length = 1, .allocate = true, .fixed = true}).status() ==
          UCS_ERR_INVALID_PARAM);
    const std::byte nothing[64] = {};
    CHECK(map(table, {.exported = nothing}).status() == UCS_ERR_INVALID_PARAM);
    CHECK(unpack(table, nothing).status() == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("memory is not mapped") == 5);
    CHECK(log.count("remote key") == 1);
    CHECK(table.size() == 0);
}
