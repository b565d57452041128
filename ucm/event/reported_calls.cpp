// The system calls with their events: ucm_mmap and its siblings.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdarg>

#include "ucm/event/handler_list.hpp"
#include "ucm/event/mremap_flags.hpp"
#include "ucm/event/segment_size.hpp"

namespace {

void report_mapped(const void* address, std::size_t size) noexcept {
    if (size != 0) ucm_vm_mmap(const_cast<void*>(address), size);
}

void report_unmapped(const void* address, std::size_t size) noexcept {
    if (size != 0) ucm_vm_munmap(const_cast<void*>(address), size);
}

// Ranges before and after the program break moves.
void report_break_down(char* from, char* to) noexcept {
    if (to < from) report_unmapped(to, static_cast<std::size_t>(from - to));
}

void report_break_up(char* from, char* to) noexcept {
    if (to > from) report_mapped(from, static_cast<std::size_t>(to - from));
}

}  // namespace

void* ucm_mmap(void* addr, size_t length, int prot, int flags, int fd, off_t offset) {
    // A fixed mapping takes the place of whatever was there.
    if ((flags & MAP_FIXED) != 0) report_unmapped(addr, length);
    ucm_event_t event;
    event.mmap = {MAP_FAILED, addr, length, prot, flags, fd, offset};
    ucm::handlers().dispatch(UCM_EVENT_MMAP, event, [](ucm_event_t& call) {
        auto& args = call.mmap;
        if (args.result != MAP_FAILED) return;
        args.result =
            ucm_orig_mmap(args.address, args.size, args.prot, args.flags, args.fd, args.offset);
    });
    if (event.mmap.result != MAP_FAILED) report_mapped(event.mmap.result, length);
    return event.mmap.result;
}

int ucm_munmap(void* addr, size_t length) {
    report_unmapped(addr, length);
    ucm_event_t event;
    event.munmap = {-1, addr, length};
    ucm::handlers().dispatch(UCM_EVENT_MUNMAP, event, [](ucm_event_t& call) {
        auto& args = call.munmap;
        if (args.result == -1) args.result = ucm_orig_munmap(args.address, args.size);
    });
    return event.munmap.result;
}

void* ucm_mremap(void* old_address, size_t old_size, size_t new_size, int flags, ...) {
    void* new_address = nullptr;
    if ((flags & ucm::mremap_to_address) != 0) {
        va_list rest;
        va_start(rest, flags);
        new_address = va_arg(rest, void*);
        va_end(rest);
    }
    report_unmapped(old_address, old_size);
    // As with mmap, what was there goes away.
    if ((flags & MREMAP_FIXED) != 0) report_unmapped(new_address, new_size);
    ucm_event_t event;
    event.mremap = {MAP_FAILED, old_address, old_size, new_size, flags};
    ucm::handlers().dispatch(UCM_EVENT_MREMAP, event, [new_address](ucm_event_t& call) {
        auto& args = call.mremap;
        if (args.result != MAP_FAILED) return;
        args.result =
            ucm_orig_mremap(args.address, args.old_size, args.new_size, args.flags, new_address);
    });
    if (event.mremap.result != MAP_FAILED) report_mapped(event.mremap.result, new_size);
    return event.mremap.result;
}

void* ucm_shmat(int shmid, const void* shmaddr, int shmflg) {
    ucm_event_t event;
    event.shmat = {MAP_FAILED, shmid, shmaddr, shmflg};
    ucm::handlers().dispatch(UCM_EVENT_SHMAT, event, [](ucm_event_t& call) {
        auto& args = call.shmat;
        if (args.result != MAP_FAILED) return;
        args.result = ucm_orig_shmat(args.shmid, args.shmaddr, args.shmflg);
    });
    if (event.shmat.result != MAP_FAILED) {
        report_mapped(event.shmat.result, ucm::segment_size_of(shmid));
    }
    return event.shmat.result;
}

int ucm_shmdt(const void* shmaddr) {
    report_unmapped(shmaddr, ucm::segment_size_at(shmaddr));
    ucm_event_t event;
    event.shmdt = {-1, shmaddr};
    ucm::handlers().dispatch(UCM_EVENT_SHMDT, event, [](ucm_event_t& call) {
        auto& args = call.shmdt;
        if (args.result == -1) args.result = ucm_orig_shmdt(args.shmaddr);
    });
    return event.shmdt.result;
}

void* ucm_sbrk(intptr_t increment) {
    char* before = static_cast<char*>(ucm_orig_sbrk(0));
    report_break_down(before, before + increment);
    ucm_event_t event;
    event.sbrk = {MAP_FAILED, increment};
    ucm::handlers().dispatch(UCM_EVENT_SBRK, event, [](ucm_event_t& call) {
        auto& args = call.sbrk;
        if (args.result == MAP_FAILED) args.result = ucm_orig_sbrk(args.increment);
    });
    if (event.sbrk.result != MAP_FAILED) report_break_up(before, before + increment);
    return event.sbrk.result;
}

int ucm_brk(void* addr) {
    char* before = static_cast<char*>(ucm_orig_sbrk(0));
    report_break_down(before, static_cast<char*>(addr));
    ucm_event_t event;
    event.brk = {-1, addr};
    ucm::handlers().dispatch(UCM_EVENT_BRK, event, [](ucm_event_t& call) {
        auto& args = call.brk;
        if (args.result == -1) args.result = ucm_orig_brk(args.addr);
    });
    if (event.brk.result == 0) report_break_up(before, static_cast<char*>(addr));
    return event.brk.result;
}

int ucm_madvise(void* addr, size_t length, int advice) {
    // The pages stay, but what they held does not: the same to anyone who pinned them.
    const bool drops = advice == MADV_DONTNEED || advice == MADV_REMOVE || advice == MADV_FREE;
    if (drops) report_unmapped(addr, length);
    ucm_event_t event;
    event.madvise = {-1, addr, length, advice};
    ucm::handlers().dispatch(UCM_EVENT_MADVISE, event, [](ucm_event_t& call) {
        auto& args = call.madvise;
        if (args.result == -1) args.result = ucm_orig_madvise(args.addr, args.length, args.advice);
    });
    return event.madvise.result;
}
