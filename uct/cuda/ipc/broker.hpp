// Passes descriptors of this process's device memory to peers.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "ucs/async/thread.hpp"
#include "ucs/cuda/handle.hpp"
#include "ucs/log/throttle.hpp"
#include "ucs/type/result.hpp"
#include "ucs/type/unique_fd.hpp"
#include "uct/cuda/ipc/broker_wire.hpp"

namespace ucs::net {
class acceptor;
}

namespace uct::cuda {

// One allocation of exported memory.
struct exported_part {
    ucs::cuda::allocation_handle handle;
    std::size_t length = 0;
};

// Serves a socket in a thread of its own, because a peer may ask at any time, and this process may
// not call progress. Processes of other users, which may connect, too, are refused at once; those
// of the same user that keep silent are closed in favour of others, and after a while. Exists from
// the first export of the process until its last user lets it go. Any thread.
class broker : public std::enable_shared_from_this<broker> {
public:
    // Returns the only one of this process, which is started if there is none. Failures are logged.
    [[nodiscard]] static ucs::result<std::shared_ptr<broker>> get(
        const ucs::cuda::driver_functions& driver);

    // Returns the one of this process, nullptr if none is running.
    [[nodiscard]] static std::shared_ptr<broker> running() noexcept;

    ~broker();
    broker(const broker&) = delete;
    broker& operator=(const broker&) = delete;

    // An export. Peers that know the name get the descriptors while the keeper exists.
    struct entry {
        export_name name;
        std::shared_ptr<const void> keeper;
    };
    // Exports the same allocations under the same name while they are exported already, so that
    // peers find what they have mapped. May throw std::bad_alloc.
    [[nodiscard]] entry add(std::vector<exported_part> parts);

    // Returns whether memory is exported under this name.
    [[nodiscard]] bool holds(const export_name& name) const;
    [[nodiscard]] std::size_t exports() const;

private:
    struct record;
    class connection;
    friend class connection;

    explicit broker(const ucs::cuda::driver_functions& driver) noexcept;
    ucs_status_t start();
    void remove(const record& ended) noexcept;
    // Answers a request: the reply, and the descriptor if it is granted.
    [[nodiscard]] broker_reply answer(const broker_request& request, ucs::unique_fd& passed);

    const ucs::cuda::driver_functions& driver_;
    const pid_t process_ = ::getpid();
    std::uint64_t socket_id_ = 0;
    ucs::unique_fd listener_;
    ucs::async::thread thread_;
    std::unique_ptr<ucs::net::acceptor> acceptor_;  // used by the thread
    ucs::log::throttle rejected_;                   // used by the thread
    mutable std::mutex lock_;                       // guards what follows
    std::uint64_t last_number_ = 0;
    std::unordered_map<std::uint64_t, record*> records_;
};

}  // namespace uct::cuda
