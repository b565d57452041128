// Which function handles which active message.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "ucp/api/ucp.h"

namespace ucp {

// A program's handler, in one of the two forms of the interface.
struct am_handler {
    ucp_am_recv_callback_t call = nullptr;   // the newer form,
    ucp_am_callback_t call_older = nullptr;  // or the older one: knows no header, no announcement
    void* arg = nullptr;
    bool persistent = false;  // UCP_AM_FLAG_PERSISTENT_DATA
    bool whole = false;       // UCP_AM_FLAG_WHOLE_MSG, and every handler of the older form

    [[nodiscard]] bool is_set() const noexcept { return call != nullptr || call_older != nullptr; }
};

// Handlers by their 16-bit id: pages of those that are near each other, made when they are set.
// Owner context.
class am_handler_table {
public:
    // May throw std::bad_alloc.
    void set(std::uint16_t id, const am_handler& handler) {
        std::unique_ptr<page>& in = pages_[id / page_size];
        if (in == nullptr) {
            if (!handler.is_set()) return;
            in = std::make_unique<page>();
        }
        (*in)[id % page_size] = handler;
    }

    // A handler that is not set when there is none.
    [[nodiscard]] am_handler find(std::uint16_t id) const noexcept {
        const std::unique_ptr<page>& in = pages_[id / page_size];
        return in == nullptr ? am_handler{} : (*in)[id % page_size];
    }

    // Calls `visit` with the id of each handler that is set, and the handler, in their order.
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
