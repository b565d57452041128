#include "uct/ib/rdmacm/listener.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace uct::rdmacm {

listener::attempt listener::open(const ucs::net::socket_address& address, std::size_t longest) {
    std::string reason;
    const library* const with = load(reason);
    if (with == nullptr) {
        ucs::log::debug(ib_log, "no listener for RDMA devices: {}", reason);
        return {nullptr, ENODEV};
    }
    events_handle events = open_event_channel(*with);
    if (events == nullptr) return {nullptr, errno};
    rdma_cm_id* fresh = nullptr;
    if (with->create_id(events.get(), &fresh, nullptr, RDMA_PS_TCP) != 0) return {nullptr, errno};
    id_handle id(fresh, {with});
    // The library only reads the address.
    if (with->bind_addr(fresh, const_cast<sockaddr*>(address.data())) != 0 ||
        with->listen(fresh, SOMAXCONN) != 0) {
        return {nullptr, errno};
    }
    return {
        std::unique_ptr<listener>(new listener(*with, std::move(events), std::move(id), longest))};
}

request::~request() {
    if (id_ != nullptr) use_.reject(id_.get(), nullptr, 0);
}

ucs::net::socket_address request::remote() const noexcept {
    const sockaddr& peer = *rdma_get_peer_addr(id_.get());
    return {&peer, sizeof(sockaddr_storage)};
}

// Returns 0 or an errno.
int listener::prepare() {
    if (next_ != nullptr) return 0;
    connection::attempt ready = connection::prepare(use_, longest_);
    next_ = std::move(ready.made);
    return ready.error;
}

listener::arrival listener::next() {
    if (const int error = prepare(); error != 0) return {nullptr, error};
    rdma_cm_event* event = nullptr;
    while (use_.get_cm_event(events_.get(), &event) == 0) {
        const bool asks = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
        id_handle id(asks ? event->id : nullptr, {&use_});
        use_.ack_cm_event(event);
        if (asks) return {std::make_unique<request>(use_, std::move(id)), 0};
    }
    return {nullptr, errno};
}

connection::attempt listener::accept(std::unique_ptr<request> from) {
    int error = prepare();
    if (error == 0) {
        std::unique_ptr<connection> made = std::move(next_);
        error = made->accept(from->id_.release());
        if (error == 0) return {std::move(made)};
    }
    not_served_.warn(ib_log,
                     "{} over RDMA: a request for a connection is refused: {}; raise the limits "
                     "of locked memory or of the device's queue pairs if they are reached",
                     address().text(), std::strerror(error));
    return {nullptr, error};
}

ucs::net::socket_address listener::address() const noexcept {
    const sockaddr& own = *rdma_get_local_addr(id_.get());
    return {&own, sizeof(sockaddr_storage)};
}

}  // namespace uct::rdmacm
