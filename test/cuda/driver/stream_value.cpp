// Operations of streams that write a word, or wait for the value of one.
#include <chrono>
#include <thread>

#include "test/cuda/driver/range.hpp"
#include "test/cuda/driver/stream.hpp"

namespace standin {
namespace {

enum wait_condition : unsigned { is_greater_or_equal = 0, is_equal = 1, has_bits = 2, nor = 3 };

bool is_met(std::uint64_t found, std::uint64_t value, unsigned condition) {
    switch (condition) {
        case is_greater_or_equal:
            return static_cast<std::int64_t>(found - value) >= 0;
        case is_equal:
            return found == value;
        case has_bits:
            return (found & value) != 0;
        default:
            return ~(found | value) != 0;
    }
}

// Finds a word that a stream accesses: memory of a device, or pinned memory.
template<class Word>
std::shared_ptr<memory_range> find_word(std::uint64_t address, const stream& on) {
    check_argument(address % sizeof(Word) == 0, "the address is not aligned");
    auto found = std::make_shared<memory_range>(resolve(address, sizeof(Word), *on.owner));
    check_argument(!found->is_pageable, "the memory is not one that the driver knows");
    return found;
}

template<class Word>
Word* word_of(const memory_range& range) {
    return reinterpret_cast<Word*>(range.pieces.front().bytes);
}

template<class Word>
CUresult write_value(function called, CUstream handle, std::uint64_t address, Word value,
                     unsigned flags) {
    return call(called, [&](held_lock&) {
        check_argument(flags <= 1, "there are no such flags");
        const stream_ref on = find_stream(handle);
        const auto word = find_word<Word>(address, *on);
        operation added;
        added.begin = [word, user = on.get()] { check_usable(*word, *user); };
        added.run = [word, value] {
            check_not_freed(*word);
            __atomic_store_n(word_of<Word>(*word), value, __ATOMIC_RELEASE);
        };
        enqueue(on, std::move(added));
    });
}

// Returns true if the wait is pointless: its context is going away, or does not work any more.
bool is_given_up(const context& owner) {
    const held_lock lock(state_lock());
    return owner.is_destroyed || error_of(owner) != CUDA_SUCCESS;
}

void wait_until_met(const memory_range& word, const context& owner, std::uint64_t value,
                    unsigned condition) {
    for (;;) {
        check_not_freed(word);
        const std::uint64_t found = __atomic_load_n(word_of<std::uint64_t>(word), __ATOMIC_ACQUIRE);
        if (is_met(found, value, condition) || is_given_up(owner)) return;
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
}

}  // namespace

CUresult cuStreamWriteValue32_v2(CUstream handle, CUdeviceptr address, std::uint32_t value,
                                 unsigned flags) {
    return write_value(function::cuStreamWriteValue32_v2, handle, address, value, flags);
}

CUresult cuStreamWriteValue64_v2(CUstream handle, CUdeviceptr address, std::uint64_t value,
                                 unsigned flags) {
    return write_value(function::cuStreamWriteValue64_v2, handle, address, value, flags);
}

CUresult cuStreamWaitValue64_v2(CUstream handle, CUdeviceptr address, std::uint64_t value,
                                unsigned flags) {
    return call(function::cuStreamWaitValue64_v2, [&](held_lock&) {
        check_argument(flags <= nor, "there is no such condition");
        const stream_ref on = find_stream(handle);
        const auto word = find_word<std::uint64_t>(address, *on);
        operation added;
        added.begin = [word, user = on.get()] { check_usable(*word, *user); };
        added.run = [word, owner = on->owner, value, flags] {
            wait_until_met(*word, *owner, value, flags);
        };
        enqueue(on, std::move(added));
    });
}

}  // namespace standin
