// The running operations of an endpoint, and the flushes that wait for them.
#pragma once

#include "ucp/core/request.hpp"

namespace ucp {

// Part of an endpoint. Owner context.
class running_operations {
public:
    using list = ucs::datastruct::list<request, &request::active_hook>;

    // Register and unregister operations that end with this endpoint when it fails.
    void add_send(request& send) noexcept;
    void remove_send(request& send) noexcept { sends_.erase(sends_.iterator_to(send)); }
    void add_receive(request& receive) noexcept { receives_.push_back(receive); }
    void remove_receive(request& receive) noexcept {
        receives_.erase(receives_.iterator_to(receive));
    }
    // Running sends, in order of their sequence.
    [[nodiscard]] list& sends() noexcept { return sends_; }
    [[nodiscard]] const list& sends() const noexcept { return sends_; }
    // Matched receives that wait for the peer.
    [[nodiscard]] list& receives() noexcept { return receives_; }
    [[nodiscard]] const list& receives() const noexcept { return receives_; }
    // Flushes, in order of their `until`.
    [[nodiscard]] const list& flushes() const noexcept { return flushes_; }
    // The sequence number of the next send.
    [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }

    // UCS_OK: everything before is done. UCS_INPROGRESS: `flush` is completed later.
    ucs_status_t start_flush(request& flush);
    // An operation has ended: ends the flushes that waited for it.
    void check_flushes();
    // Returns whether a flush has anything to wait for or to report.
    [[nodiscard]] bool has_unflushed() const noexcept;
    // Returns whether a flush of the program will close the endpoint.
    [[nodiscard]] bool closes_after_flush() const noexcept { return closes_after_flush_; }
    // The endpoint fails. Its flushes are hidden from check_flushes while operations are aborted,
    // which do not count as flushed; then end_flushes ends them.
    struct aborted_flushes {
        list waiting;
        bool unconfirmed = false;         // the peer had not confirmed all operations
        std::uint64_t first_aborted = 0;  // sequence number
    };
    void take_flushes(aborted_flushes& into);
    void end_flushes(aborted_flushes& taken, ucs_status_t status);

private:
    [[nodiscard]] ep& endpoint() noexcept;
    [[nodiscard]] const ep& endpoint() const noexcept;
    void end_flush(request& flush, ucs_status_t status);
    [[nodiscard]] bool awaits_connection(bool closes) const noexcept;
    [[nodiscard]] bool is_reached(flush_state& flush);
    [[nodiscard]] bool is_all_confirmed() const noexcept;
    [[nodiscard]] ucs_status_t outcome_of(const flush_state& flush);

    std::uint64_t sequence_ = 0;
    list sends_;
    list receives_;
    list flushes_;
    bool is_checking_ = false;  // inside check_flushes
    bool looks_again_ = false;
    bool closes_after_flush_ = false;

public:
    // Set by the features.
    bool is_end_watched = false;  // events::operation_ended is published
    bool has_fences = false;      // events::fences_checked and waiting_send_found are published
    bool is_direct = false;       // see reaches_directly in ucp/rma/order.hpp
    bool is_starting = false;     // waiting sends are being started; new ones queue behind them
};

}  // namespace ucp
