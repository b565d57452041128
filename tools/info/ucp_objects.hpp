// A context and a worker of the library, according to the command line.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <memory>

#include "tools/info/options.hpp"
#include "ucs/type/unique_fd.hpp"

namespace tools::info {

// Returns the output of ucp_config_print(). Throws failure if there is no memory.
[[nodiscard]] std::string printed_config(const ucp_config_t* config, const char* title,
                                         unsigned flags);

// Returns the value of one option ("UCX_TLS"); empty if the library does not print it.
[[nodiscard]] std::string printed_value(const ucp_config_t* config, std::string_view name);

// The cost of creating an object.
struct cost {
    double milliseconds = 0;
    double megabytes = 0;
    int descriptors = 0;
};

// Releases objects of the library with their scope.
struct release {
    void operator()(ucp_config_t* config) const noexcept { ucp_config_release(config); }
    void operator()(ucp_context_h context) const noexcept { ucp_cleanup(context); }
    void operator()(ucp_worker_h worker) const noexcept { ucp_worker_destroy(worker); }
};

// Creates both in its constructor. One thread. Throws failure.
class ucp_objects {
public:
    explicit ucp_objects(const options& opts);

    [[nodiscard]] ucp_context_h context() const noexcept { return context_.get(); }
    [[nodiscard]] ucp_worker_h worker() const noexcept { return worker_.get(); }
    [[nodiscard]] const cost& context_cost() const noexcept { return context_cost_; }
    [[nodiscard]] const cost& worker_cost() const noexcept { return worker_cost_; }
    [[nodiscard]] std::vector<std::byte> address() const;

    // Describes the restriction of transports by the command line; empty if there is none.
    [[nodiscard]] const std::string& transport_restriction() const noexcept { return restriction_; }

private:
    void create_context(const options& opts);
    void create_worker();

    std::unique_ptr<ucp_context, release> context_;
    std::unique_ptr<ucp_worker, release> worker_;
    std::string restriction_;
    cost context_cost_;
    cost worker_cost_;
};

// A child that creates a context and a worker according to the options, sends its address, and
// progresses until it is released. Forked before this process creates objects of the library. Main
// thread.
class peer_process {
public:
    explicit peer_process(const options& opts);
    ~peer_process();
    peer_process(const peer_process&) = delete;
    peer_process& operator=(const peer_process&) = delete;

    // Waits for the child's worker and returns its address. Throws failure if it has none.
    [[nodiscard]] std::vector<std::byte> address() const;

private:
    ucs::unique_fd channel_;
    pid_t child_ = -1;
};

}  // namespace tools::info
