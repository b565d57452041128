#include "ucm/hook/patch.hpp"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "ucm/event/kernel_call.hpp"

namespace ucm::hook {
namespace {

struct alignas(16) block {
    std::uint8_t bytes[16];
};

void write_jump(std::uint8_t* into, const std::uint8_t* address, const void* target) noexcept {
    const auto offset =
        static_cast<std::int32_t>(static_cast<const std::uint8_t*>(target) - (address + jump_size));
    into[0] = 0xe9;
    std::memcpy(into + 1, &offset, sizeof(offset));
}

// Replaces 16 bytes atomically if they equal `before`.
bool exchange(block* target_block, const block& before, const block& after) noexcept {
#if defined(__x86_64__)
    std::uint64_t low, high, new_low, new_high;
    std::memcpy(&low, before.bytes, 8);
    std::memcpy(&high, before.bytes + 8, 8);
    std::memcpy(&new_low, after.bytes, 8);
    std::memcpy(&new_high, after.bytes + 8, 8);
    bool done;
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(done), "+m"(*target_block), "+a"(low), "+d"(high)
                     : "b"(new_low), "c"(new_high)
                     : "memory");
    return done;
#else
    (void)target_block, (void)before, (void)after;
    return false;
#endif
}

// Makes every processor that runs this process discard decoded instructions before it continues. On
// a kernel without this command, the mprotect call that made the page read-only has already
// interrupted these processors.
void synchronize_code() noexcept {
    kernel_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE);
    kernel_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
}

}  // namespace

bool is_patched(const std::uint8_t* address, const void* target) noexcept {
    std::uint8_t jump[jump_size];
    write_jump(jump, address, target);
    return std::memcmp(address, jump, sizeof(jump)) == 0;
}

bool patch(std::uint8_t* address, const void* target) noexcept {
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    auto* const target_block =
        reinterpret_cast<block*>(number & ~std::uintptr_t{sizeof(block) - 1});
    const auto page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    void* const page = reinterpret_cast<void*>(number & ~(page_size - 1));

    // The page stays executable, because other threads may be executing it.
    if (mprotect(page, page_size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
    const block before = *target_block;
    block after = before;
    write_jump(after.bytes + (number - reinterpret_cast<std::uintptr_t>(target_block)), address,
               target);
    const bool done = exchange(target_block, before, after);
    mprotect(page, page_size, PROT_READ | PROT_EXEC);
    synchronize_code();
    return done;
}

}  // namespace ucm::hook
