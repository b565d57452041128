#include "uct/ib/base/memory/memory_windows.hpp"

#include <cstring>

#include "ucs/time/clock.hpp"
#include "ucs/type/allocated.hpp"

namespace uct::ib {
namespace {

// Binding sends no packet and takes microseconds.
constexpr ucs::time::nanoseconds longest_wait = ucs::time::second;

}  // namespace

ucs::result<memory_windows::binding> memory_windows::bind(ibv_mr& region,
                                                          std::span<std::byte> bytes,
                                                          unsigned rights) noexcept {
    const std::scoped_lock guard(lock_);
    if (!are_usable()) return UCS_ERR_IO_ERROR;
    window_handle window = take();
    if (window == nullptr) return UCS_ERR_NO_MEMORY;
    if (!rebind(*window, region, bytes, rights)) return UCS_ERR_IO_ERROR;
    return binding(*this, std::move(window), region);
}

// If a window cannot be unbound or stored, it is freed, which also ends its key.
void memory_windows::unbind(window_handle window, ibv_mr& region) noexcept {
    const std::scoped_lock guard(lock_);
    if (!are_usable() || !rebind(*window, region, {}, 0)) return;
    if (!ucs::allocated([&] { free_.push_back(std::move(window)); })) window.reset();
}

window_handle memory_windows::take() noexcept {
    if (free_.empty()) return window_handle(ibv_alloc_mw(&domain_, IBV_MW_TYPE_1));
    window_handle oldest = std::move(free_.front());
    free_.pop_front();
    return oldest;
}

bool memory_windows::rebind(ibv_mw& window, ibv_mr& region, std::span<std::byte> bytes,
                            unsigned access) noexcept {
    ibv_mw_bind request{};
    request.send_flags = IBV_SEND_SIGNALED;
    request.bind_info.mr = &region;
    request.bind_info.addr = reinterpret_cast<std::uint64_t>(bytes.data());
    request.bind_info.length = bytes.size();
    request.bind_info.mw_access_flags = access;
    const int error = ibv_bind_mw(queues_.pair.get(), &window, &request);
    const char* const why = error != 0 ? std::strerror(error) : await_request();
    if (why == nullptr) return true;
    broken_ = true;
    ucs::log::warn(ib_log,
                   "{}: memory windows cannot be bound any more ({}), so memory is registered for "
                   "each message that a peer reads or writes",
                   device_, why);
    return false;
}

// Waits until the request has ended. Returns nullptr, or the reason why it failed.
const char* memory_windows::await_request() noexcept {
    const ucs::time::nanoseconds end = ucs::time::now() + longest_wait;
    do {
        ibv_wc done{};
        const int found = ibv_poll_cq(queues_.completions.get(), 1, &done);
        if (found < 0) return "their completion queue cannot be read";
        if (found == 0) continue;
        return done.status == IBV_WC_SUCCESS ? nullptr : ibv_wc_status_str(done.status);
    } while (ucs::time::now() < end);
    return "the device does not end the request";
}

}  // namespace uct::ib
