#include "uct/ib/ud/base/queue_pair.hpp"

#include <cerrno>
#include <cstring>

#include "ucs/random/random_bytes.hpp"
#include "uct/ib/base/raw_pair.hpp"

namespace uct::ud {

queue_pair::queue_pair(ib::pair_handle pair, const ibv_qp_cap& got, std::uint32_t key) noexcept
    : pair_(std::move(pair)),
      inline_(got.max_inline_data),
      pieces_(got.max_send_sge),
      send_room_(got.max_send_wr),
      key_(key) {}

ucs::result<queue_pair> queue_pair::create(const setup& with) {
    auto raw = ib::make_pair({IBV_QPT_UD, "queue pair for datagrams", with.on, with.sends,
                              with.receives, with.shared, with.options.tx_queue,
                              with.options.tx_min_pieces, with.options.tx_min_inline, 1});
    if (!raw) return raw.status();
    // A sender without the key cannot reach this queue pair. This includes senders to an earlier
    // interface with the same number. The highest bit is for privileged keys.
    const auto key = static_cast<std::uint32_t>(ucs::sys::random_id()) & 0x7fffffffU;
    queue_pair made(std::move(raw->pair), raw->got, key);
    if (const ucs_status_t status = made.make_ready(with.port); status != UCS_OK) return status;
    return made;
}

ucs_status_t queue_pair::make_ready(const ib::path_setup& port) noexcept {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.pkey_index = port.pkey_index;
    attr.port_num = port.number;
    attr.qkey = key_;
    ucs_status_t status =
        move(attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, "init");
    attr = {};
    attr.qp_state = IBV_QPS_RTR;
    if (status == UCS_OK) status = move(attr, IBV_QP_STATE, "ready to receive");
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = 0;
    if (status == UCS_OK) status = move(attr, IBV_QP_STATE | IBV_QP_SQ_PSN, "ready to send");
    return status;
}

ucs_status_t queue_pair::resume() noexcept {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTS;
    attr.cur_qp_state = IBV_QPS_SQE;
    return move(attr, IBV_QP_STATE | IBV_QP_CUR_STATE, "ready to send again");
}

ucs_status_t queue_pair::move(ibv_qp_attr& attr, int mask, const char* to) noexcept {
    const int error = ibv_modify_qp(pair_.get(), &attr, mask);
    if (error == 0) return UCS_OK;
    ucs::log::error(ib_log, "queue pair {:#x} for datagrams cannot become {}: {}", number(), to,
                    std::strerror(error));
    return error == ENOMEM ? UCS_ERR_NO_MEMORY : UCS_ERR_IO_ERROR;
}

}  // namespace uct::ud
