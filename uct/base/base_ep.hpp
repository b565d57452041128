// Base of the endpoints of all transports: the queue of pending sends.
#pragma once

#include "ucs/datastruct/intrusive.hpp"
#include "uct/api/ep.hpp"

namespace uct {

class base_iface;

// Holds the queue of sends that wait for resources, and whether the endpoint's failure was
// reported. Transports check must_queue before accepting an active message; the interface's
// dispatch_waiting, called from progress, retries queued requests. Owner context.
class base_ep : public ep {
public:
    explicit base_ep(base_iface& owner) noexcept : iface_(owner) {}
    ~base_ep() override;

    void pending_add(pending_request& request) override;
    void pending_remove(pending_request& request) override;
    void pending_purge(void (*purge)(pending_request&, void*), void* arg) override;
    [[nodiscard]] traffic sent() const noexcept final { return {operations_, bytes_, queued_}; }
    void describe(ucs::vfs::directory& into) const override;

    // Hook for the interface's list of endpoints with queued requests.
    ucs::datastruct::list_hook waiting_hook;
    // Hook for the interface's list of failures that must be reported.
    ucs::datastruct::list_hook failure_hook;

protected:
    [[nodiscard]] bool must_queue() const noexcept { return queued_ > 0 && !dispatching_; }

    // Counts an accepted operation. Two additions to plain integers, which only the owner reads.
    void count(std::size_t bytes) noexcept {
        ++operations_;
        bytes_ += bytes;
    }

    // Runs queued requests until one finds no resource. Returns how many were sent. A request's
    // progress may not destroy the endpoint.
    unsigned dispatch_pending();

    base_iface& iface_;

private:
    friend class base_iface;
    using queue = ucs::datastruct::list<pending_request, &pending_request::pending_hook>;
    queue pending_;
    std::size_t queued_ = 0;  // in pending_
    std::uint64_t operations_ = 0;
    std::uint64_t bytes_ = 0;
    bool dispatching_ = false;
    ucs_status_t failure_noted_ = UCS_OK;
};

}  // namespace uct
