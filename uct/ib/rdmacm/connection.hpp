// A connection by socket address between two RDMA devices.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "ucs/net/ip_address.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/ib/base/device/handle.hpp"
#include "uct/ib/rdmacm/library.hpp"

namespace uct::rdmacm {

struct events_closer {
    const library* use = nullptr;
    void operator()(rdma_event_channel* channel) const noexcept {
        use->destroy_event_channel(channel);
    }
};
using events_handle = std::unique_ptr<rdma_event_channel, events_closer>;

// Creates an event channel whose descriptor does not block. If the result is empty, errno has the
// reason.
[[nodiscard]] events_handle open_event_channel(const library& with) noexcept;

struct id_closer {
    const library* use = nullptr;
    void operator()(rdma_cm_id* id) const noexcept { use->destroy_id(id); }
};
using id_handle = std::unique_ptr<rdma_cm_id, id_closer>;

// Carries few short messages between two sides, such as their connection data for other transports.
// The kernel's connection manager finds the device of an address and exchanges the data of two
// queue pairs; then the queue pair carries the messages. It works like a non-blocking socket: it
// has one descriptor, and `progress` advances it. Owner context, which may change: it shares
// nothing.
class connection {
public:
    struct attempt {
        std::unique_ptr<connection> made;
        int error = 0;  // an errno; 0: none
    };
    // Connects to a socket address, from another one unless that is empty. Messages have at most
    // `longest` bytes. ENODEV: there is no librdmacm, or no RDMA device. May throw std::bad_alloc.
    static attempt connect(const ucs::net::socket_address& to, const ucs::net::socket_address& from,
                           std::size_t longest);
    // `prepare` creates a connection with its descriptors for the next request; `accept` accepts a
    // request. It returns 0 or an errno; then the request is refused.
    static attempt prepare(const library& with, std::size_t longest);
    int accept(rdma_cm_id* id);

    // Ends the connection. Sent messages that have not arrived may be lost.
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // Readable when progress() has work.
    [[nodiscard]] int fd() const noexcept { return watched_.get(); }
    // Returns 0 if the connection is established, EINPROGRESS while it is being made, and otherwise
    // the reason why it failed or ended. Messages that were received before can still be read.
    int progress() noexcept;

    // Returns false if the connection is not established, or two messages are in flight.
    [[nodiscard]] bool send(std::span<const std::byte> message) noexcept;
    // Checks that the other side's device is there. If it is not, progress() reports that.
    void check() noexcept;
    // Returns true while the other side's device has not acknowledged all messages.
    [[nodiscard]] bool is_sending() const noexcept {
        return free_sends_ < most_sends && error_ == 0;
    }
    // Reads the next bytes of the received messages. The boundaries of messages are not kept.
    // Returns 0 if there are none now.
    [[nodiscard]] std::size_t receive(std::span<std::byte> into) noexcept;

    [[nodiscard]] ucs::net::socket_address local() const noexcept;
    [[nodiscard]] ucs::net::socket_address remote() const noexcept;

private:
    static constexpr unsigned most_sends = 2;
    static constexpr unsigned most_receives = 2;
    static constexpr unsigned check_id = most_receives + most_sends;  // of its work request
    static constexpr unsigned most_completions = check_id + 1;

    connection(const library& with, std::size_t longest) : use_(with), longest_(longest) {}
    int open_events() noexcept;
    int begin(const ucs::net::socket_address& to, const ucs::net::socket_address& from) noexcept;
    int open_pair();
    int request_connection() noexcept;
    void take_event(const rdma_cm_event& event) noexcept;
    void take_completions() noexcept;
    void take(const ibv_wc& done) noexcept;
    [[nodiscard]] bool post_receive(unsigned slot) noexcept;
    [[nodiscard]] ibv_sge piece(unsigned slot, std::size_t length) noexcept;
    void end(int error) noexcept {
        if (error_ == 0) error_ = error == 0 ? ECONNRESET : error;
    }

    const library& use_;
    const std::size_t longest_;
    ucs::unique_fd watched_;  // an epoll descriptor: the kernel's events, and completions
    ucs::unique_fd spare_;    // reserves a descriptor for completions_
    events_handle events_;
    id_handle id_;
    ib::channel_handle completions_;
    ib::queue_handle queue_;
    // Buffers of messages: received ones first, then those that are sent.
    std::vector<std::byte> memory_;
    ib::region_handle region_;
    bool established_ = false;
    bool checking_ = false;
    int error_ = 0;
    unsigned free_sends_ = most_sends;
    unsigned next_send_ = 0;
    struct arrival {
        unsigned slot = 0;
        std::size_t length = 0;
        std::size_t read = 0;
    };
    std::array<arrival, most_receives> arrived_;  // the oldest first
    std::size_t arrived_count_ = 0;
};

// Returns true if an address of this kind may belong to an RDMA device.
[[nodiscard]] bool may_reach(const ucs::net::socket_address& to) noexcept;

}  // namespace uct::rdmacm
