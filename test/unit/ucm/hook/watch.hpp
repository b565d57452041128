// Observes the events of one range of memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>

#include "ucm/api/ucm.h"

namespace test {

// Counts the bytes of a range that are reported as unmapped, until the end of its scope. Allocates
// nothing, because it is notified inside the allocator.
class watch {
public:
    explicit watch(int flags = 0)
        : status_(ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED | flags, 0, record, this)) {}
    ~watch() { ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, record, this); }
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;

    [[nodiscard]] ucs_status_t status() const { return status_; }

    void observe(const void* begin, std::size_t size) {
        begin_ = static_cast<const char*>(begin);
        size_ = size;
        unmapped_bytes_ = 0;
    }

    [[nodiscard]] std::size_t unmapped_bytes() const { return unmapped_bytes_; }

private:
    static void record(ucm_event_type_t, ucm_event_t* event, void* arg) {
        auto& self = *static_cast<watch*>(arg);
        // Reads in the reverse order of observe(), so that no size is seen without its begin.
        const std::size_t size = self.size_;
        const char* wanted = self.begin_;
        const auto* first = static_cast<const char*>(event->vm_unmapped.address);
        const char* last = std::min(first + event->vm_unmapped.size, wanted + size);
        first = std::max(first, wanted);
        if (first < last) self.unmapped_bytes_ += static_cast<std::size_t>(last - first);
        errno = ENOTTY;  // must not reach the caller
    }

    std::atomic<const char*> begin_{nullptr};
    std::atomic<std::size_t> size_{0};
    std::atomic<std::size_t> unmapped_bytes_{0};
    ucs_status_t status_;
};

}  // namespace test
