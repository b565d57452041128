// A world with remote memory. The receiver has its own context, so that the transports decide on
// the access to its memory.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>

#include "test/integration/api/memory.hpp"

namespace api {

inline bool transports_are(const char* list) {
    const char* const set = std::getenv("UCX_TLS");
    return set != nullptr && std::strcmp(set, list) == 0;
}

// Returns true if the owner of the memory executes operations on memory of the program.
inline bool by_messages() {
    return transports_are("posix,self") || transports_are("tcp,self");
}

class remote_world : public workers {
public:
    explicit remote_world(const world_options& options = {})
        : context(make_context(options)),
          worker(make_worker(context, options)),
          owner(only_self() ? context : make_context(options)),
          target(only_self() ? worker : make_worker(owner, options)),
          ep(make_ep(worker, target)) {}
    ~remote_world() {
        if (ep != nullptr) finish(ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FLUSH));
        if (target != worker) ucp_worker_destroy(target);
        ucp_worker_destroy(worker);
        if (owner != context) ucp_cleanup(owner);
        ucp_cleanup(context);
    }
    remote_world(const remote_world&) = delete;
    remote_world& operator=(const remote_world&) = delete;

    unsigned progress() const override {
        unsigned events = ucp_worker_progress(worker);
        if (target != worker) events += ucp_worker_progress(target);
        return events;
    }
    ucs_status_t flush() const { return finish(ucp_ep_flush_nbx(ep, &none)); }
    ucs_status_t flush_worker() const { return finish(ucp_worker_flush_nbx(worker, &none)); }

    ucp_context_h context;
    ucp_worker_h worker;  // issues puts and gets
    ucp_context_h owner;
    ucp_worker_h target;  // owns the memory
    ucp_ep_h ep;
};

// Memory of the target and its key. The library allocates the memory if `allocated` is set.
class remote_memory {
public:
    remote_memory(const remote_world& in, std::size_t length, bool allocated, unsigned prot = 0)
        : in_(in),
          bytes_(allocated ? 0 : length),
          memory_(allocated ? std::make_unique<registered>(in.owner, length)
                            : std::make_unique<registered>(in.owner, bytes_.data(), length, prot)),
          packed_(in.owner, *memory_),
          key_(in.ep, packed_),
          base_(static_cast<std::byte*>(memory_->query().address)) {}

    [[nodiscard]] std::byte* base() const { return base_; }
    [[nodiscard]] std::uint64_t address(std::size_t offset = 0) const {
        return reinterpret_cast<std::uint64_t>(base_) + offset;
    }
    [[nodiscard]] ucp_rkey_h key() const { return key_; }
    [[nodiscard]] const packed_rkey& packed() const { return packed_; }
    // Waits for the end, and returns the status.
    ucs_status_t put(const void* data, std::size_t count, std::size_t offset = 0,
                     const params& options = none) const {
        return in_.finish(ucp_put_nbx(in_.ep, data, count, address(offset), key(), &options));
    }
    ucs_status_t get(void* into, std::size_t count, std::size_t offset = 0,
                     const params& options = none) const {
        return in_.finish(ucp_get_nbx(in_.ep, into, count, address(offset), key(), &options));
    }

private:
    const remote_world& in_;
    std::vector<std::byte> bytes_;
    std::unique_ptr<registered> memory_;
    packed_rkey packed_;
    unpacked_rkey key_;
    std::byte* base_;
};

}  // namespace api
