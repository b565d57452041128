// Asynchronous events of a device: ports that go down, queue pairs that break.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "ucs/type/result.hpp"
#include "ucs/type/status.h"
#include "ucs/type/unique_fd.hpp"
#include "uct/ib/base/device/verbs_library.hpp"

namespace uct::ib {

// One event, in plain form.
struct device_event {
    ibv_event_type type;
    std::uint32_t qp_number = 0;  // for events of a queue pair
    const void* queue = nullptr;  // for events of a shared receive queue or a completion queue
    std::uint8_t port = 0;        // for events of a port
};

// Tells what an event is about. Pure.
enum class event_scope : std::uint8_t {
    device,
    port,
    pair,
    receive_queue,
    completion_queue,
    other
};
[[nodiscard]] event_scope scope_of(ibv_event_type type) noexcept;

// The action that an event requires of an interface, and the status of the failures that it causes.
// Pure.
struct event_meaning {
    enum class action : std::uint8_t {
        nothing,
        port_up,
        port_down,
        refill,      // receive buffers run short
        fail_pair,   // one queue pair is broken
        fail_all,    // nothing can be received any more
        abandon_all  // nothing can be received, and operations in progress do not end by themselves
    };
    action wanted = action::nothing;
    ucs_status_t status = UCS_OK;
    friend bool operator==(const event_meaning&, const event_meaning&) = default;
};
[[nodiscard]] event_meaning meaning_of(ibv_event_type type) noexcept;

// Queue of a device's events for one of its interfaces. Its descriptor is readable while it holds
// events. Filled by any thread, emptied by the owner.
class event_inbox {
public:
    static ucs::result<std::unique_ptr<event_inbox>> create();

    [[nodiscard]] int fd() const noexcept { return wakes_.get(); }
    [[nodiscard]] std::vector<device_event> take();
    void put(const device_event& event) noexcept;

private:
    explicit event_inbox(ucs::unique_fd wakes) noexcept : wakes_(std::move(wakes)) {}

    const ucs::unique_fd wakes_;
    std::mutex lock_;
    std::vector<device_event> events_;
};

// Distributes the events of one device to all of its interfaces. The first interface that finds the
// device's descriptor readable reads for all of them. Part of a domain; any thread.
class device_events {
public:
    explicit device_events(ibv_context& device) noexcept : device_(device) {}

    // Readable while the device has events; every interface watches it.
    [[nodiscard]] int fd() const noexcept { return device_.async_fd; }
    void add(event_inbox& reader);
    void remove(event_inbox& reader) noexcept;
    void distribute() noexcept;

private:
    ibv_context& device_;
    std::mutex lock_;
    std::vector<event_inbox*> readers_;
};

}  // namespace uct::ib
