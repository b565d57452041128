// Memory of devices that the processor can access while a kernel runs.
#pragma once

#include <cstdint>
#include <set>

#include "test/cuda/driver/memory.hpp"

namespace standin {

// Opens the memory that kernels of a context may access, at its device addresses, for a scope. The
// object lives on the thread that runs the kernel, which does not hold the lock.
class open_memory {
public:
    explicit open_memory(const context& running);
    ~open_memory();
    open_memory(const open_memory&) = delete;
    open_memory& operator=(const open_memory&) = delete;

    // Opens memory if the kernel may access it. The lock is held.
    void add(const allocation& memory);

    // Forgets a mapping that is gone. The lock is held.
    void forget(std::uint64_t base) { opened_.erase(base); }

private:
    const context& running_;
    std::set<std::uint64_t> opened_;  // bases of mappings
};

// Opens memory that became accessible for the kernels that run now. The lock is held.
void open_for_running_kernels(const allocation& memory);

// Forgets a mapping that is gone, for all kernels. The lock is held.
void forget_open_mapping(std::uint64_t base);

}  // namespace standin
