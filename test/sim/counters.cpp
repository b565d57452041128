// Checks of counters that many processes change by atomic operations: the values that may be
// fetched, and the final values. A failed operation may have been carried out once or not at all.
#include <fmt/format.h>

#include <cstring>

#include "test/sim/model.hpp"

namespace sim_test {

namespace {

std::uint64_t value_mask(const counter& number) noexcept {
    return number.size == 8 ? ~std::uint64_t{0} : 0xffffffff;
}

// Additions: an 8-byte counter has eight fields of eight bits, one for each process. A 4-byte
// counter is one sum.
unsigned lane_bits(const counter& number) noexcept {
    return number.size == 8 ? 8 : 32;
}
std::size_t lane_of(const counter& number, std::size_t worker) noexcept {
    return number.size == 8 ? worker % 8 : 0;
}
std::uint64_t in_lane(const counter& number, std::size_t lane, std::uint64_t value) noexcept {
    const unsigned bits = lane_bits(number);
    return (value >> (bits * lane)) & ((std::uint64_t{1} << bits) - 1);
}
std::size_t lanes(const counter& number) noexcept {
    return 8 * number.size / lane_bits(number);
}

// The bit that a logical operation changes.
std::uint64_t bit_of(const counter& number, const operation_record& change) noexcept {
    const std::uint64_t operand = change.remote->operand;
    return (number.operation == UCP_ATOMIC_OP_AND ? ~operand : operand) & value_mask(number);
}

bool is_swap(const counter& number) noexcept {
    return number.operation == UCP_ATOMIC_OP_SWAP || number.operation == UCP_ATOMIC_OP_CSWAP;
}

// The value that a swap writes.
std::uint64_t token(const counter& number, const operation_record& swap) noexcept {
    const remote_operation& remote = *swap.remote;
    return (number.operation == UCP_ATOMIC_OP_SWAP ? remote.operand : remote.swap) &
           value_mask(number);
}

// Returns true if the swap has certainly written its token.
bool has_swapped(const counter& number, const operation_record& swap) noexcept {
    const remote_operation& remote = *swap.remote;
    return remote.fetched && (number.operation == UCP_ATOMIC_OP_SWAP ||
                              remote.before == (remote.operand & value_mask(number)));
}

}  // namespace

std::uint64_t initial_value(const counter& number) noexcept {
    return number.operation == UCP_ATOMIC_OP_AND ? value_mask(number) : 0;
}

std::uint64_t make_operand(const counter& number, std::size_t worker,
                           std::uint64_t unique) noexcept {
    const std::uint64_t bit = std::uint64_t{1} << (unique % (8 * number.size));
    switch (number.operation) {
        case UCP_ATOMIC_OP_ADD:
            return std::uint64_t{1} << (lane_bits(number) * lane_of(number, worker));
        case UCP_ATOMIC_OP_AND:
            return ~bit;
        case UCP_ATOMIC_OP_OR:
        case UCP_ATOMIC_OP_XOR:
            return bit;
        default:
            return number.size == 8 ? unique << 32U | unique : unique;
    }
}

void memory_model::ended_atomic(operation_record& atomic) {
    remote_operation& remote = *atomic.remote;
    if (remote.result == nullptr) return;
    std::memcpy(&remote.before, remote.result.get(), remote.changed->size);
    remote.fetched = true;
    if (is_swap(*remote.changed)) {
        check_taken_once(atomic);
    } else {
        check_fetched(atomic);
    }
}

void memory_model::check_fetched(const operation_record& atomic) {
    const counter& which = *atomic.remote->changed;
    const std::uint64_t found = atomic.remote->before;
    std::vector<std::uint64_t> least(lanes(which)), most(lanes(which));
    std::uint64_t certain = 0, possible = 0;
    bool twice = false;
    for (const operation_record* each : which.changes) {
        if (each == &atomic) continue;
        const bool earlier = before(*each, atomic);
        possible |= bit_of(which, *each);
        certain |= earlier ? bit_of(which, *each) : 0;
        ++most[lane_of(which, each->worker)];
        least[lane_of(which, each->worker)] += earlier ? 1 : 0;
        twice = twice || (each->remote->fetched && each->remote->before == found);
    }
    bool good = true;
    if (which.operation == UCP_ATOMIC_OP_ADD) {
        good = !twice;
        for (std::size_t lane = 0; lane < least.size(); ++lane) {
            const std::uint64_t count = in_lane(which, lane, found);
            good = good && least[lane] <= count && count <= most[lane];
        }
    } else {
        const std::uint64_t changed = found ^ initial_value(which);
        if (which.operation == UCP_ATOMIC_OP_XOR) certain = 0;
        good = (changed & ~possible) == 0 && (certain & ~changed) == 0;
    }
    if (!good)
        all_.violation(fmt::format("the fetched value is impossible: {}", all_.text(atomic)));
}

void memory_model::check_taken_once(const operation_record& atomic) {
    const counter& which = *atomic.remote->changed;
    const std::uint64_t found = atomic.remote->before;
    bool known = found == initial_value(which);
    for (const operation_record* each : which.changes) {
        if (each == &atomic) continue;
        known = known || token(which, *each) == found;
        if (has_swapped(which, atomic) && has_swapped(which, *each) &&
            each->remote->before == found) {
            all_.violation(fmt::format("{} and {} have taken the same value", all_.text(*each),
                                       all_.text(atomic)));
        }
    }
    if (!known)
        all_.violation(fmt::format("no operation wrote the fetched value: {}", all_.text(atomic)));
}

void memory_model::check_final(const region& memory, const counter& which) {
    const std::uint64_t value = memory.value(which);
    std::vector<std::uint64_t> least(lanes(which)), most(lanes(which));
    std::uint64_t sure = 0, open = 0, odd = 0;
    for (const operation_record* each : which.changes) {
        const bool certain =
            carried_out(*each) && (each->remote->fetched || each->remote->visible_at != 0 ||
                                   !all_.disturbed(each->worker, memory.owner()));
        ++most[lane_of(which, each->worker)];
        least[lane_of(which, each->worker)] += certain ? 1 : 0;
        (certain ? sure : open) |= bit_of(which, *each);
        odd ^= certain ? bit_of(which, *each) : 0;
    }
    const std::uint64_t changed = value ^ initial_value(which);
    bool good = true;
    switch (which.operation) {
        case UCP_ATOMIC_OP_ADD:
            for (std::size_t lane = 0; lane < least.size(); ++lane) {
                const std::uint64_t count = in_lane(which, lane, value);
                good = good && least[lane] <= count && count <= most[lane];
            }
            break;
        case UCP_ATOMIC_OP_AND:
        case UCP_ATOMIC_OP_OR:
            good = (sure & ~changed) == 0 && (changed & ~(sure | open)) == 0;
            break;
        case UCP_ATOMIC_OP_XOR:
            good = ((changed ^ odd) & ~open) == 0;
            break;
        default:
            check_chain(which, value);
            return;
    }
    if (good) return;
    std::string list;
    for (const operation_record* each : which.changes)
        list += "\n  " + all_.text(*each);
    all_.violation(fmt::format("the counter at {} of the memory of worker {} is {:x} after:{}",
                               which.offset, memory.owner(), value, list));
}

// Exactly one swap took each value that was replaced; the last value is still there.
void memory_model::check_chain(const counter& which, std::uint64_t value) {
    std::set<std::uint64_t> left{initial_value(which)}, possible = left;
    bool all_known = true;
    for (const operation_record* each : which.changes) {
        possible.insert(token(which, *each));
        if (has_swapped(which, *each)) left.insert(token(which, *each));
        all_known = all_known && each->remote->fetched;
    }
    for (const operation_record* each : which.changes) {
        if (has_swapped(which, *each)) left.erase(each->remote->before);
    }
    if (all_known ? left == std::set<std::uint64_t>{value} : possible.contains(value)) return;
    std::string list;
    for (const operation_record* each : which.changes)
        list += "\n  " + all_.text(*each);
    all_.violation(
        fmt::format("the value {:x} at {} does not follow from:{}", value, which.offset, list));
}

}  // namespace sim_test
