#include "uct/ib/ud/base/transmitter.hpp"

#include <algorithm>

namespace uct::ud {

transmitter::transmitter(ib::domain& on, queue_pair pair, const settings& options,
                         std::size_t payload)
    : bounce_chunks_(on),
      direct_chunks_(on),
      bounces_(ib::pool_of<bounce>("ud bounce buffers", bounce_chunks_, sizeof(bounce) + payload)),
      directs_(ib::pool_of<direct>("ud descriptors", direct_chunks_, sizeof(direct))),
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
        let_go(each);
    }
}

void transmitter::put_back(packet& unused) noexcept {
    unused.at_device = false;
    unused.on = nullptr;
    if (!unused.from_memory) return ucs::memory::mpool::put(&static_cast<bounce&>(unused));
    auto& of = static_cast<direct&>(unused);
    of.pieces.let_go();
    ucs::memory::mpool::put(&of);
}

void transmitter::post(packet& which, const peer& to, bool signaled) noexcept {
    ibv_sge copied{reinterpret_cast<std::uint64_t>(which.bytes), which.length, which.key};
    ibv_send_wr request{};
    request.sg_list = &copied;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.wr.ud.ah = to.way.get();
    request.wr.ud.remote_qpn = to.where.pair;
    request.wr.ud.remote_qkey = to.where.key;
    const bool inlined = !which.from_memory && which.length <= pair_.inline_bytes();
    if (inlined) request.send_flags |= IBV_SEND_INLINE;
    if (which.from_memory) {
        auto& of = static_cast<direct&>(which);
        of.list[0] = copied;
        request.sg_list = of.list;
        request.num_sge = 1 + static_cast<int>(of.pieces.count());
    }
    signaled = signaled || which.from_memory || credits_.must_signal();
    if (signaled) request.send_flags |= IBV_SEND_SIGNALED;
    request.wr_id = credits_.next();
    ibv_send_wr* bad = nullptr;
    if (const int error = ibv_post_send(&pair_.get(), &request, &bad); error != 0) [[unlikely]] {
        if (!complained_) {
            ucs::log::error(ib::ib_log, "a datagram is not taken by the device: {}; tried again",
                            std::strerror(error));
        }
        complained_ = true;
        return;
    }
    ++posted_;
    which.request = credits_.post(signaled);
    which.at_device = !inlined;
}

void transmitter::let_go(packet& done) noexcept {
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
        let_go(done);
    }
}

void transmitter::completed(std::uint32_t number) noexcept {
    credits_.complete(number);
    for (auto at = retired_.begin(); at != retired_.end();) {
        auto& each = static_cast<packet&>(*at);
        if (reads(each)) {
            ++at;
            continue;
        }
        at = retired_.erase(at);
        let_go(each);
    }
}

}  // namespace uct::ud
