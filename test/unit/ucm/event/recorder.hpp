// Records the events that a handler receives.
#pragma once

#include <vector>

#include "ucm/api/ucm.h"

namespace test {

struct recorder {
    struct entry {
        ucm_event_type_t type;
        ucm_event_t event;
        int handler_id;
    };

    std::vector<entry> entries;

    [[nodiscard]] std::vector<entry> events_of_type(ucm_event_type_t type) const {
        std::vector<entry> found;
        for (const entry& one : entries) {
            if (one.type == type) found.push_back(one);
        }
        return found;
    }
};

// Sets a handler, and removes it at the end of its scope.
class scoped_handler {
public:
    scoped_handler(recorder& target, int events, int priority = 0, int handler_id = 0)
        : target_(target),
          handler_id_(handler_id),
          events_(events),
          status_(ucm_set_event_handler(events, priority, record, this)) {}
    ~scoped_handler() { ucm_unset_event_handler(events_, record, this); }
    scoped_handler(const scoped_handler&) = delete;
    scoped_handler& operator=(const scoped_handler&) = delete;

    [[nodiscard]] ucs_status_t status() const { return status_; }

private:
    static void record(ucm_event_type_t type, ucm_event_t* event, void* arg) {
        auto& self = *static_cast<scoped_handler*>(arg);
        self.target_.entries.push_back({type, *event, self.handler_id_});
    }

    recorder& target_;
    int handler_id_;
    int events_;
    ucs_status_t status_;
};

// Declares an external source of events, and withdraws it at the end of its scope.
class scoped_external {
public:
    explicit scoped_external(int events) : events_(events) { ucm_set_external_event(events); }
    ~scoped_external() { ucm_unset_external_event(events_); }
    scoped_external(const scoped_external&) = delete;
    scoped_external& operator=(const scoped_external&) = delete;

private:
    int events_;
};

}  // namespace test
