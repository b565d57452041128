#include "uct/cuda/ipc/broker_client.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ucs/descriptor/abstract_name.hpp"
#include "ucs/descriptor/close_in_background.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/descriptor/descriptor_passing.hpp"
#include "ucs/descriptor/peer_credentials.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/wire/codec.hpp"
#include "uct/cuda/ipc/broker_wire.hpp"

namespace uct::cuda {
namespace {

constexpr ucs::time::nanoseconds time_limit = 200 * ucs::time::millisecond;
constexpr std::uint32_t most_parts = 4096;

// A connection to a broker, which may be any process.
class question {
public:
    question() noexcept : deadline_(ucs::time::now() + time_limit) {}
    ~question() { ucs::sys::close_in_background(std::move(socket_)); }
    question(const question&) = delete;
    question& operator=(const question&) = delete;

    // Returns the reason for a failure, or an empty text.
    [[nodiscard]] std::string connect_to(std::uint64_t id) {
        socket_ = ucs::sys::make_local_socket();
        if (!socket_) return std::strerror(errno);
        const ucs::sys::abstract_name name(broker_socket, id);
        while (::connect(socket_.get(), name.get(), name.length()) != 0) {
            const int error = errno;
            // The queue of the listener is full for a moment.
            constexpr int pause_ms = 1;
            if (error != EAGAIN || is_over()) return std::strerror(error);
            static_cast<void>(::poll(nullptr, 0, pause_ms));
        }
        const auto peer = ucs::sys::read_peer_credentials(socket_.get());
        if (!peer || !peer->is_own_user()) return "another user listens on its socket";
        ucs::sys::allow_descriptors(socket_.get());
        return {};
    }

    // Asks for one allocation. The reply is not granted if anything fails.
    [[nodiscard]] broker_reply ask(const broker_request& request, ucs::unique_fd& descriptor) {
        std::array<std::byte, sizeof(broker_reply)> bytes{};
        if (ucs::sys::send_with_descriptor(socket_.get(), std::as_bytes(std::span(&request, 1)),
                                           -1) != 0)
            return {};
        while (true) {
            pollfd readable{socket_.get(), POLLIN, 0};
            static_cast<void>(::poll(&readable, 1, milliseconds_left()));
            auto got = ucs::sys::receive_with_descriptor(socket_.get(), bytes);
            if (got.would_block() && !is_over()) continue;
            const auto reply = ucs::wire::read<broker_reply>(bytes);
            const bool is_whole =
                got.length == static_cast<ssize_t>(bytes.size()) && !got.truncated;
            if (!is_whole || reply->magic != broker_magic || reply->version != broker_version)
                return {};
            descriptor = ucs::sys::within_budget(std::move(got.descriptor));
            return *reply;
        }
    }

private:
    [[nodiscard]] bool is_over() const noexcept { return ucs::time::now() >= deadline_; }
    [[nodiscard]] int milliseconds_left() const noexcept {
        const ucs::time::nanoseconds now = ucs::time::now();
        if (now >= deadline_) return 0;
        return static_cast<int>((deadline_ - now) / ucs::time::millisecond) + 1;
    }

    const ucs::time::nanoseconds deadline_;
    ucs::unique_fd socket_;
};

}  // namespace

broker_answer fetch_export(const export_name& name, std::uint64_t length) {
    broker_answer answer;
    question to_owner;
    answer.problem = to_owner.connect_to(name.socket_id);
    if (!answer.problem.empty()) return answer;
    broker_request request{.number = name.number, .secret = name.secret};
    std::uint64_t sum = 0;
    for (std::uint32_t count = 1; request.index < count; ++request.index) {
        imported_part part;
        const broker_reply reply = to_owner.ask(request, part.descriptor);
        if (reply.is_granted != 1 || !part.descriptor) {
            answer = {{}, "the owner does not pass it on"};
            return answer;
        }
        if (reply.length == 0 || reply.length > length - sum || reply.count > most_parts) {
            answer = {{}, "the owner's key and its broker disagree"};
            return answer;
        }
        count = reply.count;
        sum += reply.length;
        part.length = reply.length;
        answer.parts.push_back(std::move(part));
    }
    if (sum != length) answer = {{}, "the owner's key and its broker disagree"};
    return answer;
}

}  // namespace uct::cuda
