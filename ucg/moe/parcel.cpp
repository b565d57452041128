#include "ucg/moe/parcel.hpp"

#include <algorithm>
#include <new>

namespace ucg::moe {

using schedule::flights;
using schedule::member;
using schedule::require;
using schedule::task;

parcel::parcel(rank_t with, std::span<const rank_t> sources, const route_form& form)
    : with_(with),
      form_(form),
      sources_(sources.begin(), sources.end()),
      headers_(new std::uint32_t[sources.size() * header_bytes(form) / 4]),
      said_(sources.size()) {}

void parcel::put_header(std::size_t source, const route_header& what,
                        std::span<const std::uint32_t> counts,
                        std::span<const std::uint32_t> targets) noexcept {
    std::uint32_t* const at = headers_.get() + source * header_bytes(form_) / 4;
    std::memcpy(at, &what, sizeof what);
    std::ranges::copy(counts, at + sizeof what / 4);
    std::ranges::copy(targets, at + sizeof what / 4 + form_.channels);
    said_[source] = routes(at, form_);
    records_bytes_ += said_[source].records_length() * 4;
}

void parcel::make_room() {
    records_.reset(new std::uint32_t[records_bytes_ / 4]);
}

void parcel::put_record(std::uint32_t token, std::span<const expert_t> experts) noexcept {
    records_[written_++] = token;
    for (const expert_t expert : experts)
        records_[written_++] = static_cast<std::uint32_t>(expert);
}

ucs_status_t parcel::take_headers(std::uint64_t fingerprint) noexcept {
    records_bytes_ = 0;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        said_[i] = routes(header(i), form_);
        const ucs_status_t status = said_[i].check_header(sources_[i], fingerprint);
        if (status != UCS_OK) return status;
        records_bytes_ += said_[i].records_length() * 4;
    }
    records_.reset(new (std::nothrow) std::uint32_t[records_bytes_ / 4]);
    return records_ != nullptr ? UCS_OK : UCS_ERR_NO_MEMORY;
}

// Records follow headers at once: nobody waits for an answer.
task exchange(member& me, hop& what, std::uint64_t fingerprint) {
    flights coming(what.in.size());
    flights headers(what.out.size());
    flights records(what.out.size());
    co_await require(me, coming.status());
    co_await require(me, headers.status());
    co_await require(me, records.status());
    for (std::size_t i = 0; i < what.in.size(); ++i)
        coming[i].receive(me, what.in[i].with(), what.in[i].headers(), what.in[i].headers_bytes());
    for (std::size_t i = 0; i < what.out.size(); ++i) {
        parcel& out = what.out[i];
        headers[i].send(me, out.with(), out.headers(), out.headers_bytes());
        if (out.records_bytes() != 0)
            records[i].send(me, out.with(), out.records(), out.records_bytes());
    }
    for (std::size_t i = 0; i < what.in.size(); ++i) {
        parcel& in = what.in[i];
        co_await coming[i];
        co_await require(me, in.take_headers(fingerprint));
        if (in.records_bytes() != 0)
            coming[i].receive(me, in.with(), in.records(), in.records_bytes());
    }
    for (std::size_t i = 0; i < what.in.size(); ++i)
        co_await coming[i];
    for (std::size_t i = 0; i < what.out.size(); ++i) {
        co_await headers[i];
        co_await records[i];
    }
}

}  // namespace ucg::moe
