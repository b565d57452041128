// Messages of notify: what several sources said, from one rank to another.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ucg/moe/routes.hpp"
#include "ucg/schedule/flights.hpp"
#include "ucg/schedule/require.hpp"

namespace ucg::moe {

// Headers of some sources, then the records of all of them. Value.
class parcel {
public:
    // Between this rank and `with`. std::bad_alloc.
    parcel(rank_t with, std::span<const rank_t> sources, const route_form& form);

    [[nodiscard]] rank_t with() const noexcept { return with_; }

    // Of one to send: all headers are put, then room is made, then all records, source by source.
    void put_header(std::size_t source, const route_header& what,
                    std::span<const std::uint32_t> counts,
                    std::span<const std::uint32_t> targets) noexcept;
    void make_room();
    void put_record(std::uint32_t token, std::span<const expert_t> experts) noexcept;

    // Of one that came: of headers, that there is room for their records; of records, that each is
    // meant for ranks that `wanted(rank)` is true for. As routes.
    [[nodiscard]] ucs_status_t take_headers(std::uint64_t fingerprint) noexcept;
    template<class Wanted>
    [[nodiscard]] ucs_status_t take_records(const team& of, Wanted wanted) noexcept {
        const std::uint32_t* at = records_.get();
        for (routes& each : said_) {
            const ucs_status_t status = each.check_records(of, at, wanted);
            if (status != UCS_OK) return status;
            at += each.records_length();
        }
        return UCS_OK;
    }
    [[nodiscard]] std::span<const routes> said() const noexcept { return said_; }

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
    rank_t with_;
    route_form form_;
    std::vector<rank_t> sources_;
    std::unique_ptr<std::uint32_t[]> headers_, records_;
    std::size_t records_bytes_ = 0;
    std::size_t written_ = 0;
    std::vector<routes> said_;
};

// Parcels from and to other ranks, and the one of this rank to itself.
struct hop {
    std::vector<parcel> out, in;
    std::vector<parcel> own;  // one, which is as if it had come
};

// Sends and receives; all headers that came are checked.
schedule::task exchange(schedule::member& me, hop& what, std::uint64_t fingerprint);

}  // namespace ucg::moe
