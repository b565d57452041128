#include "tools/perf/net/control.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "tools/common/failure.hpp"

namespace tools::perf {
namespace {

constexpr int send_timeout_ms = 10'000;

std::string_view name_of(frame_type type) {
    switch (type) {
        case frame_type::hello:
            return "hello";
        case frame_type::test:
            return "test";
        case frame_type::addresses:
            return "addresses";
        case frame_type::barrier:
            return "barrier";
        case frame_type::failure:
            return "failure";
        case frame_type::finish:
            return "finish";
    }
    return "unknown";
}

void send_all(int fd, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent > 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(sent));
            continue;
        }
        if (errno == EINTR) continue;
        if (errno != EAGAIN) {
            throw failure(fmt::format("control connection: send: {}", std::strerror(errno)));
        }
        pollfd waiting{fd, POLLOUT, 0};
        if (::poll(&waiting, 1, send_timeout_ms) == 0) {
            throw failure("control connection: the peer does not read");
        }
    }
}

// How long poll may sleep: for ever, or until the deadline.
template<class TimePoint>
int sleep_ms(const std::optional<TimePoint>& deadline) {
    if (!deadline) return -1;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - TimePoint::clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0)) + 1;
}

}  // namespace

void control::send(frame_type type, std::span<const std::byte> content) {
    const auto header = pack_header({type, static_cast<std::uint32_t>(content.size())});
    const std::lock_guard lock(sending_);
    send_all(fd_.get(), header);
    send_all(fd_.get(), content);
}

void control::read_exactly(std::span<std::byte> into, idle_work* idle,
                           std::optional<clock::time_point> deadline) {
    while (!into.empty()) {
        const ssize_t got = ::recv(fd_.get(), into.data(), into.size(), 0);
        if (got > 0) {
            into = into.subspan(static_cast<std::size_t>(got));
            continue;
        }
        if (got == 0) throw failure("the peer closed the control connection");
        if (errno == EINTR) continue;
        if (errno != EAGAIN) {
            throw failure(fmt::format("control connection: recv: {}", std::strerror(errno)));
        }
        if (deadline && clock::now() >= *deadline) {
            throw failure("the peer sent nothing over the control connection in time");
        }
        if (idle != nullptr) {
            (*idle)();
        } else {
            pollfd waiting{fd_.get(), POLLIN, 0};
            ::poll(&waiting, 1, sleep_ms(deadline));
        }
    }
}

frame control::read_frame(idle_work* idle, std::optional<clock::time_point> deadline) {
    std::array<std::byte, frame_header_size> bytes{};
    read_exactly(bytes, idle, deadline);
    const std::optional<frame_header> header = parse_header(bytes);
    if (!header) throw failure("the peer does not speak this version of the test protocol");
    frame received{header->type, std::vector<std::byte>(header->length)};
    read_exactly(received.content, idle, deadline);
    if (received.type == frame_type::failure) {
        throw failure("the peer reports: " + printable(received.content));
    }
    return received;
}

frame control::receive(frame_type expected, idle_work* idle, std::optional<frame_type> or_else) {
    frame received = read_frame(idle, std::nullopt);
    if (received.type == expected || received.type == or_else) return received;
    throw failure(fmt::format("the peer sent a {} frame where a {} frame belongs",
                              name_of(received.type), name_of(expected)));
}

frame control::receive_within(frame_type expected, std::chrono::milliseconds limit) {
    frame received = read_frame(nullptr, clock::now() + limit);
    if (received.type == expected) return received;
    throw failure(fmt::format("the peer sent a {} frame where a {} frame belongs",
                              name_of(received.type), name_of(expected)));
}

void control::barrier(idle_work& idle) {
    send(frame_type::barrier);
    static_cast<void>(receive(frame_type::barrier, &idle));
}

std::optional<std::string> control::last_words() noexcept {
    try {
        for (;;) {
            static_cast<void>(read_frame(nullptr, clock::now()));
        }
    } catch (const failure& end) {
        const std::string_view text = end.what();
        if (text.starts_with("the peer reports: ")) return std::string(text);
    } catch (...) {
        // Nothing more can be learned.
    }
    return std::nullopt;
}

}  // namespace tools::perf
