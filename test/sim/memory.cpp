#include "test/sim/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "test/sim/model.hpp"

namespace sim_test {

namespace {

constexpr std::byte guard{0xc7};
constexpr ucp_atomic_op_t operations[] = {UCP_ATOMIC_OP_ADD,   UCP_ATOMIC_OP_SWAP,
                                          UCP_ATOMIC_OP_CSWAP, UCP_ATOMIC_OP_AND,
                                          UCP_ATOMIC_OP_OR,    UCP_ATOMIC_OP_XOR};
constexpr std::size_t counters_length = 2 * 8 * std::size(operations);

// If a put failed, its buffer is spoiled, and the peer's memory may show that.
bool wrote(const operation_record& put, std::size_t offset, std::byte byte) {
    const bool broken = put.done && put.status != UCS_OK;
    return byte == pattern(put.remote->id, offset - put.remote->offset) ||
           (broken && byte == untouched);
}

}  // namespace

region::region(std::size_t owner, std::uint64_t id, std::size_t slices, std::size_t slice_length)
    : owner_(owner),
      id_(id),
      slice_length_(slice_length),
      length_(counters_length + slices * slice_length),
      memory_(new std::byte[length_ + 2 * guard_length]) {
    std::fill_n(memory_.get(), length_ + 2 * guard_length, guard);
    for (std::size_t i = counters_length; i < length_; ++i)
        base()[i] = pattern(id_, i);
    for (const std::size_t size : {std::size_t{4}, std::size_t{8}}) {
        for (const ucp_atomic_op_t operation : operations) {
            counters.push_back({operation, size, 8 * counters.size(), {}});
            const std::uint64_t first = initial_value(counters.back());
            std::memcpy(base() + counters.back().offset, &first, size);
        }
    }
}

std::size_t region::slice(std::size_t process) const noexcept {
    return counters_length + process * slice_length_;
}

std::uint64_t region::value(const counter& number) const noexcept {
    std::uint64_t now = 0;
    std::memcpy(&now, base() + number.offset, number.size);
    return now;
}

std::string region::damage() const {
    const auto intact = [](const std::byte* from, std::size_t count) {
        return std::all_of(from, from + count, [](std::byte each) { return each == guard; });
    };
    if (!intact(memory_.get(), guard_length)) return "before it";
    if (!intact(base() + length_, guard_length)) return "behind it";
    for (const counter& each : counters) {
        if (!intact(base() + each.offset + each.size, 8 - each.size)) {
            return fmt::format("behind the counter at {}", each.offset);
        }
    }
    return {};
}

std::string remote_operation::text() const {
    std::string line = changed != nullptr ? fmt::format(" {} of {} bytes with {:x}",
                                                        static_cast<int>(changed->operation),
                                                        changed->size, operand)
                                          : fmt::format(" of {} bytes", length);
    line += fmt::format(" at {} of the memory of worker {}, after {} fences", offset,
                        where->owner(), fences);
    if (fetched) line += fmt::format(", fetched {:x}", before);
    if (visible_at != 0) line += fmt::format(", flushed at #{}", visible_at);
    return line;
}

// Returns true if the operation was certainly carried out. A failed operation may have been carried
// out completely, partly or not at all, and may still run.
bool memory_model::carried_out(const operation_record& which) const {
    return which.done ? which.status == UCS_OK
                      : !all_.disturbed(which.worker, which.remote->where->owner());
}

bool memory_model::before(const operation_record& a, const operation_record& b) const {
    const remote_operation& first = *a.remote;
    if (first.visible_at != 0 && first.visible_at <= b.number) return true;
    return carried_out(a) && a.worker == b.worker && a.endpoint == b.endpoint &&
           first.fences < b.remote->fences;
}

// If there is no reader, the owner's program reads the memory now.
bool memory_model::seen(const operation_record& put, const operation_record* reader) const {
    return reader == nullptr ? put.remote->visible_at != 0 : before(put, *reader);
}

// The possible writers of a byte that all operations of `covering` write.
struct memory_model::candidates {
    std::vector<const operation_record*> puts;
    bool initial = true;
};

memory_model::candidates memory_model::allowed(const std::vector<operation_record*>& covering,
                                               const operation_record* reader) const {
    candidates found;
    std::vector<const operation_record*> visible;
    for (const operation_record* each : covering) {
        if (seen(*each, reader)) visible.push_back(each);
    }
    found.initial = visible.empty();
    for (const operation_record* each : covering) {
        const bool replaced = std::any_of(
            visible.begin(), visible.end(),
            [&](const operation_record* later) { return later != each && before(*each, *later); });
        if (!replaced) found.puts.push_back(each);
    }
    return found;
}

// `found` holds the bytes of [offset, offset + length) of the region.
void memory_model::check_bytes(const region& memory, std::size_t offset, std::size_t length,
                               const std::byte* found, const operation_record* reader) {
    std::vector<operation_record*> touching;
    std::vector<std::size_t> borders{offset, offset + length};
    for (operation_record* each : memory.puts) {
        const std::size_t begin = std::max(each->remote->offset, offset);
        const std::size_t end =
            std::min(each->remote->offset + each->remote->length, offset + length);
        if (begin >= end) continue;
        touching.push_back(each);
        borders.insert(borders.end(), {begin, end});
    }
    std::sort(borders.begin(), borders.end());
    for (std::size_t i = 1; i < borders.size(); ++i) {
        if (borders[i - 1] == borders[i]) continue;
        std::vector<operation_record*> covering;
        for (operation_record* each : touching) {
            const remote_operation& put = *each->remote;
            if (put.offset <= borders[i - 1] && borders[i] <= put.offset + put.length) {
                covering.push_back(each);
            }
        }
        const candidates may = allowed(covering, reader);
        for (std::size_t position = borders[i - 1]; position < borders[i]; ++position) {
            const std::byte byte = found[position - offset];
            const bool known =
                (may.initial && byte == pattern(memory.id(), position)) ||
                std::any_of(may.puts.begin(), may.puts.end(), [&](const operation_record* put) {
                    return wrote(*put, position, byte);
                });
            if (known) continue;
            std::string list;
            for (const operation_record* each : covering)
                list += "\n  " + all_.text(*each);
            all_.violation(fmt::format(
                "byte {} of the memory of worker {} is wrong{}; written by:{}", position,
                memory.owner(), reader != nullptr ? ", found by " + all_.text(*reader) : "", list));
            return;
        }
    }
}

void memory_model::ended(operation_record& which) {
    remote_operation& remote = *which.remote;
    if (remote.refusal != UCS_OK) {
        if (which.status != remote.refusal) {
            all_.violation(fmt::format("must be refused with '{}': {}",
                                       ucs_status_string(remote.refusal), all_.text(which)));
        }
        return;
    }
    if (which.status != UCS_OK) {
        if (!all_.disturbed(which.worker, remote.where->owner())) {
            all_.violation(fmt::format("failed without a reason: {}", all_.text(which)));
        }
    } else if (which.kind == operation_kind::get) {
        ended_get(which);
    } else if (which.kind == operation_kind::atomic) {
        ended_atomic(which);
    }
    remote.result.reset();
}

void memory_model::ended_get(operation_record& get) {
    const remote_operation& remote = *get.remote;
    const std::vector<std::byte> found = get.data->packed();
    check_bytes(*remote.where, remote.offset, remote.length, found.data(), &get);
}

void memory_model::flushed(operation_record& which) {
    if (!carried_out(which) || which.remote->visible_at != 0) return;
    remote_operation& remote = *which.remote;
    remote.visible_at = all_.next_call();
    if (which.kind != operation_kind::put) return;
    check_bytes(*remote.where, remote.offset, remote.length, remote.where->base() + remote.offset,
                nullptr);
}

void memory_model::check(const region& memory) {
    const std::string damage = memory.damage();
    if (!damage.empty()) {
        all_.violation(
            fmt::format("the memory of worker {} was written {}", memory.owner(), damage));
    }
    // If nothing went wrong, an operation that ended has also arrived by now.
    for (operation_record* each : memory.puts) {
        if (each->remote->visible_at == 0 && carried_out(*each) &&
            !all_.disturbed(each->worker, memory.owner())) {
            each->remote->visible_at = all_.next_call();
        }
    }
    check_bytes(memory, counters_length, memory.length() - counters_length,
                memory.base() + counters_length, nullptr);
    for (const counter& each : memory.counters)
        check_final(memory, each);
}

}  // namespace sim_test
