// A collective of one rank on the node's engine. It can be started any number of times.
#pragma once

#include <optional>
#include <string>

#include "ucg/node/engine/call_signature.hpp"
#include "ucs/type/status.h"

namespace ucg::node {

class engine;

// The caller owns it, and must not destroy it while it runs, unless its engine is gone. Owner
// context.
class operation {
public:
    // Called when the operation has ended; it may start the operation again or destroy it.
    using listener = void (*)(operation& ended, void* argument);

    explicit operation(engine& engine);  // throws std::bad_alloc
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;
    ~operation() = default;

    // Prepares the operation. Reads the counts and offsets of blocks, which are not read later.
    // Returns UCS_ERR_UNSUPPORTED if the engine does not have the collective (the fabric does),
    // UCS_ERR_INVALID_PARAM or UCS_ERR_OUT_OF_RANGE for sizes that overflow, or UCS_ERR_NO_MEMORY.
    [[nodiscard]] ucs_status_t init(const call& args) noexcept;
    [[nodiscard]] call& arguments() noexcept { return call_; }
    // Describes the method, for people. Call it only after init() returned UCS_OK. Throws
    // std::bad_alloc.
    [[nodiscard]] std::string description() const;

    // Starts the operation; it begins when those started before have ended. All ranks must start
    // the same operations in the same order.
    void start() noexcept;

    // Returns UCS_INPROGRESS, or how the last start ended. After an error the content of the output
    // is undefined.
    [[nodiscard]] ucs_status_t status() const noexcept { return status_; }
    void on_end(listener callback, void* argument) noexcept {
        listener_ = callback;
        listener_argument_ = argument;
    }

private:
    friend class engine;
    [[nodiscard]] ucs_status_t check() const noexcept;
    void end(ucs_status_t status) noexcept;

    engine& engine_;
    call call_;
    pattern_memory memory_;
    pattern* pattern_ = nullptr;  // in memory_
    std::optional<call_signature> signature_;
    bool in_mailbox_ = false;
    std::uint32_t row_ = 1;  // slots per segment
    ucs_status_t status_ = UCS_OK;
    operation* next_ = nullptr;  // in the engine's queue
    listener listener_ = nullptr;
    void* listener_argument_ = nullptr;
};

}  // namespace ucg::node
