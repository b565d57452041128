#include "uct/ib/rc/base/connection.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

namespace uct::rc {

connection::connection(const setup& with, queue_pair pair) noexcept
    : shared_(with.shared),
      ended_(with.ended),
      slot_(with.slot),
      pair_(std::move(pair)),
      credits_(pair_.send_room(), std::max(1U, std::min(with.moderation, pair_.send_room() / 4))),
      flow_(with.flow) {}

connection::~connection() = default;

ucs_status_t connection::connect(const queue_pair::setup& with, const ib::address& peer,
                                 const wire::connection_data& peer_data) noexcept {
    const ucs_status_t status = pair_.connect(with, peer, peer_data);
    if (status != UCS_OK) {
        fail(status);
        return status;
    }
    state_ = state::connected;
    return UCS_OK;
}

void connection::refused(int error) noexcept {
    ucs::log::error(ib::ib_log, "queue pair {:#x} does not take a work request: {}", pair_.number(),
                    std::strerror(error));
    fail(UCS_ERR_IO_ERROR);
}

bool connection::post_pair(ibv_send_wr& first, ibv_send_wr& second, tx_op& op) noexcept {
    const auto name_of = [this](std::uint32_t number) {
        return std::uint64_t{slot_} << 32U | number;
    };
    first.wr_id = name_of(credits_.next());
    first.next = &second;
    second.wr_id = name_of(credits_.next() + 1);
    second.send_flags |= IBV_SEND_SIGNALED;
    ibv_send_wr* bad = nullptr;
    const int error = ibv_post_send(&pair_.get(), &first, &bad);
    const unsigned taken = error == 0 ? 2 : bad == &second ? 1 : 0;
    for (unsigned i = 0; i < taken; ++i) {
        credits_.post(i == 1);
        shared_.take();
    }
    if (taken > 0) {
        ++doorbells_;
        add(op);
    }
    if (error != 0) refused(error);
    return taken > 0;
}

bool connection::post_empty() noexcept {
    ibv_send_wr request{};
    request.opcode = IBV_WR_RDMA_WRITE;  // of 0 bytes, which needs no memory and no key
    return post(request, true);
}

bool connection::post_control(std::uint32_t immediate, bool wanted) noexcept {
    ibv_send_wr request{};
    request.opcode = IBV_WR_SEND_WITH_IMM;
    request.imm_data = htonl(immediate);
    return post(request, wanted);
}

bool connection::post_grant() noexcept {
    if (!post_control(flow_grant, true)) return false;
    flow_.granted_alone();
    grant_ = credits_.newest();
    return true;
}

bool connection::post_goodbye() noexcept {
    wants_goodbye = false;
    goodbye_sent_ = post_control(wire::goodbye, true);
    return goodbye_sent_;
}

bool connection::request_completion() noexcept {
    wants_completion = credits_.unsignaled() > 0 && connected();
    if (!wants_completion) return true;
    if (!has_room()) return false;
    wants_completion = false;
    post_empty();
    return true;
}

void connection::complete(std::uint32_t number, ucs_status_t status) noexcept {
    shared_.give_back(credits_.complete(number));
    ++completions_;
    if (flow_.has_grant_under_way() && credits_.is_complete(grant_)) flow_.grant_acknowledged();
    // From now on each request produces a completion.
    if (status != UCS_OK) [[unlikely]]
        fail(status);
    if (!ops_.empty()) end_ops(number, status == UCS_OK ? UCS_OK : error_);
    if (error_ != UCS_OK && idle()) [[unlikely]]
        state_ = state::failed;
}

void connection::end_ops(std::uint32_t number, ucs_status_t last) noexcept {
    while (!ops_.empty()) {
        tx_op& oldest = ops_.front();
        if (!credits_.is_complete(oldest.number)) return;
        ops_.pop_front();
        // An unsignaled request may have completed before its queue pair failed.
        oldest.status = oldest.number == number || oldest.for_user ? last : UCS_OK;
        ended_.push_back(oldest);
    }
}

void connection::fail(ucs_status_t status) noexcept {
    if (error_ != UCS_OK) return;
    error_ = status;
    pair_.fail();
    state_ = idle() ? state::failed : state::failing;
    wants_drain = !idle();
    if (wants_drain) drain();
}

bool connection::drain() noexcept {
    if (!credits_.last() || !shared_.any()) return false;
    wants_drain = false;
    if (!post_empty()) abandon();
    return true;
}

void connection::abandon() noexcept {
    wants_drain = false;
    pair_.destroy();
    shared_.give_back(credits_.complete(credits_.newest()));
    end_ops(credits_.newest(), error_);
    state_ = state::failed;
}

bool connection::holds_memory() const noexcept {
    return std::any_of(ops_.begin(), ops_.end(),
                       [](const tx_op& each) { return each.holds_memory; });
}

void connection::cancel(bool all) noexcept {
    op_queue kept;
    while (!ops_.empty()) {
        tx_op& oldest = ops_.front();
        ops_.pop_front();
        if (!all && !oldest.for_user) {
            kept.push_back(oldest);
            continue;
        }
        oldest.status = error_ == UCS_OK ? UCS_ERR_CANCELED : error_;
        oldest.finish(oldest);
    }
    ops_.swap(kept);
}

const char* name(connection::state value) noexcept {
    switch (value) {
        case connection::state::unconnected:
            return "unconnected";
        case connection::state::connected:
            return "connected";
        case connection::state::failing:
            return "failing";
        case connection::state::failed:
            break;
    }
    return "failed";
}

}  // namespace uct::rc
