#include "uct/tcp/acceptor.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <new>
#include <optional>

#include "test/support/log_capture.hpp"
#include "test/support/virtual_time.hpp"
#include "uct/tcp/socket.hpp"

using test::virtual_time;
using ucs::time::millisecond;
using uct::tcp::acceptor;

namespace {

uct::tcp::socket_address loopback(std::uint16_t port) {
    constexpr std::array ip{std::byte{127}, std::byte{0}, std::byte{0}, std::byte{1}};
    return {uct::tcp::ip_address::v4(ip), port};
}

// Takes who says "x", goes on listening to who says "-", and holds who says "w" until it is told
// that waiting is over.
struct place {
    struct guest final : acceptor::stranger {
        guest(place& where, ucs::unique_fd socket)
            : stranger(socket.get()), at(where), fd(std::move(socket)) {}
        void on_words() noexcept override {
            char word = 0;
            if (::recv(fd.get(), &word, 1, MSG_DONTWAIT) < 0) return;
            if (word == '-') {
                ++at.heard;
                return;
            }
            if (word == 'w') return at.door->hold(*this);
            if (word != 'x') return at.door->show_out(*this, "is not wanted");
            take();
        }
        void on_tick(ucs::time::nanoseconds) noexcept override {
            ++at.asked;
            if (at.waiting_is_over) take();
        }
        void on_end() noexcept override { ++at.ended; }
        void take() noexcept {
            at.taken.push_back(std::move(fd));
            at.door->remove(*this);
        }
        place& at;
        ucs::unique_fd fd;
    };

    explicit place(ucs::time::nanoseconds patience = 3600 * ucs::time::second) {
        events = std::move(*ucs::async::event_loop::create());
        door.emplace(*events, acceptor::terms{.log = uct::tcp::log,
                                              .rejected = rejected,
                                              .name = "here",
                                              .patience = patience,
                                              .accept = [this](int at) -> std::unique_ptr<guest> {
                                                  ucs::unique_fd fd = uct::tcp::accept_stream(at);
                                                  if (!fd) return nullptr;
                                                  if (no_memory) throw std::bad_alloc();
                                                  return std::make_unique<guest>(*this,
                                                                                 std::move(fd));
                                              }});
        listener = uct::tcp::open_stream(AF_INET);
        const auto any = loopback(0);
        REQUIRE(::bind(listener.get(), any.data(), any.size()) == 0);
        REQUIRE(::listen(listener.get(), SOMAXCONN) == 0);
        address = uct::tcp::local_address(listener.get());
        REQUIRE(door->open({listener.get()}) == UCS_OK);
    }

    [[nodiscard]] ucs::unique_fd knock(const char* word = "") const {
        ucs::unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        REQUIRE(::connect(fd.get(), address.data(), address.size()) == 0);
        const auto length = static_cast<ssize_t>(std::char_traits<char>::length(word));
        REQUIRE(::send(fd.get(), word, static_cast<std::size_t>(length), 0) == length);
        return fd;
    }
    void settle() const {
        while (events->poll(0) > 0) {
        }
    }
    // Lets time pass, in steps that no timer overlooks.
    void pass(ucs::time::nanoseconds how_long) const {
        for (ucs::time::nanoseconds gone = 0; gone < how_long; gone += 10 * millisecond) {
            virtual_time::now += 10 * millisecond;
            settle();
        }
    }

    std::unique_ptr<ucs::async::event_loop> events;
    ucs::log::throttle rejected;
    uct::tcp::socket_address address;
    std::vector<ucs::unique_fd> taken;
    unsigned heard = 0;
    unsigned asked = 0;
    unsigned ended = 0;
    bool waiting_is_over = false;
    bool no_memory = false;
    ucs::unique_fd listener;
    std::optional<acceptor> door;
};

bool closed(const ucs::unique_fd& fd) {
    pollfd one{fd.get(), POLLIN, 0};
    return ::poll(&one, 1, 0) == 1;
}

std::vector<ucs::unique_fd> crowd(const place& at, std::size_t size) {
    std::vector<ucs::unique_fd> all;
    for (std::size_t i = 0; i < size; ++i)
        all.push_back(at.knock());
    at.settle();
    return all;
}

}  // namespace

TEST_CASE("who says who it is is taken, and who is silent is closed when its time is over") {
    const virtual_time clock;
    const test::log_capture log;
    place at(50 * millisecond);
    const auto silent = at.knock();
    const auto slow = at.knock();
    const auto quick = at.knock("x");
    at.settle();
    CHECK(at.taken.size() == 1);
    CHECK(at.door->strangers() == 2);
    CHECK(at.door->accepted() == 3);
    at.pass(40 * millisecond);
    REQUIRE(::send(slow.get(), "x", 1, 0) == 1);
    at.settle();
    CHECK(at.taken.size() == 2);
    CHECK(!closed(silent));
    at.pass(20 * millisecond);
    CHECK(closed(silent));
    CHECK(at.door->strangers() == 0);
    CHECK(log.count("here: somebody at 127.0.0.1:") == 1);
    CHECK(log.count("connected and did not say who it is") == 1);
    CHECK(at.rejected.count() == 1);
    // With nobody to wait for there is no timer.
    virtual_time::now += ucs::time::second;
    CHECK(at.events->poll(0) == 0);
}

TEST_CASE("who drips words that say nothing yet has the same time as who is silent") {
    const virtual_time clock;
    const test::log_capture log;
    place at(50 * millisecond);
    const auto slow = at.knock();
    at.settle();
    // A byte in each step: that it speaks does not give it more time.
    for (unsigned i = 0; i < 4; ++i) {
        REQUIRE(::send(slow.get(), "-", 1, 0) == 1);
        at.settle();
        at.pass(10 * millisecond);
        REQUIRE(at.door->strangers() == 1);
        CHECK(!closed(slow));
    }
    CHECK(at.heard == 4);
    REQUIRE(::send(slow.get(), "-", 1, 0) == 1);
    at.settle();
    at.pass(20 * millisecond);
    CHECK(closed(slow));
    CHECK(at.door->strangers() == 0);
    CHECK(at.taken.empty());
    CHECK(log.count("connected and did not say who it is") == 1);
}

TEST_CASE("a crowd waits, and who is silent for longest makes room") {
    const virtual_time clock;
    const test::log_capture log;
    place at;
    const auto first = crowd(at, acceptor::most_strangers);
    CHECK(at.door->strangers() == acceptor::most_strangers);
    CHECK(log.size() == 0);
    const auto more = at.knock("x");
    at.settle();
    at.pass(acceptor::least_patience - 20 * millisecond);
    CHECK(at.taken.empty());
    at.pass(40 * millisecond);
    CHECK(at.taken.size() == 1);
    CHECK(closed(first.front()));
    CHECK(!closed(first.back()));
    CHECK(log.count("256 connections to here have not said who they are") == 1);
    CHECK(log.size() == 1);
}

TEST_CASE("as many as there is room for need not make room for nobody") {
    const virtual_time clock;
    const test::log_capture log;
    place at;
    const auto most = crowd(at, acceptor::most_strangers - 1);
    at.pass(2 * acceptor::least_patience);
    const auto last = at.knock("");
    at.settle();
    at.pass(2 * acceptor::least_patience);
    CHECK(at.door->strangers() == acceptor::most_strangers);
    CHECK(!closed(most.front()));
    CHECK(log.size() == 0);
}

TEST_CASE("who is held need not hurry, and is asked until it is taken") {
    const virtual_time clock;
    const test::log_capture log;
    place at(50 * millisecond);
    const auto waits = at.knock("w");
    at.settle();
    at.pass(ucs::time::second);
    CHECK(at.asked > 10);
    CHECK(at.door->strangers() == 1);
    const auto others = crowd(at, acceptor::most_strangers);
    CHECK(at.door->strangers() == acceptor::most_strangers);
    at.pass(2 * acceptor::least_patience);
    CHECK(!closed(waits));
    at.waiting_is_over = true;
    at.pass(10 * millisecond);
    CHECK(at.taken.size() == 1);
    CHECK(!closed(waits));
}

TEST_CASE("without descriptors accepting rests, and a line says so once") {
    const virtual_time clock;
    const test::log_capture log;
    place at;
    const auto stranger = at.knock("x");
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const int next = ::dup(0);
    ::close(next);
    rlimit none = before;
    none.rlim_cur = static_cast<rlim_t>(next);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    at.settle();
    const unsigned resting = at.events->poll(0);
    at.pass(ucs::time::second);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(resting == 0);
    CHECK(at.taken.empty());
    CHECK(log.count("accept() on here") == 1);
    at.pass(100 * millisecond);
    CHECK(at.taken.size() == 1);
}

TEST_CASE("without memory a connection is closed, and the next is taken when there is some") {
    const virtual_time clock;
    const test::log_capture log;
    place at;
    at.no_memory = true;
    const auto lost = at.knock("x");
    at.settle();
    CHECK(closed(lost));
    CHECK(log.count("accept() on here") == 1);
    at.no_memory = false;
    const auto lucky = at.knock("x");
    at.pass(100 * millisecond);
    CHECK(at.taken.size() == 1);
    CHECK(!closed(lucky));
}

TEST_CASE("those who are left are told that the acceptor ends") {
    const virtual_time clock;
    place at;
    const auto silent = at.knock();
    const auto waits = at.knock("w");
    const auto taken = at.knock("x");
    at.settle();
    at.door.reset();
    CHECK(at.ended == 2);
    CHECK(closed(silent));
    CHECK(closed(waits));
    CHECK(!closed(taken));
    CHECK(at.events->size() == 0);
}
