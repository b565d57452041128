// Where others ask for connections by socket address between RDMA devices.
#pragma once

#include <memory>

#include "ucs/log/throttle.hpp"
#include "uct/ib/rdmacm/connection.hpp"

namespace uct::rdmacm {

// A peer that asks for a connection and was not answered. It costs an id of the kernel, no queue
// pair and no descriptor. Refused when it is destroyed, which must be before its door is.
class request {
public:
    request(const library& with, id_handle id) noexcept : use_(with), id_(std::move(id)) {}
    ~request();
    request(const request&) = delete;
    request& operator=(const request&) = delete;

    [[nodiscard]] ucs::net::socket_address remote() const noexcept;

private:
    friend class door;

    const library& use_;
    id_handle id_;
};

// Listens at an address of RDMA devices, or at all of them. Owner context.
class door {
public:
    struct attempt {
        std::unique_ptr<door> made;
        int error = 0;  // why not; ENODEV: no RDMA device has the address, or there is no librdmacm
    };
    // Messages have `longest` bytes at most. May throw std::bad_alloc.
    static attempt open(const ucs::net::socket_address& at, std::size_t longest);

    door(const door&) = delete;
    door& operator=(const door&) = delete;

    // Readable when somebody may be there.
    [[nodiscard]] int fd() const noexcept { return events_->fd; }
    struct arrival {
        std::unique_ptr<request> made;
        int error = 0;  // why there is none
    };
    // Takes the next request. nullptr: none is there (EAGAIN), or the peers that ask have to wait,
    // for want of descriptors. May throw std::bad_alloc.
    [[nodiscard]] arrival next();
    // Answers a request. nullptr: it cannot be served, and is refused. May throw std::bad_alloc.
    [[nodiscard]] connection::attempt accept(std::unique_ptr<request> from);

    [[nodiscard]] ucs::net::socket_address address() const noexcept;

private:
    int prepare();
    door(const library& with, events_handle events, id_handle id, std::size_t longest) noexcept
        : use_(with), longest_(longest), events_(std::move(events)), id_(std::move(id)) {}

    const library& use_;
    const std::size_t longest_;
    events_handle events_;
    id_handle id_;
    std::unique_ptr<connection> next_;  // for the next request that is accepted
    ucs::log::throttle not_served_;
};

}  // namespace uct::rdmacm
