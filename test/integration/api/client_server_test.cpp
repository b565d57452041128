// Endpoints by socket address: listeners, clients, and connections that are neither.
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
#include <random>
#include <string_view>

#include "test/integration/api/world.hpp"

using namespace api;

namespace {

struct address {
    sockaddr_storage storage{};
    [[nodiscard]] ucs_sock_addr_t c() const {
        return {reinterpret_cast<const sockaddr*>(&storage), sizeof storage};
    }
    [[nodiscard]] in_port_t port() const {
        sockaddr_in v4;
        std::memcpy(&v4, &storage, sizeof v4);  // the port has the same offset in both
        return v4.sin_port;
    }
    bool operator==(const address& other) const {
        return std::memcmp(&storage, &other.storage, sizeof(sockaddr_in)) == 0;
    }
};

// Address of the servers, unless a test uses another one. In a virtual machine, it belongs to an
// RDMA device.
const char* host() {
    const char* const value = std::getenv("HAWSER_TEST_HOST");
    return value == nullptr ? "127.0.0.1" : value;
}

address any_port(const char* ip = host()) {
    address local_address;
    if (std::strchr(ip, ':') != nullptr) {
        sockaddr_in6 v6{};
        v6.sin6_family = AF_INET6;
        REQUIRE(::inet_pton(AF_INET6, ip, &v6.sin6_addr) == 1);
        std::memcpy(&local_address.storage, &v6, sizeof v6);
    } else {
        sockaddr_in v4{};
        v4.sin_family = AF_INET;
        REQUIRE(::inet_pton(AF_INET, ip, &v4.sin_addr) == 1);
        std::memcpy(&local_address.storage, &v4, sizeof v4);
    }
    return local_address;
}

address with_port(address local_address, in_port_t port) {
    sockaddr_in v4;
    std::memcpy(&v4, &local_address.storage, sizeof v4);
    v4.sin_port = port;
    std::memcpy(&local_address.storage, &v4, sizeof v4);
    return local_address;
}

bool has_ipv6() {
    const int fd = ::socket(AF_INET6, SOCK_STREAM, 0);
    const address local_address = any_port("::1");
    const bool works = ::bind(fd, local_address.c().addr, sizeof(sockaddr_in6)) == 0;
    ::close(fd);
    return works;
}

// Errors that the error handler of an endpoint has received.
struct errors {
    int calls = 0;
    ucs_status_t status = UCS_OK;
    static void record(void* arg, ucp_ep_h, ucs_status_t status) {
        auto& self = *static_cast<errors*>(arg);
        ++self.calls;
        self.status = status;
    }
};

ucp_ep_params_t client_params(errors& seen_errors, const address& target, unsigned flags = 0) {
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                        UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {errors::record, &seen_errors};
    params.sockaddr = target.c();
    params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER | flags;
    return params;
}

ucp_ep_params_t server_params(errors& seen_errors, ucp_conn_request_h request) {
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                        UCP_EP_PARAM_FIELD_CONN_REQUEST;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {errors::record, &seen_errors};
    params.conn_request = request;
    return params;
}

ucp_listener_params_t listener_params(const address& local_address,
                                      ucp_listener_conn_callback_t on_request, void* arg) {
    ucp_listener_params_t params{};
    params.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
    params.sockaddr = local_address.c();
    params.conn_handler = {on_request, arg};
    return params;
}

void ignore_request(ucp_conn_request_h, void*) {}

// Returns the address of the client that has sent the request.
address address_of(ucp_conn_request_h request) {
    ucp_conn_request_attr_t attr{};
    attr.field_mask = UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR;
    REQUIRE(ucp_conn_request_query(request, &attr) == UCS_OK);
    return {attr.client_address};
}

// A worker with a listener, and another worker from which clients connect.
class service : public workers {
public:
    explicit service(const address& local_address = any_port(), const world_options& options = {})
        : context(make_context(options)),
          server(make_worker(context, options)),
          client(make_client(options)) {
        const auto note_request = [](ucp_conn_request_h request, void* arg) {
            static_cast<service*>(arg)->requests.push_back(request);
        };
        listen(listener_params(local_address, note_request, this));
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
    void listen(const ucp_listener_params_t& params) {
        stop_listening();
        REQUIRE(ucp_listener_create(server, &params, &listener) == UCS_OK);
        ucp_listener_attr_t attr{};
        attr.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR;
        REQUIRE(ucp_listener_query(listener, &attr) == UCS_OK);
        server_address = {attr.sockaddr};
    }

    unsigned progress() const override {
        unsigned events = ucp_worker_progress(client);
        if (server != nullptr) events += ucp_worker_progress(server);
        return events;
    }
    [[nodiscard]] ucp_ep_h connect(errors& seen_errors, const address& target,
                                   unsigned flags = 0) const {
        return create_ep(client, client_params(seen_errors, target, flags));
    }
    [[nodiscard]] ucp_ep_h connect(errors& seen_errors) const {
        return connect(seen_errors, server_address);
    }
    // For cases that do not check the errors of the endpoint.
    [[nodiscard]] ucp_ep_h connect() { return connect(unchecked_errors); }
    [[nodiscard]] ucp_ep_h accept(ucp_conn_request_h request) {
        return accept(unchecked_errors, request);
    }

    // Waits until the endpoint's error handler has received this status.
    void await_error(const errors& seen_errors, ucs_status_t status) const {
        REQUIRE(progress_until([&] { return seen_errors.calls == 1; }));
        CHECK(seen_errors.status == status);
    }

    ucp_conn_request_h await_request() {
        REQUIRE(progress_until([&] { return !requests.empty(); }));
        ucp_conn_request_h first = requests.front();
        requests.pop_front();
        return first;
    }
    [[nodiscard]] ucp_ep_h accept(errors& seen_errors, ucp_conn_request_h request,
                                  ucp_worker_h worker = nullptr) const {
        return create_ep(worker == nullptr ? server : worker, server_params(seen_errors, request));
    }
    void close(ucp_ep_h endpoint, bool force = false) const {
        const params options = params().flags_of_call(UCP_EP_CLOSE_FLAG_FORCE, force);
        finish(ucp_ep_close_nbx(endpoint, &options));
    }
    // Connects without the library and sends bytes that are not a valid request.
    [[nodiscard]] int connect_raw(const std::vector<std::byte>& words = {}) const {
        const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
        REQUIRE(fd >= 0);
        REQUIRE(::connect(fd, server_address.c().addr, sizeof(sockaddr_in)) == 0);
        if (!words.empty()) {
            REQUIRE(::send(fd, words.data(), words.size(), MSG_NOSIGNAL) ==
                    static_cast<ssize_t>(words.size()));
        }
        return fd;
    }
    // Waits until the service closes such a connection. Returns the bytes that it sent before.
    [[nodiscard]] std::vector<std::byte> await_end(int fd) const {
        std::vector<std::byte> received_bytes;
        REQUIRE(progress_until([&] {
            std::byte some[64];
            const ssize_t got = ::recv(fd, some, sizeof some, MSG_DONTWAIT);
            if (got > 0) received_bytes.insert(received_bytes.end(), some, some + got);
            return got == 0 || (got < 0 && errno != EAGAIN);
        }));
        ::close(fd);
        return received_bytes;
    }

    ucp_context_h context;
    ucp_worker_h server;
    ucp_worker_h client;
    ucp_listener_h listener = nullptr;
    address server_address;
    std::deque<ucp_conn_request_h> requests;
    errors unchecked_errors;

private:
    ucp_worker_h make_client(const world_options& options) const {
        ucp_worker_params_t params{};
        params.field_mask = UCP_WORKER_PARAM_FIELD_CLIENT_ID | UCP_WORKER_PARAM_FIELD_THREAD_MODE;
        params.client_id = 4711;
        params.thread_mode = options.threads;
        ucp_worker_h worker = nullptr;
        REQUIRE(ucp_worker_create(context, &params, &worker) == UCS_OK);
        return worker;
    }
};

// The endpoints of a client and of its server.
struct endpoint_pair {
    explicit endpoint_pair(service& target)
        : in(target),
          client(in.connect(client_errors)),
          server(in.accept(server_errors, in.await_request())) {}
    void close() const {
        in.close(client);
        in.close(server);
    }
    service& in;
    errors client_errors;
    errors server_errors;
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
    for (std::size_t position = text.find(part); position != std::string::npos;
         position = text.find(part, position + 1))
        ++found;
    return found;
}

// Checks that the service accepts a client, which can send.
void check_serves(service& in) {
    const endpoint_pair good(in);
    in.exchange(good.client, in.server, 8, 1);
    good.close();
}

// Checks that the only line of the log is a client's failed connection.
void check_failure_is_logged(const std::string& log, const char* reason) {
    INFO(log);
    CHECK(count(log, "\n") == 1);
    CHECK(count(log, std::string("warn  the connection to ") + host() + ":") == 1);
    CHECK(count(log, std::string(" failed: ") + reason) == 1);
}

// For cases that CTest runs separately. CTest recognizes this line as a skip.
void skip(const char* reason) {
    std::printf("SKIP: %s\n", reason);
    std::fflush(stdout);
}

// There are no clients if the transports reach only the worker itself.
#define NEEDS_PEERS \
    if (only_self()) return

// A client connects by the loopback address to a server that listens on `listen_ip`.
void check_both_directions(const char* listen_ip, const char* loopback) {
    service in(any_port(listen_ip));
    CHECK(in.server_address.port() != 0);
    in.server_address = with_port(any_port(loopback), in.server_address.port());
    endpoint_pair both(in);
    in.exchange(both.client, in.server, 8, 1);
    in.exchange(both.server, in.client, 8, 2);
    CHECK(both.client_errors.calls == 0);
    CHECK(both.server_errors.calls == 0);
    in.close(both.client);
    in.await_error(both.server_errors, UCS_ERR_CONNECTION_RESET);
    in.close(both.server);
    CHECK(both.client_errors.calls == 0);
}

}  // namespace

TEST_CASE("a client reaches a server by its socket address, and both send", "[cm]") {
    NEEDS_PEERS;
    check_both_directions(GENERATE(host(), "0.0.0.0"), host());
}

// Runs separately, see CMakeLists.txt.
TEST_CASE("a client reaches a server by its IPv6 address, and both send", "[.ipv6]") {
    if (!has_ipv6()) return skip("this host has no IPv6 address ::1");
    check_both_directions(GENERATE("::1", "::"), "::1");
}

// Over RDMA, if it is available, the client finds no server.
TEST_CASE("a client tries the next transport if it finds no server", "[cm]") {
    NEEDS_PEERS;
    service server(any_port(), configured({{"SOCKADDR_TLS_PRIORITY", "tcp"}}));
    service other(any_port(), configured({{"SOCKADDR_TLS_PRIORITY", "rdmacm,tcp"}}));
    errors client_errors, server_errors;
    const auto progress_both_until = [&](const condition& holds) {
        return other.progress_until([&] {
            server.progress();
            return holds();
        });
    };
    const ucp_ep_h client = other.connect(client_errors, server.server_address);
    REQUIRE(progress_both_until([&] { return !server.requests.empty(); }));
    const ucp_ep_h accepted = server.accept(server_errors, server.requests.front());
    std::uint64_t word = 7, got = 0;
    const auto receive = ucp_tag_recv_nbx(other.client, &got, sizeof got, 3, all_bits, &none);
    const auto send = ucp_tag_send_nbx(accepted, &word, sizeof word, 3, &none);
    REQUIRE(progress_both_until([&] { return got == 7; }));
    CHECK(other.finish(receive) == UCS_OK);
    CHECK(server.finish(send) == UCS_OK);
    other.close(client, true);
    server.close(accepted, true);
    CHECK(client_errors.calls == 0);
}

TEST_CASE("clients and servers need a common transport for connecting", "[cm]") {
    NEEDS_PEERS;
    service in(any_port(), configured({{"SOCKADDR_TLS_PRIORITY", "tcp"}}));
    const ucp_context_h context = make_context(configured({{"SOCKADDR_TLS_PRIORITY", "rdmacm"}}));
    const ucp_worker_h worker = make_worker(context);
    const address local_address = any_port();
    const ucp_listener_params_t listening = listener_params(local_address, ignore_request, nullptr);
    errors seen_errors;
    const ucp_ep_params_t ep_params = client_params(seen_errors, in.server_address);
    captured_output output;
    ucp_listener_h listener = nullptr;
    ucp_ep_h ep = nullptr;
    CHECK(ucp_listener_create(worker, &listening, &listener) == UCS_ERR_UNREACHABLE);
    CHECK(ucp_ep_create(worker, &ep_params, &ep) == UCS_ERR_UNREACHABLE);
    CHECK(count(output.text(), "UCX_SOCKADDR_TLS_PRIORITY has rdmacm only") == 2);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}

TEST_CASE(
    "messages that a client sends before the server accepts arrive in order, with all lengths",
    "[cm]") {
    NEEDS_PEERS;
    service in;
    const ucp_ep_h ep = in.connect();
    const std::size_t lengths[] = {0, 8, 300, 20'000, 300'000, 2'000'000};
    std::vector<std::vector<std::byte>> data, into;
    std::vector<ucs_status_ptr_t> sends;
    for (const std::size_t length : lengths)
        data.push_back(pattern(length, 3));
    for (const auto& each : data)
        sends.push_back(ucp_tag_send_nbx(ep, each.data(), each.size(), 7, &none));
    const ucp_ep_h other = in.accept(in.await_request());
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

TEST_CASE("endpoints know the socket addresses, and the server knows the client's id", "[cm]") {
    NEEDS_PEERS;
    service in;
    errors client_errors, server_errors;
    const bool sends_id = GENERATE(false, true);
    const ucp_ep_h client = in.connect(client_errors, in.server_address,
                                       sends_id ? UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID : 0);
    ucp_conn_request_h request = in.await_request();
    const address requester = address_of(request);
    ucp_conn_request_attr_t request_attr{};
    request_attr.field_mask =
        UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR | UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID;
    CHECK(ucp_conn_request_query(request, &request_attr) ==
          (sends_id ? UCS_OK : UCS_ERR_UNSUPPORTED));
    if (sends_id) CHECK(request_attr.client_id == 4711);
    const ucp_ep_h server = in.accept(server_errors, request);
    in.exchange(client, in.server, 8, 5);

    const auto addresses = [](ucp_ep_h ep) {
        ucp_ep_attr_t attr{};
        attr.field_mask = UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR | UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR;
        REQUIRE(ucp_ep_query(ep, &attr) == UCS_OK);
        return std::pair<address, address>({attr.local_sockaddr}, {attr.remote_sockaddr});
    };
    const auto [client_local, client_remote] = addresses(client);
    const auto [server_local, server_remote] = addresses(server);
    CHECK(client_remote == in.server_address);
    CHECK(server_local == in.server_address);
    CHECK(server_remote == client_local);
    CHECK(requester == client_local);
    in.close(client);
    in.close(server);
}

TEST_CASE("a client can choose its local address", "[cm]") {
    NEEDS_PEERS;
    service in(any_port("0.0.0.0"));
    in.server_address = with_port(any_port(), in.server_address.port());
    errors seen_errors;
    ucp_ep_params_t params = client_params(seen_errors, in.server_address);
    params.field_mask |= UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR;
    const address from = any_port("127.0.0.3");
    params.local_sockaddr = from.c();
    ucp_ep_h ep = create_ep(in.client, params);
    ucp_conn_request_h request = in.await_request();
    CHECK(with_port(address_of(request), 0) == from);
    REQUIRE(ucp_listener_reject(in.listener, request) == UCS_OK);
    REQUIRE(in.progress_until([&] { return seen_errors.calls == 1; }));
    in.close(ep, true);
    const address nowhere = any_port("192.0.2.1");
    params.local_sockaddr = nowhere.c();
    captured_output output;
    CHECK(ucp_ep_create(in.client, &params, &ep) == UCS_ERR_UNREACHABLE);
    const std::string& log = output.text();
    CHECK(count(log, "\n") == 1);
    CHECK(count(log, "ucp_ep_create: no connection to 127.0.0.1:") == 1);
}

TEST_CASE("a server may accept on another worker, or through the older handler", "[cm]") {
    NEEDS_PEERS;
    SECTION("another worker") {
        service in;
        ucp_worker_h data = make_worker(in.context);
        errors client_errors, server_errors;
        const ucp_ep_h client = in.connect(client_errors);
        const ucp_ep_h server = in.accept(server_errors, in.await_request(), data);
        std::uint64_t got = 0;
        const std::uint64_t word = 9;
        const auto receive = ucp_tag_recv_nbx(data, &got, sizeof got, 1, all_bits, &none);
        const auto send = ucp_tag_send_nbx(client, &word, sizeof word, 1, &none);
        REQUIRE(in.progress_until([&] {
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
        const address local_address = any_port();
        params.sockaddr = local_address.c();
        params.accept_handler = {
            [](ucp_ep_h made, void* arg) { *static_cast<ucp_ep_h*>(arg) = made; }, &server};
        in.listen(params);
        const ucp_ep_h client = in.connect();
        in.exchange(client, in.server, 8, 3);
        REQUIRE(server != nullptr);
        in.exchange(server, in.client, 8, 4);
        in.close(client);
        in.close(server);
    }
}

TEST_CASE("hundreds of clients at once each get their own endpoint", "[cm]") {
    NEEDS_PEERS;
    service in;
    constexpr std::uint64_t count = 300;
    errors client_errors, server_errors;
    std::vector<ucp_ep_h> clients, servers;
    std::vector<ucs_status_ptr_t> sends;
    std::vector<std::uint64_t> words(count), got(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        words[i] = i;
        clients.push_back(in.connect(client_errors));
        sends.push_back(ucp_tag_send_nbx(clients.back(), &words[i], sizeof words[i], i, &none));
    }
    for (std::uint64_t i = 0; i < count; ++i)
        servers.push_back(in.accept(server_errors, in.await_request()));
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto receive =
            ucp_tag_recv_nbx(in.server, &got[i], sizeof got[i], i, all_bits, &none);
        CHECK(in.finish(receive) == UCS_OK);
        CHECK(in.finish(sends[i]) == UCS_OK);
    }
    CHECK(got == words);
    // The close of one server endpoint is reported to exactly one client.
    for (std::uint64_t i = 0; i < 5; ++i) {
        in.close(servers[i]);
        REQUIRE(in.progress_until([&] { return client_errors.calls == static_cast<int>(i) + 1; }));
    }
    CHECK(server_errors.calls == 0);
    for (const ucp_ep_h each : clients)
        in.close(each);
    REQUIRE(in.progress_until([&] { return server_errors.calls == static_cast<int>(count) - 5; }));
    CHECK(client_errors.calls == 5);
    for (std::uint64_t i = 5; i < count; ++i)
        in.close(servers[i]);
}

TEST_CASE("endpoints by worker address are independent of those by socket address", "[cm]") {
    NEEDS_PEERS;
    service in;
    endpoint_pair first(in);
    const ucp_ep_h forward = make_ep(in.client, in.server);
    const ucp_ep_h back = make_ep(in.server, in.client);
    endpoint_pair second(in);
    in.exchange(forward, in.server, 8, 1);
    in.exchange(back, in.client, 8, 2);
    in.exchange(second.client, in.server, 8, 3);
    in.exchange(first.server, in.client, 8, 4);
    in.close(second.client);
    REQUIRE(in.progress_until([&] { return second.server_errors.calls == 1; }));
    CHECK(first.server_errors.calls == 0);
    in.exchange(first.client, in.server, 8, 5);
    in.close(first.server);
    REQUIRE(in.progress_until([&] { return first.client_errors.calls == 1; }));
    in.close(first.client);
    in.close(second.server);
    in.close(forward);
    in.close(back);
}

TEST_CASE("both sides may close together, flushed or by force", "[cm]") {
    NEEDS_PEERS;
    const bool force = GENERATE(false, true);
    service in;
    for (unsigned i = 0; i < 20; ++i) {
        endpoint_pair both(in);
        if (i % 2 == 0) in.exchange(both.client, in.server, 8, i);
        const params options = params().flags_of_call(UCP_EP_CLOSE_FLAG_FORCE, force);
        const auto client_close = ucp_ep_close_nbx(both.client, &options);
        const auto server_close = ucp_ep_close_nbx(both.server, &options);
        in.finish(client_close);
        in.finish(server_close);
        CHECK(both.client_errors.calls == 0);
        CHECK(both.server_errors.calls == 0);
    }
}

TEST_CASE("a worker can be its own client", "[cm]") {
    service in;
    errors client_errors, server_errors;
    const ucp_ep_h client = create_ep(in.server, client_params(client_errors, in.server_address));
    const ucp_ep_h server = in.accept(server_errors, in.await_request());
    in.exchange(client, in.server, 8, 1);
    in.exchange(server, in.server, 8, 2);
    in.close(client);
    in.await_error(server_errors, UCS_ERR_CONNECTION_RESET);
    in.close(server);
    CHECK(client_errors.calls == 0);
}

TEST_CASE("a client that the server rejects receives an error", "[cm]") {
    NEEDS_PEERS;
    service in;
    errors seen_errors;
    const ucp_ep_h ep = in.connect(seen_errors);
    const std::uint64_t word = 1;
    const auto send = ucp_tag_send_nbx(ep, &word, sizeof word, 1, &none);
    captured_output output;
    CHECK(ucp_listener_reject(in.listener, in.await_request()) == UCS_OK);
    in.await_error(seen_errors, UCS_ERR_REJECTED);
    CHECK(in.finish(send) == UCS_ERR_REJECTED);
    in.close(ep);
    check_failure_is_logged(output.text(), "the server rejected the connection");
}

TEST_CASE("a client that finds no server receives an error through its handler", "[cm]") {
    NEEDS_PEERS;
    service in;
    in.stop_listening();
    errors seen_errors;
    captured_output output;
    const ucp_ep_h ep = in.connect(seen_errors);
    CHECK(seen_errors.calls == 0);
    in.await_error(seen_errors, UCS_ERR_CONNECTION_RESET);
    in.close(ep);
    check_failure_is_logged(output.text(), "Connection refused");
    const auto left = in.connect(seen_errors);
    CHECK(in.finish(ucp_ep_close_nbx(left, &none)) == UCS_OK);
}

TEST_CASE("requests without a reply are refused when the listener or the worker ends", "[cm]") {
    NEEDS_PEERS;
    service in;
    errors seen_errors;
    const ucp_ep_h ep = in.connect(seen_errors);
    const ucp_conn_request_h request = in.await_request();
    SECTION("the listener: requests that the program has remain valid") {
        in.stop_listening();
        const ucp_ep_h server = in.accept(request);
        in.exchange(ep, in.server, 8, 1);
        in.close(ep);
        in.close(server);
    }
    SECTION("the worker") {
        in.end_server();
        in.await_error(seen_errors, UCS_ERR_REJECTED);
        in.close(ep);
    }
    SECTION("the worker, after it accepted") {
        static_cast<void>(in.accept(request));
        in.end_server();
        REQUIRE(in.progress_until([&] { return seen_errors.calls == 1; }));
        CHECK((seen_errors.status == UCS_ERR_CONNECTION_RESET ||
               seen_errors.status == UCS_ERR_NOT_CONNECTED));
        in.close(ep);
    }
}

TEST_CASE("a client may give up at any time", "[cm]") {
    NEEDS_PEERS;
    service in;
    errors client_errors, server_errors;
    SECTION("before the server has seen it") {
        in.close(in.connect(client_errors), true);
        // The request may have arrived or not.
        endpoint_pair next(in);
        in.close(next.client);
        in.close(next.server, true);
    }
    SECTION("before it accepts") {
        const ucp_ep_h ep = in.connect(client_errors);
        const ucp_conn_request_h request = in.await_request();
        in.close(ep, true);
        in.progress_often(1000);
        const ucp_ep_params_t params = server_params(server_errors, request);
        ucp_ep_h server = nullptr;
        CHECK(ucp_ep_create(in.server, &params, &server) == UCS_ERR_CONNECTION_RESET);
    }
    SECTION("while it accepts") {
        const ucp_ep_h ep = in.connect(client_errors);
        const ucp_ep_h server = in.accept(server_errors, in.await_request());
        in.close(ep, true);
        in.await_error(server_errors, UCS_ERR_CONNECTION_RESET);
        in.close(server);
    }
    CHECK(client_errors.calls == 0);
}

TEST_CASE("the handler may destroy its listener, and later clients are refused", "[cm]") {
    NEEDS_PEERS;
    service in;
    struct context {
        ucp_listener_h listener = nullptr;
        int calls = 0;
    } handler_state;
    const auto reject_and_destroy = [](ucp_conn_request_h request, void* arg) {
        auto& self = *static_cast<context*>(arg);
        ++self.calls;
        ucp_listener_reject(self.listener, request);
        ucp_listener_destroy(self.listener);
    };
    const address local_address = any_port();
    in.listen(listener_params(local_address, reject_and_destroy, &handler_state));
    handler_state.listener = std::exchange(in.listener, nullptr);
    errors seen_errors[3];
    ucp_ep_h eps[3];
    for (int i = 0; i < 3; ++i)
        eps[i] = in.connect(seen_errors[i]);
    REQUIRE(in.progress_until(
        [&] { return seen_errors[0].calls + seen_errors[1].calls + seen_errors[2].calls == 3; }));
    CHECK(handler_state.calls == 1);
    for (const ucp_ep_h each : eps)
        in.close(each);
}

TEST_CASE("invalid arguments of clients and servers are refused with a reason", "[cm]") {
    service in;
    const captured_output quiet;
    ucp_listener_h listener = nullptr;
    ucp_listener_params_t params{};
    CHECK(ucp_listener_create(in.server, &params, &listener) == UCS_ERR_INVALID_PARAM);
    params.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR;
    params.sockaddr = in.server_address.c();
    CHECK(ucp_listener_create(in.server, &params, &listener) == UCS_ERR_INVALID_PARAM);
    params.field_mask |= UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
    params.conn_handler = {ignore_request, nullptr};
    CHECK(ucp_listener_create(in.server, &params, &listener) == UCS_ERR_BUSY);
    const address foreign = any_port("192.0.2.1");
    params.sockaddr = foreign.c();
    CHECK(ucp_listener_create(in.server, &params, &listener) == UCS_ERR_UNREACHABLE);
    params.sockaddr.addrlen = 3;
    CHECK(ucp_listener_create(in.server, &params, &listener) == UCS_ERR_INVALID_PARAM);

    ucp_ep_params_t wanted{};
    ucp_ep_h ep = nullptr;
    wanted.field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR;
    wanted.sockaddr = in.server_address.c();
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

TEST_CASE("malformed requests are refused, and clients are served meanwhile", "[cm]") {
    NEEDS_PEERS;
    service in;
    std::mt19937 random(7);
    std::string log;
    {
        captured_output output;
        std::vector<int> fds;
        // First a request of another version. Then, with the right version: a body that is too
        // long, a type that clients do not send, a request without an address. Then random bytes.
        const std::vector<unsigned> magic{'H', 'W', 'C', 'M'};
        const auto frame = [&](std::vector<unsigned> rest) {
            rest.insert(rest.begin(), magic.begin(), magic.end());
            return bytes_of(rest);
        };
        fds.push_back(in.connect_raw(frame({2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
        fds.push_back(in.connect_raw(frame({1, 0, 1, 0, 0x01, 0x10, 0, 0, 0, 0, 0, 0})));
        fds.push_back(in.connect_raw(frame({1, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
        fds.push_back(in.connect_raw(frame({1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
        for (unsigned i = 0; i < 20; ++i) {
            std::vector<std::byte> words(16 + random() % 100);
            for (std::byte& each : words)
                each = static_cast<std::byte>(random());
            fds.push_back(in.connect_raw(words));
        }
        endpoint_pair good(in);
        in.exchange(good.client, in.server, 8, 1);
        for (const int fd : fds) {
            const auto received_bytes = in.await_end(fd);
            CHECK(received_bytes.size() == 16);  // a refusal
        }
        good.close();
        log = output.text();
    }
    CHECK(in.requests.empty());
    INFO(log);
    // Each kind is logged once, and then only its tenth occurrence.
    CHECK(count(log, "its connection is closed") == 9);
    CHECK(count(log, "\n") == 9);
    CHECK(count(log, "another version") == 1);
    CHECK(count(log, "sent too long a message") == 1);
    CHECK(count(log, "sent a malformed request") == 1);
}

TEST_CASE("connections that send nothing, or send too slowly, have a deadline", "[cm]") {
    NEEDS_PEERS;
    service in(any_port(), configured({{"CM_TIMEOUT", "300ms"}}));
    const captured_output quiet;
    std::vector<int> fds;
    for (unsigned i = 0; i < 20; ++i)
        fds.push_back(in.connect_raw(i % 2 == 0 ? std::vector<std::byte>{}
                                                : bytes_of({'H', 'W', 'C', 'M', 1, 0, 1})));
    for (const int fd : fds)
        static_cast<void>(in.await_end(fd));
    check_serves(in);
}

// Runs separately, see CMakeLists.txt.
TEST_CASE("many silent connections use bounded memory and do not block clients", "[.crowd]") {
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_cur < 2100) return skip("fewer than 2100 descriptors (ulimit -n)");
    service in;
    std::string log;
    {
        captured_output output;
        std::vector<int> crowd;
        for (unsigned i = 0; i < 900; ++i) {
            crowd.push_back(in.connect_raw());
            if (i % 16 == 0) in.progress();
        }
        check_serves(in);
        for (const int fd : crowd)
            ::close(fd);
        log = output.text();
    }
    CHECK(log.find("have not identified themselves") != std::string::npos);
}

TEST_CASE("a server that ran out of descriptors serves clients when descriptors are free again",
          "[cm]") {
    NEEDS_PEERS;
    service in;
    const captured_output quiet;
    const ucp_ep_h ep = in.connect();
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const int next = ::dup(0);
    ::close(next);
    rlimit exhausted = before;
    exhausted.rlim_cur = static_cast<rlim_t>(next);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &exhausted) == 0);
    in.progress_often(10'000);
    CHECK(in.requests.empty());
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    const ucp_ep_h server = in.accept(in.await_request());
    in.exchange(ep, in.server, 8, 1);
    in.close(ep);
    in.close(server);
}

TEST_CASE(
    "a client process that dies is reported to the server, and a sleeping server wakes for a "
    "client",
    "[cm]") {
    NEEDS_PEERS;
    int ports[2];
    REQUIRE(::pipe(ports) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        // Does not use the test's assertions, because this process ends by a signal.
        address server_address;
        if (::read(ports[0], &server_address, sizeof server_address) != sizeof server_address)
            ::_exit(1);
        const ucp_params_t init = tag_params();
        ucp_context_h context = nullptr;
        const ucp_worker_params_t worker_params{};
        ucp_worker_h worker = nullptr;
        ucp_ep_params_t params{};
        params.field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS;
        params.sockaddr = server_address.c();
        params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
        ucp_ep_h ep = nullptr;
        if (ucp_init(&init, nullptr, &context) != UCS_OK ||
            ucp_worker_create(context, &worker_params, &worker) != UCS_OK ||
            ucp_ep_create(worker, &params, &ep) != UCS_OK) {
            ::_exit(1);
        }
        const std::uint64_t word = 77;
        ucp_tag_send_nbx(ep, &word, sizeof word, 1, &none);
        for (;;)
            ucp_worker_progress(worker);
    }
    world_options options;
    options.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
    service in(any_port(), options);
    REQUIRE(::write(ports[1], &in.server_address, sizeof in.server_address) ==
            sizeof in.server_address);
    const auto sleep_until = [&](const condition& holds) {
        while (!holds()) {
            if (ucp_worker_progress(in.server) == 0) {
                REQUIRE(ucp_worker_wait(in.server) == UCS_OK);
            }
        }
    };
    sleep_until([&] { return !in.requests.empty(); });
    errors seen_errors;
    const ucp_ep_h ep = in.accept(seen_errors, in.requests.front());
    std::uint64_t got = 0;
    outcome received;
    const params into = params().on_recv(received).flag(UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    const auto receive = ucp_tag_recv_nbx(in.server, &got, sizeof got, 1, all_bits, &into);
    sleep_until([&] { return received.calls == 1; });
    CHECK(got == 77);
    ucp_request_free(receive);
    REQUIRE(::kill(child, SIGKILL) == 0);
    sleep_until([&] { return seen_errors.calls == 1; });
    // RDMA devices only detect that the peer does not respond.
    CHECK((seen_errors.status == UCS_ERR_CONNECTION_RESET ||
           seen_errors.status == UCS_ERR_ENDPOINT_TIMEOUT));
    in.close(ep, true);
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(ports[0]);
    ::close(ports[1]);
}
