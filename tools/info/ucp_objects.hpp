// A context and a worker of the library, according to the command line.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>

#include "tools/info/options.hpp"

namespace tools::info {

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

}  // namespace tools::info
