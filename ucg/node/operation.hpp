// A collective of one rank on the node's engine, which can be started again and again.
#pragma once

#include <optional>
#include <string>

#include "ucg/node/claim.hpp"
#include "ucs/type/status.h"

namespace ucg::node {

class engine;

// Owned by whoever asked for the collective; not to be destroyed while it runs, unless its engine
// is gone. Owner context.
class operation {
public:
    // Told when the operation ended; may start it again or destroy it.
    using listener = void (*)(operation& ended, void* argument);

    explicit operation(engine& by) noexcept : engine_(by) {}
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;
    ~operation() = default;

    // Counts and places of blocks are looked at only here. UCS_ERR_UNSUPPORTED: the engine does not
    // have it, and the fabric does. UCS_ERR_INVALID_PARAM, UCS_ERR_OUT_OF_RANGE: sizes that
    // overflow. UCS_ERR_NO_MEMORY.
    [[nodiscard]] ucs_status_t init(const call& what) noexcept;
    [[nodiscard]] call& arguments() noexcept { return call_; }
    // How it is done, for people; after init() that ended well. std::bad_alloc.
    [[nodiscard]] std::string way() const;

    // Begins it when those started before have ended. All ranks start the same in the same order.
    void start() noexcept;

    // UCS_INPROGRESS; else how the last start ended. After an error the content of the output is
    // undefined.
    [[nodiscard]] ucs_status_t status() const noexcept { return status_; }
    void on_end(listener told, void* argument) noexcept {
        told_ = told;
        told_argument_ = argument;
    }

private:
    friend class engine;
    [[nodiscard]] ucs_status_t check() const noexcept;
    void end(ucs_status_t how) noexcept;

    engine& engine_;
    call call_;
    std::unique_ptr<pattern> pattern_;
    std::optional<claim> claim_;
    bool in_mailbox_ = false;
    std::uint32_t row_ = 1;  // slots that a segment takes
    ucs_status_t status_ = UCS_OK;
    operation* next_ = nullptr;  // started after it
    listener told_ = nullptr;
    void* told_argument_ = nullptr;
};

}  // namespace ucg::node
