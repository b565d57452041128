// A collective of one rank on the node's engine. It can be started any number of times.
#pragma once

#include <optional>
#include <string>

#include "ucg/node/patterns/pattern.hpp"
#include "ucg/schedule/runnable.hpp"

namespace ucg::node {

// Three words. The first has the number of the operation (16 bits), the collective (8) and a hash
// of all that ranks must agree on (40). The others serve log lines only. The words of another rank
// may have any content. Value type.
class call_signature {
public:
    // Number 0. The signature contains neither buffers nor `in_place`, and the root only if the
    // collective has one.
    call_signature(const call& args, const stage_plan& plan, rank_t ranks) noexcept;
    // From the words of another rank.
    call_signature(std::uint64_t entry, std::uint64_t count, std::uint64_t rest) noexcept
        : entry_(entry), count_(count), rest_(rest) {}

    [[nodiscard]] std::uint64_t entry(std::uint64_t number) const noexcept {
        return entry_ | (number & number_bits);
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t rest() const noexcept { return rest_; }

    // Returns whether both words belong to the same operation.
    [[nodiscard]] static bool same_number(std::uint64_t one, std::uint64_t other) noexcept {
        return ((one ^ other) & number_bits) == 0;
    }
    // For example "allreduce of 5 elements of 4 bytes, sum of fp32".
    [[nodiscard]] std::string text() const;
    // The same if only the first word is known: "allreduce".
    [[nodiscard]] static std::string text(std::uint64_t entry);

private:
    static constexpr std::uint64_t number_bits = 0xffff;

    std::uint64_t entry_;
    std::uint64_t count_;  // elements; of all blocks together if they differ in size
    std::uint64_t rest_;   // bytes of an element (32 bits), root (16), kind of the reducer (16)
};

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
