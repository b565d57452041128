#include "ucm/event/reported_calls.hpp"

#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "ucm/event/handler_list.hpp"
#include "ucm/event/mremap_flags.hpp"
#include "ucm/event/segment_size.hpp"

namespace ucm::reported {
namespace {

// Sets errno at the end of its scope to the value that the original call left, or to the previous
// value without such a call. So handlers and the queries of this library do not change errno for
// the program.
class errno_of_call {
public:
    errno_of_call() noexcept : value_(errno) {}
    ~errno_of_call() { errno = value_; }
    errno_of_call(const errno_of_call&) = delete;
    errno_of_call& operator=(const errno_of_call&) = delete;

    template<class Call>
    auto run(Call&& call) noexcept {
        errno = value_;
        auto result = call();
        value_ = errno;
        return result;
    }

private:
    int value_;
};

void report_mapped(const void* address, std::size_t size) noexcept {
    if (size != 0) ucm_vm_mmap(const_cast<void*>(address), size);
}

void report_unmapped(const void* address, std::size_t size) noexcept {
    if (size != 0) ucm_vm_munmap(const_cast<void*>(address), size);
}

// MADV_DONTNEED_LOCKED, which older headers lack.
constexpr int dontneed_locked = 24;

// Report the range that the program loses when the break moves down (called before the move), and
// the range that it gains when the break moves up (called after the move).
void report_break_down(char* from, char* to) noexcept {
    if (to < from) report_unmapped(to, static_cast<std::size_t>(from - to));
}

void report_break_up(char* from, char* to) noexcept {
    if (to > from) report_mapped(from, static_cast<std::size_t>(to - from));
}

}  // namespace

void* mmap(mmap_function original, void* addr, std::size_t length, int prot, int flags, int fd,
           off_t offset) noexcept {
    errno_of_call outcome;
    // A fixed mapping replaces the previous mappings in its range.
    if ((flags & MAP_FIXED) != 0) report_unmapped(addr, length);
    ucm_event_t event;
    event.mmap = {MAP_FAILED, addr, length, prot, flags, fd, offset};
    handlers().dispatch(UCM_EVENT_MMAP, event, [&](ucm_event_t& call) {
        auto& args = call.mmap;
        if (args.result != MAP_FAILED) return;
        args.result = outcome.run([&] {
            return original(args.address, args.size, args.prot, args.flags, args.fd, args.offset);
        });
    });
    if (event.mmap.result != MAP_FAILED) report_mapped(event.mmap.result, length);
    return event.mmap.result;
}

int munmap(munmap_function original, void* addr, std::size_t length) noexcept {
    errno_of_call outcome;
    report_unmapped(addr, length);
    ucm_event_t event;
    event.munmap = {-1, addr, length};
    handlers().dispatch(UCM_EVENT_MUNMAP, event, [&](ucm_event_t& call) {
        auto& args = call.munmap;
        if (args.result != -1) return;
        args.result = outcome.run([&] { return original(args.address, args.size); });
    });
    return event.munmap.result;
}

void* mremap(mremap_function original, void* old_address, std::size_t old_size,
             std::size_t new_size, int flags, void* new_address) noexcept {
    errno_of_call outcome;
    report_unmapped(old_address, old_size);
    // As with mmap, previous mappings in the range are replaced.
    if ((flags & MREMAP_FIXED) != 0) report_unmapped(new_address, new_size);
    ucm_event_t event;
    event.mremap = {MAP_FAILED, old_address, old_size, new_size, flags};
    handlers().dispatch(UCM_EVENT_MREMAP, event, [&](ucm_event_t& call) {
        auto& args = call.mremap;
        if (args.result != MAP_FAILED) return;
        args.result = outcome.run([&] {
            return original(args.address, args.old_size, args.new_size, args.flags, new_address);
        });
    });
    if (event.mremap.result != MAP_FAILED) report_mapped(event.mremap.result, new_size);
    return event.mremap.result;
}

void* shmat(shmat_function original, int shmid, const void* shmaddr, int shmflg) noexcept {
    errno_of_call outcome;
    if ((shmflg & SHM_REMAP) != 0) report_unmapped(shmaddr, segment_size_of(shmid));
    ucm_event_t event;
    event.shmat = {MAP_FAILED, shmid, shmaddr, shmflg};
    handlers().dispatch(UCM_EVENT_SHMAT, event, [&](ucm_event_t& call) {
        auto& args = call.shmat;
        if (args.result != MAP_FAILED) return;
        args.result = outcome.run([&] { return original(args.shmid, args.shmaddr, args.shmflg); });
    });
    if (event.shmat.result != MAP_FAILED) {
        report_mapped(event.shmat.result, segment_size_of(shmid));
    }
    return event.shmat.result;
}

int shmdt(shmdt_function original, const void* shmaddr) noexcept {
    errno_of_call outcome;
    report_unmapped(shmaddr, segment_size_at(shmaddr));
    ucm_event_t event;
    event.shmdt = {-1, shmaddr};
    handlers().dispatch(UCM_EVENT_SHMDT, event, [&](ucm_event_t& call) {
        auto& args = call.shmdt;
        if (args.result != -1) return;
        args.result = outcome.run([&] { return original(args.shmaddr); });
    });
    return event.shmdt.result;
}

int brk(brk_function original, void* addr) noexcept {
    errno_of_call outcome;
    char* before = static_cast<char*>(ucm_orig_sbrk(0));
    // Address 0 only queries the break.
    if (addr != nullptr) report_break_down(before, static_cast<char*>(addr));
    ucm_event_t event;
    event.brk = {-1, addr};
    handlers().dispatch(UCM_EVENT_BRK, event, [&](ucm_event_t& call) {
        auto& args = call.brk;
        if (args.result == -1) args.result = outcome.run([&] { return original(args.addr); });
    });
    if (event.brk.result == 0) report_break_up(before, static_cast<char*>(addr));
    return event.brk.result;
}

void* sbrk(sbrk_function original, std::intptr_t increment) noexcept {
    errno_of_call outcome;
    char* before = static_cast<char*>(ucm_orig_sbrk(0));
    report_break_down(before, before + increment);
    ucm_event_t event;
    event.sbrk = {MAP_FAILED, increment};
    handlers().dispatch(UCM_EVENT_SBRK, event, [&](ucm_event_t& call) {
        auto& args = call.sbrk;
        if (args.result != MAP_FAILED) return;
        args.result = outcome.run([&] { return original(args.increment); });
    });
    if (event.sbrk.result != MAP_FAILED) report_break_up(before, before + increment);
    return event.sbrk.result;
}

int madvise(madvise_function original, void* addr, std::size_t length, int advice) noexcept {
    errno_of_call outcome;
    // The pages stay, but their contents are dropped. Users that have pinned the pages must be
    // notified as for unmapping.
    const bool drops = advice == MADV_DONTNEED || advice == MADV_REMOVE || advice == MADV_FREE ||
                       advice == dontneed_locked;
    if (drops) report_unmapped(addr, length);
    ucm_event_t event;
    event.madvise = {-1, addr, length, advice};
    handlers().dispatch(UCM_EVENT_MADVISE, event, [&](ucm_event_t& call) {
        auto& args = call.madvise;
        if (args.result != -1) return;
        args.result = outcome.run([&] { return original(args.addr, args.length, args.advice); });
    });
    return event.madvise.result;
}

}  // namespace ucm::reported

void* ucm_mmap(void* addr, size_t length, int prot, int flags, int fd, off_t offset) {
    return ucm::reported::mmap(ucm_orig_mmap, addr, length, prot, flags, fd, offset);
}

int ucm_munmap(void* addr, size_t length) {
    return ucm::reported::munmap(ucm_orig_munmap, addr, length);
}

void* ucm_mremap(void* old_address, size_t old_size, size_t new_size, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    void* const new_address = (flags & ucm::mremap_to_address) != 0 ? va_arg(rest, void*) : nullptr;
    va_end(rest);
    return ucm::reported::mremap(ucm_orig_mremap, old_address, old_size, new_size, flags,
                                 new_address);
}

void* ucm_shmat(int shmid, const void* shmaddr, int shmflg) {
    return ucm::reported::shmat(ucm_orig_shmat, shmid, shmaddr, shmflg);
}

int ucm_shmdt(const void* shmaddr) {
    return ucm::reported::shmdt(ucm_orig_shmdt, shmaddr);
}

void* ucm_sbrk(intptr_t increment) {
    return ucm::reported::sbrk(ucm_orig_sbrk, increment);
}

int ucm_brk(void* addr) {
    return ucm::reported::brk(ucm_orig_brk, addr);
}

int ucm_madvise(void* addr, size_t length, int advice) {
    return ucm::reported::madvise(ucm_orig_madvise, addr, length, advice);
}
