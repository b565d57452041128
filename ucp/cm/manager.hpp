// Connection manager of a worker: its listeners and the connections by socket address that are
// being made.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "ucp/core/slots.hpp"
#include "ucp/core/sockaddr_transports.hpp"
#include "ucs/datastruct/intrusive.hpp"
#include "ucs/net/admission.hpp"
#include "ucs/time/clock.hpp"
#include "ucs/vfs/directory.hpp"
#include "uct/tcp/ip_address.hpp"

namespace ucp {
class worker;
}
namespace ucs::security {
class key;
}

namespace ucp::cm {

class channel;
class conn_request;
class listener;
class manager;

// A background task for progress: the program may be called back there, and not where a descriptor
// was found readable.
class task {
public:
    virtual ~task() = default;
    // Runs the task. May destroy any task, including itself.
    virtual void run() = 0;
    ucs::datastruct::auto_unlink_hook task_hook;
};

// Connection requests that the program has not answered yet. Any thread, because the program may
// answer on another worker; shared by the worker that listens and the requests.
class pending_requests {
public:
    void add(conn_request& fresh);
    void remove(conn_request& answered);
    // Refuses and destroys all requests, at the end of their manager.
    void clear(manager& parent);

private:
    std::mutex guard_;
    conn_request* first_ = nullptr;
};

// A client that the program has accepted and that has not answered yet.
class accepted_client : public ucs::net::admission::candidate {
public:
    // There are too many such clients, and this one must end. It was removed from the list.
    virtual void on_displaced() noexcept = 0;

protected:
    accepted_client() noexcept = default;
    ~accepted_client() = default;
};

// Owned by its worker, see `connections`. Owner context.
class manager {
public:
    explicit manager(worker& owner);
    ~manager();
    manager(const manager&) = delete;
    manager& operator=(const manager&) = delete;

    void note(task& todo) noexcept;
    [[nodiscard]] bool has_work() const noexcept { return !tasks_.empty(); }
    // Called from progress: runs the noted tasks and returns their number.
    unsigned dispatch() noexcept;

    // Drains and closes a channel: closes it when its last frames have arrived, or after a timeout.
    void drain(std::unique_ptr<channel> done) noexcept;

    // Counts an accepted client until remove_accepted() or until it is destroyed. Their number is
    // bounded unless a job key keeps strangers out: other clients may be displaced.
    // UCS_ERR_NO_MEMORY: the client was not counted.
    [[nodiscard]] ucs_status_t add_accepted(accepted_client& fresh,
                                            const uct::tcp::socket_address& from) noexcept;
    void remove_accepted(accepted_client& done) noexcept;

    void add(std::unique_ptr<listener> fresh);
    void remove(const listener& done);
    // Lists a folder for each listener in the object tree.
    void describe_listeners(ucs::vfs::directory& into) const;

    // Returns the usable transports of the connection manager in the order in which they are tried.
    // If there is none, logs that for `function` of the C interface.
    [[nodiscard]] std::vector<transport> transports(const char* function) const;
    [[nodiscard]] worker& owner() const noexcept { return owner_; }
    [[nodiscard]] const std::shared_ptr<pending_requests>& requests() const noexcept {
        return requests_;
    }
    // The key that clients and listeners must prove; nullptr: there is no job key.
    [[nodiscard]] const ucs::security::key* job_key() const noexcept;
    // Time limit for connecting to a listener, and for the client's request after that.
    [[nodiscard]] ucs::time::nanoseconds connect_timeout() const noexcept;
    // Time limit for a client's answer after it was accepted.
    [[nodiscard]] ucs::time::nanoseconds time_to_answer() const noexcept;

    // Numbers endpoints by socket address, see peer_endpoints::first_socket_number.
    [[nodiscard]] std::uint64_t next_number() noexcept;

private:
    worker& owner_;
    std::uint64_t numbers_ = 0;
    ucs::datastruct::auto_list<task, &task::task_hook> tasks_;
    std::shared_ptr<pending_requests> requests_;
    std::vector<std::unique_ptr<listener>> listeners_;
    ucs::net::admission accepted_;
    bool has_reported_accepted_ = false;
    struct draining_channel;
    std::list<draining_channel> draining_;
};

// Slot of a worker.
struct connections {
    explicit connections(worker&) noexcept {}

    std::unique_ptr<cm::manager> manager;  // made with the first use
};

// Returns the worker's manager, and makes it with the first use.
[[nodiscard]] manager& manager_of(worker& owner);

}  // namespace ucp::cm
