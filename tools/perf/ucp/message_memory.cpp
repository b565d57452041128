#include "tools/perf/ucp/message_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/common/failure.hpp"

namespace tools::perf {
namespace {

constexpr std::size_t page = 4096;

std::size_t rounded_up(std::size_t size) noexcept {
    return (size / page + 1) * page;
}

}  // namespace

message_memory::message_memory(const test_params& params, layout form, std::size_t slots,
                               ucp_context_h context)
    : iov_(form == layout::iov),
      message_size_(params.message_size()),
      pieces_per_slot_(iov_ ? params.pieces.size() : 1) {
    const std::size_t per_slot = rounded_up(iov_ ? params.extent() : message_size_);
    mapped_ = memory_of_buffers(slots, per_slot, params.threads);
    memory_ = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) {
        throw failure(fmt::format("no memory for {} messages of {} bytes: {}", slots, message_size_,
                                  std::strerror(errno)));
    }
    std::memset(memory_, 0, mapped_);
    if (params.memory_handles) register_memory(context);
    pieces_.reserve(slots * pieces_per_slot_);
    for (std::size_t slot = 0; slot < slots; ++slot) {
        add_slot(static_cast<std::byte*>(memory_) + slot * per_slot, params);
    }
}

message_memory::~message_memory() {
    if (handle_ != nullptr) ucp_mem_unmap(context_, handle_);
    ::munmap(memory_, mapped_);
}

void message_memory::register_memory(ucp_context_h context) {
    ucp_mem_map_params_t map_params{};
    map_params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    map_params.address = memory_;
    map_params.length = mapped_;
    const ucs_status_t status = ucp_mem_map(context, &map_params, &handle_);
    if (status != UCS_OK) ::munmap(memory_, mapped_);
    require_ok(status, "ucp_mem_map");
    context_ = context;
}

void message_memory::describe(ucp_request_param_t& param) const noexcept {
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = datatype();
    if (handle_ == nullptr) return;
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMH;
    param.memh = handle_;
}

void message_memory::add_slot(std::byte* base, const test_params& params) {
    if (!iov_) {
        pieces_.push_back({base, message_size_});
        return;
    }
    std::size_t offset = 0;
    for (const std::size_t size : params.pieces) {
        pieces_.push_back({base + offset, size});
        offset += params.stride == 0 ? size : params.stride;
    }
}

void message_memory::copy_in(std::size_t slot, std::span<const std::byte> message) noexcept {
    for (const ucp_dt_iov_t& piece : pieces(slot)) {
        const std::size_t length = std::min(piece.length, message.size());
        if (length == 0) continue;
        std::memcpy(piece.buffer, message.data(), length);
        message = message.subspan(length);
    }
}

void message_memory::fill(std::size_t slot, const pattern& content) noexcept {
    std::size_t offset = 0;
    for (const ucp_dt_iov_t& piece : pieces(slot)) {
        content.fill({static_cast<std::byte*>(piece.buffer), piece.length}, offset);
        offset += piece.length;
    }
}

std::optional<std::size_t> message_memory::find_difference(std::size_t slot,
                                                           const pattern& content) noexcept {
    std::size_t offset = 0;
    for (const ucp_dt_iov_t& piece : pieces(slot)) {
        const auto mismatch = content.find_difference(
            {static_cast<const std::byte*>(piece.buffer), piece.length}, offset);
        if (mismatch) return mismatch;
        offset += piece.length;
    }
    return std::nullopt;
}

}  // namespace tools::perf
