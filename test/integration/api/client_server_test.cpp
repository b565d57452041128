// Endpoints by socket address: listeners, clients, and who is neither.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string_view>

#include "test/integration/api/world.hpp"

using namespace api;

namespace {

constexpr ucp_tag_t all_bits = ~ucp_tag_t{0};

struct address {
    sockaddr_storage storage{};
    [[nodiscard]] ucs_sock_addr_t c() const {
        return {reinterpret_cast<const sockaddr*>(&storage), sizeof storage};
    }
    [[nodiscard]] in_port_t port() const {
        sockaddr_in v4;
        std::memcpy(&v4, &storage, sizeof v4);  // the port lies at the same place in both
        return v4.sin_port;
    }
    bool operator==(const address& other) const {
        return std::memcmp(&storage, &other.storage, sizeof(sockaddr_in)) == 0;
    }
};

// Where servers listen, unless a test says otherwise: in a guest, an address of an RDMA device.
const char* host() {
    const char* const told = std::getenv("HAWSER_TEST_HOST");
    return told == nullptr ? "127.0.0.1" : told;
}

address any_port(const char* ip = host()) {
    address at;
    if (std::strchr(ip, ':') != nullptr) {
        sockaddr_in6 v6{};
        v6.sin6_family = AF_INET6;
        REQUIRE(::inet_pton(AF_INET6, ip, &v6.sin6_addr) == 1);
        std::memcpy(&at.storage, &v6, sizeof v6);
    } else {
        sockaddr_in v4{};
        v4.sin_family = AF_INET;
        REQUIRE(::inet_pton(AF_INET, ip, &v4.sin_addr) == 1);
        std::memcpy(&at.storage, &v4, sizeof v4);
    }
    return at;
}

address with_port(address at, in_port_t port) {
    sockaddr_in v4;
    std::memcpy(&v4, &at.storage, sizeof v4);
    v4.sin_port = port;
    std::memcpy(&at.storage, &v4, sizeof v4);
    return at;
}

bool has_ipv6() {
    const int fd = ::socket(AF_INET6, SOCK_STREAM, 0);
    const address at = any_port("::1");
    const bool works = ::bind(fd, at.c().addr, sizeof(sockaddr_in6)) == 0;
    ::close(fd);
    return works;
}

// What an endpoint's error handler was told.
struct errors {
    int calls = 0;
    ucs_status_t status = UCS_OK;
    static void note(void* arg, ucp_ep_h, ucs_status_t status) {
        auto& self = *static_cast<errors*>(arg);
        ++self.calls;
        self.status = status;
    }
};

ucp_ep_params_t params_with(errors& told) {
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {errors::note, &told};
    return params;
}

// A worker that listens, and another one that clients connect from.
class service {
public:
    explicit service(const address& at = any_port(), const plan& how = {})
        : context(make_context(how)), server(make_worker(context, how)), client(clients(how)) {
        ucp_listener_params_t params{};
        params.field_mask =
            UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
        params.sockaddr = at.c();
        params.conn_handler = {[](ucp_conn_request_h request, void* arg) {
                                   static_cast<service*>(arg)->requests.push_back(request);
                               },
                               this};
        REQUIRE(ucp_listener_create(server, &params, &listener) == UCS_OK);
        where = address_of_listener();
    }
    ~service() { end(); }
    service(const service&) = delete;
    service& operator=(const service&) = delete;

    void end() {
        if (context == nullptr) return;
        stop_listening();
        ucp_worker_destroy(client);
        end_server();
        ucp_cleanup(context);
        context = nullptr;
    }
    void end_server() {
        if (server == nullptr) return;
        ucp_worker_destroy(server);
        server = nullptr;
        listener = nullptr;
    }
    void stop_listening() {
        if (listener != nullptr) ucp_listener_destroy(listener);
        listener = nullptr;
    }
    [[nodiscard]] address address_of_listener() const {
        ucp_listener_attr_t attr{};
        attr.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR;
        REQUIRE(ucp_listener_query(listener, &attr) == UCS_OK);
        address at;
        at.storage = attr.sockaddr;
        return at;
    }

    unsigned progress() const {
        unsigned events = ucp_worker_progress(client);
        if (server != nullptr) events += ucp_worker_progress(server);
        return events;
    }
    [[nodiscard]] bool until(const condition& holds) const {
        for (std::uint64_t turn = 0; turn < 200'000'000; ++turn) {
            if (holds()) return true;
            progress();
        }
        return false;
    }
    ucs_status_t finish(ucs_status_ptr_t started) const {
        if (!UCS_PTR_IS_PTR(started)) return UCS_PTR_RAW_STATUS(started);
        REQUIRE(until([&] { return ucp_request_check_status(started) != UCS_INPROGRESS; }));
        const ucs_status_t status = ucp_request_check_status(started);
        ucp_request_free(started);
        return status;
    }

    [[nodiscard]] ucp_ep_h connect(errors& told, const address& to, unsigned flags = 0) const {
        ucp_ep_params_t params = params_with(told);
        params.field_mask |= UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS;
        params.sockaddr = to.c();
        params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER | flags;
        ucp_ep_h ep = nullptr;
        REQUIRE(ucp_ep_create(client, &params, &ep) == UCS_OK);
        return ep;
    }
    [[nodiscard]] ucp_ep_h connect(errors& told) const { return connect(told, where); }

    ucp_conn_request_h await_request() {
        REQUIRE(until([&] { return !requests.empty(); }));
        ucp_conn_request_h first = requests.front();
        requests.pop_front();
        return first;
    }
    [[nodiscard]] ucp_ep_h accept(errors& told, ucp_conn_request_h request,
                                  ucp_worker_h on = nullptr) const {
        ucp_ep_params_t params = params_with(told);
        params.field_mask |= UCP_EP_PARAM_FIELD_CONN_REQUEST;
        params.conn_request = request;
        ucp_ep_h ep = nullptr;
        REQUIRE(ucp_ep_create(on == nullptr ? server : on, &params, &ep) == UCS_OK);
        return ep;
    }
    // A word from one end to the other.
    void check_word(ucp_ep_h from, ucp_worker_h to, std::uint64_t word) const {
        std::uint64_t got = 0;
        const params none;
        const auto receive = ucp_tag_recv_nbx(to, &got, sizeof got, word, all_bits, &none);
        CHECK(finish(ucp_tag_send_nbx(from, &word, sizeof word, word, &none)) == UCS_OK);
        CHECK(finish(receive) == UCS_OK);
        CHECK(got == word);
    }
    void close(ucp_ep_h which, bool force = false) const {
        params how;
        if (force) {
            how.flag(UCP_OP_ATTR_FIELD_FLAGS);
            how.flags = UCP_EP_CLOSE_FLAG_FORCE;
        }
        finish(ucp_ep_close_nbx(which, &how));
    }
    // A client whose words are no request.
    [[nodiscard]] int knock(const std::vector<std::byte>& words = {}) const {
        const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
        REQUIRE(fd >= 0);
        REQUIRE(::connect(fd, where.c().addr, sizeof(sockaddr_in)) == 0);
        if (!words.empty()) {
            REQUIRE(::send(fd, words.data(), words.size(), MSG_NOSIGNAL) ==
                    static_cast<ssize_t>(words.size()));
        }
        return fd;
    }
    // The service closes such a connection; what it said first.
    [[nodiscard]] std::vector<std::byte> await_end(int fd) const {
        std::vector<std::byte> said;
        REQUIRE(until([&] {
            std::byte some[64];
            const ssize_t got = ::recv(fd, some, sizeof some, MSG_DONTWAIT);
            if (got > 0) said.insert(said.end(), some, some + got);
            return got == 0 || (got < 0 && errno != EAGAIN);
        }));
        ::close(fd);
        return said;
    }

    ucp_context_h context;
    ucp_worker_h server;
    ucp_worker_h client;
    ucp_listener_h listener = nullptr;
    address where;
    std::deque<ucp_conn_request_h> requests;

private:
    ucp_worker_h clients(const plan& how) const {
        ucp_worker_params_t params{};
        params.field_mask = UCP_WORKER_PARAM_FIELD_CLIENT_ID | UCP_WORKER_PARAM_FIELD_THREAD_MODE;
        params.client_id = 4711;
        params.thread_mode = how.threads;
        ucp_worker_h worker = nullptr;
        REQUIRE(ucp_worker_create(context, &params, &worker) == UCS_OK);
        return worker;
    }
};

// A client and the server's endpoint for it.
struct pair_of {
    explicit pair_of(service& with)
        : in(with),
          client(in.connect(at_client)),
          server(in.accept(at_server, in.await_request())) {}
    service& in;
    errors at_client;
    errors at_server;
    ucp_ep_h client;
    ucp_ep_h server;
};

std::vector<std::byte> bytes_of(const std::vector<unsigned>& values) {
    std::vector<std::byte> bytes;
    for (const unsigned value : values)
        bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

std::size_t count(const std::string& text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

// For cases that CTest runs alone: it takes the line for a skip.
void skip(const char* why) {
    std::printf("SKIP: %s\n", why);
    std::fflush(stdout);
}

// Where the transports reach only the worker itself there are no clients.
#define NEEDS_PEERS \
    if (only_self()) return

}  // namespace

namespace {

// A client connects by the loopback address to a server that listens at the other one.
void check_both_talk(const char* listens_at, const char* loopback) {
    service in(any_port(listens_at));
    CHECK(in.where.port() != 0);
    in.where = with_port(any_port(loopback), in.where.port());
    pair_of both(in);
    in.check_word(both.client, in.server, 1);
    in.check_word(both.server, in.client, 2);
    CHECK(both.at_client.calls == 0);
    CHECK(both.at_server.calls == 0);
    in.close(both.client);
    REQUIRE(in.until([&] { return both.at_server.calls == 1; }));
    CHECK(both.at_server.status == UCS_ERR_CONNECTION_RESET);
    in.close(both.server);
    CHECK(both.at_client.calls == 0);
}

}  // namespace

TEST_CASE("a client reaches a server by its socket address, and both talk", "[cm]") {
    NEEDS_PEERS;
    check_both_talk(GENERATE(host(), "0.0.0.0"), host());
}

// Alone, see CMakeLists.txt.
TEST_CASE("a client reaches a server by its IPv6 address, and both talk", "[.ipv6]") {
    if (!has_ipv6()) return skip("this host has no IPv6 address ::1");
    check_both_talk(GENERATE("::1", "::"), "::1");
}

// Over RDMA, if there is any, the client finds nobody.
TEST_CASE("a client goes on to the next way of meeting a server", "[cm]") {
    NEEDS_PEERS;
    service server(any_port(), configured({{"SOCKADDR_TLS_PRIORITY", "tcp"}}));
    service other(any_port(), configured({{"SOCKADDR_TLS_PRIORITY", "rdmacm,tcp"}}));
    errors at_client, at_server;
    const auto both_until = [&](const condition& holds) {
        return other.until([&] {
            server.progress();
            return holds();
        });
    };
    const ucp_ep_h client = other.connect(at_client, server.where);
    REQUIRE(both_until([&] { return !server.requests.empty(); }));
    const ucp_ep_h accepted = server.accept(at_server, server.requests.front());
    std::uint64_t word = 7, got = 0;
    const params none;
    const auto receive = ucp_tag_recv_nbx(other.client, &got, sizeof got, 3, all_bits, &none);
    const auto send = ucp_tag_send_nbx(accepted, &word, sizeof word, 3, &none);
    REQUIRE(both_until([&] { return got == 7; }));
    CHECK(other.finish(receive) == UCS_OK);
    CHECK(server.finish(send) == UCS_OK);
    other.close(client, true);
    server.close(accepted, true);
    CHECK(at_client.calls == 0);
}

TEST_CASE("clients and servers need a way to meet", "[cm]") {
    NEEDS_PEERS;
    service in(any_port(), configured({{"SOCKADDR_TLS_PRIORITY", "tcp"}}));
    const ucp_context_h context = make_context(configured({{"SOCKADDR_TLS_PRIORITY", "rdmacm"}}));
    const ucp_worker_h worker = make_worker(context);
    ucp_listener_params_t here{};
    here.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
    const address at = any_port();
    here.sockaddr = at.c();
    here.conn_handler = {[](ucp_conn_request_h, void*) {}, nullptr};
    errors told;
    ucp_ep_params_t there = params_with(told);
    there.field_mask |= UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS;
    there.sockaddr = in.where.c();
    there.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
    captured_output output;
    ucp_listener_h listener = nullptr;
    ucp_ep_h ep = nullptr;
    CHECK(ucp_listener_create(worker, &here, &listener) == UCS_ERR_UNREACHABLE);
    CHECK(ucp_ep_create(worker, &there, &ep) == UCS_ERR_UNREACHABLE);
    CHECK(count(output.text(), "UCX_SOCKADDR_TLS_PRIORITY has rdmacm only") == 2);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}

TEST_CASE("what a client sends before the server accepts arrives, in order, of all lengths",
          "[cm]") {
    NEEDS_PEERS;
    service in;
    errors told;
    const ucp_ep_h ep = in.connect(told);
    const params none;
    const std::size_t lengths[] = {0, 8, 300, 20'000, 300'000, 2'000'000};
    std::vector<std::vector<std::byte>> data, into;
    std::vector<ucs_status_ptr_t> sends;
    for (const std::size_t length : lengths)
        data.push_back(pattern(length, 3));
    for (const auto& each : data)
        sends.push_back(ucp_tag_send_nbx(ep, each.data(), each.size(), 7, &none));
    errors at_server;
    const ucp_ep_h other = in.accept(at_server, in.await_request());
    for (const auto& each : data) {
        into.emplace_back(each.size());
        const auto receive =
            ucp_tag_recv_nbx(in.server, into.back().data(), each.size(), 7, all_bits, &none);
        CHECK(in.finish(receive) == UCS_OK);
        CHECK(into.back() == each);
    }
    for (const auto each : sends)
        CHECK(in.finish(each) == UCS_OK);
    in.close(ep);
    in.close(other);
}

TEST_CASE("endpoints know the socket addresses, and the server who its client is", "[cm]") {
    NEEDS_PEERS;
    service in;
    errors at_client, at_server;
    const bool shows = GENERATE(false, true);
    const ucp_ep_h client =
        in.connect(at_client, in.where, shows ? UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID : 0);
    ucp_conn_request_h request = in.await_request();
    ucp_conn_request_attr_t about{};
    about.field_mask = UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR;
    REQUIRE(ucp_conn_request_query(request, &about) == UCS_OK);
    about.field_mask |= UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID;
    CHECK(ucp_conn_request_query(request, &about) == (shows ? UCS_OK : UCS_ERR_UNSUPPORTED));
    if (shows) CHECK(about.client_id == 4711);
    const ucp_ep_h server = in.accept(at_server, request);
    in.check_word(client, in.server, 5);

    const auto addresses = [](ucp_ep_h ep) {
        ucp_ep_attr_t attr{};
        attr.field_mask = UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR | UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR;
        REQUIRE(ucp_ep_query(ep, &attr) == UCS_OK);
        std::pair<address, address> both;
        both.first.storage = attr.local_sockaddr;
        both.second.storage = attr.remote_sockaddr;
        return both;
    };
    const auto [client_local, client_remote] = addresses(client);
    const auto [server_local, server_remote] = addresses(server);
    CHECK(client_remote == in.where);
    CHECK(server_local == in.where);
    CHECK(server_remote == client_local);
    address asked_from;
    asked_from.storage = about.client_address;
    CHECK(asked_from == client_local);
    in.close(client);
    in.close(server);
}

TEST_CASE("a client can choose the address it comes from", "[cm]") {
    NEEDS_PEERS;
    service in(any_port("0.0.0.0"));
    in.where = with_port(any_port(), in.where.port());
    errors told;
    ucp_ep_params_t params = params_with(told);
    params.field_mask |= UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS |
                         UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR;
    params.sockaddr = in.where.c();
    params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
    const address from = any_port("127.0.0.3");
    params.local_sockaddr = from.c();
    ucp_ep_h ep = nullptr;
    REQUIRE(ucp_ep_create(in.client, &params, &ep) == UCS_OK);
    ucp_conn_request_h request = in.await_request();
    ucp_conn_request_attr_t about{};
    about.field_mask = UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR;
    REQUIRE(ucp_conn_request_query(request, &about) == UCS_OK);
    address asked;
    asked.storage = about.client_address;
    CHECK(with_port(asked, 0) == from);
    REQUIRE(ucp_listener_reject(in.listener, request) == UCS_OK);
    REQUIRE(in.until([&] { return told.calls == 1; }));
    in.close(ep, true);
    const address nowhere = any_port("192.0.2.1");
    params.local_sockaddr = nowhere.c();
    captured_output output;
    CHECK(ucp_ep_create(in.client, &params, &ep) == UCS_ERR_UNREACHABLE);
    const std::string& log = output.text();
    CHECK(count(log, "\n") == 1);
    CHECK(count(log, "ucp_ep_create: no connection to 127.0.0.1:") == 1);
}

TEST_CASE("a server may accept on another worker, and by the older handler", "[cm]") {
    NEEDS_PEERS;
    SECTION("another worker") {
        service in;
        ucp_worker_h data = make_worker(in.context);
        errors at_client, at_server;
        const ucp_ep_h client = in.connect(at_client);
        const ucp_ep_h server = in.accept(at_server, in.await_request(), data);
        std::uint64_t got = 0;
        const std::uint64_t word = 9;
        const params none;
        const auto receive = ucp_tag_recv_nbx(data, &got, sizeof got, 1, all_bits, &none);
        const auto send = ucp_tag_send_nbx(client, &word, sizeof word, 1, &none);
        REQUIRE(in.until([&] {
            ucp_worker_progress(data);
            return got == word;
        }));
        CHECK(in.finish(send) == UCS_OK);
        ucp_request_free(receive);
        in.close(client);
        const auto closing = ucp_ep_close_nb(server, UCP_EP_CLOSE_MODE_FORCE);
        if (UCS_PTR_IS_PTR(closing)) ucp_request_free(closing);
        ucp_worker_destroy(data);
    }
    SECTION("the older handler") {
        service in;
        ucp_ep_h server = nullptr;
        ucp_listener_params_t params{};
        params.field_mask =
            UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER;
        const address at = any_port();
        params.sockaddr = at.c();
        params.accept_handler = {
            [](ucp_ep_h made, void* arg) { *static_cast<ucp_ep_h*>(arg) = made; }, &server};
        in.stop_listening();
        REQUIRE(ucp_listener_create(in.server, &params, &in.listener) == UCS_OK);
        errors told;
        const ucp_ep_h client = in.connect(told, in.address_of_listener());
        in.check_word(client, in.server, 3);
        REQUIRE(server != nullptr);
        in.check_word(server, in.client, 4);
        in.close(client);
        in.close(server);
    }
}

TEST_CASE("hundreds of clients at once each get their own endpoint", "[cm]") {
    NEEDS_PEERS;
    service in;
    constexpr std::uint64_t count = 300;
    errors at_client, at_server;
    std::vector<ucp_ep_h> clients, servers;
    const params none;
    std::vector<ucs_status_ptr_t> sends;
    std::vector<std::uint64_t> words(count), got(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        words[i] = i;
        clients.push_back(in.connect(at_client));
        sends.push_back(ucp_tag_send_nbx(clients.back(), &words[i], sizeof words[i], i, &none));
    }
    for (std::uint64_t i = 0; i < count; ++i)
        servers.push_back(in.accept(at_server, in.await_request()));
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto receive =
            ucp_tag_recv_nbx(in.server, &got[i], sizeof got[i], i, all_bits, &none);
        CHECK(in.finish(receive) == UCS_OK);
        CHECK(in.finish(sends[i]) == UCS_OK);
    }
    CHECK(got == words);
    // Which server's endpoint belongs to which client: closing one tells exactly one.
    for (std::uint64_t i = 0; i < 5; ++i) {
        in.close(servers[i]);
        REQUIRE(in.until([&] { return at_client.calls == static_cast<int>(i) + 1; }));
    }
    CHECK(at_server.calls == 0);
    for (const ucp_ep_h each : clients)
        in.close(each);
    REQUIRE(in.until([&] { return at_server.calls == static_cast<int>(count) - 5; }));
    CHECK(at_client.calls == 5);
    for (std::uint64_t i = 5; i < count; ++i)
        in.close(servers[i]);
}

TEST_CASE("endpoints by worker address stay apart from those by socket address", "[cm]") {
    NEEDS_PEERS;
    service in;
    pair_of first(in);
    const ucp_ep_h there = make_ep(in.client, in.server);
    const ucp_ep_h back = make_ep(in.server, in.client);
    pair_of second(in);
    in.check_word(there, in.server, 1);
    in.check_word(back, in.client, 2);
    in.check_word(second.client, in.server, 3);
    in.check_word(first.server, in.client, 4);
    in.close(second.client);
    REQUIRE(in.until([&] { return second.at_server.calls == 1; }));
    CHECK(first.at_server.calls == 0);
    in.check_word(first.client, in.server, 5);
    in.close(first.server);
    REQUIRE(in.until([&] { return first.at_client.calls == 1; }));
    in.close(first.client);
    in.close(second.server);
    in.close(there);
    in.close(back);
}

TEST_CASE("both sides may close together, flushed or by force", "[cm]") {
    NEEDS_PEERS;
    const bool force = GENERATE(false, true);
    service in;
    for (unsigned i = 0; i < 20; ++i) {
        pair_of both(in);
        if (i % 2 == 0) in.check_word(both.client, in.server, i);
        params how;
        how.flag(UCP_OP_ATTR_FIELD_FLAGS);
        how.flags = force ? UCP_EP_CLOSE_FLAG_FORCE : 0;
        const auto here = ucp_ep_close_nbx(both.client, &how);
        const auto there = ucp_ep_close_nbx(both.server, &how);
        in.finish(here);
        in.finish(there);
        CHECK(both.at_client.calls == 0);
        CHECK(both.at_server.calls == 0);
    }
}

TEST_CASE("a worker can be its own client", "[cm]") {
    service in;
    errors at_client, at_server;
    ucp_ep_params_t params = params_with(at_client);
    params.field_mask |= UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS;
    params.sockaddr = in.where.c();
    params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
    ucp_ep_h client = nullptr;
    REQUIRE(ucp_ep_create(in.server, &params, &client) == UCS_OK);
    const ucp_ep_h server = in.accept(at_server, in.await_request());
    in.check_word(client, in.server, 1);
    in.check_word(server, in.server, 2);
    in.close(client);
    REQUIRE(in.until([&] { return at_server.calls == 1; }));
    CHECK(at_server.status == UCS_ERR_CONNECTION_RESET);
    in.close(server);
    CHECK(at_client.calls == 0);
}

TEST_CASE("a client that the server rejects is told so", "[cm]") {
    NEEDS_PEERS;
    service in;
    errors told;
    const ucp_ep_h ep = in.connect(told);
    const params none;
    const std::uint64_t word = 1;
    const auto send = ucp_tag_send_nbx(ep, &word, sizeof word, 1, &none);
    captured_output output;
    CHECK(ucp_listener_reject(in.listener, in.await_request()) == UCS_OK);
    REQUIRE(in.until([&] { return told.calls == 1; }));
    CHECK(told.status == UCS_ERR_REJECTED);
    CHECK(in.finish(send) == UCS_ERR_REJECTED);
    in.close(ep);
    const std::string& log = output.text();
    INFO(log);
    CHECK(count(log, "\n") == 1);
    CHECK(count(log, std::string("warn  the connection to ") + host() + ":") == 1);
    CHECK(count(log, " failed: the server rejected the connection") == 1);
}

TEST_CASE("a client that finds no server is told so by its handler", "[cm]") {
    NEEDS_PEERS;
    service in;
    in.stop_listening();
    errors told;
    captured_output output;
    const ucp_ep_h ep = in.connect(told);
    CHECK(told.calls == 0);
    REQUIRE(in.until([&] { return told.calls == 1; }));
    CHECK(told.status == UCS_ERR_CONNECTION_RESET);
    in.close(ep);
    const std::string& log = output.text();
    INFO(log);
    CHECK(count(log, "\n") == 1);
    CHECK(count(log, std::string("warn  the connection to ") + host() + ":") == 1);
    CHECK(count(log, " failed: Connection refused") == 1);
    const params none;
    const auto left = in.connect(told);
    CHECK(in.finish(ucp_ep_close_nbx(left, &none)) == UCS_OK);
}

TEST_CASE("requests that nobody answers are refused when listener or worker end", "[cm]") {
    NEEDS_PEERS;
    service in;
    errors told;
    const ucp_ep_h ep = in.connect(told);
    const ucp_conn_request_h request = in.await_request();
    SECTION("the listener: what the program has stays good") {
        in.stop_listening();
        errors at_server;
        const ucp_ep_h server = in.accept(at_server, request);
        in.check_word(ep, in.server, 1);
        in.close(ep);
        in.close(server);
    }
    SECTION("the worker") {
        in.end_server();
        REQUIRE(in.until([&] { return told.calls == 1; }));
        CHECK(told.status == UCS_ERR_REJECTED);
        in.close(ep);
    }
    SECTION("the worker, after it accepted") {
        errors at_server;
        static_cast<void>(in.accept(at_server, request));
        in.end_server();
        REQUIRE(in.until([&] { return told.calls == 1; }));
        CHECK((told.status == UCS_ERR_CONNECTION_RESET || told.status == UCS_ERR_NOT_CONNECTED));
        in.close(ep);
    }
}

TEST_CASE("a client may give up at any time", "[cm]") {
    NEEDS_PEERS;
    service in;
    errors at_client, at_server;
    SECTION("before the server has seen it") {
        in.close(in.connect(at_client), true);
        // It may have come that far or not.
        pair_of next(in);
        in.close(next.client);
        in.close(next.server, true);
    }
    SECTION("before it accepts") {
        const ucp_ep_h ep = in.connect(at_client);
        const ucp_conn_request_h request = in.await_request();
        in.close(ep, true);
        for (unsigned i = 0; i < 1000; ++i)
            in.progress();
        ucp_ep_params_t params = params_with(at_server);
        params.field_mask |= UCP_EP_PARAM_FIELD_CONN_REQUEST;
        params.conn_request = request;
        ucp_ep_h server = nullptr;
        CHECK(ucp_ep_create(in.server, &params, &server) == UCS_ERR_CONNECTION_RESET);
    }
    SECTION("while it accepts") {
        const ucp_ep_h ep = in.connect(at_client);
        const ucp_ep_h server = in.accept(at_server, in.await_request());
        in.close(ep, true);
        REQUIRE(in.until([&] { return at_server.calls == 1; }));
        CHECK(at_server.status == UCS_ERR_CONNECTION_RESET);
        in.close(server);
    }
    CHECK(at_client.calls == 0);
}

TEST_CASE("the handler may destroy its listener, and clients that come then are refused", "[cm]") {
    NEEDS_PEERS;
    service in;
    struct context {
        ucp_listener_h listener = nullptr;
        int calls = 0;
    } mine;
    ucp_listener_params_t params{};
    params.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
    const address at = any_port();
    params.sockaddr = at.c();
    params.conn_handler = {[](ucp_conn_request_h request, void* arg) {
                               auto& self = *static_cast<context*>(arg);
                               ++self.calls;
                               ucp_listener_reject(self.listener, request);
                               ucp_listener_destroy(self.listener);
                           },
                           &mine};
    in.stop_listening();
    REQUIRE(ucp_listener_create(in.server, &params, &in.listener) == UCS_OK);
    mine.listener = in.listener;
    in.where = in.address_of_listener();
    in.listener = nullptr;
    errors told[3];
    ucp_ep_h eps[3];
    for (int i = 0; i < 3; ++i)
        eps[i] = in.connect(told[i]);
    REQUIRE(in.until([&] { return told[0].calls + told[1].calls + told[2].calls == 3; }));
    CHECK(mine.calls == 1);
    for (const ucp_ep_h each : eps)
        in.close(each);
}

TEST_CASE("wrong arguments of clients and servers are refused with a reason", "[cm]") {
    service in;
    const captured_output quiet;
    ucp_listener_h listener = nullptr;
    ucp_listener_params_t params{};
    CHECK(ucp_listener_create(in.server, &params, &listener) == UCS_ERR_INVALID_PARAM);
    params.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR;
    params.sockaddr = in.where.c();
    CHECK(ucp_listener_create(in.server, &params, &listener) == UCS_ERR_INVALID_PARAM);
    params.field_mask |= UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
    params.conn_handler = {[](ucp_conn_request_h, void*) {}, nullptr};
    CHECK(ucp_listener_create(in.server, &params, &listener) == UCS_ERR_BUSY);
    const address foreign = any_port("192.0.2.1");
    params.sockaddr = foreign.c();
    CHECK(ucp_listener_create(in.server, &params, &listener) == UCS_ERR_UNREACHABLE);
    params.sockaddr.addrlen = 3;
    CHECK(ucp_listener_create(in.server, &params, &listener) == UCS_ERR_INVALID_PARAM);

    ucp_ep_params_t wanted{};
    ucp_ep_h ep = nullptr;
    wanted.field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR;
    wanted.sockaddr = in.where.c();
    CHECK(ucp_ep_create(in.client, &wanted, &ep) == UCS_ERR_INVALID_PARAM);
    wanted.field_mask |= UCP_EP_PARAM_FIELD_FLAGS;
    wanted.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
    wanted.sockaddr = {nullptr, 0};
    CHECK(ucp_ep_create(in.client, &wanted, &ep) == UCS_ERR_INVALID_PARAM);
    wanted.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST;
    wanted.conn_request = nullptr;
    CHECK(ucp_ep_create(in.server, &wanted, &ep) == UCS_ERR_INVALID_PARAM);
    ucp_listener_destroy(nullptr);
    CHECK(ucp_listener_reject(in.listener, nullptr) == UCS_ERR_INVALID_PARAM);
    CHECK(ucp_conn_request_query(nullptr, nullptr) == UCS_ERR_INVALID_PARAM);
    CHECK(ucp_listener_query(in.listener, nullptr) == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("who speaks no request is shown out, and clients are served meanwhile", "[cm]") {
    NEEDS_PEERS;
    service in;
    std::mt19937 random(7);
    std::string log;
    {
        captured_output output;
        std::vector<int> fds;
        // One of another version; then with the right one: a body that is too long, a kind that
        // clients do not send, a request without address. Then noise.
        const std::vector<unsigned> magic{'H', 'W', 'C', 'M'};
        const auto frame = [&](std::vector<unsigned> rest) {
            rest.insert(rest.begin(), magic.begin(), magic.end());
            return bytes_of(rest);
        };
        fds.push_back(in.knock(frame({2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
        fds.push_back(in.knock(frame({1, 0, 1, 0, 0x01, 0x10, 0, 0, 0, 0, 0, 0})));
        fds.push_back(in.knock(frame({1, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
        fds.push_back(in.knock(frame({1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
        for (unsigned i = 0; i < 20; ++i) {
            std::vector<std::byte> words(16 + random() % 100);
            for (std::byte& each : words)
                each = static_cast<std::byte>(random());
            fds.push_back(in.knock(words));
        }
        pair_of good(in);
        in.check_word(good.client, in.server, 1);
        for (const int fd : fds) {
            const auto said = in.await_end(fd);
            CHECK(said.size() == 16);  // a refusal
        }
        in.close(good.client);
        in.close(good.server);
        log = output.text();
    }
    CHECK(in.requests.empty());
    INFO(log);
    // One of each, and then only the tenth.
    CHECK(count(log, "its connection is closed") == 9);
    CHECK(count(log, "\n") == 9);
    CHECK(count(log, "another version") == 1);
    CHECK(count(log, "sent too long a message") == 1);
    CHECK(count(log, "sent a malformed request") == 1);
}

TEST_CASE("who says nothing, or too slowly, has a deadline", "[cm]") {
    NEEDS_PEERS;
    service in(any_port(), configured({{"CM_TIMEOUT", "300ms"}}));
    const captured_output quiet;
    std::vector<int> fds;
    for (unsigned i = 0; i < 20; ++i)
        fds.push_back(in.knock(i % 2 == 0 ? std::vector<std::byte>{}
                                          : bytes_of({'H', 'W', 'C', 'M', 1, 0, 1})));
    for (const int fd : fds)
        static_cast<void>(in.await_end(fd));
    pair_of good(in);
    in.check_word(good.client, in.server, 1);
    in.close(good.client);
    in.close(good.server);
}

// Alone, see CMakeLists.txt.
TEST_CASE("a crowd that never speaks takes bounded room and keeps nobody out", "[.crowd]") {
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_cur < 2100) return skip("fewer than 2100 descriptors (ulimit -n)");
    service in;
    std::string log;
    {
        captured_output output;
        std::vector<int> crowd;
        for (unsigned i = 0; i < 900; ++i) {
            crowd.push_back(in.knock());
            if (i % 16 == 0) in.progress();
        }
        pair_of good(in);
        in.check_word(good.client, in.server, 1);
        in.close(good.client);
        in.close(good.server);
        for (const int fd : crowd)
            ::close(fd);
        log = output.text();
    }
    CHECK(log.find("have not identified themselves") != std::string::npos);
}

TEST_CASE("a server that runs out of descriptors serves when there are some again", "[cm]") {
    NEEDS_PEERS;
    service in;
    std::vector<int> hoard;
    const captured_output quiet;
    errors told;
    const ucp_ep_h ep = in.connect(told);
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const int next = ::dup(0);
    ::close(next);
    rlimit none = before;
    none.rlim_cur = static_cast<rlim_t>(next);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    for (unsigned i = 0; i < 10'000; ++i)
        in.progress();
    CHECK(in.requests.empty());
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    errors at_server;
    const ucp_ep_h server = in.accept(at_server, in.await_request());
    in.check_word(ep, in.server, 1);
    in.close(ep);
    in.close(server);
}

TEST_CASE("a client process that dies is told to the server, and a sleeping server wakes for one",
          "[cm]") {
    NEEDS_PEERS;
    int ports[2];
    REQUIRE(::pipe(ports) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        // Nothing of the test's frame in here: it ends by a signal.
        address where;
        if (::read(ports[0], &where, sizeof where) != sizeof where) ::_exit(1);
        ucp_params_t init{};
        init.field_mask = UCP_PARAM_FIELD_FEATURES;
        init.features = UCP_FEATURE_TAG;
        ucp_context_h context = nullptr;
        ucp_worker_params_t none{};
        ucp_worker_h worker = nullptr;
        ucp_ep_params_t params{};
        params.field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS;
        params.sockaddr = where.c();
        params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
        ucp_ep_h ep = nullptr;
        if (ucp_init(&init, nullptr, &context) != UCS_OK ||
            ucp_worker_create(context, &none, &worker) != UCS_OK ||
            ucp_ep_create(worker, &params, &ep) != UCS_OK) {
            ::_exit(1);
        }
        const std::uint64_t word = 77;
        const ucp_request_param_t plain{};
        ucp_tag_send_nbx(ep, &word, sizeof word, 1, &plain);
        for (;;)
            ucp_worker_progress(worker);
    }
    plan how;
    how.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
    service in(any_port(), how);
    REQUIRE(::write(ports[1], &in.where, sizeof in.where) == sizeof in.where);
    const auto sleep_until = [&](const condition& holds) {
        while (!holds()) {
            if (ucp_worker_progress(in.server) == 0) {
                REQUIRE(ucp_worker_wait(in.server) == UCS_OK);
            }
        }
    };
    sleep_until([&] { return !in.requests.empty(); });
    errors told;
    const ucp_ep_h ep = in.accept(told, in.requests.front());
    std::uint64_t got = 0;
    outcome received;
    const params into = params().on_recv(received).flag(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    const auto receive = ucp_tag_recv_nbx(in.server, &got, sizeof got, 1, all_bits, &into);
    sleep_until([&] { return received.calls == 1; });
    CHECK(got == 77);
    ucp_request_free(receive);
    REQUIRE(::kill(child, SIGKILL) == 0);
    sleep_until([&] { return told.calls == 1; });
    // RDMA devices only notice that nobody answers.
    CHECK((told.status == UCS_ERR_CONNECTION_RESET || told.status == UCS_ERR_ENDPOINT_TIMEOUT));
    in.close(ep, true);
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(ports[0]);
    ::close(ports[1]);
}
