#include "ucp/staging/device_copies.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ucp/core/worker.hpp"
#include "ucp/log/log.hpp"
#include "ucs/cuda/scoped_context.hpp"
#include "ucs/memory/copy_any.hpp"
#include "ucs/memory/device_memory.hpp"
#include "ucs/type/allocated.hpp"

namespace ucp {

namespace {

constexpr std::size_t shortest_part = std::size_t{4} << 10U;
constexpr std::size_t longest_part = std::size_t{64} << 20U;

}  // namespace

// --- staging_pool ---

staging_pool::~staging_pool() {
    const ucs::cuda::driver_functions* const driver = ucs::cuda::loaded_driver();
    if (pinned_.empty() || driver == nullptr) return;
    const ucs::cuda::scoped_context current(*driver, context_.handle());
    if (current.status() != ucs::cuda::CUDA_SUCCESS) {
        for (ucs::cuda::pinned_memory& each : pinned_)
            each.abandon();
    }
    pinned_.clear();
}

std::byte* staging_pool::take(bool beyond_limit) noexcept {
    if (free_.empty()) {
        std::byte* made = nullptr;
        const bool may_make = made_ < most_ || beyond_limit;
        if (may_make && !ucs::allocated([&] { made = make(); }))
            ucs::log::diag(proto_log, "out of memory: {} parts hold data of devices", made_);
        return made;
    }
    std::byte* const part = free_.back();
    free_.pop_back();
    return part;
}

void staging_pool::give_back(std::byte* part) noexcept {
    free_.push_back(part);
}

bool staging_pool::retain_context() {
    if (context_.handle() != nullptr) return true;
    const ucs::cuda::driver_functions* const driver = ucs::cuda::loaded_driver();
    if (driver == nullptr || device_ < 0) return false;
    auto retained = ucs::cuda::primary_context::retain(*driver, device_);
    if (!retained) return false;
    context_ = std::move(*retained);
    return true;
}

std::byte* staging_pool::make() {
    free_.reserve(made_ + 1);
    if (retain_context()) {
        const ucs::cuda::driver_functions& driver = *ucs::cuda::loaded_driver();
        const ucs::cuda::scoped_context current(driver, context_.handle());
        pinned_.reserve(pinned_.size() + 1);
        auto pinned = ucs::cuda::pinned_memory::allocate(driver, part_);
        if (pinned) {
            pinned_.push_back(std::move(*pinned));
            ++made_;
            return pinned_.back().bytes().data();
        }
    }
    ordinary_.push_back(std::make_unique<std::byte[]>(part_));
    ++made_;
    return ordinary_.back().get();
}

// --- device_copies ---

device_copies::device_copies(worker& owner) noexcept
    : owner_(owner),
      parts_(std::clamp(owner.owner().options().fragment.size.bytes, shortest_part, longest_part),
             owner.owner().options().fragment_count.size.bytes) {}

device_copies::~device_copies() = default;

void device_copies::prepare_for(dt::buffer& buffer) noexcept {
    if (parts_.has_device()) return;
    std::array<uct::iov, 16> pieces;
    const dt::piece_list list = buffer.pieces(0, buffer.length(), pieces);
    for (const uct::iov& piece : std::span(pieces).first(list.count)) {
        if (const auto found = ucs::memory::find_device_memory(piece.base)) {
            parts_.set_device(found->device);
            return;
        }
    }
}

bool device_copies::are_possible() noexcept {
    if (!std::exchange(was_tried_, true) && !ucs::allocated([this] { open(); }))
        ucs::log::error(proto_log, "out of memory: data of devices cannot be moved");
    return endpoint_ != nullptr;
}

void device_copies::open() {
    const std::size_t resource = owner_.interfaces().find("cuda_copy");
    if (resource == owner_.interfaces().size()) return;
    iface_ = owner_.interfaces().at(resource);
    auto made = iface_->create_ep(address_of(*iface_));
    if (!made) return;
    endpoint_ = std::move(*made);
    owner_.interfaces().activate(resource);
}

// If too many copies are in flight, waits for this one.
ucs_status_t device_copies::end_start(ucs_status_t status, void* to, const uct::iov& from,
                                      uct::completion& done) noexcept {
    if (status == UCS_INPROGRESS) return UCS_OK;
    --done.count;
    if (status != UCS_ERR_NO_RESOURCE) return status;
    return ucs::memory::copy_any(to, from.base, from.length);
}

ucs_status_t device_copies::start_read(std::byte* into, const uct::iov& from,
                                       uct::completion& done) noexcept {
    const uct::iov target{into, from.length};
    ++done.count;
    const ucs_status_t status = endpoint_->get_zcopy(
        std::span(&target, 1), {reinterpret_cast<std::uint64_t>(from.base)}, &done);
    return end_start(status, into, from, done);
}

ucs_status_t device_copies::start_write(const std::byte* from, const uct::iov& into,
                                        uct::completion& done) noexcept {
    const uct::iov source{const_cast<std::byte*>(from), into.length};
    ++done.count;
    const ucs_status_t status = endpoint_->put_zcopy(
        std::span(&source, 1), {reinterpret_cast<std::uint64_t>(into.base)}, &done);
    return end_start(status, into.base, source, done);
}

void device_copies::drain() noexcept {
    while (iface_ != nullptr && iface_->has_work())
        iface_->progress();
}

}  // namespace ucp
