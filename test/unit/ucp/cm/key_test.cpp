// Tests of listeners and clients with and without a job key, each against a raw socket.

#include <deque>
#include <filesystem>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/loopback_server.hpp"

using namespace ucp_test;
using ucp::cm::frame_reader;
using ucp::cm::wire::reason;
using namespace ucs::security;

namespace {

constexpr const char* key_text = "a key of the job, long enough";
const settings with_job_key{{"JOB_KEY", key_text}};
const settings without_job_key;

key job_key(const char* text = key_text) {
    return key::from_text(text);
}

// A worker with a listener.
struct server : raw_world {
    explicit server(const settings& options) : raw_world(options) {
        const sockaddr_in any = loopback();
        ucp_listener_params_t params{};
        params.field_mask =
            UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
        params.sockaddr = {reinterpret_cast<const sockaddr*>(&any), sizeof any};
        params.conn_handler = {[](ucp_conn_request_h request, void* arg) {
                                   static_cast<server*>(arg)->requests.push_back(request);
                               },
                               this};
        REQUIRE(ucp_listener_create(worker_handle(), &params, &listener) == UCS_OK);
        ucp_listener_attr_t attr{};
        attr.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR;
        REQUIRE(ucp_listener_query(listener, &attr) == UCS_OK);
        std::memcpy(&bound, &attr.sockaddr, sizeof bound);
    }
    ~server() { ucp_listener_destroy(listener); }

    [[nodiscard]] std::unique_ptr<ucp::cm::channel> connect_client() const {
        ucs::unique_fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        REQUIRE(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&bound), sizeof bound) ==
                0);
        return ucp::cm::tcp_channel(std::move(socket));
    }
    [[nodiscard]] std::vector<std::byte> request() const {
        return client_request(peer.uid(), peer.address()).pack();
    }

    ucp_listener_h listener = nullptr;
    sockaddr_in bound{};
    std::deque<ucp_conn_request_h> requests;
};

// Plays the client's part of a key handshake to its end.
handshake_failure open_with(server& in, ucp::cm::channel& client, const key* shared) {
    key_handshake own(key_handshake::role::client, shared, ucp::cm::wire::handshake_purpose);
    for (int turn = 0; turn < 10 && client.advance(own) == key_handshake::step::incomplete; ++turn)
        in.turn();
    REQUIRE(own.now() != key_handshake::step::incomplete);
    return own.failure();
}

std::size_t bytes_waiting(const ucs::unique_fd& socket) {
    std::array<std::byte, 8192> some;
    const ssize_t got =
        ::recv(socket.get(), some.data(), some.size(), MSG_PEEK | MSG_DONTWAIT | MSG_TRUNC);
    return got < 0 ? 0 : static_cast<std::size_t>(got);
}

std::size_t descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_CASE("a client that proves the job key reaches the program", "[cm]") {
    server in(with_job_key);
    const test::log_capture log;
    const key shared = job_key();
    const auto client = in.connect_client();
    CHECK(open_with(in, *client, &shared) == handshake_failure::none);
    in.turn();
    CHECK(in.requests.empty());
    REQUIRE(client->send(in.request()));
    in.turn();
    CHECK(in.requests.size() == 1);
    CHECK(log.count("", ucs::log::level::warn) == 0);
}

TEST_CASE("a client may send its request together with its proof", "[cm]") {
    server in(with_job_key);
    const key shared = job_key();
    const auto client = in.connect_client();
    key_handshake own(key_handshake::role::client, &shared, ucp::cm::wire::handshake_purpose);
    while (client->advance(own, true) == key_handshake::step::incomplete)
        in.turn();
    REQUIRE(own.now() == key_handshake::step::agreed);
    std::vector<std::byte> message(own.output().begin(), own.output().end());
    const auto request = in.request();
    message.insert(message.end(), request.begin(), request.end());
    REQUIRE(client->send(message));
    in.turn();
    CHECK(in.requests.size() == 1);
}

TEST_CASE("without the listener's job key no request reaches the program", "[cm]") {
    server in(with_job_key);
    const test::log_capture log;
    const auto client = in.connect_client();
    SECTION("a request without any key handshake") {
        REQUIRE(client->send(in.request()));
        in.turn();
        frame_reader answer;
        REQUIRE(client->read(answer) == ucp::cm::channel::input::frame);
        CHECK(answer.header().kind == ucp::cm::wire::kind::refusal);
        CHECK(answer.header().reason == reason::key_missing);
        CHECK(log.count("has no job key and this process has one", ucs::log::level::warn) == 1);
    }
    SECTION("a key handshake without a key") {
        CHECK(open_with(in, *client, nullptr) == handshake_failure::own_key_missing);
        CHECK(log.count("it has no job key and this process has one") == 1);
    }
    SECTION("another key") {
        const key other = job_key("the key of another job entirely");
        CHECK(open_with(in, *client, &other) == handshake_failure::keys_differ);
    }
    SECTION("a wrong proof") {
        const key shared = job_key();
        key_handshake own(key_handshake::role::client, &shared, "another kind of connection");
        while (client->advance(own, true) == key_handshake::step::incomplete)
            in.turn();
        CHECK(own.failure() == handshake_failure::keys_differ);
    }
    SECTION("invalid bytes") {
        REQUIRE(client->send(std::vector<std::byte>(300, std::byte{1})));
        in.turn();
        CHECK(log.count("sent no message of this protocol") == 1);
    }
    in.turn();
    INFO(log.text());
    CHECK(log.count("", ucs::log::level::warn) == 1);
    CHECK(in.worker->log().rejected().count() == 1);
    CHECK(in.requests.empty());
}

TEST_CASE("a listener without a job key notifies a client with one", "[cm]") {
    server in(without_job_key);
    const test::log_capture log;
    const key shared = job_key();
    const auto client = in.connect_client();
    CHECK(open_with(in, *client, &shared) == handshake_failure::peer_key_missing);
    CHECK(log.count("it has a job key and this process has none", ucs::log::level::warn) == 1);
    CHECK(in.requests.empty());
}

TEST_CASE("a client with a job key sends nothing to a server that does not prove it", "[cm]") {
    client_world in(with_job_key);
    const test::log_capture log;
    const ucs::unique_fd socket = in.server.accept();
    in.turn();
    const key other = job_key("the key of another job entirely");
    const bool has_key = GENERATE(false, true);
    key_handshake server_handshake(key_handshake::role::server, has_key ? &other : nullptr,
                                   ucp::cm::wire::handshake_purpose);
    const std::size_t hello = server_handshake.space().size();
    CHECK(bytes_waiting(socket) == hello);
    REQUIRE(::recv(socket.get(), server_handshake.space().data(), hello, 0) ==
            static_cast<ssize_t>(hello));
    server_handshake.take(hello);
    const auto answer = server_handshake.output();
    REQUIRE(::send(socket.get(), answer.data(), answer.size(), 0) ==
            static_cast<ssize_t>(answer.size()));
    in.turn();
    INFO(log.text());
    CHECK(in.client.failure() == UCS_ERR_UNREACHABLE);
    CHECK(log.count(has_key ? "its job key is another one" : "it has no job key",
                    ucs::log::level::warn) == 1);
    CHECK(bytes_waiting(socket) <= key_handshake::longest_record);
}

TEST_CASE("a client without the server's job key fails with that reason", "[cm]") {
    client_world in(without_job_key);
    const test::log_capture log;
    const ucs::unique_fd socket = in.server.accept();
    in.turn();
    const auto refusal =
        ucp::cm::wire::header{.kind = ucp::cm::wire::kind::refusal, .reason = reason::key_missing}
            .pack();
    REQUIRE(::send(socket.get(), refusal.data(), refusal.size(), 0) == std::ssize(refusal));
    in.turn();
    CHECK(in.client.failure() == UCS_ERR_UNREACHABLE);
    CHECK(log.count("the server has a job key and this process has none", ucs::log::level::warn) ==
          1);
}

TEST_CASE("a refusal takes precedence over the reset that follows it", "[cm]") {
    client_world in(without_job_key);
    const test::log_capture log;
    ucs::unique_fd socket = in.server.accept();
    // The server refuses and resets before the client has noticed that it is connected.
    const auto refusal =
        ucp::cm::wire::header{.kind = ucp::cm::wire::kind::refusal, .reason = reason::not_served}
            .pack();
    REQUIRE(::send(socket.get(), refusal.data(), refusal.size(), 0) == std::ssize(refusal));
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    REQUIRE(::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    socket.reset();
    in.turn();
    INFO(log.text());
    CHECK(in.client.failure() == UCS_ERR_REJECTED);
    CHECK(log.count("the server does not listen any more") == 1);
}

TEST_CASE("clients wait when they come faster than the program is offered their requests", "[cm]") {
    server in(without_job_key);
    const test::log_capture log;
    constexpr std::size_t count = 600;
    std::vector<std::unique_ptr<ucp::cm::channel>> clients;
    for (std::size_t i = 0; i < count; ++i) {
        clients.push_back(in.connect_client());
        REQUIRE(clients.back()->send(in.request()));
    }
    const std::size_t before = descriptors();
    // The event loop alone accepts clients; progress offers them to the program.
    for (int i = 0; i < 100; ++i)
        in.worker->events().poll(0);
    CHECK(in.requests.empty());
    CHECK(descriptors() <= before + 256);
    CHECK(log.count("clients wait until the program handles their requests",
                    ucs::log::level::warn) == 1);
    for (int i = 0; i < 100 && in.requests.size() < count; ++i)
        in.turn();
    CHECK(in.requests.size() == count);
    CHECK(log.count("", ucs::log::level::warn) == 1);
}
