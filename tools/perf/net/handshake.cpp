#include "tools/perf/net/handshake.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "tools/common/failure.hpp"
#include "ucs/async/event_loop.hpp"
#include "ucs/net/acceptor.hpp"
#include "ucs/net/socket.hpp"
#include "ucs/security/key_handshake.hpp"

namespace tools::perf {
namespace {

constexpr int connect_timeout_ms = 10'000;

[[noreturn]] void fail(std::string_view activity) {
    throw failure(fmt::format("{}: {}", activity, std::strerror(errno)));
}

using address_list = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

address_list resolve(const std::string& host, std::uint16_t port, bool ipv6) {
    addrinfo hints{};
    hints.ai_family = ipv6 ? AF_INET6 : AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (error != 0) {
        throw failure(fmt::format("host {} has no {} address: {}", host, ipv6 ? "IPv6" : "IPv4",
                                  ::gai_strerror(error)));
    }
    return {found, &::freeaddrinfo};
}

// Returns 0 or an errno value.
int connect_within_timeout(int fd, const addrinfo& to) {
    if (::connect(fd, to.ai_addr, to.ai_addrlen) == 0) return 0;
    if (errno != EINPROGRESS) return errno;
    pollfd waiting{fd, POLLOUT, 0};
    const int ready = ::poll(&waiting, 1, connect_timeout_ms);
    if (ready == 0) return ETIMEDOUT;
    return ready < 0 ? errno : ucs::net::connect_error(fd);
}

}  // namespace

void make_control_socket(int fd) {
    if (::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) fail("fcntl(O_NONBLOCK)");
    // Data is sent every few seconds, and the kernel does not send keepalive probes while it waits
    // for an acknowledgement of data. The timeout equals the limit of the probes.
    if (!ucs::net::make_lively(fd, {.idle = 5, .interval = 3, .probes = 3, .user_timeout = 14'000}))
        fail("setsockopt() of the control connection");
}

ucs::unique_fd listen_on(std::uint16_t port, bool ipv6) {
    using ucs::net::ip_address;
    constexpr std::array<std::byte, 16> any{};
    const auto ip = ipv6 ? ip_address::v6(any, 0) : ip_address::v4(std::span(any).first<4>());
    ucs::unique_fd fd = ucs::net::listen_at({ip, port});
    if (!fd) fail(fmt::format("cannot listen on TCP port {}", port));
    return fd;
}

ucs::unique_fd connect_to(const std::string& host, std::uint16_t port, bool ipv6) {
    const address_list addresses = resolve(host, port, ipv6);
    int error = EHOSTUNREACH;
    for (const addrinfo* to = addresses.get(); to != nullptr; to = to->ai_next) {
        ucs::unique_fd fd = ucs::net::open_stream(to->ai_family);
        if (!fd) fail("socket");
        error = connect_within_timeout(fd.get(), *to);
        if (error != 0) continue;
        make_control_socket(fd.get());
        return fd;
    }
    throw failure(
        fmt::format("cannot connect to {} port {}: {}", host, port, std::strerror(error)));
}

namespace {

using ucs::security::key_handshake;

constexpr ucs::time::nanoseconds time_to_prove = 10 * ucs::time::second;
// A client only has to prove the key, so an incomplete handshake delays others no longer than this.
constexpr ucs::time::nanoseconds turn_length = 100 * ucs::time::millisecond;
constinit const ucs::log::component perf_log{"tools.perf"};

// Accepts connections to the server's port until one of them becomes the client.
class client_acceptor {
public:
    client_acceptor(int listener, const ucs::security::key* shared)
        : shared_(shared),
          events_(make_events()),
          acceptor_(*events_, {.log = perf_log,
                               .rejected = rejected_,
                               .name = "control port",
                               .limits = limits(),
                               .accept = [this](int from) { return accept(from); },
                               .accepts_per_turn = 16}) {
        if (acceptor_.open({listener}) != UCS_OK) throw failure("out of memory");
    }

    ucs::unique_fd wait() {
        while (!client_)
            events_->poll(-1);
        return std::move(client_);
    }

private:
    struct candidate final : ucs::net::acceptor::pending {
        candidate(client_acceptor& owner_acceptor, ucs::unique_fd from)
            : pending(from.get()), owner(owner_acceptor), stream(std::move(from)) {
            proving.emplace(key_handshake::role::server, owner.shared_, handshake_purpose);
        }
        // Does not read the data of a rejected client.
        ~candidate() override { static_cast<void>(stream.take()); }
        candidate(const candidate&) = delete;
        candidate& operator=(const candidate&) = delete;
        void on_readable() noexcept override { owner.read_from(*this); }

        client_acceptor& owner;
        frame_stream stream;
        std::optional<key_handshake> proving;
    };

    static ucs::net::admission_limits limits() noexcept {
        return ucs::net::acceptor::limits_with_turns(time_to_prove, turn_length);
    }

    static std::unique_ptr<ucs::async::event_loop> make_events() {
        auto made = ucs::async::event_loop::create();
        if (!made) throw failure("no event loop can be made");
        return std::move(*made);
    }

    std::unique_ptr<ucs::net::acceptor::pending> accept(int listener) {
        ucs::unique_fd socket = ucs::net::accept_stream(listener);
        if (!socket) return nullptr;
        return std::make_unique<candidate>(*this, std::move(socket));
    }

    void read_from(candidate& peer) noexcept {
        if (peer.proving) {
            static_cast<void>(ucs::net::advance(*peer.proving, peer.stream.fd()));
            if (!acceptor_.has_agreed(peer, *peer.proving)) return;
            peer.proving.reset();
        }
        const ucs_status_t status = peer.stream.read_header();
        if (status == UCS_INPROGRESS) return;
        if (status == UCS_ERR_CONNECTION_RESET) return acceptor_.reject(peer, nullptr);
        const frame_header& header = peer.stream.header();
        if (status != UCS_OK || header.type != frame_type::hello || header.length != 0) {
            return acceptor_.reject(peer, "does not speak this version of the test protocol");
        }
        if (!client_) client_ = peer.stream.take();
        acceptor_.remove(peer);
    }

    const ucs::security::key* const shared_;
    ucs::log::throttle rejected_;
    const std::unique_ptr<ucs::async::event_loop> events_;
    ucs::unique_fd client_;
    ucs::net::acceptor acceptor_;
};

}  // namespace

accepted accept_client(const ucs::unique_fd& listener, const ucs::security::key* shared) {
    client_acceptor owner(listener.get(), shared);
    accepted client{owner.wait(), {}};
    client.peer = ucs::net::remote_address(client.fd.get()).text();
    make_control_socket(client.fd.get());
    return client;
}

void open_connection(int fd, const ucs::security::key* shared, std::chrono::milliseconds limit) {
    using clock = std::chrono::steady_clock;
    const clock::time_point end = clock::now() + limit;
    key_handshake proof(key_handshake::role::client, shared, handshake_purpose);
    while (ucs::net::advance(proof, fd) == key_handshake::step::incomplete) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now());
        if (left.count() <= 0) {
            throw failure(
                fmt::format("the server did not answer within {} s; it may serve another "
                            "client, or be stopped",
                            limit.count() / 1000));
        }
        pollfd waiting{fd, POLLIN, 0};
        ::poll(&waiting, 1, static_cast<int>(left.count()) + 1);
    }
    if (proof.now() == key_handshake::step::failed) {
        throw failure(fmt::format("no connection with the server: {}", explain(proof.failure())));
    }
}

}  // namespace tools::perf
