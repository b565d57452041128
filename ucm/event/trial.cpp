#include "ucm/event/trial.hpp"

#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cstddef>

#include "ucm/event/handler_list.hpp"

namespace ucm {
namespace {

constexpr int segment_events = UCM_EVENT_SHMAT | UCM_EVENT_SHMDT;
constexpr int tried_events = UCM_EVENT_VM_MAPPED | UCM_EVENT_VM_UNMAPPED | UCM_EVENT_MMAP |
                             UCM_EVENT_MUNMAP | UCM_EVENT_MREMAP | UCM_EVENT_MADVISE |
                             segment_events;

// The kinds of events that arrived during a trial. Each thread that reports an event sets bits in
// `arrived`.
struct observation {
    char* page;  // the page that is about to be unmapped; null before that
    int arrived;
};

bool covers_page(const ucm_event_t& event, const observation& seen) noexcept {
    const auto* first = static_cast<const char*>(event.vm_unmapped.address);
    const char* page = __atomic_load_n(&seen.page, __ATOMIC_RELAXED);
    return first <= page && page < first + event.vm_unmapped.size;
}

// The handler of the trial. An event VM_UNMAPPED counts only if it covers the page of the trial.
// For the other kinds any event counts: the address of a new mapping is unknown until the call
// returns.
void note(ucm_event_type_t type, ucm_event_t* event, void* arg) {
    auto& seen = *static_cast<observation*>(arg);
    if (type == UCM_EVENT_VM_UNMAPPED && !covers_page(*event, seen)) return;
    __atomic_fetch_or(&seen.arrived, type, __ATOMIC_RELAXED);
}

// Maps a page, calls mremap and madvise for it if events of these kinds are requested, and unmaps
// it.
void change_a_page(int events, observation& seen) noexcept {
    auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if ((events & UCM_EVENT_MREMAP) != 0) {
        void* moved = mremap(page, size, 2 * size, MREMAP_MAYMOVE);
        if (moved != MAP_FAILED) {
            page = moved;
            size *= 2;
        }
    }
    if ((events & UCM_EVENT_MADVISE) != 0) madvise(page, size, MADV_NORMAL);
    __atomic_store_n(&seen.page, static_cast<char*>(page), __ATOMIC_RELAXED);
    munmap(page, size);
}

// Attaches and detaches a segment of one page. Returns whether the system granted one.
bool attach_a_segment() noexcept {
    const int id = shmget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    if (id < 0) return false;
    void* segment = shmat(id, nullptr, 0);
    shmctl(id, IPC_RMID, nullptr);
    if (segment == MAP_FAILED) return false;
    shmdt(segment);
    return true;
}

}  // namespace

int kinds_that_arrive(int events) noexcept {
    const int untried = events & ~tried_events;
    int to_try = events & tried_events;
    if (to_try == 0) return untried;
    observation seen{nullptr, 0};
    if (handlers().add(to_try | UCM_EVENT_FLAG_NO_INSTALL, 0, 0, note, &seen) != UCS_OK) {
        return untried;
    }
    change_a_page(to_try, seen);
    const bool has_segments = (to_try & segment_events) == 0 || attach_a_segment();
    handlers().remove(to_try, note, &seen);
    int arrived = __atomic_load_n(&seen.arrived, __ATOMIC_RELAXED);
    if (!has_segments) arrived |= segment_events;
    return untried | (to_try & arrived);
}

}  // namespace ucm
