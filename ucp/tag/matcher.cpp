#include "ucp/tag/matcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "ucp/core/complete.hpp"
#include "ucp/eager/assembler.hpp"
#include "ucp/log/log.hpp"
#include "ucp/proto/receive.hpp"
#include "ucp/rndv/receiver.hpp"
#include "ucp/wireup/connection.hpp"

namespace ucp {

namespace {

// Further objects are returned to the heap, so that a burst does not pin memory for ever.
constexpr std::size_t max_spare = 256;
constexpr std::size_t max_spare_fragments = 16;  // each

recv_state& recv_of(request& receive) noexcept {
    return receive.state.recv;
}

}  // namespace

tag_matcher::tag_matcher(worker& owner) noexcept
    : owner_(owner), memory_(unexpected_limits::from_config(owner.owner().options())) {}

tag_matcher::~tag_matcher() {
    unexpected_.for_each([this](tag::unexpected_entry& entry) {
        unexpected_.remove(entry);
        delete static_cast<message*>(&entry);
    });
    while (spare_ != nullptr)
        delete std::exchange(spare_, spare_->next_spare);
}

message* tag_matcher::new_message(std::uint64_t tag, message::kind type) noexcept {
    message* fresh;
    if (spare_ == nullptr) {
        fresh = new (std::nothrow) message;
        if (fresh == nullptr) return nullptr;
    } else {
        fresh = std::exchange(spare_, spare_->next_spare);
        --spare_count_;
        fresh->ep = fresh->request = fresh->address = 0;
        fresh->status = UCS_OK;
        fresh->unfinished = nullptr;
        fresh->inline_length = 0;
    }
    fresh->tag = tag;
    fresh->type = type;
    return fresh;
}

void tag_matcher::free_message(message& done) noexcept {
    done.fragments.clear();
    if (done.fragments.capacity() > max_spare_fragments) [[unlikely]]
        std::vector<message::fragment>().swap(done.fragments);
    done.memory.reset();
    done.sender_hook.unlink();
    const std::size_t accounted = std::exchange(done.accounted, 0);
    if (done.connection != 0) [[unlikely]]
        memory_.shares().take_back(std::exchange(done.connection, 0), accounted);
    if (done.type == message::kind::rendezvous) {
        memory_.remove_rts(accounted);
    } else {
        memory_.remove_stored(accounted);
    }
    if (spare_count_ < max_spare) {
        done.next_spare = std::exchange(spare_, &done);
        ++spare_count_;
    } else {
        delete &done;
    }
}

request* tag_matcher::start(void* buffer, std::size_t count, const operation& params,
                            ucs_status_t& status) {
    request* receive = begin_call(owner_, params);
    if (receive == nullptr) {
        status = UCS_ERR_NO_MEMORY;
        return nullptr;
    }
    receive->callback.recv = params.recv_callback();
    if (receive->callback.recv != nullptr) receive->flags.set(request_flags::has_callback);
    recv_state& state = receive->start_recv();
    status = state.buffer.init(buffer, count, params.datatype());
    if (status == UCS_OK) return receive;
    abandon_call(*receive, status);
    return nullptr;
}

ucs_status_ptr_t tag_matcher::end(request& receive, const operation& params) {
    if (receive.flags.has(request_flags::ended) && params.tag_info() != nullptr) {
        *params.tag_info() = recv_of(receive).info;
    }
    return end_call(receive, params);
}

ucs_status_ptr_t tag_matcher::receive(void* buffer, std::size_t count, ucp_tag_t tag,
                                      ucp_tag_t mask, const operation& params) {
    tag::unexpected_entry* arrived = unexpected_.find(tag, mask);
    if (arrived == nullptr && params.force_immediate()) [[unlikely]] {
        memory_.missed();
        return UCS_STATUS_PTR(UCS_ERR_NO_RESOURCE);
    }
    ucs_status_t status;
    request* receive = start(buffer, count, params, status);
    if (receive == nullptr) return UCS_STATUS_PTR(status);
    if (arrived == nullptr) {
        recv_state& state = recv_of(*receive);
        state.tag = tag;
        state.mask = mask;
        expected_.add(state);
        receive->flags.clear(request_flags::starting);
        memory_.missed();
        return receive->handle();
    }
    unexpected_.remove(*arrived);
    take(*receive, static_cast<message&>(*arrived));
    return end(*receive, params);
}

message* tag_matcher::probe(ucp_tag_t tag, ucp_tag_t mask, bool remove, ucp_tag_recv_info_t& info) {
    tag::unexpected_entry* arrived = unexpected_.find(tag, mask);
    if (arrived == nullptr) {
        memory_.missed();
        return nullptr;
    }
    auto* found = static_cast<message*>(arrived);
    info = {found->tag, found->total};
    if (remove) {
        unexpected_.remove(*found);
        found->queued = false;
    }
    return found;
}

ucs_status_ptr_t tag_matcher::receive_probed(void* buffer, std::size_t count, message& taken,
                                             const operation& params) {
    ucs_status_t status;
    request* receive = start(buffer, count, params, status);
    if (receive == nullptr) {
        // A mistake in this call is not reported to the sender as its error.
        drop(taken, status == UCS_ERR_NO_MEMORY ? status : UCS_ERR_CANCELED);
        return UCS_STATUS_PTR(status);
    }
    take(*receive, taken);
    return end(*receive, params);
}

void tag_matcher::drop(message& taken, ucs_status_t status) {
    if (taken.unfinished != nullptr) taken.unfinished->stored = nullptr;
    const ep* from = taken.request != 0 ? owner_.endpoints().find(taken.ep) : nullptr;
    if (from != nullptr && taken.type == message::kind::rendezvous) {
        send_ats(*from, taken.request, status);
    } else if (from != nullptr) {
        answer_sync(*from, taken.request, status);
    }
    free_message(taken);
}

void tag_matcher::take(request& receive, message& stored) {
    recv_state& state = recv_of(receive);
    receive.flags.set(request_flags::matched);
    state.info = {stored.tag, stored.total};
    if (stored.status != UCS_OK) {
        const ucs_status_t status = stored.status;
        free_message(stored);
        finish_receive(receive, status);
        return;
    }
    if (stored.type == message::kind::rendezvous) {
        const std::uint64_t from = stored.ep;
        rts_info rts{stored.total, stored.request, stored.address, stored.confirm,
                     std::move(stored.memory)};
        free_message(stored);
        rendezvous(receive, from, std::move(rts));
        return;
    }
    take_eager(receive, stored);
}

void tag_matcher::take_eager(request& receive, message& stored) {
    recv_state& state = recv_of(receive);
    state.begin_transfer();
    staged_sink::attach(receive, state.buffer, stored.total);
    if (stored.request != 0) acknowledge(stored.ep, stored.request);
    if (stored.total > state.buffer.capacity()) state.outcome = UCS_ERR_MESSAGE_TRUNCATED;
    const auto unpack = [&state](const void* data, std::size_t offset, std::size_t length) {
        if (state.outcome == UCS_OK) state.outcome = state.buffer.unpack(data, offset, length);
    };
    if (stored.inline_length > 0) unpack(stored.inline_data, 0, stored.inline_length);
    for (const message::fragment& piece : stored.fragments)
        unpack(piece.data.get(), piece.offset, piece.length);
    assembly* unfinished = stored.unfinished;
    free_message(stored);
    if (unfinished == nullptr) {
        finish_receive(receive, state.outcome);
        return;
    }
    unfinished->stored = nullptr;
    attach_assembly(receive, *unfinished);
}

void tag_matcher::attach_assembly(request& receive, assembly& more) {
    more.receiver = &receive;
    ep* from = owner_.endpoints().find(more.ep);
    receive.via = from;
    if (from != nullptr) from->operations().add_receive(receive);
}

void tag_matcher::cancel(request& receive) {
    if (receive.kind != request_kind::recv || receive.is_completed() ||
        receive.flags.has(request_flags::matched)) {
        return;
    }
    expected_.remove(recv_of(receive));
    finish_receive(receive, UCS_ERR_CANCELED);
}

void tag_matcher::drop_incomplete(ep& sender, const assembly& incomplete) {
    message* stored = incomplete.stored;
    if (stored == nullptr) return;
    stored->unfinished = nullptr;
    stored->status = UCS_ERR_CONNECTION_RESET;  // a probe may hold the message
    if (stored->request != 0) answer_sync(sender, stored->request, UCS_ERR_CONNECTION_RESET);
    drop_queued(*stored);
}

void tag_matcher::drop_rts(ep& sender, message& stored) {
    if (stored.queued) send_ats(sender, stored.request, UCS_ERR_CONNECTION_RESET);
    drop_queued(stored);
}

void tag_matcher::queue(message& stored) noexcept {
    stored.queued = true;
    owner_.log().count(activity::stored_messages);
    unexpected_.add(stored);
}

void tag_matcher::account(message& stored, std::size_t bytes, uct::peer_bytes delivered) noexcept {
    stored.accounted += bytes;
    if (stored.type == message::kind::rendezvous) {
        memory_.add_rts(bytes);
    } else {
        memory_.store(bytes);
    }
    if (memory_.is_crowded() || stored.connection != 0) [[unlikely]]
        attribute(stored, bytes, delivered);
}

// Messages that arrived before the ordinary limit was reached count for no connection, so their
// senders need not be looked up.
void tag_matcher::attribute(message& stored, std::size_t bytes,
                            uct::peer_bytes delivered) noexcept {
    if (stored.connection != 0) {
        static_cast<void>(memory_.shares().add(stored.connection, bytes));
    } else if (const std::uint64_t from = owner_.interfaces().connection_of(delivered); from != 0) {
        if (memory_.shares().add(from, stored.accounted)) stored.connection = from;
    }
    if (memory_.kept() <= memory_.limits().hard) memory_.check_at_hard_limit();
    if (memory_.is_overfull()) owner_.schedule().request_full_progress();
}

void tag_matcher::relieve() {
    while (memory_.is_overfull()) {
        const connection_shares::share worst = memory_.shares().largest();
        if (worst.bytes <= memory_.limits().share) {
            relieve_ended_connections();
            return;
        }
        cut_off(worst);
        memory_.check_at_hard_limit();
    }
}

// A message outlives its connection, so a sender that reconnects repeatedly would get a new share
// each time. Each check walks over all messages and must not run for each new one; therefore a
// check that drops messages drops at least a sixteenth of the share.
void tag_matcher::relieve_ended_connections() {
    const std::size_t share = memory_.limits().share;
    try {
        const std::vector<std::uint64_t> alive = owner_.interfaces().living_connections();
        const std::size_t ended = memory_.shares().sum_of([&alive](std::uint64_t connection) {
            return !std::ranges::binary_search(alive, connection);
        });
        if (ended > share) {
            const std::size_t step = share / 16;
            drop_ended(alive,
                       std::min(ended - share, memory_.kept() - memory_.limits().hard) + step);
        }
    } catch (const std::bad_alloc&) {
        // The next check may get the memory.
    }
    if (memory_.kept() <= memory_.limits().hard) {
        memory_.check_at_hard_limit();
    } else {
        memory_.check_after_growth();
    }
}

// Messages that a probe has removed belong to the program and are not dropped.
void tag_matcher::drop_ended(const std::vector<std::uint64_t>& alive, std::size_t wanted) {
    const std::size_t before = memory_.kept();
    std::size_t dropped = 0;
    unexpected_.for_each_while([&](tag::unexpected_entry& entry) {
        auto& stored = static_cast<message&>(entry);
        if (stored.connection == 0 || std::ranges::binary_search(alive, stored.connection))
            return true;
        if (stored.unfinished != nullptr)
            slot_of<assembler>(owner_).drop(*std::exchange(stored.unfinished, nullptr));
        unexpected_.remove(stored);
        // The sender may still be alive, reach us by another connection, and wait for a reply.
        drop(stored, UCS_ERR_EXCEEDS_LIMIT);
        ++dropped;
        return before - memory_.kept() < wanted;
    });
    if (dropped == 0) return;
    owner_.log().rejected().error(
        proto_log,
        "{} tagged messages ({} bytes) of connections that have ended are dropped: no receive has "
        "asked for them, and more than UCX_UNEXPECTED_HARD_LIMIT is stored. Receive earlier, or "
        "raise UCX_UNEXPECTED_HARD_LIMIT if many senders end before their messages are received",
        dropped, before - memory_.kept());
}

namespace {

// Returns the name of the sender, for display.
std::string sender_behind(worker& owner, std::uint64_t connection) {
    const peer* const known = owner.peers().find_behind(connection);
    if (known == nullptr) return fmt::format("the sender of connection {}", connection);
    return fmt::format("worker {:x} ({})", known->uid(), known->lanes().peer_name());
}

}  // namespace

// The messages are dropped first. A send that waits for a reply gets none, because its sender
// learns that the connection ends.
void tag_matcher::cut_off(const connection_shares::share& worst) {
    const std::string sender = sender_behind(owner_, worst.connection);
    memory_.shares().forget(worst.connection);
    const std::size_t dropped = drop_stored_from(worst.connection);
    owner_.log().rejected().error(
        proto_log,
        "{} was told to wait, and {} bytes of its tagged messages lie here that no receive has "
        "asked for: it is cut off, and {} messages are dropped. Receive earlier, or set "
        "UCX_UNEXPECTED_LIMIT=inf if it is meant to send without a window",
        sender, worst.bytes, dropped);
    owner_.interfaces().end_connection(worst.connection, UCS_ERR_EXCEEDS_LIMIT);
}

// Messages that a probe has removed belong to the program and are not dropped.
std::size_t tag_matcher::drop_stored_from(std::uint64_t connection) {
    std::size_t dropped = 0;
    unexpected_.for_each([&](tag::unexpected_entry& entry) {
        auto& stored = static_cast<message&>(entry);
        if (stored.connection != connection) return;
        if (stored.unfinished != nullptr) slot_of<assembler>(owner_).drop(*stored.unfinished);
        drop_queued(stored);
        ++dropped;
    });
    return dropped;
}

// Does nothing if a probe holds the message.
void tag_matcher::drop_queued(message& stored) {
    if (!stored.queued) return;
    unexpected_.remove(stored);
    free_message(stored);
}

void tag_matcher::rendezvous(request& receive, std::uint64_t ep_id, rts_info rts) {
    ep* from = owner_.endpoints().find(ep_id);
    if (from == nullptr || wireup::is_incoming_over(*from)) {
        ucs::log::warn(proto_log,
                       "a message of {} bytes with tag {:#x} was announced by a peer that is gone "
                       "since; its receive fails",
                       rts.total, recv_of(receive).info.sender_tag);
        // The peer may be alive and waiting, because only this side closed the endpoint.
        if (from != nullptr) send_ats(*from, rts.request, UCS_ERR_CONNECTION_RESET);
        finish_receive(receive, UCS_ERR_CONNECTION_RESET);
        return;
    }
    recv_of(receive).begin_transfer();
    receive.via = from;
    from->operations().add_receive(receive);
    rndv_receive(receive, *from, std::move(rts));
}

void tag_matcher::describe(std::string& counts, std::string& details) {
    counts += fmt::format("#     receives posted: {}\n", expected_count());
    counts += fmt::format("#     messages stored: {}\n", unexpected_count());
    counts += fmt::format("#     memory for them: {} bytes, and {} for RTS messages\n",
                          memory_.stored(), memory_.rts_bytes());
    constexpr unsigned shown = 8;
    unsigned count = 0;
    expected_.for_each([&](const tag::expected_entry& entry) {
        if (count++ >= shown) return;
        details += fmt::format("#    receive of tag {:#x} mask {:#x}\n", entry.tag, entry.mask);
    });
    count = 0;
    unexpected_.for_each([&](tag::unexpected_entry& entry) {
        if (count++ >= shown) return;
        const auto& stored = static_cast<const message&>(entry);
        details +=
            fmt::format("#    message of tag {:#x}, {} bytes{}{}\n", stored.tag, stored.total,
                        stored.type == message::kind::rendezvous ? ", announced" : "",
                        stored.unfinished != nullptr ? ", not all here" : "");
    });
}

void tag_matcher::acknowledge(std::uint64_t ep_id, std::uint64_t sender_request,
                              ucs_status_t status) {
    const ep* from = owner_.endpoints().find(ep_id);
    if (from != nullptr) answer_sync(*from, sender_request, status);
}

void tag_matcher::answer_sync(const ep& to, std::uint64_t sender_request, ucs_status_t status) {
    const wire::ack_header header{sender_request, status};
    to.remote().control().send(wire::eager_ack, std::as_bytes(std::span(&header, 1)));
}

}  // namespace ucp
