#include "ucg/net/lookup_address_book.hpp"

#include <algorithm>
#include <new>

#include "ucg/schedule/log.hpp"

namespace ucg::net {
namespace {

// The header of an address has its length. ucp reads no more than this many bytes, whatever the
// header says.
constexpr std::size_t min_buffer_bytes = 1024;

}  // namespace

lookup_address_book::~lookup_address_book() {
    static_cast<void>(close());
}

ucs_status_t lookup_address_book::find(schedule::rank_t rank,
                                       std::span<const std::byte>& found) noexcept try {
    lookup& entry = lookups_[rank];
    if (entry.status == UCS_INPROGRESS) look_up(rank, entry);
    found = entry.address;
    return entry.status;
} catch (const std::bad_alloc&) {
    ucs::log::error(net_log, "no memory for the address of rank {}", rank);
    return UCS_ERR_NO_MEMORY;
}

void lookup_address_book::look_up(schedule::rank_t rank, lookup& entry) {
    entry.address.resize(std::max(longest_, min_buffer_bytes));
    std::size_t bytes = longest_;
    const ucs_status_t status = oob_.lookup(oob_.arg, number_, rank, entry.address.data(), &bytes);
    if (status == UCS_INPROGRESS) return;
    if (status == UCS_OK && bytes != 0 && bytes <= longest_) {
        entry.status = UCS_OK;
        cached_count_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    entry.status = status < 0 ? status : UCS_ERR_IO_ERROR;
    entry.address = {};
    ucs::log::error(net_log, "the address of rank {} cannot be found: {}", rank,
                    ucs_status_string(entry.status));
}

void lookup_address_book::serve() noexcept {
    oob_.progress(oob_.arg);
}

bool lookup_address_book::close() noexcept {
    if (!closed_) closed_ = oob_.withdraw(oob_.arg, number_) != UCS_INPROGRESS;
    return closed_;
}

}  // namespace ucg::net
