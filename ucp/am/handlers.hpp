// Table of the functions that handle active messages.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "ucp/api/ucp.h"

namespace ucp {

// A program's handler, in one of the two forms of ucp.h.
struct am_handler {
    ucp_am_recv_callback_t call = nullptr;   // ucp_worker_set_am_recv_handler
    ucp_am_callback_t call_older = nullptr;  // ucp_worker_set_am_handler: no header, no rendezvous
    void* arg = nullptr;
    bool persistent = false;  // UCP_AM_FLAG_PERSISTENT_DATA
    bool whole = false;       // UCP_AM_FLAG_WHOLE_MSG; also set for every `call_older`

    [[nodiscard]] bool is_set() const noexcept { return call != nullptr || call_older != nullptr; }
};

// Handlers by their 16-bit id, in pages that are allocated when a handler is set. Owner context.
class am_handler_table {
public:
    // May throw std::bad_alloc.
    void set(std::uint16_t id, const am_handler& handler) {
        std::unique_ptr<page>& entries = pages_[id / page_size];
        if (entries == nullptr) {
            if (!handler.is_set()) return;
            entries = std::make_unique<page>();
        }
        (*entries)[id % page_size] = handler;
    }

    // Returns an unset handler if there is none for this id.
    [[nodiscard]] am_handler find(std::uint16_t id) const noexcept {
        const std::unique_ptr<page>& entries = pages_[id / page_size];
        return entries == nullptr ? am_handler{} : (*entries)[id % page_size];
    }

    // Calls `visit(id, handler)` for each handler that is set, in order of ids.
    template<class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t i = 0; i < pages_.size(); ++i) {
            if (pages_[i] == nullptr) continue;
            for (std::size_t k = 0; k < page_size; ++k) {
                const am_handler& each = (*pages_[i])[k];
                if (each.is_set()) visit(static_cast<std::uint16_t>(i * page_size + k), each);
            }
        }
    }

private:
    static constexpr std::size_t page_size = 256;
    using page = std::array<am_handler, page_size>;
    std::array<std::unique_ptr<page>, 65536 / page_size> pages_;
};

}  // namespace ucp
