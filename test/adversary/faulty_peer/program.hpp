// Objects of ucp that both processes create.
#pragma once

#include "test/adversary/faulty_peer/pipe.hpp"
#include "ucp/api/ucp.h"

namespace adversary {

inline constexpr std::uint64_t features =
    UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_RMA | UCP_FEATURE_AMO64;
inline constexpr std::size_t shared_length = 4096;
inline constexpr unsigned am_id = 3;

// Ends the process with a line if `holds` is false. For calls that no peer can disturb.
void must(bool holds, const char* problem);

// With `features`.
ucp_context_h make_context();
ucp_worker_h make_worker(ucp_context_h context);
ucp_ep_h make_ep(ucp_worker_h worker, const std::vector<std::byte>& address,
                 ucp_err_handler_cb_t on_error, void* arg);
std::vector<std::byte> address_of(ucp_worker_h worker);

// Memory that the other process may write to, between guard bytes that it must not touch.
class shared_memory {
public:
    explicit shared_memory(ucp_context_h context);
    ~shared_memory();
    shared_memory(const shared_memory&) = delete;
    shared_memory& operator=(const shared_memory&) = delete;

    [[nodiscard]] std::vector<std::byte> packed_key() const;
    [[nodiscard]] std::uint64_t address() const noexcept;
    [[nodiscard]] bool margins_are_untouched() const;

private:
    static constexpr std::size_t margin = 4096;
    ucp_context_h context_;
    std::vector<std::byte> bytes_;
    ucp_mem_h handle_ = nullptr;
};

// Runs the faulty process, whose behaviour follows from `seed`. Returns its exit status.
int run_peer(std::uint64_t seed);

}  // namespace adversary
