// Where others ask for connections by socket address between RDMA devices.
#pragma once

#include "ucs/log/throttle.hpp"
#include "uct/ib/rdmacm/connection.hpp"

namespace uct::rdmacm {

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
    // Takes the next one. nullptr: nobody is there (EAGAIN); one could not be served and is refused
    // (ECONNABORTED), others may be there; or who is there has to wait, for want of descriptors.
    // May throw std::bad_alloc.
    [[nodiscard]] connection::attempt accept();

    [[nodiscard]] ucs::net::socket_address address() const noexcept;

private:
    door(const library& with, events_handle events, id_handle id, std::size_t longest) noexcept
        : use_(with), longest_(longest), events_(std::move(events)), id_(std::move(id)) {}

    const library& use_;
    const std::size_t longest_;
    events_handle events_;
    id_handle id_;
    std::unique_ptr<connection> next_;  // for who asks next
    ucs::log::throttle not_served_;
};

}  // namespace uct::rdmacm
