// A collective of one rank on the node's engine. It can be started any number of times.
#pragma once

#include <optional>
#include <string>

#include "ucg/node/engine/call_signature.hpp"
#include "ucg/schedule/runnable.hpp"

namespace ucg::node {

class engine;

// Owner context.
class operation final : public schedule::runnable {
public:
    explicit operation(engine& engine);  // throws std::bad_alloc

    // Prepares the operation. Reads the counts and offsets of blocks, which are not read later.
    // Returns UCS_ERR_UNSUPPORTED if the engine does not have the collective (the fabric does),
    // UCS_ERR_INVALID_PARAM or UCS_ERR_OUT_OF_RANGE for sizes that overflow, or UCS_ERR_NO_MEMORY.
    [[nodiscard]] ucs_status_t init(const call& args) noexcept;
    // Describes the method, for people. Call it only after init() returned UCS_OK. Throws
    // std::bad_alloc.
    [[nodiscard]] std::string description() const;

    // The operation begins when those started before have ended.
    void start() noexcept override;
    // Both end all operations of the engine.
    void start_failed(ucs_status_t status) noexcept override;
    void fail(ucs_status_t status) noexcept override;
    [[nodiscard]] std::vector<rank_t> missing() const override;

private:
    friend class engine;
    [[nodiscard]] ucs_status_t check() const noexcept;

    engine& engine_;
    pattern_memory memory_;
    pattern* pattern_ = nullptr;  // in memory_
    std::optional<call_signature> signature_;
    bool in_mailbox_ = false;
    std::uint32_t row_ = 1;      // slots per segment
    operation* next_ = nullptr;  // in the engine's queue
};

}  // namespace ucg::node
