#include "tools/perf/net/control.hpp"

#include <sys/ioctl.h>

#include <memory>

#include "test/support/socket_pair.hpp"
#include "tools/common/failure.hpp"

using namespace tools::perf;

namespace {

struct pair_of_controls {
    explicit pair_of_controls(std::chrono::milliseconds limit = control::default_silence_timeout) {
        test::socket_pair ends(SOCK_STREAM | SOCK_NONBLOCK);
        left = std::make_unique<control>(std::move(ends.near), limit);
        right = std::make_unique<control>(std::move(ends.far), limit);
    }
    std::unique_ptr<control> left;
    std::unique_ptr<control> right;
};

struct counting_idle final : idle_work {
    void operator()() override { ++calls; }
    unsigned calls = 0;
};

}  // namespace

TEST_CASE("frames arrive whole and in order, also large ones") {
    pair_of_controls pair;
    const std::vector<std::byte> large(1 << 20, std::byte{42});
    std::thread sender([&] {
        pair.left->send(frame_type::hello);
        pair.left->send(frame_type::addresses, large);
    });
    CHECK(pair.right->receive(frame_type::hello).content.empty());
    CHECK(pair.right->receive(frame_type::addresses).content == large);
    sender.join();
}

TEST_CASE("an unexpected frame is a failure that names both frames") {
    pair_of_controls pair;
    pair.left->send(frame_type::barrier);
    CHECK_THROWS_WITH(pair.right->receive(frame_type::test),
                      "the peer sent a barrier frame where a test frame belongs");
    pair.left->send(frame_type::finish);
    CHECK(pair.right->receive(frame_type::test, nullptr, frame_type::finish).type ==
          frame_type::finish);
}

TEST_CASE("both sides pass a barrier and work while they wait") {
    pair_of_controls pair;
    counting_idle left;
    counting_idle right;
    std::thread other([&] {
        for (int round = 0; round < 100; ++round)
            pair.left->barrier(left);
    });
    for (int round = 0; round < 100; ++round)
        pair.right->barrier(right);
    other.join();
    CHECK(left.calls + right.calls > 0);
}

TEST_CASE("a closed connection is a failure") {
    pair_of_controls pair;
    pair.left.reset();
    CHECK_THROWS_AS(pair.right->receive(frame_type::hello), tools::failure);
}

TEST_CASE("bytes of another protocol are a failure") {
    pair_of_controls pair;
    REQUIRE(::send(pair.left->fd(), "GET / HTTP/1.1\r\n\r\n", 18, 0) == 18);
    CHECK_THROWS_WITH(pair.right->receive(frame_type::hello),
                      "the peer does not speak this version of the test protocol");
}

TEST_CASE("receive_within() ends at its limit") {
    pair_of_controls pair;
    CHECK_THROWS_AS(pair.right->receive_within(frame_type::hello, std::chrono::milliseconds(1)),
                    tools::failure);
}

TEST_CASE("a silent peer is a failure that names the expected frame") {
    const pair_of_controls pair(std::chrono::milliseconds(30));
    counting_idle idle;
    CHECK_THROWS_WITH(pair.right->barrier(idle),
                      Catch::Contains("while this side waited for its barrier"));
    CHECK(pair.left->receive(frame_type::barrier).content.empty());
    CHECK_THROWS_WITH(pair.left->receive(frame_type::test),
                      Catch::Contains("waited for a test frame"));
    CHECK(pair.right->is_silent());
}

TEST_CASE("a peer that sends keepalives may take any time") {
    const pair_of_controls pair(std::chrono::milliseconds(20));
    // Sends after each pause, so that no pause counts as silence.
    struct slow_peer final : idle_work {
        explicit slow_peer(control& connection) noexcept : end(connection) {}
        void operator()() override {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            if (++calls < 20) return end.send_alive();
            end.send(frame_type::barrier);
        }
        control& end;
        unsigned calls = 0;
    } idle(*pair.left);
    CHECK_NOTHROW(pair.right->barrier(idle));
    CHECK(idle.calls == 20);
}

TEST_CASE("keepalives do not fill the socket while no thread reads") {
    const pair_of_controls pair;
    for (int i = 0; i < 100'000; ++i) {
        pair.left->send_alive();
        if (i % 100 == 0) CHECK_FALSE(pair.right->is_silent());
    }
    pair.left->send(frame_type::barrier);
    CHECK(pair.right->receive(frame_type::barrier).content.empty());
}

namespace {

// Fills the socket with alive frames, like a peer that sends without pause.
void fill_with_keepalives(const control& from) {
    std::vector<std::byte> frames;
    const auto frame = pack_header(frame_type::alive);
    for (int i = 0; i < 1024; ++i)
        frames.insert(frames.end(), frame.begin(), frame.end());
    std::size_t sent = 0;
    for (;;) {
        const auto rest = std::span(frames).subspan(sent % frames.size());
        const ssize_t count =
            ::send(from.fd(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0) break;
        sent += static_cast<std::size_t>(count);
    }
    REQUIRE(sent > 4096 * frame.size());
}

bool has_unread(const control& connection) {
    int bytes = 0;
    REQUIRE(::ioctl(connection.fd(), FIONREAD, &bytes) == 0);
    return bytes >= static_cast<int>(frame_header_size);
}

}  // namespace

// A reader that reads all pending frames first would never end while the peer continues to send.
TEST_CASE("a flood of keepalives delays neither deadlines nor work") {
    const pair_of_controls pair;
    fill_with_keepalives(*pair.left);
    SECTION("the first frame of a connection") {
        CHECK_THROWS_WITH(
            pair.right->receive_within(frame_type::hello, std::chrono::milliseconds(0)),
            Catch::Contains("sent nothing over the control connection in time"));
    }
    SECTION("the failure report") {
        CHECK_FALSE(pair.right->take_failure_report());
    }
    SECTION("silence") {
        CHECK_FALSE(pair.right->is_silent());
    }
    SECTION("work that gives up") {
        struct impatient final : idle_work {
            void operator()() override { throw tools::failure("stopped"); }
        } idle;
        CHECK_THROWS_WITH(pair.right->barrier(idle), "stopped");
    }
    CHECK(has_unread(*pair.right));
}

TEST_CASE("a failure reported by the peer takes precedence over a failed send") {
    pair_of_controls pair;
    const std::string text = "disk full";
    pair.left->send(frame_type::failure, std::as_bytes(std::span(text)));
    pair.left.reset();
    CHECK_THROWS_WITH(pair.right->send(frame_type::barrier), "the peer reports: disk full");
    CHECK_THROWS_WITH(pair.right->send(frame_type::barrier), Catch::Contains("send:"));
}

TEST_CASE("the watch stops the test when the peer is silent") {
    const pair_of_controls pair(std::chrono::milliseconds(1));
    stop_flag stop;
    const peer_watch watch(*pair.right, stop);
    while (!stop.requested())
        std::this_thread::yield();
    CHECK(watch.found_silence());
}

TEST_CASE("the failure report of a peer is found after other frames") {
    pair_of_controls pair;
    const std::string text = "disk\nfull";
    pair.left->send(frame_type::barrier);
    pair.left->send(frame_type::failure, std::as_bytes(std::span(text)));
    pair.left.reset();
    CHECK(pair.right->take_failure_report() == "the peer reports: disk?full");
    CHECK_FALSE(pair.right->take_failure_report().has_value());
}

TEST_CASE("the watch stops the test when the connection ends") {
    pair_of_controls pair;
    stop_flag stop;
    const peer_watch watch(*pair.right, stop);
    CHECK_FALSE(stop.requested());
    pair.left.reset();
    while (!stop.requested())
        std::this_thread::yield();
    CHECK(stop.requested());
}
