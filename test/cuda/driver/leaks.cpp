#include "test/cuda/driver/leaks.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "test/cuda/driver/event.hpp"
#include "test/cuda/driver/libraries.hpp"
#include "test/cuda/driver/memory.hpp"
#include "test/cuda/driver/pool.hpp"
#include "test/cuda/driver/standin.h"
#include "test/cuda/driver/virtual_memory.hpp"

namespace standin {
namespace {

struct live_object {
    const char* kind;
    std::string text;
};

using live_objects = std::vector<live_object>;

[[gnu::format(printf, 1, 2)]] std::string format(const char* form, ...) {
    char text[160];
    std::va_list values;
    va_start(values, form);
    std::vsnprintf(text, sizeof text, form, values);
    va_end(values);
    return text;
}

const char* name_of(memory_kind kind) {
    switch (kind) {
        case memory_kind::device:
            return "device memory";
        case memory_kind::managed:
            return "managed memory";
        case memory_kind::pinned:
            return "pinned memory";
        case memory_kind::registered:
            return "registered memory";
        case memory_kind::pool:
            return "pool memory";
        case memory_kind::mapping:
            return "mapping";
        case memory_kind::imported:
            return "imported memory";
    }
    return "memory";
}

void add_contexts(live_objects& into) {
    for (const auto& [handle, each] : contexts())
        into.push_back({"context", each->is_primary
                                       ? format("primary of device %d, retained %u times",
                                                each->on.ordinal, each->retains)
                                       : format("%p of device %d", static_cast<void*>(handle),
                                                each->on.ordinal)});
}

void add_streams_and_events(live_objects& into) {
    for_each_stream([&](const stream& each) {
        into.push_back({"stream", format("%p of device %d, %llu operations, %llu of them complete",
                                         static_cast<void*>(each.handle), each.owner->on.ordinal,
                                         static_cast<unsigned long long>(each.queued),
                                         static_cast<unsigned long long>(each.completed))});
    });
    for_each_event([&](const event& each) {
        into.push_back({"event", format("%p of device %d", static_cast<void*>(each.handle),
                                        each.owner->on.ordinal)});
    });
}

void add_memory(live_objects& into) {
    for_each_allocation([&](const allocation_ref& each) {
        into.push_back({name_of(each->kind),
                        format("%zu bytes at 0x%llx of device %d, buffer %llu", each->length,
                               static_cast<unsigned long long>(each->base), each->on->ordinal,
                               static_cast<unsigned long long>(each->buffer_id))});
    });
}

void add_virtual_memory(live_objects& into) {
    for_each_allocation_handle([&](const allocation_handle& each) {
        into.push_back(
            {"allocation handle", format("0x%llx of %zu bytes, %u references", each.number,
                                         each.memory->length(), each.references)});
    });
    for_each_reservation([&](const reservation& each) {
        into.push_back({"reservation", format("%zu bytes at 0x%llx", each.length,
                                              static_cast<unsigned long long>(each.base))});
    });
}

void add_others(live_objects& into) {
    for_each_pool([&](const pool& each) {
        into.push_back(
            {"pool", format("%p of device %d", static_cast<void*>(each.handle), each.on.ordinal)});
    });
    for_each_library([&](CUlibrary handle) {
        into.push_back({"library", format("%p", static_cast<void*>(handle))});
    });
}

live_objects list_objects() {
    live_objects listed;
    add_contexts(listed);
    add_streams_and_events(listed);
    add_memory(listed);
    add_virtual_memory(listed);
    add_others(listed);
    return listed;
}

}  // namespace

std::size_t report_leaks() {
    const live_objects listed = list_objects();
    for (const live_object& each : listed)
        std::fprintf(stderr, "standin: not released: %s %s\n", each.kind, each.text.c_str());
    return listed.size();
}

}  // namespace standin

size_t standin_live(const char* kind) {
    const standin::held_lock lock(standin::state_lock());
    const auto listed = standin::list_objects();
    return static_cast<size_t>(std::count_if(listed.begin(), listed.end(), [&](const auto& each) {
        return kind == nullptr || std::strcmp(kind, each.kind) == 0;
    }));
}

size_t standin_list_live(char* text, size_t size) {
    const standin::held_lock lock(standin::state_lock());
    std::string all;
    for (const auto& each : standin::list_objects())
        all += std::string(each.kind) + " " + each.text + "\n";
    if (size > 0) {
        const size_t copied = std::min(size - 1, all.size());
        std::memcpy(text, all.data(), copied);
        text[copied] = '\0';
    }
    return all.size();
}

size_t standin_report_leaks() {
    const standin::held_lock lock(standin::state_lock());
    return standin::report_leaks();
}
