#include "ucg/node/patience.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

#include "ucg/node/cores.hpp"
#include "ucs/arch/fence.hpp"
#include "ucs/arch/pause.hpp"

namespace ucg::node {
namespace {

long futex(std::uint32_t& word, int what, std::uint32_t value, const timespec* limit) noexcept {
    return ::syscall(SYS_futex, &word, what, value, limit, nullptr, 0);
}

}  // namespace

patience::limits patience::usual(rank_t ranks) noexcept {
    limits chosen;
    if (outnumber_cores(ranks)) chosen.spins = 0;
    return chosen;
}

bool patience::wait() noexcept {
    if (rounds_ < most_.spins) {
        ++rounds_;
        ucs::arch::pause();
        return false;
    }
    if (rounds_ - most_.spins < most_.yields) {
        ++rounds_;
        ucs::arch::yield();
        return false;
    }
    return true;
}

void patience::prepare() noexcept {
    std::atomic_ref(memory_.sleepers()).fetch_add(1, std::memory_order_seq_cst);
    std::atomic_ref(memory_.control_of(rank_).sleeps).store(1, std::memory_order_seq_cst);
    ucs::arch::full_fence();
}

void patience::sleep() noexcept {
    const timespec limit{0, static_cast<long>(most_.sleep_us) * 1000};
    (void)futex(memory_.control_of(rank_).sleeps, FUTEX_WAIT, 1, &limit);
    forget();
}

void patience::forget() noexcept {
    std::atomic_ref(memory_.control_of(rank_).sleeps).store(0, std::memory_order_relaxed);
    std::atomic_ref(memory_.sleepers()).fetch_sub(1, std::memory_order_relaxed);
}

void detail::wake_all(const segment& memory, rank_t but) noexcept {
    for (rank_t rank = 0; rank < memory.ranks(); ++rank) {
        std::uint32_t& mark = memory.control_of(rank).sleeps;
        if (rank == but || std::atomic_ref(mark).load(std::memory_order_relaxed) == 0) continue;
        std::atomic_ref(mark).store(0, std::memory_order_relaxed);
        (void)futex(mark, FUTEX_WAKE, INT_MAX, nullptr);
    }
}

}  // namespace ucg::node
