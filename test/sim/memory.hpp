// Memory that processes register with the library, and checks of its contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ucp/api/ucp.h"
#include "ucs/random/seeded.hpp"

namespace sim_test {

class model;
struct operation_record;

// A number in a region. All processes change it by the same atomic operation.
struct counter {
    ucp_atomic_op_t operation;
    std::size_t size;    // 4 or 8 bytes; if 4, the next 4 bytes must not change
    std::size_t offset;  // in the region
    std::vector<operation_record*> changes;
};

// Registered memory of one process: counters that all processes change, then one slice per process.
// Only that process writes the slice, all read it. Guard bytes surround the memory. A region
// outlives its owner's worker, because a transport may access it after the owner died.
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
    [[nodiscard]] std::size_t slice(std::size_t process) const noexcept;
    [[nodiscard]] std::size_t slice_length() const noexcept { return slice_length_; }
    [[nodiscard]] std::uint64_t value(const counter& number) const noexcept;
    // Describes which bytes changed that must never change; empty: none did.
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

// The additional state of an operation on a peer's memory.
struct remote_operation {
    region* where = nullptr;
    std::uint64_t id = 0;    // identifies the data of a put
    std::size_t offset = 0;  // in the region
    std::size_t length = 0;
    std::size_t fences = 0;         // fences of its worker before it
    std::size_t visible_at = 0;     // number of the call in which a flush completed it; 0: none did
    ucs_status_t refusal = UCS_OK;  // the required status; UCS_OK: the operation is valid
    bool no_resource = false;       // FORCE_IMM_CMPL was set and nothing was done
    counter* changed = nullptr;     // the counter of an atomic operation
    std::uint64_t operand = 0;
    std::uint64_t swap = 0;
    std::unique_ptr<std::byte[]> result;  // nullptr: not requested, or the operation ended
    bool fetched = false;
    std::uint64_t before = 0;  // the fetched value

    [[nodiscard]] std::string text() const;
};

// Checks operations on memory. The later of two puts to the same bytes must win if their order is
// defined: a flush completed the first before the second started, or both used one endpoint with
// a fence between them. Otherwise each byte may come from either put. Part of the model.
class memory_model {
public:
    explicit memory_model(model& all) noexcept : all_(all) {}

    void ended(operation_record& which);
    // A flush that covers the operation succeeded.
    void flushed(operation_record& which);
    // Called at the end of a run, after all operations ended.
    void check(const region& memory);

private:
    [[nodiscard]] bool carried_out(const operation_record& which) const;
    [[nodiscard]] bool before(const operation_record& a, const operation_record& b) const;
    [[nodiscard]] bool seen(const operation_record& put, const operation_record* reader) const;
    struct candidates;
    [[nodiscard]] candidates allowed(const std::vector<operation_record*>& covering,
                                     const operation_record* reader) const;
    void check_bytes(const region& memory, std::size_t offset, std::size_t length,
                     const std::byte* found, const operation_record* reader);
    void ended_get(operation_record& get);
    void ended_atomic(operation_record& atomic);
    void check_fetched(const operation_record& atomic);
    void check_taken_once(const operation_record& atomic);
    void check_final(const region& memory, const counter& which);
    void check_chain(const counter& which, std::uint64_t value);

    model& all_;
};

// --- counters, see counters.cpp ---
[[nodiscard]] std::uint64_t initial_value(const counter& number) noexcept;

// Operand of an atomic operation of `worker`. The value of the counter then tells which worker
// changed it how often. `unique` differs for each operation and is not 0.
[[nodiscard]] std::uint64_t make_operand(const counter& number, std::size_t worker,
                                         std::uint64_t unique) noexcept;

}  // namespace sim_test
