// A context and a worker of the library, according to the command line.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>

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

// Creates both in its constructor, destroys both in its destructor. One thread. Throws failure.
class ucp_objects {
public:
    explicit ucp_objects(const options& opts);
    ~ucp_objects();
    ucp_objects(const ucp_objects&) = delete;
    ucp_objects& operator=(const ucp_objects&) = delete;

    [[nodiscard]] ucp_context_h context() const noexcept { return context_; }
    [[nodiscard]] ucp_worker_h worker() const noexcept { return worker_; }
    [[nodiscard]] const cost& context_cost() const noexcept { return context_cost_; }
    [[nodiscard]] const cost& worker_cost() const noexcept { return worker_cost_; }
    [[nodiscard]] std::vector<std::byte> address() const;

    // Describes the restriction of transports by the command line; empty if there is none.
    [[nodiscard]] const std::string& transport_restriction() const noexcept { return restriction_; }

private:
    void create_context(const options& opts);
    void create_worker();

    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
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
