#include "tools/perf/net/handshake.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <optional>

#include "tools/common/failure.hpp"
#include "ucs/async/event_loop.hpp"
#include "ucs/net/acceptor.hpp"
#include "ucs/net/stream_io.hpp"
#include "ucs/security/opening.hpp"

namespace tools::perf {
namespace {

using ucs::security::opening;

constexpr ucs::time::nanoseconds time_to_prove = 10 * ucs::time::second;
// A client has nothing else to do than to prove the key, so strangers that only begin to keep it
// waiting for no longer.
constexpr ucs::time::nanoseconds turn_length = 100 * ucs::time::millisecond;
constinit const ucs::log::component perf_log{"tools.perf"};

// Connections to the server's port, one of which becomes the client.
class waiting_room {
public:
    waiting_room(int listener, const ucs::security::key* shared)
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
    struct visitor final : ucs::net::acceptor::pending {
        visitor(waiting_room& where, ucs::unique_fd from)
            : pending(from.get()), room(where), socket(std::move(from)) {
            proving.emplace(opening::role::server, room.shared_, opening_purpose);
        }
        void on_readable() noexcept override { room.listen_to(*this); }

        waiting_room& room;
        ucs::unique_fd socket;
        std::optional<opening> proving;
        std::array<std::byte, frame_header_size> hello{};
        std::size_t received = 0;  // of hello
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
        return std::make_unique<visitor>(*this, std::move(socket));
    }

    void listen_to(visitor& who) noexcept {
        if (who.proving) {
            static_cast<void>(ucs::net::advance(*who.proving, who.socket.get()));
            if (!acceptor_.has_agreed(who, *who.proving)) return;
            who.proving.reset();
        }
        const ssize_t got =
            ucs::net::receive_some(who.socket.get(), std::span(who.hello).subspan(who.received));
        if (got < 0) return acceptor_.reject(who, nullptr);
        who.received += static_cast<std::size_t>(got);
        if (who.received < who.hello.size()) return;
        const auto header = parse_header(who.hello);
        if (!header || header->type != frame_type::hello || header->length != 0) {
            return acceptor_.reject(who, "does not speak this version of the test protocol");
        }
        if (!client_) client_ = std::move(who.socket);
        acceptor_.remove(who);
    }

    const ucs::security::key* const shared_;
    ucs::log::throttle rejected_;
    const std::unique_ptr<ucs::async::event_loop> events_;
    ucs::unique_fd client_;
    ucs::net::acceptor acceptor_;
};

}  // namespace

accepted accept_client(const ucs::unique_fd& listener, const ucs::security::key* shared) {
    waiting_room room(listener.get(), shared);
    accepted client{room.wait(), {}};
    ucs::net::socket_address peer;
    if (::getpeername(client.fd.get(), peer.data(), peer.size_to_fill()) == 0) {
        client.peer = peer.text();
    }
    make_control_socket(client.fd.get());
    return client;
}

void open_connection(int fd, const ucs::security::key* shared, std::chrono::milliseconds limit) {
    using clock = std::chrono::steady_clock;
    const clock::time_point end = clock::now() + limit;
    opening mine(opening::role::client, shared, opening_purpose);
    while (ucs::net::advance(mine, fd) == opening::step::incomplete) {
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
    if (mine.now() == opening::step::failed) {
        throw failure(fmt::format("no connection with the server: {}", explain(mine.failure())));
    }
}

}  // namespace tools::perf
