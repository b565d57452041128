// Deterministic tests of the TCP store: rank 0 and the other ranks run in one thread, over socket
// pairs and with a virtual clock.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "test/support/log_capture.hpp"
#include "test/support/virtual_time.hpp"
#include "ucg/oob/tcp/leaf.hpp"
#include "ucg/oob/tcp/root.hpp"
#include "ucs/net/socket.hpp"

using namespace ucg::oob;
using ucs::time::second;

namespace {

// One rank and its receive buffer.
struct member {
    std::unique_ptr<exchange> oob;
    std::vector<std::byte> blocks;

    ucs_status_t begin(std::size_t bytes) {
        const std::vector<std::byte> block(bytes);
        blocks.assign(bytes * oob->size(), std::byte{1});
        return oob->begin(block.data(), blocks.data(), bytes);
    }
};

std::unique_ptr<tcp_root> make_root(rank_t size, ucs::time::nanoseconds timeout,
                                    const job_key& key = {}) {
    auto made = tcp_root::make({0, size, timeout}, 0, {}, key);
    REQUIRE(made);
    return std::move(*made);
}

// The two ends of a connection.
std::pair<ucs::unique_fd, ucs::unique_fd> make_connection() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    return {ucs::unique_fd(ends[0]), ucs::unique_fd(ends[1])};
}

std::unique_ptr<tcp_leaf> connect(tcp_root& root, rank_t rank,
                                  ucs::time::nanoseconds timeout = 40 * second,
                                  const job_key& key = {}) {
    auto [end_of_root, end_of_leaf] = make_connection();
    root.adopt(std::move(end_of_root));
    return std::make_unique<tcp_leaf>(rank_params{rank, root.size(), timeout}, std::uint64_t{0},
                                      root_address{"127.0.0.1", 1}, std::move(end_of_leaf), key);
}

void begin(std::vector<member>& all, std::size_t bytes) {
    for (member& each : all)
        REQUIRE(each.begin(bytes) == UCS_OK);
}

void expect(std::vector<member>& all, ucs_status_t status) {
    for (member& each : all) {
        INFO("rank " << each.oob->rank());
        REQUIRE(each.oob->test() == status);
    }
}

// Tests all rounds, rank 0 first, often enough for everything that needs no time.
void turn(std::vector<member>& all) {
    for (int i = 0; i < 10; ++i)
        for (member& each : all)
            static_cast<void>(each.oob->test());
}

// Tests the rounds of two ranks.
void turn(std::vector<member>& all, std::size_t first, std::size_t second_rank, int times) {
    for (int i = 0; i < times; ++i)
        for (const std::size_t rank : {first, second_rank})
            static_cast<void>(all[rank].oob->test());
}

// Each case reads the log and sets the clock.
struct captured {
    const test::log_capture log;
    const test::virtual_time clock;
};

struct star {
    tcp_root* root;
    std::vector<member> all;

    // The first `joined` ranks take part.
    explicit star(rank_t size, ucs::time::nanoseconds timeout = 40 * second, rank_t joined = 1) {
        auto made = make_root(size, timeout);
        root = made.get();
        all.push_back({std::move(made), {}});
        for (rank_t rank = 1; rank < joined; ++rank)
            join(rank);
    }
    void join(rank_t rank, ucs::time::nanoseconds timeout = 40 * second) {
        all.push_back({connect(*root, rank, timeout), {}});
    }
};

}  // namespace

TEST_CASE_METHOD(captured, "star: all ranks learn which ranks did not connect") {
    // Only rank 0 has a short timeout; the others learn of the failure from it.
    star star(8, second, 3);
    begin(star.all, 8);
    turn(star.all);
    test::virtual_time::now += second - 1;
    expect(star.all, UCS_INPROGRESS);
    test::virtual_time::now += 1;
    expect(star.all, UCS_ERR_TIMED_OUT);
    INFO(log.text());
    CHECK(log.count("ranks 3-7 did not come within 1 s") == 1);
    CHECK(log.count("rank 0 says that ranks 3-7 failed it") == 2);
}

TEST_CASE_METHOD(captured, "star: a rank past its deadline requests the missing ranks") {
    star star(4, 40 * second, 2);
    star.join(2, second / 2);
    begin(star.all, 8);
    turn(star.all);
    test::virtual_time::now += second / 2;
    CHECK(star.all[2].oob->test() == UCS_INPROGRESS);  // it requests the missing ranks
    expect(star.all, UCS_ERR_TIMED_OUT);
    INFO(log.text());
    CHECK(log.count("rank 3") == 3);
}

TEST_CASE_METHOD(captured, "star: a rank 0 outside of the round does not reply") {
    star star(2);
    star.join(1, second);
    REQUIRE(star.all[1].begin(8) == UCS_OK);
    CHECK(star.all[1].oob->test() == UCS_INPROGRESS);
    test::virtual_time::now += second;
    CHECK(star.all[1].oob->test() == UCS_ERR_TIMED_OUT);
    CHECK(log.count("it does not answer") == 1);
}

namespace {

// Returns a listener at 127.0.0.`last`, at the port of the first listener of a test. The kernel
// completes connections even if they are not accepted.
ucs::unique_fd listen_at(std::uint8_t last, std::uint16_t& port) {
    const std::byte ip[] = {std::byte{127}, {}, {}, std::byte{last}};
    const ucs::net::socket_address address(ucs::net::ip_address::v4(ip), port);
    ucs::unique_fd made(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(made.get(), address.data(), address.size()) == 0);
    REQUIRE(::listen(made.get(), 8) == 0);
    port = port_of(made.get());
    return made;
}

// Makes rank 1 of 2, which tries 127.0.0.2 and 127.0.0.1 for rank 0.
std::unique_ptr<tcp_leaf> leaf_with_choice(std::uint16_t port, ucs::time::nanoseconds timeout,
                                           const job_key& key) {
    const std::byte first[] = {std::byte{127}, {}, {}, std::byte{2}};
    const std::byte second[] = {std::byte{127}, {}, {}, std::byte{1}};
    return std::make_unique<tcp_leaf>(
        rank_params{1, 2, timeout}, std::uint64_t{0}, root_address{"127.0.0.1", port},
        std::vector{ucs::net::socket_address(ucs::net::ip_address::v4(first), port),
                    ucs::net::socket_address(ucs::net::ip_address::v4(second), port)},
        key);
}

// Progresses until nothing happens without more time. Real connections take a moment.
void settle(std::vector<member>& all) {
    for (int i = 0; i < 50; ++i) {
        turn(all);
        ::usleep(1000);
    }
}

job_key some_key() {
    const bool is_there = GENERATE(false, true);
    return is_there ? ucs::security::key::from_text("a key of more than 16 characters") : job_key();
}

}  // namespace

TEST_CASE_METHOD(captured, "star: a rank leaves a silent address of rank 0 for another one") {
    const job_key key = some_key();
    std::uint16_t port = 0;
    const ucs::unique_fd silent = listen_at(2, port);
    auto root = tcp_root::make({0, 2, 40 * second}, 0, listen_at(1, port), key);
    REQUIRE(root);
    std::vector<member> all;
    all.push_back({std::move(*root), {}});
    all.push_back({leaf_with_choice(port, 40 * second, key), {}});
    begin(all, 8);
    settle(all);
    CHECK(all[1].oob->test() == UCS_INPROGRESS);
    test::virtual_time::now += 5 * second;
    settle(all);
    expect(all, UCS_OK);
}

TEST_CASE_METHOD(captured, "star: a slow rank 0 accepts a rank that has connected twice") {
    const job_key key = some_key();
    std::uint16_t port = 0;
    auto root = tcp_root::make({0, 2, 40 * second}, 0, listen_at(1, port), key);
    REQUIRE(root);
    std::vector<member> all;
    all.push_back({leaf_with_choice(port, 40 * second, key), {}});
    REQUIRE(all[0].begin(8) == UCS_OK);
    settle(all);
    test::virtual_time::now += 5 * second;
    settle(all);  // rank 1 leaves this address, the last one
    test::virtual_time::now += second;
    settle(all);  // rank 1 connects again
    all.push_back({std::move(*root), {}});
    REQUIRE(all[1].begin(8) == UCS_OK);
    settle(all);
    INFO(log.text());
    expect(all, UCS_OK);
    CHECK(log.count("", ucs::log::level::warn) == 0);
}

TEST_CASE_METHOD(captured, "star: a rank that did not reach rank 0 names the silent address") {
    const job_key key = some_key();
    std::uint16_t port = 0;
    const ucs::unique_fd silent = listen_at(2, port);
    std::vector<member> all;
    all.push_back({leaf_with_choice(port, 6 * second, key), {}});
    REQUIRE(all[0].begin(8) == UCS_OK);
    settle(all);
    test::virtual_time::now += 5 * second;
    settle(all);
    test::virtual_time::now += second;
    CHECK(all[0].oob->test() == UCS_ERR_TIMED_OUT);
    INFO(log.text());
    CHECK(log.count("refused; the listener at 127.0.0.2:") == 1);
}

TEST_CASE_METHOD(captured,
                 "star: a connected rank is notified of a failed round before its hello") {
    star star(3, 40 * second, 3);
    REQUIRE(star.all[0].begin(8) == UCS_OK);
    REQUIRE(star.all[1].begin(9) == UCS_OK);
    turn(star.all, 0, 1, 10);
    CHECK(star.all[0].oob->test() == UCS_ERR_INVALID_PARAM);
    CHECK(star.all[1].oob->test() == UCS_ERR_INVALID_PARAM);
    // Rank 0 leaves before rank 2 sends its hello.
    star.all[0].oob.reset();
    REQUIRE(star.all[2].begin(8) == UCS_OK);
    CHECK(star.all[2].oob->test() == UCS_ERR_INVALID_PARAM);
    INFO(log.text());
    CHECK(log.count("rank 1 gives 9 bytes and rank 0 8") == 1);
    CHECK(log.count("rank 0 says that rank 1 failed it") == 2);
}

TEST_CASE_METHOD(captured, "star: strangers that begin to prove the job key keep no rank out") {
    const job_key shared = ucs::security::key::from_text("a key of more than 16 characters");
    const auto other = ucs::security::key::from_text("another one of more than 16 characters");
    auto root = make_root(2, 40 * second, shared);
    tcp_root& root_ref = *root;
    std::vector<member> all;
    all.push_back({std::move(root), {}});
    all.push_back({connect(root_ref, 1, 40 * second, shared), {}});  // has sent nothing yet
    std::vector<ucs::unique_fd> strangers;
    for (int i = 0; i < 300; ++i) {
        const ucs::security::key_handshake client(ucs::security::key_handshake::role::client,
                                                  &other, store_purpose);
        auto [end_of_root, stranger] = make_connection();
        const auto record = client.output();
        REQUIRE(::send(stranger.get(), record.data(), record.size(), 0) ==
                static_cast<ssize_t>(record.size()));
        strangers.push_back(std::move(stranger));
        root_ref.adopt(std::move(end_of_root));
    }
    begin(all, 8);
    turn(all);
    expect(all, UCS_OK);
    CHECK(log.count("have not sent their rank") == 1);
}

TEST_CASE_METHOD(captured, "star: a rank learns of a failed round after rank 0 has left") {
    star star(3, 40 * second, 3);
    begin(star.all, 8);
    turn(star.all);
    expect(star.all, UCS_OK);
    // Rank 2 learns of the failure only when rank 0 has left.
    for (const std::size_t rank : {0U, 1U}) {
        star.all[rank].oob->release();
        REQUIRE(star.all[rank].begin(rank == 0 ? 8 : 9) == UCS_OK);
    }
    turn(star.all, 0, 1, 10);
    CHECK(star.all[0].oob->test() == UCS_ERR_INVALID_PARAM);
    star.all[0].oob.reset();
    star.all[2].oob->release();
    REQUIRE(star.all[2].begin(8) == UCS_OK);
    CHECK(star.all[2].oob->test() == UCS_ERR_INVALID_PARAM);
}

TEST_CASE_METHOD(captured,
                 "star: a rank that left may connect for the next store before this one ends") {
    star star(3, 40 * second, 3);
    // The blocks exceed the socket buffers, so rank 0 keeps sending until rank 2 receives.
    begin(star.all, 1'000'000);
    turn(star.all, 0, 2, 1000);
    turn(star.all, 0, 1, 1000);
    REQUIRE(star.all[1].oob->test() == UCS_OK);
    REQUIRE(star.all[0].oob->test() == UCS_INPROGRESS);
    star.all[1].oob.reset();
    star.all[1].oob = connect(*star.root, 1);
    REQUIRE(star.all[1].begin(8) == UCS_OK);
    for (int i = 0; i < 10; ++i) {
        static_cast<void>(star.all[0].oob->test());
        CHECK(star.all[1].oob->test() == UCS_INPROGRESS);
    }
    turn(star.all, 0, 2, 1000);
    CHECK(star.all[0].oob->test() == UCS_OK);
    CHECK(star.all[2].oob->test() == UCS_OK);
    INFO(log.text());
    CHECK(log.count("", ucs::log::level::error) == 0);
}

TEST_CASE_METHOD(captured, "star: frames of a refused stranger are ignored") {
    star star(2);
    auto [end_of_root, stranger] = make_connection();
    // A duplicate keeps the socket open, as in a forked child.
    const ucs::unique_fd duplicate(::fcntl(end_of_root.get(), F_DUPFD_CLOEXEC, 0));
    star.root->adopt(std::move(end_of_root));
    REQUIRE(star.all[0].begin(8) == UCS_OK);
    const ucs::security::key_handshake client(ucs::security::key_handshake::role::client, nullptr,
                                              store_purpose);
    REQUIRE(::send(stranger.get(), client.output().data(), client.output().size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(client.output().size()));
    wire::header_bytes hello;
    wire::pack({wire::frame_kind::hello, 1, 5}, hello);
    for (int i = 0; i < 3; ++i) {
        CHECK(::send(stranger.get(), hello.data(), hello.size(), MSG_NOSIGNAL) ==
              static_cast<ssize_t>(hello.size()));
        CHECK(star.all[0].oob->test() == UCS_INPROGRESS);
        CHECK(star.all[0].oob->test() == UCS_INPROGRESS);
    }
    INFO(log.text());
    CHECK(log.count("of a job of another size") == 1);
    CHECK(log.size() == 1);
}

TEST_CASE_METHOD(captured,
                 "star: the failure of one store is not sent to ranks of the next at its port") {
    star star(4, second, 3);
    begin(star.all, 8);
    turn(star.all);
    test::virtual_time::now += second;
    expect(star.all, UCS_ERR_TIMED_OUT);
    // Ranks 1 and 2 know the failure and connect again. Rank 3 connects for the first time.
    const auto again = [&](rank_t rank) {
        member made{connect(*star.root, rank), {}};
        REQUIRE(made.begin(8) == UCS_OK);
        return made;
    };
    const member first = again(1);
    const member second_again = again(2);
    const member late = again(3);
    CHECK(first.oob->test() == UCS_INPROGRESS);
    CHECK(late.oob->test() == UCS_INPROGRESS);
    star.all[0].oob.reset();
    CHECK(late.oob->test() == UCS_ERR_TIMED_OUT);
    for (int i = 0; i < 4; ++i) {
        CHECK(first.oob->test() == UCS_INPROGRESS);
        CHECK(second_again.oob->test() == UCS_INPROGRESS);
    }
    INFO(log.text());
    CHECK(log.count("it has left already") == 2);
}

TEST_CASE_METHOD(captured,
                 "star: a rank past its deadline gets the result if all blocks have arrived") {
    star star(3);
    star.join(1, second);
    star.join(2);
    begin(star.all, 8);
    const auto step = [&](std::size_t rank) { return star.all[rank].oob->test(); };
    CHECK(step(1) == UCS_INPROGRESS);  // sends its hello
    CHECK(step(2) == UCS_INPROGRESS);
    CHECK(step(0) == UCS_INPROGRESS);
    CHECK(step(0) == UCS_INPROGRESS);  // the kernel then forgets the order of the two connections
    CHECK(step(2) == UCS_INPROGRESS);  // sends its block
    CHECK(step(1) == UCS_INPROGRESS);
    test::virtual_time::now += second;
    CHECK(step(1) == UCS_INPROGRESS);  // requests the missing ranks
    CHECK(step(0) == UCS_OK);
    CHECK(step(1) == UCS_OK);
    CHECK(step(2) == UCS_OK);
    INFO(log.text());
    CHECK(log.size() == 0);
}

// --- publications and look-ups ---

namespace {

using bytes = std::vector<std::byte>;

bytes block_of(rank_t rank, std::size_t size = 20) {
    return bytes(size, static_cast<std::byte>(rank + 1));
}

std::uint64_t publish(member& publisher, const bytes& block) {
    std::uint64_t number = ~std::uint64_t{0};
    REQUIRE(publisher.oob->publish(block.data(), block.size(), number) == UCS_OK);
    return number;
}

struct found {
    ucs_status_t status;
    bytes block;
};

found look_up(member& reader, std::uint64_t number, rank_t publisher, std::size_t capacity = 100) {
    bytes blocks(capacity);
    std::size_t size = capacity;
    const ucs_status_t status = reader.oob->look_up(number, publisher, blocks.data(), size);
    if (status == UCS_OK) blocks.resize(size);
    return {status, blocks};
}

void serve(std::vector<member>& all) {
    for (int i = 0; i < 10; ++i)
        for (member& each : all)
            each.oob->serve();
}

// Runs a successful round.
void run_round(std::vector<member>& all) {
    begin(all, 8);
    turn(all);
    for (member& each : all) {
        REQUIRE(each.oob->test() == UCS_OK);
        each.oob->release();
    }
}

// Ranks that have published block_of(i), followed by a round.
struct published_star : star {
    explicit published_star(rank_t size) : star(size, 40 * second, size) {
        for (rank_t rank = 0; rank < size; ++rank)
            CHECK(publish(all[rank], block_of(rank)) == 0);
        run_round(all);
    }
};

}  // namespace

TEST_CASE_METHOD(captured, "star: all ranks find published blocks in any order") {
    published_star star(4);
    // Look-ups run between rounds, several at a time, and repeatedly.
    for (int again = 0; again < 2; ++again) {
        for (rank_t reader = 0; reader < 4; ++reader)
            for (rank_t publisher = 0; publisher < 4; ++publisher)
                CHECK(look_up(star.all[reader], 0, publisher).status ==
                      (reader == 0 ? UCS_OK : UCS_INPROGRESS));
        serve(star.all);
        for (rank_t reader = 0; reader < 4; ++reader)
            for (rank_t publisher = 4; publisher-- != 0;) {
                const found reply = look_up(star.all[reader], 0, publisher);
                CHECK(reply.status == UCS_OK);
                CHECK(reply.block == block_of(publisher));
            }
        run_round(star.all);
    }
}

TEST_CASE_METHOD(captured,
                 "star: a look-up with a short buffer returns the length and can be repeated") {
    star star(2, 40 * second, 2);
    CHECK(publish(star.all[0], block_of(0, wire::max_published)) == 0);
    CHECK(publish(star.all[1], block_of(1, 1)) == 0);
    std::uint64_t number = 0;
    const bytes long_one(wire::max_published + 1);
    for (member& each : star.all) {
        CHECK(each.oob->publish(long_one.data(), long_one.size(), number) == UCS_ERR_EXCEEDS_LIMIT);
        CHECK(number == 1);  // all ranks have used up the number
    }
    run_round(star.all);
    static_cast<void>(look_up(star.all[1], 0, 0));
    for (int i = 0; i < 100; ++i)
        serve(star.all);
    bytes blocks(wire::max_published);
    std::size_t size = 10;
    CHECK(star.all[1].oob->look_up(0, 0, blocks.data(), size) == UCS_ERR_BUFFER_TOO_SMALL);
    CHECK(size == wire::max_published);
    CHECK(star.all[1].oob->look_up(0, 0, blocks.data(), size) == UCS_OK);
    CHECK(blocks == block_of(0, wire::max_published));
}

TEST_CASE_METHOD(captured, "star: invalid look-ups are refused") {
    star star(2, 40 * second, 2);
    const bytes none;
    std::uint64_t number = 0;
    CHECK(star.all[0].oob->publish(none.data(), 0, number) == UCS_ERR_INVALID_PARAM);
    CHECK(publish(star.all[0], block_of(0)) == 0);
    CHECK(look_up(star.all[0], 0, 0).status == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("no round has followed") == 1);
    run_round(star.all);
    CHECK(look_up(star.all[0], 0, 2).status == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("there is no such rank") == 1);
    CHECK(look_up(star.all[0], 1, 0).status == UCS_ERR_INVALID_PARAM);
    CHECK(look_up(star.all[1], 0, 0).status == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("it has published nothing under that number") == 2);
    // Rank 1 has no block under this number.
    CHECK(look_up(star.all[0], 0, 1).status == UCS_ERR_NO_ELEM);
    CHECK(star.all[1].oob->withdraw(0) == UCS_ERR_INVALID_PARAM);
}

TEST_CASE_METHOD(captured,
                 "star: rank 0 stores a number until all ranks have withdrawn it or left") {
    published_star star(4);
    CHECK(star.all[0].oob->withdraw(0) == UCS_INPROGRESS);
    CHECK(star.all[1].oob->withdraw(0) == UCS_OK);
    CHECK(star.all[0].oob->withdraw(0) == UCS_INPROGRESS);
    // The block of a rank that left is still found.
    star.all[2].oob.reset();
    CHECK(look_up(star.all[3], 0, 2).status == UCS_INPROGRESS);
    star.all[0].oob->serve();
    star.all[0].oob->serve();
    CHECK(look_up(star.all[3], 0, 2).block == block_of(2));
    CHECK(star.all[0].oob->withdraw(0) == UCS_INPROGRESS);
    CHECK(star.all[3].oob->withdraw(0) == UCS_OK);
    CHECK(star.all[0].oob->withdraw(0) == UCS_OK);
    CHECK(star.all[0].oob->withdraw(0) == UCS_ERR_INVALID_PARAM);
}

TEST_CASE_METHOD(captured,
                 "star: rank 0 serves look-ups of a rank in a round that rank 0 has not begun") {
    published_star star(3);
    REQUIRE(star.all[1].begin(1000) == UCS_OK);
    for (int i = 0; i < 3; ++i) {
        CHECK(star.all[1].oob->test() == UCS_INPROGRESS);
        star.all[0].oob->serve();
    }
    CHECK(look_up(star.all[1], 0, 2).status == UCS_INPROGRESS);
    star.all[0].oob->serve();
    CHECK(look_up(star.all[1], 0, 2).block == block_of(2));
    // The same works during the round.
    REQUIRE(star.all[0].begin(1000) == UCS_OK);
    CHECK(look_up(star.all[1], 0, 0).status == UCS_INPROGRESS);
    CHECK(star.all[0].oob->test() == UCS_INPROGRESS);
    CHECK(look_up(star.all[1], 0, 0).block == block_of(0));
    REQUIRE(star.all[2].begin(1000) == UCS_OK);
    turn(star.all);
    expect(star.all, UCS_OK);
}

TEST_CASE_METHOD(captured,
                 "star: a long block for a later round waits, and so do look-ups behind it") {
    published_star star(2);
    REQUIRE(star.all[1].begin(300'000) == UCS_OK);
    for (int i = 0; i < 5; ++i) {
        CHECK(star.all[1].oob->test() == UCS_INPROGRESS);
        star.all[0].oob->serve();
    }
    CHECK(look_up(star.all[1], 0, 0).status == UCS_INPROGRESS);
    star.all[0].oob->serve();
    REQUIRE(star.all[0].begin(300'000) == UCS_OK);
    for (int i = 0; i < 100; ++i)
        turn(star.all);
    CHECK(star.all[0].oob->test() == UCS_OK);
    CHECK(star.all[1].oob->test() == UCS_OK);
    serve(star.all);
    CHECK(look_up(star.all[1], 0, 0).block == block_of(0));
}

TEST_CASE_METHOD(captured,
                 "star: an early block of a wrong size or of a late rank fails the round") {
    published_star star(3);
    REQUIRE(star.all[1].begin(9) == UCS_OK);
    static_cast<void>(star.all[1].oob->test());
    star.all[0].oob->serve();
    SECTION("the size") {
        CHECK(star.all[0].begin(8) == UCS_ERR_INVALID_PARAM);
        CHECK(star.all[1].oob->test() == UCS_ERR_INVALID_PARAM);
        CHECK(log.count("rank 1 gives 9 bytes and rank 0 8") == 1);
    }
    SECTION("the time") {
        test::virtual_time::now += 40 * second;
        CHECK(star.all[1].oob->test() == UCS_INPROGRESS);  // it requests the missing ranks
        star.all[0].oob->serve();
        CHECK(star.all[0].begin(9) == UCS_ERR_TIMED_OUT);
        CHECK(star.all[1].oob->test() == UCS_ERR_TIMED_OUT);
        CHECK(log.count("rank 2") >= 1);
    }
}

TEST_CASE_METHOD(captured, "star: rank 0 leaves during a look-up") {
    published_star star(3);
    CHECK(look_up(star.all[1], 0, 2).status == UCS_INPROGRESS);
    star.all[0].oob.reset();
    CHECK(look_up(star.all[1], 0, 2).status == UCS_ERR_CONNECTION_RESET);
    CHECK(look_up(star.all[2], 0, 1).status == UCS_ERR_CONNECTION_RESET);
    CHECK(log.count("died or left: the look-up of rank 2 fails") == 1);
    CHECK(star.all[1].oob->withdraw(0) == UCS_OK);
}

TEST_CASE_METHOD(captured, "star: look-ups fail after a failed round, and all ranks are notified") {
    published_star star(3);
    CHECK(look_up(star.all[1], 0, 2).status == UCS_INPROGRESS);
    REQUIRE(star.all[0].begin(8) == UCS_OK);
    star.all[0].oob->release();
    CHECK(star.all[0].oob->withdraw(0) == UCS_OK);
    // The request of rank 1 may have been served before.
    CHECK(look_up(star.all[2], 0, 1).status == UCS_ERR_CONNECTION_RESET);
    REQUIRE(star.all[2].begin(8) == UCS_OK);
    CHECK(star.all[2].oob->test() == UCS_ERR_CANCELED);
    std::uint64_t number = 0;
    const bytes block = block_of(2);
    CHECK(star.all[2].oob->publish(block.data(), block.size(), number) == UCS_ERR_CANCELED);
}

TEST_CASE_METHOD(captured, "star: a look-up without a reply ends with the timeout of a round") {
    published_star star(2);
    CHECK(look_up(star.all[1], 0, 0).status == UCS_INPROGRESS);
    test::virtual_time::now += 40 * second - 1;
    CHECK(look_up(star.all[1], 0, 0).status == UCS_INPROGRESS);
    test::virtual_time::now += 1;
    CHECK(look_up(star.all[1], 0, 0).status == UCS_ERR_TIMED_OUT);
    CHECK(log.count("rank 1 got no reply within 40 s to the look-up of rank 0") == 1);
    // The late reply serves the next look-up.
    star.all[0].oob->serve();
    CHECK(look_up(star.all[1], 0, 0).status == UCS_OK);
}

TEST_CASE_METHOD(captured, "star: publications beyond the limit are refused") {
    star star(2, 40 * second, 2);
    run_round(star.all);
    const bytes block(wire::max_published);
    std::size_t taken = 0;
    std::uint64_t number = 0;
    ucs_status_t status = UCS_OK;
    for (; taken < 1000 && status == UCS_OK; ++taken)
        status = star.all[1].oob->publish(block.data(), block.size(), number);
    CHECK(status == UCS_ERR_EXCEEDS_LIMIT);
    CHECK(taken - 1 == tcp_store::max_of_rank / tcp_store::cost_of(block.size()));
    for (std::size_t i = 0; i < 30 * taken; ++i) {
        star.all[1].oob->serve();
        star.all[0].oob->serve();
    }
    // Withdrawing frees memory.
    CHECK(star.all[1].oob->withdraw(0) == UCS_OK);
    CHECK(star.all[1].oob->publish(block.data(), block.size(), number) == UCS_OK);
}

// --- peers that send without pause ---

namespace {

// One end of a connection, controlled by the test.
struct fake_peer {
    std::pair<ucs::unique_fd, ucs::unique_fd> ends = make_connection();
    ucs::unique_fd other_end = std::move(ends.first);  // for rank 0 or the leaf
    tcp_link link{std::move(ends.second)};

    void send(const wire::header& head, std::span<const std::byte> content = {}) {
        link.put(head, content);
        REQUIRE(link.flush() == UCS_OK);
    }
    // Proves to rank 0 that there is no job key, and sends the hello of a rank.
    void greet(rank_t rank, rank_t size) {
        ucs::security::key_handshake client(ucs::security::key_handshake::role::client, nullptr,
                                            store_purpose);
        static_cast<void>(ucs::net::advance(client, link.fd()));
        send({wire::frame_kind::hello, rank, size});
    }
    // Sends as many frames as the socket accepts.
    std::size_t flood(const wire::header& head) {
        std::size_t frames = 0;
        for (bool is_taken = true; is_taken; ++frames) {
            link.put(head);
            is_taken = link.flush() == UCS_OK;
        }
        return frames;
    }
};

std::size_t unread(int socket) {
    int count = 0;
    REQUIRE(::ioctl(socket, FIONREAD, &count) == 0);
    return static_cast<std::size_t>(count);
}

}  // namespace

TEST_CASE_METHOD(captured,
                 "star: a rank that sends without pause does not delay rank 0's deadline") {
    const auto kind = GENERATE(wire::frame_kind::withdrawn, wire::frame_kind::late);
    star star(3, second, 2);
    fake_peer flooding;
    const ucs::unique_fd end_of_root(::fcntl(flooding.other_end.get(), F_DUPFD_CLOEXEC, 0));
    star.root->adopt(std::move(flooding.other_end));
    flooding.greet(2, 3);
    begin(star.all, 8);
    turn(star.all);
    // No round has number 7, so "late" ends none.
    REQUIRE(flooding.flood({kind, 2, 3, 0, 7}) > 200);
    const std::size_t before = unread(end_of_root.get());
    CHECK(star.all[0].oob->test() == UCS_INPROGRESS);
    CHECK(unread(end_of_root.get()) > before / 2);
    // Rank 0 serves other ranks, too, and receives the rest later.
    test::virtual_time::now += second - 1;
    for (int i = 0; i < 1000 && unread(end_of_root.get()) >= wire::header::size; ++i)
        CHECK(star.all[0].oob->test() == UCS_INPROGRESS);
    CHECK(unread(end_of_root.get()) < wire::header::size);
    test::virtual_time::now += 1;
    CHECK(star.all[0].oob->test() == UCS_ERR_TIMED_OUT);
    INFO(log.text());
    CHECK(log.count("rank 2 did not take part within 1 s") == 1);
}

TEST_CASE_METHOD(
    captured, "star: a rank that reconnects waits until rank 0 has received its earlier frames") {
    star star(2);
    fake_peer first;
    star.root->adopt(std::move(first.other_end));
    first.greet(1, 2);
    REQUIRE(star.all[0].begin(8) == UCS_OK);
    CHECK(star.all[0].oob->test() == UCS_INPROGRESS);
    REQUIRE(first.flood({wire::frame_kind::withdrawn, 1, 2, 0, 7}) > 200);
    star.join(1);
    REQUIRE(star.all[1].begin(8) == UCS_OK);
    expect(star.all, UCS_INPROGRESS);
    CHECK(star.all[1].oob->test() == UCS_INPROGRESS);
    INFO(log.text());
    CHECK(log.count("one that may have left") == 1);
}

namespace {

// A rank 1 that is connected to a fake rank 0.
struct leaf_of_fake {
    leaf_of_fake() {
        leaf.oob =
            std::make_unique<tcp_leaf>(rank_params{1, 2, 40 * second}, std::uint64_t{0},
                                       root_address{"127.0.0.1", 1}, std::move(root.other_end));
        static_cast<void>(ucs::net::advance(server, root.link.fd()));
        const bytes block = block_of(1);
        std::uint64_t number = 0;
        REQUIRE(leaf.oob->publish(block.data(), block.size(), number) == UCS_OK);
        root.send({wire::frame_kind::welcome, 0, 2});
        begin_round();
    }
    void begin_round() {
        REQUIRE(leaf.begin(8) == UCS_OK);
        REQUIRE(leaf.oob->test() == UCS_INPROGRESS);
    }
    void end_round() {
        root.send({wire::frame_kind::blocks, 0, 2}, bytes(16));
        REQUIRE(leaf.oob->test() == UCS_OK);
        leaf.oob->release();
    }
    // Sends rank 0's block as a reply, even without a request.
    void send_reply(std::uint64_t number = 0) {
        bytes content(wire::reply_head::size);
        wire::pack({UCS_OK, 0}, std::span(content).first<wire::reply_head::size>());
        content.push_back(std::byte{1});
        root.send({wire::frame_kind::reply, 0, 2, 0, number}, content);
    }

    ucs::security::key_handshake server{ucs::security::key_handshake::role::server, nullptr,
                                        store_purpose};
    fake_peer root;
    member leaf;
};

}  // namespace

TEST_CASE_METHOD(captured, "star: an unrequested reply ends the connection to rank 0") {
    leaf_of_fake fake;
    SECTION("in a round") {
        fake.send_reply();
        CHECK(fake.leaf.oob->test() == UCS_ERR_CONNECTION_RESET);
        CHECK(log.count("rank 0 at 127.0.0.1:1 sent nonsense") == 1);
    }
    SECTION("between rounds, and after an answer that was asked for") {
        fake.end_round();
        CHECK(look_up(fake.leaf, 0, 0).status == UCS_INPROGRESS);
        fake.send_reply();
        CHECK(look_up(fake.leaf, 0, 0).status == UCS_OK);
        fake.send_reply();
        fake.leaf.oob->serve();
        CHECK(look_up(fake.leaf, 0, 0).status == UCS_ERR_CONNECTION_RESET);
    }
}

TEST_CASE_METHOD(captured, "star: a reply to a withdrawn look-up is dropped") {
    leaf_of_fake fake;
    fake.end_round();
    CHECK(look_up(fake.leaf, 0, 0).status == UCS_INPROGRESS);
    CHECK(fake.leaf.oob->withdraw(0) == UCS_OK);
    fake.send_reply();
    fake.leaf.oob->serve();
    REQUIRE(fake.leaf.begin(8) == UCS_OK);
    CHECK(fake.leaf.oob->test() == UCS_INPROGRESS);
    INFO(log.text());
    CHECK(log.size() == 0);
}
