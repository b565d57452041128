// Memory that both sides of a test reach at each other.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>

#include "tools/perf/core/workload.hpp"
#include "tools/perf/ucp/progress_loop.hpp"

namespace tools::perf {

// Each side allocates memory, and the two tell each other where it is and by which key it is
// reached; tagged messages carry that, and the word that a side is done. Owned by a workload, one
// thread. Throws failure for errors of the library.
class remote_window {
public:
    // `length` bytes that the peer writes and reads, and as many to write from and read into.
    remote_window(const connection& on, std::size_t length);
    ~remote_window();
    remote_window(const remote_window&) = delete;
    remote_window& operator=(const remote_window&) = delete;

    [[nodiscard]] std::byte* local() const noexcept { return base_ + part_; }
    [[nodiscard]] volatile std::byte* incoming() const noexcept { return base_; }
    [[nodiscard]] std::uint64_t remote() const noexcept { return remote_; }
    [[nodiscard]] ucp_rkey_h key() const noexcept { return key_; }
    [[nodiscard]] ucp_ep_h ep() const noexcept { return on_.ep; }
    // For operations on local(): with -z they are told its registration.
    [[nodiscard]] const ucp_request_param_t& local_param() const noexcept { return local_param_; }
    [[nodiscard]] std::size_t length() const noexcept { return length_; }
    [[nodiscard]] progress_loop& loop() noexcept { return loop_; }

    // Ends when everything that was started is done at the peer.
    void flush();
    // The end of what a call of the library returned.
    void finish(const char* call, ucs_status_ptr_t started);

    // An empty message to the other side, and the wait for one.
    void tell();
    void await();

private:
    struct greeting;
    void allocate();
    void exchange();

    const connection on_;
    const std::size_t length_;
    const std::size_t part_;  // no cache line serves both directions
    progress_loop loop_;
    ucp_context_h context_;
    ucp_mem_h memory_ = nullptr;
    std::byte* base_ = nullptr;
    std::uint64_t remote_ = 0;
    ucp_rkey_h key_ = nullptr;
    ucp_request_param_t local_param_{};
};

}  // namespace tools::perf
