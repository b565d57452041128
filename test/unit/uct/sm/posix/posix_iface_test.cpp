#include "uct/sm/posix/posix_iface.hpp"

#include <optional>
#include <thread>

#include "test/support/descriptor_limit.hpp"
#include "test/support/log_capture.hpp"
#include "test/unit/uct/sm/posix/fixture.hpp"

using namespace uct;
using namespace uct::posix::test;

TEST_CASE("posix: messages sent before the peer's progress arrive in order and unchanged",
          "[posix]") {
    node a, b;
    auto ep = a.connect(b);
    std::vector<std::string> expected;
    for (const std::size_t size : {0UL, 1UL, 3UL, 4UL, 7UL, 8UL, 15UL, 16UL, 31UL, 32UL, 33UL, 47UL,
                                   48UL, 49UL, 100UL, 4000UL, 8240UL}) {
        const std::string text(size, static_cast<char>('a' + size % 26));
        REQUIRE(send(*ep, 1, size, text) == UCS_OK);
        expected.push_back(with_header(size, text));
        REQUIRE(send_packed(*ep, 2, text) == static_cast<ssize_t>(size));
        expected.push_back(text);
    }
    REQUIRE(until({&a, &b}, [&] { return b.inbox.size() == expected.size(); }));
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(b.inbox_ids[i] == 1 + i % 2);
        CHECK(b.inbox[i] == expected[i]);
    }
}

TEST_CASE("posix: a full ring queues sends and keeps their order", "[posix]") {
    node a, b;
    auto ep = a.connect(b);
    struct request : pending_request {
        uct::ep* to;
        std::uint64_t number;
    };
    std::uint64_t sent = 0;
    while (send(*ep, 1, sent, "") == UCS_OK)
        ++sent;
    CHECK(sent == 256);
    request waiting{};
    waiting.to = ep.get();
    waiting.number = sent++;
    waiting.progress = [](pending_request& self) {
        auto& me = static_cast<request&>(self);
        return me.to->am_short(1, me.number, nullptr, 0);
    };
    ep->pending_add(waiting);
    while (b.inbox.size() < sent - 1) {
        a.events->poll(0);
        b.progress();
    }
    // There is room again, but the queued messages go first.
    CHECK(send(*ep, 1, 999, "") == UCS_ERR_NO_RESOURCE);
    CHECK(a.progress() == 1);
    CHECK(send(*ep, 1, sent++, "") == UCS_OK);
    REQUIRE(until({&a, &b}, [&] { return b.inbox.size() == sent; }));
    for (std::uint64_t i = 0; i < sent; ++i)
        CHECK(b.inbox[i] == with_header(i, ""));
}

TEST_CASE("posix: messages arrive after their endpoint is destroyed", "[posix]") {
    node a, b;
    auto ep = a.connect(b);
    for (std::uint64_t i = 0; i < 100; ++i)
        REQUIRE(send(*ep, 1, i, std::string(100, 'x')) == UCS_OK);
    ep.reset();
    REQUIRE(until({&a, &b}, [&] { return b.inbox.size() == 100; }));
    b.progress();
    CHECK(b.inbox.back() == with_header(99, std::string(100, 'x')));
    CHECK(b.events->size() == 1);  // only the listening socket: the drained ring was dropped
    CHECK(a.events->size() == 1);
}

TEST_CASE("posix: an interface that closes waits for peers that have yet to accept", "[posix]") {
    node b;
    std::thread sender([contact = b.address()] {
        node a;
        auto ep = a.connect(contact);
        for (std::uint64_t i = 0; i < 100; ++i)
            static_cast<void>(send(*ep, 1, i, ""));
        ep.reset();
        a.close();
    });
    REQUIRE(until({&b}, [&] { return b.inbox.size() == 100; }));
    sender.join();
}

TEST_CASE("posix: two interfaces that close and wait for each other both get through", "[posix]") {
    const test::log_capture log;
    std::array<std::unique_ptr<node>, 2> both{std::make_unique<node>(), std::make_unique<node>()};
    const std::array contacts{both[1]->address(), both[0]->address()};
    std::array<std::thread, 2> threads;
    for (std::size_t i = 0; i < 2; ++i) {
        auto ep = both[i]->connect(contacts[i]);
        REQUIRE(send(*ep, 1, i, "") == UCS_OK);
    }
    for (std::size_t i = 0; i < 2; ++i)
        threads[i] = std::thread([&own = both[i]] { own->close(); });
    for (auto& each : threads)
        each.join();
    CHECK(log.count("are lost") == 0);
}

TEST_CASE("posix: messages that no peer accepts are given up with one line", "[posix]") {
    const test::log_capture log;
    node b;
    {
        node a;
        auto ep = a.connect(b);
        REQUIRE(send(*ep, 1, 0, "") == UCS_OK);
    }
    CHECK(log.count("are lost") == 1);
}

TEST_CASE("posix: a peer that closes its interface is reported as closed, not as dead", "[posix]") {
    node a;
    node b;
    auto ep = a.connect(b);
    REQUIRE(send(*ep, 1, 0, "") == UCS_OK);
    SECTION("after it accepted") {
        b.progress();
    }
    SECTION("after it got the ring") {
        REQUIRE(until({&a, &b}, [&] { return b.inbox.size() == 1; }));
    }
    SECTION("before it looked at the connection") {}
    b.close();
    while (a.failures.empty())
        a.progress();
    REQUIRE(a.failures.size() == 1);
    CHECK(a.failed[0] == ep.get());
    CHECK(a.failures[0] == UCS_ERR_NOT_CONNECTED);
    CHECK(send(*ep, 1, 0, "") == UCS_ERR_NOT_CONNECTED);
    CHECK(send_packed(*ep, 1, "x") == UCS_ERR_NOT_CONNECTED);
    CHECK(ep->flush(nullptr) == UCS_ERR_NOT_CONNECTED);
}

// Regression test. If a Unix socket is closed with unread messages, its peer gets an error before
// the last messages.
TEST_CASE("posix: an unread wake-up call does not hide the goodbye", "[posix]") {
    node a;
    node b(ucs::config::source::empty(), true);
    auto ep = a.connect(b);
    REQUIRE(send(*ep, 1, 0, "") == UCS_OK);
    REQUIRE(until({&a, &b}, [&] { return !b.inbox.empty(); }));
    while (b.iface->arm() != UCS_OK)
        b.progress();
    REQUIRE(send(*ep, 1, 1, "") == UCS_OK);  // wakes the reader
    b.close();
    while (a.failures.empty())
        a.progress();
    CHECK(a.failures[0] == UCS_ERR_NOT_CONNECTED);
}

TEST_CASE("posix: every sender in the queue of an interface that closes gets a goodbye",
          "[posix]") {
    node a;
    node b;
    std::vector<std::unique_ptr<ep>> crowd;
    for (int i = 0; i < 150; ++i) {
        crowd.push_back(a.connect(b));
        REQUIRE(send(*crowd.back(), 1, 0, "") == UCS_OK);
    }
    b.close();
    while (a.failures.size() < crowd.size())
        a.progress();
    for (const ucs_status_t status : a.failures)
        CHECK(status == UCS_ERR_NOT_CONNECTED);
}

TEST_CASE("posix: messages of a peer arrive before its end is reported", "[posix]") {
    node a;
    node b;
    auto there = a.connect(b);
    auto back = b.connect(a);
    REQUIRE(send(*there, 1, 0, "") == UCS_OK);
    std::uint64_t count = 0;
    REQUIRE(send(*back, 1, count++, "") == UCS_OK);
    REQUIRE(until({&a, &b}, [&] { return a.inbox.size() == 1; }));
    while (send(*back, 1, count, "") == UCS_OK)
        ++count;
    back.reset();
    b.close();
    while (a.failures.empty())
        a.progress();
    CHECK(a.inbox.size() == count);
}

TEST_CASE("posix: a handler may destroy the endpoint whose end is about to be reported",
          "[posix]") {
    node a;
    node b;
    auto there = a.connect(b);
    auto back = b.connect(a);
    REQUIRE(send(*there, 1, 0, "") == UCS_OK);
    REQUIRE(send(*back, 1, 0, "") == UCS_OK);
    REQUIRE(until({&a, &b}, [&] { return a.inbox.size() == 1; }));
    REQUIRE(send(*back, 1, 1, "") == UCS_OK);
    back.reset();
    b.close();
    a.on_message = [&] { there.reset(); };
    while (there != nullptr)
        a.progress();
    while (a.progress() > 0) {
    }
    CHECK(a.failures.empty());
    CHECK(a.inbox.size() == 2);
}

TEST_CASE("posix: an address of a closed interface fails at the first send", "[posix]") {
    node a;
    std::vector<std::byte> contact;
    {
        const node b;
        contact = b.address();
    }
    auto ep = a.connect(contact);
    CHECK(send(*ep, 1, 0, "") == UCS_ERR_CONNECTION_RESET);
    a.progress();
    REQUIRE(a.failures.size() == 1);
    CHECK(a.failures[0] == UCS_ERR_CONNECTION_RESET);
}

TEST_CASE("posix: handlers may create and destroy endpoints and send", "[posix]") {
    node a, b;
    auto ep = a.connect(b);
    std::unique_ptr<uct::ep> back;
    unsigned calls = 0;
    b.on_message = [&] {
        back = b.connect(a);
        REQUIRE(send(*back, 2, ++calls, "") == UCS_OK);
    };
    for (std::uint64_t i = 0; i < 50; ++i)
        REQUIRE(send(*ep, 1, i, "") == UCS_OK);
    while (a.inbox.size() < 50) {
        a.progress();
        b.progress();
    }
    CHECK(calls == 50);
}

TEST_CASE("posix: unreachable addresses have a reason", "[posix]") {
    node a, b;
    auto address = b.address();
    const auto reason = [&] { return a.iface->check_reachable(address).reason; };
    CHECK(reason().empty());
    address[8] ^= std::byte{1};
    CHECK(reason() == "it runs on another host");
    address[8] ^= std::byte{1};
    address[24] ^= std::byte{1};
    CHECK(reason().find("another network namespace") != std::string::npos);
    address.pop_back();
    CHECK(reason().find("malformed") != std::string::npos);
    CHECK(a.iface->create_ep(address).status() == UCS_ERR_UNREACHABLE);
}

TEST_CASE("posix: wrong ring options are refused", "[posix]") {
    auto events = std::move(*ucs::async::event_loop::create());
    auto config = ucs::config::source::empty();
    SECTION("messages too small") {
        config.set("POSIX_SEG_SIZE", "1k");
    }
    SECTION("no slots") {
        config.set("POSIX_FIFO_SIZE", "0");
    }
    SECTION("bulk bytes too many") {
        config.set("POSIX_BULK_SIZE", "1g");
    }
    const auto opened = posix_component().open({"posix", "memory", device_type::shared_memory},
                                               {*events, config, 1});
    CHECK(opened.status() == UCS_ERR_INVALID_PARAM);
    CHECK(events->size() == 0);
}

namespace {

// Makes the first send of an endpoint while the process can open no more descriptors.
ucs_status_t send_without_descriptors(ep& from) {
    const rlim_t next = ::test::descriptor_limit::next_descriptor();
    std::optional<::test::descriptor_limit> none(next);
    const ucs_status_t status = send(from, 1, 0, "");
    none.reset();
    CHECK(::test::descriptor_limit::next_descriptor() == next);
    return status;
}

}  // namespace

TEST_CASE("posix: if descriptors run out, the first send fails and nothing leaks", "[posix]") {
    node a, b;
    auto ep = a.connect(b);
    CHECK(send_without_descriptors(*ep) == UCS_ERR_EXCEEDS_LIMIT);
    a.progress();
    CHECK(a.failures.size() == 1);
}

TEST_CASE("posix: a process that cannot reply for want of descriptors refuses its senders",
          "[posix]") {
    // Regression test. The sender waited for a reply for ever.
    node a, b, c;
    auto to_b = a.connect(b);
    auto also_to_b = c.connect(b);
    REQUIRE(send(*to_b, 1, 0, "question") == UCS_OK);
    REQUIRE(send(*also_to_b, 1, 0, "question") == UCS_OK);
    REQUIRE(until({&a, &b, &c}, [&] { return b.inbox.size() == 2; }));
    auto to_a = b.connect(a);
    CHECK(send_without_descriptors(*to_a) == UCS_ERR_EXCEEDS_LIMIT);
    REQUIRE(until({&a, &b, &c}, [&] { return a.failures.size() == 1; }));
    CHECK(a.failed[0] == to_b.get());
    CHECK(a.failures[0] == UCS_ERR_REJECTED);
    CHECK(send(*to_b, 1, 0, "") == UCS_ERR_REJECTED);
    REQUIRE(send(*also_to_b, 1, 0, "more") == UCS_OK);
    REQUIRE(until({&a, &b, &c}, [&] { return b.inbox.size() == 3; }));
}

TEST_CASE("posix: the largest and the smallest options make rings that work", "[posix]") {
    using bounds = std::array<const char*, 3>;
    const auto [slots, message, bulk] =
        GENERATE(bounds{"1", "2k", "4k"}, bounds{"inf", "inf", "64m"}, bounds{"1", "64k", "4k"});
    auto from = ucs::config::source::empty();
    from.set("POSIX_FIFO_SIZE", slots);
    from.set("POSIX_SEG_SIZE", message);
    from.set("POSIX_BULK_SIZE", bulk);
    CHECK(ucs::config::load<posix::config>(from)->geometry().valid());
}
