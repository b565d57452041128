// Memory of both sides of a test that the respective peer accesses.
#pragma once

#include "tools/perf/core/workload.hpp"
#include "tools/perf/ucp/progress_loop.hpp"

namespace tools::perf {

// Each side allocates memory, and both exchange address and key by tagged messages. Tagged messages
// also signal that a side is done. Owned by a workload, one thread. Throws failure for errors of
// the library.
class remote_window {
public:
    // Allocates `length` bytes for access by the peer, and as many as the local buffer of
    // operations.
    remote_window(const connection& conn, std::size_t length);
    ~remote_window();
    remote_window(const remote_window&) = delete;
    remote_window& operator=(const remote_window&) = delete;

    [[nodiscard]] std::byte* local() const noexcept { return base_ + part_; }
    [[nodiscard]] volatile std::byte* incoming() const noexcept { return base_; }
    [[nodiscard]] std::uint64_t remote() const noexcept { return remote_; }
    [[nodiscard]] ucp_rkey_h key() const noexcept { return key_; }
    [[nodiscard]] ucp_ep_h ep() const noexcept { return conn_.ep; }
    // Parameters of operations on local(); with -z they contain its memory handle.
    [[nodiscard]] const ucp_request_param_t& local_param() const noexcept { return local_param_; }
    [[nodiscard]] std::size_t length() const noexcept { return length_; }
    [[nodiscard]] progress_loop& loop() noexcept { return loop_; }

    // Returns when all started operations are complete at the peer.
    void flush();
    // Waits for the request that a call of the library returned.
    void finish(const char* call, ucs_status_ptr_t started);

    // Send an empty message to the peer, and wait for one from it.
    void send_done();
    void wait_done();

private:
    struct greeting;
    void allocate();
    void exchange();

    const connection conn_;
    const std::size_t length_;
    const std::size_t part_;  // padded, so that the two directions share no cache line
    progress_loop loop_;
    ucp_context_h context_;
    ucp_mem_h memory_ = nullptr;
    std::byte* base_ = nullptr;
    std::uint64_t remote_ = 0;
    ucp_rkey_h key_ = nullptr;
    ucp_request_param_t local_param_{};
};

}  // namespace tools::perf
