#include "uct/ib/rc/base/work_queue.hpp"

#include <algorithm>

namespace uct::rc {

work_queue::work_queue(const setup& with, queue_pair made) noexcept
    : slot(with.slot),
      pair(std::move(made)),
      shared_(with.shared),
      credits_(pair.send_room(), std::max(1U, std::min(with.moderation, pair.send_room() / 4))) {}

unsigned work_queue::post_pair(ibv_send_wr& first, ibv_send_wr& second, int& error) noexcept {
    first.wr_id = id_of(credits_.next());
    first.next = &second;
    second.wr_id = id_of(credits_.next() + 1);
    second.send_flags |= IBV_SEND_SIGNALED;
    ibv_send_wr* bad = nullptr;
    error = ibv_post_send(&pair.get(), &first, &bad);
    const unsigned taken = error == 0 ? 2 : bad == &second ? 1 : 0;
    for (unsigned i = 0; i < taken; ++i) {
        credits_.post(i == 1);
        shared_.take();
    }
    if (taken > 0) ++doorbells_;
    return taken;
}

}  // namespace uct::rc
