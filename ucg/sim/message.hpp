// A message of the simulation, and a pool and list of messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "ucg/schedule/step.hpp"
#include "ucg/sim/trace.hpp"
#include "ucs/type/status.h"

namespace ucg::sim {

struct message {
    message* next = nullptr;  // in the list of unexpected messages, or of free ones
    rank_t source = 0;
    rank_t target = 0;
    schedule::channel_t channel = 0;
    schedule::sequence_t sequence = 0;
    ucs_status_t status = UCS_OK;    // of a failure notification
    schedule::step* sent = nullptr;  // the send step, until it ends
    time_t complete = 0;             // when the last byte has arrived
    path critical_path;              // the critical path up to `complete`
    std::size_t bytes = 0;

    [[nodiscard]] const void* content() const noexcept {
        return bytes <= small_.size() ? small_.data() : large_.data();
    }
    void fill(const void* data) {
        if (bytes == 0) return;
        if (bytes > small_.size()) large_.resize(bytes);
        std::memcpy(bytes <= small_.size() ? small_.data() : large_.data(), data, bytes);
    }

private:
    std::array<std::byte, 32> small_{};
    std::vector<std::byte> large_;  // keeps its capacity for the next message
};

// Recycles messages.
class message_pool {
public:
    message* take() {
        if (free_ == nullptr) {
            all_.push_back(std::make_unique<message>());
            return all_.back().get();
        }
        message* taken = free_;
        free_ = taken->next;
        taken->next = nullptr;
        return taken;
    }
    void give_back(message* ended) noexcept {
        ended->next = free_;
        free_ = ended;
    }

private:
    message* free_ = nullptr;
    std::vector<std::unique_ptr<message>> all_;
};

// A FIFO of messages.
struct message_list {
    message* first = nullptr;
    message* last = nullptr;

    void append(message* added) noexcept {
        added->next = nullptr;
        (last != nullptr ? last->next : first) = added;
        last = added;
    }
    // Removes and returns the first message for which `wanted` is true; nullptr: none.
    template<class Predicate>
    message* take(Predicate wanted) noexcept {
        message* before = nullptr;
        for (message* each = first; each != nullptr; before = each, each = each->next) {
            if (!wanted(*each)) continue;
            (before != nullptr ? before->next : first) = each->next;
            if (last == each) last = before;
            return each;
        }
        return nullptr;
    }
};

}  // namespace ucg::sim
