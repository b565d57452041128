// Virtual memory management: allocation handles, reservations of addresses, and mappings.
#pragma once

#include "test/cuda/driver/memory.hpp"

namespace standin {

// Memory of cuMemCreate. Owned by the table of handles until it is released as often as it was
// created, imported or retained, and by its mappings.
struct allocation_handle {
    CUmemGenericAllocationHandle number;
    std::shared_ptr<block> memory;
    unsigned handle_types;
    unsigned references;
};

struct reservation {
    std::uint64_t base;
    std::size_t length;
};

// Returns the reservation that contains the address; null if there is none.
[[nodiscard]] const reservation* find_reservation(std::uint64_t address);

// Call the visitor with each object that a program has made.
void for_each_reservation(const std::function<void(const reservation&)>& visitor);
void for_each_allocation_handle(const std::function<void(const allocation_handle&)>& visitor);

}  // namespace standin
