// Memory that processes register with the library, and what it must hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ucp/api/ucp.h"
#include "uct/sim/random.hpp"

namespace sim_test {

class model;
struct operation_record;

// A number in a region that all processes change by one and the same atomic operation.
struct counter {
    ucp_atomic_op_t how;
    std::size_t size;    // 4 or 8 bytes; what is behind the 4 must stay
    std::size_t offset;  // in its region
    std::vector<operation_record*> changes;
};

// Memory of one process: counters that all may change, then a slice for each process that it alone
// writes, and all read. Around it is memory that nobody may touch. Outlives its owner's worker,
// because a transport may look at it when the owner is dead.
class region {
public:
    region(std::size_t owner, std::uint64_t id, std::size_t slices, std::size_t slice_length);
    region(const region&) = delete;
    region& operator=(const region&) = delete;

    [[nodiscard]] std::size_t owner() const noexcept { return owner_; }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] std::byte* base() const noexcept { return memory_.get() + guard_length; }
    [[nodiscard]] std::uint64_t address() const noexcept {
        return reinterpret_cast<std::uint64_t>(base());
    }
    [[nodiscard]] std::size_t length() const noexcept { return length_; }
    [[nodiscard]] std::size_t slice(std::size_t of) const noexcept;
    [[nodiscard]] std::size_t slice_length() const noexcept { return slice_length_; }
    [[nodiscard]] std::uint64_t value(const counter& of) const noexcept;
    // Where something is that must never change and has changed, for people; empty: nowhere.
    [[nodiscard]] std::string damage() const;

    std::vector<counter> counters;
    std::vector<operation_record*> puts;

private:
    static constexpr std::size_t guard_length = 64;
    std::size_t owner_;
    std::uint64_t id_;
    std::size_t slice_length_;
    std::size_t length_;
    std::unique_ptr<std::byte[]> memory_;
};

// What an operation on a peer's memory has besides others.
struct remote_operation {
    region* where = nullptr;
    std::uint64_t id = 0;    // of the data of a put
    std::size_t offset = 0;  // in the region
    std::size_t length = 0;
    std::size_t fences = 0;               // of its worker's before it
    std::size_t visible_at = 0;           // in calls: a flush said that it is done; 0: none did
    ucs_status_t refusal = UCS_OK;        // what it must be refused with
    bool at_once = false;                 // was not to wait and would have had to: nothing happened
    counter* changed = nullptr;           // of an atomic operation
    std::uint64_t operand = 0;            //
    std::uint64_t swap = 0;               //
    std::unique_ptr<std::byte[]> result;  // nullptr: not asked for, or over
    bool fetched = false;
    std::uint64_t before = 0;  // what was fetched

    [[nodiscard]] std::string text() const;
};

// Judges operations on memory. Of two puts to the same place the later one counts if it is known
// which that is: a flush that covers the first ended before the second started, or both went by one
// endpoint and a fence was between them. Otherwise either may be there, byte by byte. Part of the
// model.
class memory_model {
public:
    explicit memory_model(model& all) noexcept : all_(all) {}

    void ended(operation_record& which);
    // A flush that covers it ended well.
    void flushed(operation_record& which);
    // At the very end of a run, when nothing is under way any more.
    void check(const region& of);

private:
    [[nodiscard]] bool carried_out(const operation_record& which) const;
    [[nodiscard]] bool before(const operation_record& a, const operation_record& b) const;
    [[nodiscard]] bool seen(const operation_record& put, const operation_record* reader) const;
    struct candidates;
    [[nodiscard]] candidates allowed(const std::vector<operation_record*>& covering,
                                     const operation_record* reader) const;
    void check_bytes(const region& of, std::size_t offset, std::size_t length,
                     const std::byte* found, const operation_record* reader);
    void ended_get(operation_record& get);
    void ended_atomic(operation_record& atomic);
    void check_fetched(const operation_record& atomic);
    void check_taken_once(const operation_record& atomic);
    void check_final(const region& of, const counter& which);
    void check_chain(const counter& which, std::uint64_t value);

    model& all_;
};

// --- of counters, see counters.cpp ---
[[nodiscard]] std::uint64_t initial_value(const counter& of) noexcept;

// What such an operation of a worker may have as operand, so that the value tells who has changed
// it how often. `unique` is different for each, and not 0.
[[nodiscard]] std::uint64_t make_operand(const counter& of, std::size_t worker,
                                         std::uint64_t unique) noexcept;

}  // namespace sim_test
