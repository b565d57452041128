#include "ucp/core/request_pool.hpp"

#include <algorithm>

#include "ucp/log/log.hpp"
#include "ucs/type/allocated.hpp"

namespace ucp {

namespace {

// Alignment of every request: no two share a pair of cache lines, which the hardware fetches
// together.
constexpr std::size_t alignment = 128;

constexpr std::size_t round_up(std::size_t value) noexcept {
    return (value + alignment - 1) / alignment * alignment;
}

std::byte* aligned(std::byte* place) noexcept {
    return reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::uintptr_t>(place)));
}

}  // namespace

request_pool::request_pool(const user_area& user) noexcept
    : user_(user),
      stride_(round_up(sizeof(request) + user.size)),
      per_chunk_(std::max<std::size_t>(8, chunk_bytes / stride_)) {}

request_pool::~request_pool() {
    if (user_.cleanup == nullptr) return;
    for (const auto& chunk : chunks_) {
        std::byte* place = aligned(chunk.get());
        for (std::size_t i = 0; i < per_chunk_; ++i, place += stride_) {
            user_.cleanup(reinterpret_cast<request*>(place)->handle());
        }
    }
}

bool request_pool::grow() noexcept {
    const bool grown = ucs::allocated([this] {
        chunks_.push_back(
            std::make_unique_for_overwrite<std::byte[]>(per_chunk_ * stride_ + alignment));
    });
    if (!grown) {
        shortages_.error(core_log, "out of memory: no request for an operation");
        return false;
    }
    std::byte* place = aligned(chunks_.back().get());
    for (std::size_t i = 0; i < per_chunk_; ++i, place += stride_) {
        auto* fresh = ::new (place) request;
        if (user_.init != nullptr) user_.init(fresh->handle());
        next_of(*fresh) = free_;
        free_ = fresh;
    }
    return true;
}

request* request_pool::take_for_program() noexcept {
    request* fresh = get();
    if (fresh == nullptr) return nullptr;
    if (!ucs::allocated([&] { program_requests_.insert(fresh); })) {
        ucs::log::error(core_log, "out of memory: no request for the user");
        put(*fresh);
        return nullptr;
    }
    return fresh;
}

}  // namespace ucp
