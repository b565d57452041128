// Unit tests: a process that binds the socket name of a closed interface receives nothing.
#include <poll.h>

#include "test/support/child.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/virtual_time.hpp"
#include "test/unit/uct/sm/posix/silent_crowd.hpp"
#include "ucs/descriptor/descriptor_passing.hpp"

using namespace uct;
using namespace uct::posix::test;

namespace {

// A child process that listens on the name and reports how many bytes a sender has sent to it.
class successor : ::test::child_process {
public:
    successor(std::uint64_t socket_id, uid_t user)
        : child_process([=](int report) { serve(socket_id, user, report); }) {
        char ready = 0;
        receive(ready);
        REQUIRE(ready == 'y');
    }
    // Waits until its sender has closed.
    [[nodiscard]] std::size_t received_bytes() const {
        std::size_t count = ~std::size_t{0};
        receive(count);
        return count;
    }

private:
    [[noreturn]] static void serve(std::uint64_t socket_id, uid_t user, int report) {
        if (user != ::geteuid() && ::setresuid(user, user, user) != 0) ::_exit(1);
        const auto listener = posix::listen_on(socket_id);
        if (!listener || ::send(report, "y", 1, 0) != 1) ::_exit(1);
        pollfd waits{listener->get(), POLLIN, 0};
        if (::poll(&waits, 1, -1) != 1) ::_exit(1);
        const ucs::unique_fd caller{::accept(listener->get(), nullptr, nullptr)};
        std::size_t count = 0;
        char bytes[256];
        for (;;) {
            const ssize_t got = ::recv(caller.get(), bytes, sizeof bytes, 0);
            if (got <= 0) break;
            count += static_cast<std::size_t>(got);
        }
        (void)::send(report, &count, sizeof count, 0);
        ::pause();
        ::_exit(0);
    }
};

void check_that_nothing_is_sent_to(uid_t user) {
    node a;
    std::vector<std::byte> contact;
    std::uint64_t socket_id = 0;
    {
        const node b;
        contact = b.address();
        socket_id = socket_of(b);
    }
    const successor stranger(socket_id, user);
    auto ep = a.connect(contact);
    CHECK(send(*ep, 1, 0, "secret") == UCS_ERR_UNREACHABLE);
    a.progress();
    REQUIRE(a.failures.size() == 1);
    CHECK(a.failures[0] == UCS_ERR_UNREACHABLE);
    CHECK(stranger.received_bytes() == 0);
}

// A listener in this process, whose process id is that of the peer's address.
class listener_here {
public:
    explicit listener_here(std::uint64_t socket_id)
        : socket_id_(socket_id), listener_(std::move(*posix::listen_on(socket_id))) {}

    // Fills the queue of the socket.
    void fill_queue() {
        REQUIRE(::listen(listener_.get(), 1) == 0);
        for (int error = 0; error == 0;) {
            crowd_.push_back(posix::make_socket());
            error = posix::connect_to(crowd_.back().get(), socket_id_);
            CHECK((error == 0 || error == EAGAIN));
        }
    }
    // Empties the queue.
    void make_room() {
        for (crowd_.pop_back(); !crowd_.empty(); crowd_.pop_back())
            accept();
        caller_.reset();
    }

    void accept() {
        caller_.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        REQUIRE(caller_);
        ucs::sys::allow_descriptors(caller_.get());
    }
    [[nodiscard]] posix::packet receive() const { return posix::receive_packet(caller_.get()); }
    // Replies as a receiver whose worker has that secret.
    void reply(const ucs::security::worker_secret& secret) const {
        const auto said = posix::parse_challenge(receive().content());
        REQUIRE(said.value);
        const posix::connection_name name{.receiver = socket_id_,
                                          .sender = said.value->reply_socket};
        const ucs::security::responder exchange(secret.as_key(), name.as_bytes(),
                                                said.value->nonce);
        REQUIRE(posix::send_packet(caller_.get(), posix::reply{.content = exchange.answer()}) == 0);
    }
    void say(std::string_view text) const {
        REQUIRE(::send(caller_.get(), text.data(), text.size(), 0) ==
                static_cast<ssize_t>(text.size()));
    }

private:
    std::uint64_t socket_id_;
    ucs::unique_fd listener_, caller_;
    std::vector<ucs::unique_fd> crowd_;
};

// A node with an endpoint to a closed interface whose socket name another process has taken.
struct deceived {
    explicit deceived(bool with_full_queue = false) {
        {
            const node b;
            contact = b.address();
            secret = std::make_unique<const ucs::security::worker_secret>(secret_of(b));
            socket_id = socket_of(b);
        }
        stranger = std::make_unique<listener_here>(socket_id);
        if (with_full_queue) stranger->fill_queue();
        ep = a.connect(contact);
        REQUIRE(send(*ep, 1, 0, "secret") == UCS_OK);
        if (!with_full_queue) stranger->accept();
    }
    // Returns the number of checks until the endpoint fails.
    unsigned looks_until_failure() {
        unsigned looks = 0;
        while (a.failures.empty() && looks < 1000) {
            ep->check();
            a.progress();
            ++looks;
        }
        return looks;
    }
    void fails_with(ucs_status_t status) {
        REQUIRE(until({&a}, [&] { return !a.failures.empty(); }));
        CHECK(a.failures[0] == status);
        CHECK(send(*ep, 1, 0, "") == status);
    }
    node a;
    std::vector<std::byte> contact;
    std::unique_ptr<const ucs::security::worker_secret> secret;
    std::uint64_t socket_id = 0;
    std::unique_ptr<listener_here> stranger;
    std::unique_ptr<uct::ep> ep;
};

}  // namespace

TEST_CASE("posix: a listener that cannot prove that it is the peer gets no ring", "[posix]") {
    const test::log_capture log;
    deceived in;
    SECTION("it has another secret") {
        in.stranger->reply(ucs::security::worker_secret::random());
    }
    SECTION("it says anything") {
        in.stranger->say("welcome");
    }
    in.fails_with(UCS_ERR_UNREACHABLE);
    CHECK(log.count("belongs to another process now") == 1);
    // At most the challenge was received, and no descriptor.
    for (posix::packet got; (got = in.stranger->receive()).type == posix::packet::kind::message;)
        CHECK_FALSE(got.fd);
}

TEST_CASE("posix: a silent listener is given up after enough checks of the owner", "[posix]") {
    deceived in;
    CHECK(in.looks_until_failure() == 12);
    in.fails_with(UCS_ERR_ENDPOINT_TIMEOUT);
}

TEST_CASE("posix: a full queue of the peer's socket does not count as silence", "[posix]") {
    deceived in(true);
    for (int looks = 0; looks < 100; ++looks) {
        in.ep->check();
        in.a.progress();
    }
    REQUIRE(in.a.failures.empty());
    SECTION("there is room again") {
        in.stranger->make_room();
        in.a.progress();
        in.stranger->accept();
        in.stranger->reply(*in.secret);
        CHECK(until({&in.a}, [&] { return in.ep->flush(nullptr) == UCS_OK; }));
    }
    SECTION("there is never any") {
        CHECK(in.looks_until_failure() == 20);
        in.fails_with(UCS_ERR_ENDPOINT_TIMEOUT);
    }
}

TEST_CASE("posix: a full queue of a process that has taken the name ends the endpoint", "[posix]") {
    node a;
    std::vector<std::byte> contact;
    std::uint64_t socket_id = 0;
    const pid_t gone = ::fork();
    REQUIRE(gone >= 0);
    if (gone == 0) ::_exit(0);
    REQUIRE(::waitpid(gone, nullptr, 0) == gone);
    {
        const node b;
        sm::posix_address address = *sm::parse_posix_address(b.address());
        address.pid = static_cast<std::uint32_t>(gone);
        socket_id = address.socket_id;
        contact.resize(sizeof address);
        std::memcpy(contact.data(), &address, sizeof address);
    }
    listener_here stranger(socket_id);
    stranger.fill_queue();
    const auto ep = a.connect(contact);
    REQUIRE(send(*ep, 1, 0, "secret") == UCS_OK);
    ep->check();
    a.progress();
    REQUIRE(a.failures.size() == 1);
    CHECK(a.failures[0] == UCS_ERR_UNREACHABLE);
}

TEST_CASE("posix: connections of another user do not keep a sender waiting", "[posix]") {
    if (::geteuid() != 0) {
        WARN("skipped: only root can run a process of another user");
        return;
    }
    node a;
    node b;
    constexpr int crowd = 300;
    const std::uint64_t socket_id = socket_of(b);
    const ::test::child_process child([&](int report) {
        if (::setresuid(54321, 54321, 54321) != 0) ::_exit(1);
        int connected = 0;
        std::vector<ucs::unique_fd> all;
        for (int i = 0; i < crowd; ++i) {
            all.push_back(posix::make_socket());
            if (posix::connect_to(all.back().get(), socket_id) == 0) ++connected;
        }
        static_cast<void>(!::send(report, &connected, sizeof connected, 0));
        ::_exit(0);  // the connections stay in the queue
    });
    int connected = 0;
    child.receive(connected);
    REQUIRE(connected == crowd);
    const auto ep = a.connect(b.address());
    REQUIRE(send(*ep, 1, 7, "") == UCS_OK);
    // Each event of the socket accepts only a few connections, so that messages do not wait long.
    unsigned looks = 0;
    while (b.inbox.empty() && looks < 2 * crowd) {
        b.progress();  // replies to the challenge, behind the other connections
        a.progress();  // passes the ring to the receiver
        ++looks;
    }
    CHECK(b.inbox.size() == 1);
    CHECK(looks > 4);
    CHECK(looks < 16);
}

TEST_CASE("posix: silent connections of this user's processes make room for others", "[posix]") {
    const test::virtual_time time;
    node a, b;
    const silent_crowd crowd(b, 600);
    const auto ep = a.connect(b.address());
    REQUIRE(send(*ep, 1, 7, "") == UCS_OK);
    const auto both = [&] {
        for (int i = 0; i < 100; ++i) {
            a.progress();
            b.progress();
        }
        return b.inbox.size();
    };
    CHECK(both() == 0);
    test::virtual_time::now += 61 * ucs::time::second;
    CHECK(both() == 1);
}

TEST_CASE("posix: a listener with the right secret gets the ring, and flushes wait for it",
          "[posix]") {
    deceived in;
    CHECK(in.ep->flush(nullptr) == UCS_ERR_NO_RESOURCE);
    in.stranger->reply(*in.secret);
    REQUIRE(until({&in.a}, [&] { return in.ep->flush(nullptr) == UCS_OK; }));
    const posix::packet got = in.stranger->receive();
    CHECK(posix::parse_hello(got.content()).value);
    CHECK(got.fd);
    in.ep->check();
    CHECK(in.a.failures.empty());
}

TEST_CASE("posix: another process of this user with the name receives nothing", "[posix]") {
    check_that_nothing_is_sent_to(::geteuid());
}

TEST_CASE("posix: a process of another user with the name receives nothing", "[posix]") {
    if (::geteuid() != 0) {
        WARN("skipped: only root can run a process of another user");
        return;
    }
    check_that_nothing_is_sent_to(54321);
}
