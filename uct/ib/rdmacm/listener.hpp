// Listener for connections by socket address between RDMA devices.
#pragma once

#include <memory>

#include "ucs/log/throttle.hpp"
#include "uct/ib/rdmacm/connection.hpp"

namespace uct::rdmacm {

// A request of a peer for a connection that is not answered yet. It costs an id of the kernel, but
// no queue pair and no descriptor. It is refused when it is destroyed, which must be before its
// listener is.
class request {
public:
    request(const library& with, id_handle id) noexcept : use_(with), id_(std::move(id)) {}
    ~request();
    request(const request&) = delete;
    request& operator=(const request&) = delete;

    [[nodiscard]] ucs::net::socket_address remote() const noexcept;

private:
    friend class listener;

    const library& use_;
    id_handle id_;
};

// Listens at an address of RDMA devices, or at all of them. Owner context.
class listener {
public:
    struct attempt {
        std::unique_ptr<listener> made;
        int error =
            0;  // the reason; ENODEV: no RDMA device has the address, or there is no librdmacm
    };
    // Messages have at most `longest` bytes. May throw std::bad_alloc.
    static attempt open(const ucs::net::socket_address& address, std::size_t longest);

    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;

    // Readable when there may be a request.
    [[nodiscard]] int fd() const noexcept { return events_->fd; }
    struct arrival {
        std::unique_ptr<request> made;
        int error = 0;  // the reason why there is none
    };
    // Takes the next request. Returns nullptr if there is none (EAGAIN), or if descriptors are
    // short, so that requests have to wait. May throw std::bad_alloc.
    [[nodiscard]] arrival next();
    // Accepts a request. Returns nullptr if it cannot be served; then it is refused. May throw
    // std::bad_alloc.
    [[nodiscard]] connection::attempt accept(std::unique_ptr<request> from);

    [[nodiscard]] ucs::net::socket_address address() const noexcept;

private:
    int prepare();
    listener(const library& with, events_handle events, id_handle id, std::size_t longest) noexcept
        : use_(with), longest_(longest), events_(std::move(events)), id_(std::move(id)) {}

    const library& use_;
    const std::size_t longest_;
    events_handle events_;
    id_handle id_;
    std::unique_ptr<connection> next_;  // for the next request that is accepted
    ucs::log::throttle not_served_;
};

}  // namespace uct::rdmacm
