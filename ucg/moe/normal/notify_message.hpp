// Messages of notify. One message carries the routes of several source ranks from one rank to
// another.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ucg/moe/plan/routes.hpp"
#include "ucg/moe/steps.hpp"

namespace ucg::moe {

// The headers of several sources, followed by the records of all these sources. Value.
class notify_message {
public:
    // A message between this rank and `peer`. Throws std::bad_alloc.
    notify_message(rank_t peer, std::span<const rank_t> sources, const header_form& form);

    [[nodiscard]] rank_t peer() const noexcept { return peer_; }

    // Send side. The caller puts all headers, then calls allocate_records() once, then puts all
    // records, source by source.
    void put_header(std::size_t source, const route_header& header,
                    std::span<const std::uint32_t> counts,
                    std::span<const std::uint32_t> targets) noexcept;
    void allocate_records();
    void put_record(std::uint32_t token, std::span<const expert_t> experts) noexcept;

    // Receive side. check_headers() checks the received headers and allocates the record area that
    // their counts ask for. check_records() checks that each record has an expert on a rank for
    // which `wanted(rank)` is true. Both return the errors of `routes`.
    [[nodiscard]] ucs_status_t check_headers(std::uint64_t fingerprint) noexcept;
    template<class Wanted>
    [[nodiscard]] ucs_status_t check_records(const team& group, Wanted wanted) noexcept {
        const std::uint32_t* position = records_.get();
        for (routes& each : routes_) {
            const ucs_status_t status = each.check_records(group, position, wanted);
            if (status != UCS_OK) return status;
            position += each.records_length();
        }
        return UCS_OK;
    }
    [[nodiscard]] std::span<const routes> routes_by_source() const noexcept { return routes_; }

    [[nodiscard]] std::uint32_t* headers() noexcept { return headers_.get(); }
    [[nodiscard]] std::uint32_t* records() noexcept { return records_.get(); }
    [[nodiscard]] std::size_t headers_bytes() const noexcept {
        return sources_.size() * header_bytes(form_);
    }
    [[nodiscard]] std::size_t records_bytes() const noexcept { return records_bytes_; }

private:
    [[nodiscard]] const std::uint32_t* header(std::size_t source) const noexcept {
        return headers_.get() + source * header_bytes(form_) / 4;
    }
    rank_t peer_;
    header_form form_;
    std::vector<rank_t> sources_;
    std::unique_ptr<std::uint32_t[]> headers_, records_;
    std::size_t records_bytes_ = 0;
    std::size_t written_ = 0;
    std::vector<routes> routes_;
};

// The messages of one hop: to other ranks, from other ranks, and from this rank to itself.
struct hop {
    std::vector<notify_message> out, in;
    std::vector<notify_message> own;  // one message, which is treated as received
};

// Sends and receives all messages of a hop. Checks all received headers.
task exchange(member& me, hop& messages, std::uint64_t fingerprint);

}  // namespace ucg::moe
