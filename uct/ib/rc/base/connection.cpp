#include "uct/ib/rc/base/connection.hpp"

#include <arpa/inet.h>

#include <array>
#include <cstring>

namespace uct::rc {

connection::connection(const setup& with, queue_pair pair) noexcept
    : ops(with.ended), flow(with.flow), queue_(with.queue, std::move(pair)) {}

connection::~connection() = default;

ucs_status_t connection::connect(const queue_pair::setup& with, const ib::address& peer,
                                 const wire::connection_data& peer_data) noexcept {
    const ucs_status_t status = queue_.pair.connect(with, peer, peer_data);
    if (status != UCS_OK) {
        fail(status);
        return status;
    }
    state_ = state::connected;
    return UCS_OK;
}

void connection::refused(int error) noexcept {
    ucs::log::error(ib_log, "queue pair {:#x} does not take a work request: {}",
                    queue_.pair.number(), std::strerror(error));
    fail(UCS_ERR_IO_ERROR);
}

bool connection::post_pair(ibv_send_wr& first, ibv_send_wr& second, tx_op& op) noexcept {
    int error;
    const unsigned taken = queue_.post_pair(first, second, error);
    if (taken > 0) add(op);
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
    flow.granted_alone();
    grant_ = queue_.credits().newest();
    return true;
}

bool connection::post_goodbye() noexcept {
    wants_goodbye = false;
    goodbye_sent_ = post_control(wire::goodbye, true);
    return goodbye_sent_;
}

bool connection::request_completion() noexcept {
    wants_completion = queue_.credits().unsignaled() > 0 && connected();
    if (!wants_completion) return true;
    if (!queue_.has_room()) return false;
    wants_completion = false;
    post_empty();
    return true;
}

void connection::complete(std::uint32_t request, ucs_status_t status) noexcept {
    queue_.complete(request);
    if (flow.has_grant_under_way() && queue_.credits().is_complete(grant_))
        flow.grant_acknowledged();
    // From now on each request produces a completion.
    if (status != UCS_OK) [[unlikely]]
        fail(status);
    ops.end_complete(queue_.credits(), request, status == UCS_OK ? UCS_OK : error_);
    if (error_ != UCS_OK && queue_.empty()) [[unlikely]]
        state_ = state::failed;
}

void connection::fail(ucs_status_t status) noexcept {
    if (error_ != UCS_OK) return;
    error_ = status;
    queue_.pair.fail();
    state_ = queue_.empty() ? state::failed : state::failing;
    wants_drain = !queue_.empty();
    if (wants_drain) drain();
}

bool connection::drain() noexcept {
    if (!queue_.has_room_for_last()) return false;
    wants_drain = false;
    if (!post_empty()) abandon();
    return true;
}

void connection::abandon() noexcept {
    wants_drain = false;
    queue_.abandon();
    ops.end_complete(queue_.credits(), queue_.credits().newest(), error_);
    state_ = state::failed;
}

void connection::destroy() noexcept {
    queue_.pair.destroy();
    ops.cancel_all(error_);
}

const char* name(connection::state value) noexcept {
    static constexpr std::array names{"unconnected", "connected", "failing", "failed"};
    static_assert(names.size() == static_cast<std::size_t>(connection::state::failed) + 1);
    return names[static_cast<std::size_t>(value)];
}

}  // namespace uct::rc
