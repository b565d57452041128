// What a worker has of listeners and of connections that are being made by socket address.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "ucp/cm/carrier.hpp"
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

// Something that has to be looked at by progress, because programs may be called back there and
// not where a descriptor was found readable.
class task {
public:
    virtual ~task() = default;
    // May end any task, itself included.
    virtual void run() = 0;
    ucs::datastruct::auto_unlink_hook task_hook;
};

// Requests that the program has and did not answer yet. Any thread, because it may answer on
// another worker; shared by the worker that listens and the requests.
class unanswered {
public:
    void add(conn_request& fresh);
    void remove(conn_request& answered);
    // Refuses and destroys all, at the end of their manager.
    void clear(manager& of);

private:
    std::mutex guard_;
    conn_request* first_ = nullptr;
};

// A client that the program has accepted and that has not answered yet.
class accepted_client : public ucs::net::admission::candidate {
public:
    // There are too many such clients, and this one has to end. It was removed.
    virtual void on_displaced() noexcept = 0;

protected:
    accepted_client() noexcept = default;
    ~accepted_client() = default;
};

// Owned by its worker, made with the first use. Owner context.
class manager {
public:
    explicit manager(worker& owner);
    ~manager();
    manager(const manager&) = delete;
    manager& operator=(const manager&) = delete;

    void note(task& todo) noexcept;
    [[nodiscard]] bool has_work() const noexcept { return !tasks_.empty(); }
    // From progress: does what was noted; returns how many.
    unsigned dispatch() noexcept;

    // Closes a channel as soon as nothing is lost by that, or it has taken too long.
    void see_off(std::unique_ptr<channel> done) noexcept;

    // Counts a client that was accepted, until remove_accepted() or until it is destroyed. Without
    // a job key, which keeps strangers out, their number is bounded: others may be displaced.
    // UCS_ERR_NO_MEMORY: it was not counted.
    [[nodiscard]] ucs_status_t add_accepted(accepted_client& fresh,
                                            const uct::tcp::socket_address& from) noexcept;
    void remove_accepted(accepted_client& done) noexcept;

    void add(std::unique_ptr<listener> fresh);
    void remove(const listener& done);
    // A folder for each.
    void describe_listeners(ucs::vfs::directory& into) const;

    // Which ways of meeting there are, the first to be tried first. Where there is none, the log
    // says so for that function of the C interface.
    [[nodiscard]] std::vector<carrier> carriers(const char* function) const;
    [[nodiscard]] worker& owner() const noexcept { return owner_; }
    [[nodiscard]] const std::shared_ptr<unanswered>& requests() const noexcept { return requests_; }
    // The key that clients and listeners have to prove; null: there is no job key.
    [[nodiscard]] const ucs::security::key* job_key() const noexcept;
    // How long a client may take to say who it is, and connecting to a listener.
    [[nodiscard]] ucs::time::nanoseconds patience() const noexcept;
    // How long a client may take to answer after it was accepted.
    [[nodiscard]] ucs::time::nanoseconds time_to_answer() const noexcept;

private:
    worker& owner_;
    ucs::datastruct::auto_list<task, &task::task_hook> tasks_;
    std::shared_ptr<unanswered> requests_;
    std::vector<std::unique_ptr<listener>> listeners_;
    ucs::net::admission accepted_;
    bool has_reported_accepted_ = false;
    struct leaving;
    std::list<leaving> leaving_;
};

}  // namespace ucp::cm
