#include "uct/ib/base/completion_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace uct::ib {

ucs::result<completion_queue> completion_queue::create(domain& on, unsigned size,
                                                       ibv_comp_channel* channel) {
    const auto most = static_cast<unsigned>(std::max(1, on.attr().max_cqe));
    ibv_cq* const made =
        ibv_create_cq(&on.context(), static_cast<int>(std::min(size, most)), nullptr, channel, 0);
    if (made == nullptr) {
        ucs::log::error(ib_log, "{}: no completion queue of {} entries: {}", on.name(), size,
                        std::strerror(errno));
        return UCS_ERR_NO_MEMORY;
    }
    return completion_queue(queue_handle(made));
}

void completion_queue::note_broken() noexcept {
    if (broken_) return;
    broken_ = true;
    ucs::log::error(ib_log,
                    "a completion queue cannot be read any more: all that is under way on "
                    "its interface is lost");
}

}  // namespace uct::ib
