#include "uct/ib/rc/base/queue_pair.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "ucs/random/random_bytes.hpp"
#include "uct/ib/base/device/port.hpp"
#include "uct/ib/base/raw_pair.hpp"

namespace uct::rc {

transition to_init(const port_setup& port, bool atomics) noexcept {
    transition made{};
    made.attr.qp_state = IBV_QPS_INIT;
    made.attr.pkey_index = port.pkey_index;
    made.attr.port_num = port.number;
    unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    if (atomics) access |= IBV_ACCESS_REMOTE_ATOMIC;
    made.attr.qp_access_flags = access;
    made.mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    return made;
}

transition to_receive(const port_setup& port, const settings& options, const ib::address& peer,
                      const wire::connection_data& peer_data) noexcept {
    transition made{};
    ibv_qp_attr& attr = made.attr;
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = std::min(port.mtu, static_cast<ibv_mtu>(peer_data.mtu));
    attr.dest_qp_num = peer_data.qp_number;
    attr.rq_psn = peer_data.first_packet;
    attr.max_dest_rd_atomic = port.read_resources;
    attr.min_rnr_timer = ib::rnr_timer_code(options.rnr_timeout.seconds);
    attr.ah_attr = ib::address_vector_to(peer, port);
    made.mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    return made;
}

transition to_send(const port_setup& port, const settings& options, const ib::address& peer,
                   const wire::connection_data& own_data) noexcept {
    transition made{};
    ibv_qp_attr& attr = made.attr;
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = own_data.first_packet;
    attr.timeout = ib::timeout_code(options.timeout.seconds);
    attr.retry_cnt = static_cast<std::uint8_t>(options.retry_count);
    attr.rnr_retry = static_cast<std::uint8_t>(options.rnr_retry_count);
    attr.max_rd_atomic = std::min(port.read_depth, peer.read_depth);
    made.mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    return made;
}

ibv_ece common_options(const wire::connection_data& own_data,
                       const wire::connection_data& peer_data) noexcept {
    if (own_data.ece_vendor == 0 || own_data.ece_vendor != peer_data.ece_vendor) return {};
    return {own_data.ece_vendor, own_data.ece_options & peer_data.ece_options,
            own_data.ece_mask & peer_data.ece_mask};
}

queue_pair::queue_pair(ib::pair_handle pair, const ibv_qp_cap& got) noexcept
    : pair_(std::move(pair)),
      inline_(got.max_inline_data),
      pieces_(got.max_send_sge),
      send_room_(got.max_send_wr) {}

ucs::result<queue_pair> queue_pair::create(const setup& with) {
    auto raw = ib::make_pair({IBV_QPT_RC, "queue pair", with.on, with.sends, with.receives,
                              with.shared, with.options.tx_queue, with.options.tx_min_pieces,
                              with.options.tx_min_inline, 2});
    if (!raw) return raw.status();
    queue_pair made(std::move(raw->pair), raw->got);
    made.own_data_.qp_number = made.get().qp_num;
    made.own_data_.first_packet = static_cast<std::uint32_t>(ucs::sys::random_id()) & 0xffffffU;
    made.own_data_.mtu = static_cast<std::uint8_t>(with.port.mtu);
    made.query_ece();
    const transition first = to_init(with.port, with.on.has_atomics());
    if (const ucs_status_t status = made.move(first, state::init); status != UCS_OK) return status;
    return made;
}

ucs_status_t queue_pair::connect(const setup& with, const ib::address& peer,
                                 const wire::connection_data& peer_data) noexcept {
    set_ece(peer_data);
    const transition receive = to_receive(with.port, with.options, peer, peer_data);
    const transition send = to_send(with.port, with.options, peer, own_data_);
    const ucs_status_t status = move(receive, state::receive, &with.rejected);
    return status == UCS_OK ? move(send, state::send, &with.rejected) : status;
}

void queue_pair::fail() noexcept {
    if (state_ == state::error) return;
    transition last{};
    last.attr.qp_state = IBV_QPS_ERR;
    last.mask = IBV_QP_STATE;
    if (move(last, state::error) != UCS_OK) state_ = state::error;
}

ucs_status_t queue_pair::move(const transition& transition, state to,
                              ucs::log::throttle* rejected) noexcept {
    ibv_qp_attr attr = transition.attr;
    const int error = ibv_modify_qp(pair_.get(), &attr, transition.mask);
    if (error == 0) {
        state_ = to;
        return UCS_OK;
    }
    static constexpr char text[] = "queue pair {:#x} cannot go from {} to {}: {}";
    if (rejected != nullptr) {
        rejected->error(ib_log, text, number(), name(state_), name(to), std::strerror(error));
    } else {
        ucs::log::error(ib_log, text, number(), name(state_), name(to), std::strerror(error));
    }
    return error == ENOMEM ? UCS_ERR_NO_MEMORY : UCS_ERR_IO_ERROR;
}

// Queries vendor options on which both sides have to agree; most drivers have none.
void queue_pair::query_ece() noexcept {
    ibv_ece options{};
    if (ibv_query_ece(pair_.get(), &options) != 0) return;
    own_data_.ece_vendor = options.vendor_id;
    own_data_.ece_options = options.options;
    own_data_.ece_mask = options.comp_mask;
}

void queue_pair::set_ece(const wire::connection_data& peer_data) noexcept {
    ibv_ece options = common_options(own_data_, peer_data);
    if (options.options == 0) return;
    if (const int error = ibv_set_ece(pair_.get(), &options); error != 0) {
        ucs::log::debug(ib_log,
                        "queue pair {:#x}: the options that it has in common with the peer are not "
                        "taken: {}",
                        number(), std::strerror(error));
    }
}

const char* name(queue_pair::state value) noexcept {
    static constexpr std::array names{"init", "ready to receive", "ready to send", "error"};
    static_assert(names.size() == static_cast<std::size_t>(queue_pair::state::error) + 1);
    return names[static_cast<std::size_t>(value)];
}

namespace {

// Only one bind request is outstanding at a time.
constexpr int requests = 4;

settings for_bindings(const settings& options) noexcept {
    settings made = options;
    made.tx_queue = requests;
    made.tx_min_inline = 0;
    made.tx_min_pieces = 1;
    return made;
}

}  // namespace

ucs::result<ib::memory_windows::queues> make_window_queues(const queue_pair::setup& port,
                                                           const ib::address& own) noexcept {
    ib::memory_windows::queues made;
    made.completions.reset(ibv_create_cq(&port.on.context(), requests, nullptr, nullptr, 0));
    ibv_srq_init_attr none{};
    none.attr.max_wr = 1;
    none.attr.max_sge = 1;
    made.receives.reset(ibv_create_srq(&port.on.pd(), &none));
    if (made.completions == nullptr || made.receives == nullptr) {
        ucs::log::error(ib_log, "{}: no queues for memory windows: {}", port.on.name(),
                        std::strerror(errno));
        return UCS_ERR_NO_MEMORY;
    }
    const settings options = for_bindings(port.options);
    const queue_pair::setup with{port.on,           port.port,      options,      *made.completions,
                                 *made.completions, *made.receives, port.rejected};
    auto pair = queue_pair::create(with);
    if (!pair) return pair.status();
    if (const ucs_status_t status = pair->connect(with, own, pair->data()); status != UCS_OK) {
        return status;
    }
    made.pair = pair->release();
    return made;
}

}  // namespace uct::rc
