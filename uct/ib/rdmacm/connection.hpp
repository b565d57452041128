// A connection by socket address between two RDMA devices.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "ucs/net/ip_address.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/ib/base/handle.hpp"
#include "uct/ib/rdmacm/library.hpp"

namespace uct::rdmacm {

struct events_closer {
    const library* use = nullptr;
    void operator()(rdma_event_channel* channel) const noexcept {
        use->destroy_event_channel(channel);
    }
};
using events_handle = std::unique_ptr<rdma_event_channel, events_closer>;

// Its descriptor does not block. Empty: errno says why there is none.
[[nodiscard]] events_handle open_event_channel(const library& with) noexcept;

struct id_closer {
    const library* use = nullptr;
    void operator()(rdma_cm_id* id) const noexcept { use->destroy_id(id); }
};
using id_handle = std::unique_ptr<rdma_cm_id, id_closer>;

// What its two sides say to each other before they have a better way, in few short messages. The
// connection manager of the kernel finds the device that an address belongs to and exchanges what
// two queue pairs need to know of each other; then this side's queue pair carries the messages.
// Like a non-blocking socket: it has one descriptor, and is moved on by looking at it. Owner
// context, which may change: it shares nothing.
class connection {
public:
    struct attempt {
        std::unique_ptr<connection> made;
        int error = 0;  // why not
    };
    // To a socket address, from another one unless that is empty. Messages have `longest` bytes at
    // most. ENODEV: there is no librdmacm, or no RDMA device. May throw std::bad_alloc.
    static attempt connect(const ucs::net::socket_address& to, const ucs::net::socket_address& from,
                           std::size_t longest);
    // One that has its descriptors, for the next who asks; and its acceptance of who does. The
    // latter returns 0 or an errno; then who asked is refused.
    static attempt prepare(const library& with, std::size_t longest);
    int accept(rdma_cm_id* who);

    // Ends it; what was sent and has not arrived may be lost.
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // Readable when progress() would find something.
    [[nodiscard]] int fd() const noexcept { return watched_.get(); }
    // 0: it stands. EINPROGRESS: it is being made. Else why it cannot be, or has ended; what was
    // received before can still be read.
    int progress() noexcept;

    // False: it does not stand, or two messages are on their way already.
    [[nodiscard]] bool send(std::span<const std::byte> message) noexcept;
    // Asks the other side's device whether it is there; progress() finds that it is not.
    void check() noexcept;
    // The other side's device does not have all of it yet.
    [[nodiscard]] bool is_sending() const noexcept {
        return free_sends_ < most_sends && error_ == 0;
    }
    // The next bytes of messages, which need not be read as they were sent. 0: there are none now.
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
    int ask() noexcept;
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
    ucs::unique_fd spare_;    // kept for completions_
    events_handle events_;
    id_handle id_;
    ib::channel_handle completions_;
    ib::queue_handle queue_;
    // Places of messages: received ones first, then those that are sent.
    std::vector<std::byte> memory_;
    ib::region_handle region_;
    bool stands_ = false;
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

// Sockets of this family and address may belong to an RDMA device.
[[nodiscard]] bool may_reach(const ucs::net::socket_address& to) noexcept;

}  // namespace uct::rdmacm
