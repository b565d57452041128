#include "uct/ib/ud/base/transmitter.hpp"

#include <algorithm>

namespace uct::ud {

transmitter::transmitter(ib::domain& on, queue_pair pair, const settings& options,
                         std::size_t payload)
    : descriptor_pools(on, "ud bounce buffers", payload, "ud descriptors"),
      pair_(std::move(pair)),
      credits_(pair_.send_room(),
               std::max(1U, std::min(options.tx_moderation, pair_.send_room() / 4))) {}

transmitter::~transmitter() {
    stop();
}

void transmitter::stop() noexcept {
    pair_.destroy();
    stopped_ = true;
    credits_.complete(credits_.newest());
    while (!retired_.empty()) {
        auto& each = static_cast<packet&>(retired_.front());
        retired_.pop_front();
        release(each);
    }
}

void transmitter::put_back(packet& unused) noexcept {
    unused.at_device = false;
    unused.conn = nullptr;
    if (!unused.from_memory) return ucs::memory::mpool::put(&static_cast<bounce&>(unused));
    auto& direct_packet = static_cast<direct&>(unused);
    direct_packet.pieces.release();
    ucs::memory::mpool::put(&direct_packet);
}

void transmitter::post(packet& pkt, const peer& to, bool signaled) noexcept {
    ibv_sge copied{reinterpret_cast<std::uint64_t>(pkt.bytes), pkt.length, pkt.key};
    ibv_send_wr request{};
    request.sg_list = &copied;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.wr.ud.ah = to.address_handle.get();
    request.wr.ud.remote_qpn = to.where.pair;
    request.wr.ud.remote_qkey = to.where.key;
    const bool inlined = !pkt.from_memory && pkt.length <= pair_.inline_bytes();
    if (inlined) request.send_flags |= IBV_SEND_INLINE;
    if (pkt.from_memory) {
        auto& direct_packet = static_cast<direct&>(pkt);
        direct_packet.list[0] = copied;
        request.sg_list = direct_packet.list;
        request.num_sge = 1 + static_cast<int>(direct_packet.pieces.count());
    }
    signaled = signaled || pkt.from_memory || credits_.must_signal();
    if (signaled) request.send_flags |= IBV_SEND_SIGNALED;
    request.wr_id = credits_.next();
    ibv_send_wr* bad = nullptr;
    if (const int error = ibv_post_send(&pair_.get(), &request, &bad); error != 0) [[unlikely]] {
        if (!complained_) {
            ucs::log::error(ib_log, "a datagram is not taken by the device: {}; tried again",
                            std::strerror(error));
        }
        complained_ = true;
        return;
    }
    ++posted_;
    pkt.request = credits_.post(signaled);
    pkt.at_device = !inlined;
}

void transmitter::release(packet& done) noexcept {
    if (done.from_memory) {
        ended_.push_back(done);
    } else {
        put_back(done);
    }
}

void transmitter::retire(packet& done) noexcept {
    if (reads(done)) {
        retired_.push_back(done);
    } else {
        release(done);
    }
}

void transmitter::completed(std::uint32_t number) noexcept {
    credits_.complete(number);
    for (auto it = retired_.begin(); it != retired_.end();) {
        auto& each = static_cast<packet&>(*it);
        if (reads(each)) {
            ++it;
            continue;
        }
        it = retired_.erase(it);
        release(each);
    }
}

}  // namespace uct::ud
