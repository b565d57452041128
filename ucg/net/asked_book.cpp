#include "ucg/net/asked_book.hpp"

#include <algorithm>
#include <new>

#include "ucg/net/log.hpp"

namespace ucg::net {
namespace {

// An address says itself how long it is, at most so many bytes: ucp does not read beyond the room,
// whatever it says.
constexpr std::size_t least_room = 1024;

}  // namespace

asked_book::~asked_book() {
    static_cast<void>(close());
}

ucs_status_t asked_book::find(schedule::rank_t rank, std::span<const std::byte>& found) noexcept
    try {
    answer& of = answers_[rank];
    if (of.status == UCS_INPROGRESS) ask(rank, of);
    found = of.address;
    return of.status;
} catch (const std::bad_alloc&) {
    ucs::log::error(net_log, "no memory for the address of rank {}", rank);
    return UCS_ERR_NO_MEMORY;
}

void asked_book::ask(schedule::rank_t rank, answer& into) {
    into.address.resize(std::max(longest_, least_room));
    std::size_t bytes = longest_;
    const ucs_status_t status = over_.lookup(over_.arg, number_, rank, into.address.data(), &bytes);
    if (status == UCS_INPROGRESS) return;
    if (status == UCS_OK && bytes != 0 && bytes <= longest_) {
        into.status = UCS_OK;
        kept_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    into.status = status < 0 ? status : UCS_ERR_IO_ERROR;
    into.address = {};
    ucs::log::error(net_log, "the address of rank {} cannot be found: {}", rank,
                    ucs_status_string(into.status));
}

void asked_book::serve() noexcept {
    over_.progress(over_.arg);
}

bool asked_book::close() noexcept {
    if (!closed_) closed_ = over_.withdraw(over_.arg, number_) != UCS_INPROGRESS;
    return closed_;
}

}  // namespace ucg::net
