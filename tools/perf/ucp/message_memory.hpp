// Memory of the messages of one direction, with the layout of -D, -s and -i.
#pragma once

#include <ucp/api/ucp.h>

#include "tools/perf/core/pattern.hpp"
#include "tools/perf/core/test_params.hpp"

namespace tools::perf {

// `slots` buffers of one message each, every byte touched. Owned by a channel, one thread.
class message_memory {
public:
    // Throws failure if there is not enough memory. With -z the memory is registered with the
    // context.
    message_memory(const test_params& params, layout form, std::size_t slots,
                   ucp_context_h context);
    ~message_memory();
    message_memory(const message_memory&) = delete;
    message_memory& operator=(const message_memory&) = delete;

    // Arguments for the library's functions.
    [[nodiscard]] void* buffer(std::size_t slot) noexcept {
        return iov_ ? static_cast<void*>(pieces(slot).data()) : pieces(slot).front().buffer;
    }
    [[nodiscard]] std::size_t count() const noexcept {
        return iov_ ? pieces_per_slot_ : message_size_;
    }
    [[nodiscard]] ucp_datatype_t datatype() const noexcept {
        return iov_ ? static_cast<ucp_datatype_t>(UCP_DATATYPE_IOV) : ucp_dt_make_contig(1);
    }

    // Sets the datatype and, with -z, the memory handle in the parameters of an operation on this
    // memory.
    void describe(ucp_request_param_t& param) const noexcept;

    // Copies at most a message into the buffer.
    void copy_in(std::size_t slot, std::span<const std::byte> message) noexcept;

    void fill(std::size_t slot, const pattern& content) noexcept;
    [[nodiscard]] std::optional<std::size_t> find_difference(std::size_t slot,
                                                             const pattern& content) noexcept;

private:
    [[nodiscard]] std::span<ucp_dt_iov_t> pieces(std::size_t slot) noexcept {
        return std::span(pieces_).subspan(slot * pieces_per_slot_, pieces_per_slot_);
    }
    void register_memory(ucp_context_h context);
    void add_slot(std::byte* base, const test_params& params);

    const bool iov_;
    const std::size_t message_size_;
    const std::size_t pieces_per_slot_;
    std::size_t mapped_ = 0;
    void* memory_ = nullptr;
    ucp_context_h context_ = nullptr;
    ucp_mem_h handle_ = nullptr;  // with -z
    std::vector<ucp_dt_iov_t> pieces_;
};

}  // namespace tools::perf
