#include "uct/sim/trace.hpp"

#include <fmt/format.h>

#include <array>

namespace uct::sim {

namespace {

const char* name_of(event_kind kind) noexcept {
    static constexpr std::array names{
        "opened",          "connected",          "posted",       "refused",
        "arrived",         "held back",          "delivered",    "landed piece",
        "dropped",         "remote access",      "completed",    "flushed",
        "endpoint failed", "endpoint destroyed", "node left",    "node died",
        "woken",           "repeated",           "said goodbye", "node cut off"};
    static_assert(names.size() == static_cast<std::size_t>(event_kind::node_cut) + 1);
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace

void trace::add(const trace_record& record) noexcept {
    ring_[count_++ % ring_.size()] = record;
    for (const std::uint64_t value :
         {record.when, static_cast<std::uint64_t>(record.kind), std::uint64_t{record.from},
          std::uint64_t{record.to}, record.link, record.detail}) {
        digest_ = (digest_ ^ value) * 0x100000001b3ULL;
        digest_ ^= digest_ >> 29U;
    }
}

std::string trace::text() const {
    fmt::memory_buffer out;
    const std::uint64_t kept = std::min<std::uint64_t>(count_, ring_.size());
    for (std::uint64_t i = count_ - kept; i < count_; ++i) {
        const trace_record& r = ring_[i % ring_.size()];
        fmt::format_to(fmt::appender(out), "{:>14} ns  {:<18} {} -> {}  link {}  {}\n", r.when,
                       name_of(r.kind), r.from, r.to, r.link, static_cast<std::int64_t>(r.detail));
    }
    return fmt::to_string(out);
}

}  // namespace uct::sim
