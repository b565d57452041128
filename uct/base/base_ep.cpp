#include "uct/base/base_ep.hpp"

#include "uct/base/base_iface.hpp"

namespace uct {

base_ep::~base_ep() {
    if (waiting_hook.is_linked()) {
        // This is also correct while dispatch_all_waiting holds the endpoint in a list of its own:
        // intrusive lists without a counter unlink a node without accessing the list.
        iface_.waiting_.erase(iface_.waiting_.iterator_to(*this));
    }
    if (failure_hook.is_linked()) {
        iface_.failures_.erase(iface_.failures_.iterator_to(*this));
    }
}

void base_ep::pending_add(pending_request& request) {
    pending_.push_back(request);
    ++queued_;
    if (!waiting_hook.is_linked()) iface_.waiting_.push_back(*this);
    iface_.note_work();
}

void base_ep::pending_remove(pending_request& request) {
    pending_.erase(pending_.iterator_to(request));
    --queued_;
}

void base_ep::pending_purge(void (*purge)(pending_request&, void*), void* arg) {
    // A purge callback may queue new requests; only those that are queued now are purged.
    queue taken;
    taken.swap(pending_);
    queued_ = 0;
    while (!taken.empty()) {
        pending_request& request = taken.front();
        taken.pop_front();
        purge(request, arg);
    }
}

unsigned base_ep::dispatch_pending() {
    unsigned sent = 0;
    dispatching_ = true;
    while (!pending_.empty()) {
        pending_request& request = pending_.front();
        pending_.pop_front();
        --queued_;
        if (request.progress(request) == UCS_ERR_NO_RESOURCE) {
            pending_.push_front(request);
            ++queued_;
            break;
        }
        ++sent;
    }
    dispatching_ = false;
    return sent;
}

void base_ep::describe(ucs::vfs::directory& into) const {
    ep::describe(into);
    into.file("operations", [this] { return std::to_string(operations_); });
    into.file("bytes", [this] { return std::to_string(bytes_); });
    into.file("queued", [this] { return std::to_string(queued_); });
}

}  // namespace uct
