#include "uct/ib/base/raw_pair.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace uct::ib {

ucs::result<raw_pair> make_pair(const pair_request& wanted) {
    const ibv_device_attr& device = wanted.on.attr();
    ibv_qp_init_attr init{};
    init.qp_type = wanted.type;
    init.send_cq = &wanted.sends;
    init.recv_cq = &wanted.receives;
    init.srq = &wanted.shared;
    const std::uint32_t room =
        std::min(wanted.send_room, static_cast<std::uint32_t>(device.max_qp_wr));
    init.cap.max_send_wr = room;
    init.cap.max_send_sge = std::min(wanted.pieces, static_cast<std::uint32_t>(device.max_sge));
    init.cap.max_inline_data = wanted.inline_bytes;
    pair_handle pair(ibv_create_qp(&wanted.on.pd(), &init));
    if (pair == nullptr && errno == EINVAL) {  // devices refuse more than they can put inline
        init.cap = {};
        init.cap.max_send_wr = room;
        init.cap.max_send_sge = wanted.fewest_pieces;
        pair.reset(ibv_create_qp(&wanted.on.pd(), &init));
    }
    if (pair == nullptr) {
        ucs::log::error(ib_log, "{}: no {} with room for {} sends: {}", wanted.on.name(),
                        wanted.title, room, std::strerror(errno));
        return UCS_ERR_NO_MEMORY;
    }
    init.cap.max_send_wr = room;  // extra entries are not used
    return raw_pair{std::move(pair), init.cap};
}

}  // namespace uct::ib
