// A fake registrar that only records registrations.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "ucs/memory/registration_cache.hpp"

namespace test {

class fake_registrar final : public ucs::memory::registrar {
public:
    struct record {
        std::uintptr_t begin;
        std::size_t length;
        unsigned access;
        unsigned long number;  // counts registrations
        unsigned long note;    // result of note_of()
        bool alive;
    };

    // Called during a registration, before it takes effect.
    std::function<ucs_status_t(std::uintptr_t begin, std::size_t length, unsigned access)> check;
    std::function<unsigned long(std::uintptr_t begin)> note_of;

    ucs::result<void*> register_memory(void* begin, std::size_t length, unsigned access) override {
        const auto address = reinterpret_cast<std::uintptr_t>(begin);
        const unsigned long note = note_of ? note_of(address) : 0;
        if (check) {
            if (ucs_status_t status = check(address, length, access); status != UCS_OK)
                return status;
        }
        const std::lock_guard guard(lock_);
        records_.push_back(
            std::make_unique<record>(record{address, length, access, records_.size(), note, true}));
        ++live_;
        return static_cast<void*>(records_.back().get());
    }

    void deregister_memory(void* handle) noexcept override {
        const std::lock_guard guard(lock_);
        auto& which = *static_cast<record*>(handle);
        wrong_ = wrong_ || !which.alive;
        which.alive = false;
        --live_;
    }

    [[nodiscard]] std::size_t live() const {
        const std::lock_guard guard(lock_);
        return live_;
    }
    [[nodiscard]] std::size_t registered() const {
        const std::lock_guard guard(lock_);
        return records_.size();
    }
    // Returns whether a registration was deregistered twice.
    [[nodiscard]] bool wrong() const {
        const std::lock_guard guard(lock_);
        return wrong_;
    }

    static const record& record_of(void* handle) { return *static_cast<const record*>(handle); }

private:
    mutable std::mutex lock_;
    std::vector<std::unique_ptr<record>> records_;
    std::size_t live_ = 0;
    bool wrong_ = false;
};

}  // namespace test
