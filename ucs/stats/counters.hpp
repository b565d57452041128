// Counters of events, readable by any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ucs/vfs/directory.hpp"

namespace ucs::stats {

// A number that one thread changes and any thread reads. Adding costs as much as for a plain
// integer: no locked instruction.
class counter {
public:
    void add(std::uint64_t amount = 1) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
    void set(std::uint64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t get() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint64_t> value_{0};
};

// Names of an enumeration's values, in their order; specialise next to the enumeration:
//
//     enum class tx { packets, bytes };
//     template <>
//     inline constexpr auto ucs::stats::names<tx> = std::to_array<std::string_view>({"packets",
//                                                                                    "bytes"});
template<class Id>
inline constexpr std::array<std::string_view, 0> names{};

// Puts one file per counter into a folder; writing 0 to a file sets its counter to 0.
void describe(vfs::directory& into, std::span<counter> values,
              std::span<const std::string_view> value_names);

// The counters of one object, one per value of the enumeration Id. Changed by the object's owner,
// read by any thread.
template<class Id>
class counters {
public:
    static constexpr std::size_t size = names<Id>.size();
    static_assert(size != 0, "give the enumeration its ucs::stats::names");

    counter& operator[](Id id) noexcept { return values_[static_cast<std::size_t>(id)]; }
    const counter& operator[](Id id) const noexcept {
        return values_[static_cast<std::size_t>(id)];
    }

    void describe(vfs::directory& into) const { stats::describe(into, values_, names<Id>); }

private:
    mutable std::array<counter, size> values_;  // mutable: a reader of the tree may reset a counter
};

}  // namespace ucs::stats
