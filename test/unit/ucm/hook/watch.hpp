// What handlers are told about one range of memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>

#include "ucm/api/ucm.h"

namespace test {

// Counts the bytes of a range that are told to go away, for as long as it lives. Allocates nothing:
// it is told in the middle of the allocator.
class watch {
public:
    explicit watch(int flags = 0)
        : status_(ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED | flags, 0, note, this)) {}
    ~watch() { ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, note, this); }
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;

    [[nodiscard]] ucs_status_t status() const { return status_; }

    void look_at(const void* begin, std::size_t size) {
        begin_ = static_cast<const char*>(begin);
        size_ = size;
        told_ = 0;
    }

    [[nodiscard]] std::size_t told() const { return told_; }

private:
    static void note(ucm_event_type_t, ucm_event_t* event, void* arg) {
        auto& self = *static_cast<watch*>(arg);
        // In the other order than look_at() writes them: no size without a begin.
        const std::size_t size = self.size_;
        const char* wanted = self.begin_;
        const auto* first = static_cast<const char*>(event->vm_unmapped.address);
        const char* last = std::min(first + event->vm_unmapped.size, wanted + size);
        first = std::max(first, wanted);
        if (first < last) self.told_ += static_cast<std::size_t>(last - first);
        errno = ENOTTY;  // of no consequence to the call
    }

    std::atomic<const char*> begin_{nullptr};
    std::atomic<std::size_t> size_{0};
    std::atomic<std::size_t> told_{0};
    ucs_status_t status_;
};

}  // namespace test
