#include "ucg/moe/normal/notify_message.hpp"

#include <algorithm>
#include <new>

namespace ucg::moe {

notify_message::notify_message(rank_t peer, std::span<const rank_t> sources,
                               const header_form& form)
    : peer_(peer),
      form_(form),
      sources_(sources.begin(), sources.end()),
      headers_(new std::uint32_t[sources.size() * header_bytes(form) / 4]),
      routes_(sources.size()) {}

void notify_message::put_header(std::size_t source, const route_header& header,
                                std::span<const std::uint32_t> counts,
                                std::span<const std::uint32_t> targets) noexcept {
    std::uint32_t* const position = headers_.get() + source * header_bytes(form_) / 4;
    std::memcpy(position, &header, sizeof header);
    std::ranges::copy(counts, position + sizeof header / 4);
    std::ranges::copy(targets, position + sizeof header / 4 + form_.channels);
    routes_[source] = routes(position, form_);
    records_bytes_ += routes_[source].records_length() * 4;
}

void notify_message::allocate_records() {
    records_.reset(new std::uint32_t[records_bytes_ / 4]);
}

void notify_message::put_record(std::uint32_t token, std::span<const expert_t> experts) noexcept {
    records_[written_++] = token;
    for (const expert_t expert : experts)
        records_[written_++] = static_cast<std::uint32_t>(expert);
}

ucs_status_t notify_message::check_headers(std::uint64_t fingerprint) noexcept {
    records_bytes_ = 0;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        routes_[i] = routes(header(i), form_);
        const ucs_status_t status = routes_[i].check_header(sources_[i], fingerprint);
        if (status != UCS_OK) return status;
        records_bytes_ += routes_[i].records_length() * 4;
    }
    records_.reset(new (std::nothrow) std::uint32_t[records_bytes_ / 4]);
    return records_ != nullptr ? UCS_OK : UCS_ERR_NO_MEMORY;
}

// The sender sends the records right after the headers; there is no reply to wait for.
task exchange(member& me, hop& messages, std::uint64_t fingerprint) {
    flights coming(messages.in.size());
    flights headers(messages.out.size());
    flights records(messages.out.size());
    co_await require(me, coming.status());
    co_await require(me, headers.status());
    co_await require(me, records.status());
    for (std::size_t i = 0; i < messages.in.size(); ++i)
        coming[i].receive(me, messages.in[i].peer(), messages.in[i].headers(),
                          messages.in[i].headers_bytes());
    for (std::size_t i = 0; i < messages.out.size(); ++i) {
        notify_message& out = messages.out[i];
        headers[i].send(me, out.peer(), out.headers(), out.headers_bytes());
        if (out.records_bytes() != 0)
            records[i].send(me, out.peer(), out.records(), out.records_bytes());
    }
    for (std::size_t i = 0; i < messages.in.size(); ++i) {
        notify_message& in = messages.in[i];
        co_await coming[i];
        co_await require(me, in.check_headers(fingerprint));
        if (in.records_bytes() != 0)
            coming[i].receive(me, in.peer(), in.records(), in.records_bytes());
    }
    for (std::size_t i = 0; i < messages.in.size(); ++i)
        co_await coming[i];
    for (std::size_t i = 0; i < messages.out.size(); ++i) {
        co_await headers[i];
        co_await records[i];
    }
}

}  // namespace ucg::moe
