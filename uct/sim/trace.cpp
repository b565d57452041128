#include "uct/sim/trace.hpp"

#include <fmt/format.h>

namespace uct::sim {

namespace {

const char* name_of(event_kind kind) noexcept {
    switch (kind) {
        case event_kind::opened:
            return "opened";
        case event_kind::connected:
            return "connected";
        case event_kind::posted:
            return "posted";
        case event_kind::refused:
            return "refused";
        case event_kind::arrived:
            return "arrived";
        case event_kind::held_back:
            return "held back";
        case event_kind::delivered:
            return "delivered";
        case event_kind::landed_piece:
            return "landed piece";
        case event_kind::dropped:
            return "dropped";
        case event_kind::remote_access:
            return "remote access";
        case event_kind::completed:
            return "completed";
        case event_kind::flushed:
            return "flushed";
        case event_kind::ep_failed:
            return "endpoint failed";
        case event_kind::ep_destroyed:
            return "endpoint destroyed";
        case event_kind::node_left:
            return "node left";
        case event_kind::node_died:
            return "node died";
        case event_kind::woken:
            return "woken";
        case event_kind::retransmitted:
            return "repeated";
        case event_kind::goodbye_arrived:
            return "said goodbye";
        case event_kind::node_cut:
            return "node cut off";
    }
    return "?";
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
