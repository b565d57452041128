// Remembers the events that a handler was told about.
#pragma once

#include <vector>

#include "ucm/api/ucm.h"

namespace test {

struct recorder {
    struct entry {
        ucm_event_type_t type;
        ucm_event_t event;
        int who;
    };

    std::vector<entry> entries;

    [[nodiscard]] std::vector<entry> of(ucm_event_type_t type) const {
        std::vector<entry> found;
        for (const entry& one : entries) {
            if (one.type == type) found.push_back(one);
        }
        return found;
    }
};

// A handler for as long as it lives.
class scoped_handler {
public:
    scoped_handler(recorder& into, int events, int priority = 0, int who = 0)
        : into_(into),
          who_(who),
          events_(events),
          status_(ucm_set_event_handler(events, priority, note, this)) {}
    ~scoped_handler() { ucm_unset_event_handler(events_, note, this); }
    scoped_handler(const scoped_handler&) = delete;
    scoped_handler& operator=(const scoped_handler&) = delete;

    [[nodiscard]] ucs_status_t status() const { return status_; }

private:
    static void note(ucm_event_type_t type, ucm_event_t* event, void* arg) {
        auto& self = *static_cast<scoped_handler*>(arg);
        self.into_.entries.push_back({type, *event, self.who_});
    }

    recorder& into_;
    int who_;
    int events_;
    ucs_status_t status_;
};

// Events with a declared source for as long as it lives.
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
