// Pool of the requests of one worker.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_set>
#include <vector>

#include "ucp/core/request.hpp"
#include "ucs/log/throttle.hpp"

namespace ucp {

// Recycles requests together with the user's area behind them. The user's init callback runs once
// per object, when memory for it is made, and cleanup once, when the pool goes: what users keep in
// their area survives reuse. Owned by the worker. Owner context.
class request_pool {
public:
    struct user_area {
        std::size_t size = 0;
        ucp_request_init_callback_t init = nullptr;
        ucp_request_cleanup_callback_t cleanup = nullptr;
    };

    explicit request_pool(const user_area& user) noexcept;
    ~request_pool();
    request_pool(const request_pool&) = delete;
    request_pool& operator=(const request_pool&) = delete;

    // nullptr when there is no memory, which is logged here. The header is unset.
    [[nodiscard]] request* get() noexcept {
        if (free_ == nullptr && !grow()) return nullptr;
        request* taken = free_;
        free_ = next_of(*taken);
        ++in_use_;
        return taken;
    }

    void put(request& given) noexcept {
        next_of(given) = free_;
        free_ = &given;
        --in_use_;
    }

    // Takes a request that the program will pass to operations as its own memory. nullptr: there is
    // no memory.
    [[nodiscard]] request* take_for_program() noexcept;
    // Returns whether the request came from take_for_program(), and forgets that.
    [[nodiscard]] bool return_from_program(request& returned) noexcept {
        return program_requests_.erase(&returned) != 0;
    }

    // Bytes per request.
    [[nodiscard]] std::size_t cost() const noexcept { return stride_; }
    // Requests taken and not given back.
    [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }

private:
    // A free request stores the next one in the member that holds the callback's argument of a used
    // one.
    static request*& next_of(request& free) noexcept {
        return reinterpret_cast<request*&>(free.user_data);
    }
    bool grow() noexcept;

    static constexpr std::size_t chunk_bytes = 32 * 1024;
    const user_area user_;
    const std::size_t stride_;
    const std::size_t per_chunk_;
    request* free_ = nullptr;
    std::size_t in_use_ = 0;
    ucs::log::throttle shortages_;  // some requests serve messages of peers
    std::unordered_set<request*> program_requests_;
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
};

}  // namespace ucp
