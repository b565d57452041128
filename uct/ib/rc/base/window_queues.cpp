#include "uct/ib/rc/base/window_queues.hpp"

#include <cerrno>
#include <cstring>

namespace uct::rc {
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
        ucs::log::error(ib::ib_log, "{}: no queues for memory windows: {}", port.on.name(),
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
