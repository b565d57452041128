#include "uct/ib/rc/base/receive_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "uct/ib/rc/base/wire.hpp"

namespace uct::rc {
namespace {

ucs::memory::mpool::parameters pool_parameters(ib::registered_chunks& chunks, std::size_t segment,
                                               const settings& options) {
    ucs::memory::mpool::parameters wanted;
    wanted.name = "rc receive buffers";
    wanted.element_size = offsetof(receive_buffer, data) + segment;
    wanted.grow_by = options.rx_first;
    wanted.grow_limit = std::max<std::size_t>(options.rx_first, 1024);
    wanted.source = &chunks;
    wanted.arg = &chunks;
    wanted.construct = [](void* element, void*, void* arg) {
        auto& fresh = *static_cast<receive_buffer*>(element);
        fresh.piece.lkey = static_cast<const ib::registered_chunks*>(arg)->newest_key();
        fresh.piece.addr = reinterpret_cast<std::uint64_t>(&fresh.data);
        fresh.request = {};
        fresh.request.wr_id = reinterpret_cast<std::uint64_t>(&fresh);
        fresh.request.sg_list = &fresh.piece;
        fresh.request.num_sge = 1;
    };
    return wanted;
}

}  // namespace

receive_pool::receive_pool(ib::domain& on, const settings& options, ib::receive_queue_handle queue,
                           std::uint32_t most) noexcept
    : domain_(on),
      segment_(options.segment.bytes),
      batch_(std::min(options.rx_batch, std::max(1U, most / 4))),
      most_(most),
      chunks_(on),
      pool_(pool_parameters(chunks_, segment_, options)),
      queue_(std::move(queue)) {}

receive_pool::~receive_pool() {
    queue_.reset();  // the device lets go of its buffers
    for (receive_buffer* each : buffers_)
        ucs::memory::mpool::put(each);
}

ucs::result<std::unique_ptr<receive_pool>> receive_pool::create(ib::domain& on,
                                                                const settings& options) {
    const auto offered = static_cast<std::uint32_t>(std::max(1, on.attr().max_srq_wr));
    ibv_srq_init_attr wanted{};
    wanted.attr.max_wr = std::min(options.rx_queue, offered);
    wanted.attr.max_sge = 1;
    const std::uint32_t most = wanted.attr.max_wr;
    ib::receive_queue_handle queue(ibv_create_srq(&on.pd(), &wanted));
    if (queue == nullptr) {
        ucs::log::error(ib::ib_log, "{}: no shared receive queue of {} messages: {}", on.name(),
                        most, std::strerror(errno));
        return UCS_ERR_NO_MEMORY;
    }
    std::unique_ptr<receive_pool> made(new receive_pool(on, options, std::move(queue), most));
    made->add(std::min(options.rx_first, most));
    if (made->all() == 0) {
        ucs::log::error(ib::ib_log, "{}: no memory for receive buffers", on.name());
        return UCS_ERR_NO_MEMORY;
    }
    made->ask_for_event();
    return made;
}

void receive_pool::add(std::uint32_t count) noexcept {
    try {
        buffers_.reserve(buffers_.size() + count);
    } catch (const std::bad_alloc&) {
        return;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        void* const fresh = pool_.get();
        if (fresh == nullptr) break;
        auto& buffer = *static_cast<receive_buffer*>(fresh);
        buffer.piece.length = static_cast<std::uint32_t>(segment_);
        buffers_.push_back(&buffer);
        give_back(buffer);
    }
    post_returned();
    low_ = all() / 4;
}

void receive_pool::post_returned() noexcept {
    if (returned_ == nullptr) return;
    ibv_recv_wr* bad = nullptr;
    const int error = ibv_post_srq_recv(queue_.get(), returned_, &bad);
    if (error == 0) {
        posted_ += returned_count_;
        returned_ = nullptr;
        returned_count_ = 0;
        return;
    }
    std::uint32_t left = 0;
    for (const ibv_recv_wr* each = bad; each != nullptr; each = each->next)
        ++left;
    posted_ += returned_count_ - left;
    returned_ = bad;
    returned_count_ = left;
    if (complained_) return;
    complained_ = true;
    ucs::log::error(ib::ib_log, "{}: receive buffers are not taken by the device: {}; tried again",
                    domain_.name(), std::strerror(error));
}

void receive_pool::replenish() noexcept {
    post_returned();
    if (posted_ < low_ && all() < most_) ran_short();
}

void receive_pool::ran_short() noexcept {
    ++shortages_;
    add(std::min(all(), most_ - all()));
    ask_for_event();
}

void receive_pool::ask_for_event() noexcept {
    if (all() == most_) return;  // nothing could be done about it
    ibv_srq_attr limit{};
    limit.srq_limit = all() / 4;
    ibv_modify_srq(queue_.get(), &limit, IBV_SRQ_LIMIT);  // without it progress sees it later
}

void receive_pool::describe(ucs::vfs::directory& into) const {
    const auto number = [&into](const char* name, const auto& value) {
        into.file(name, [&value] { return std::to_string(value); });
    };
    into.file("buffers", [this] { return std::to_string(all()); });
    number("most_buffers", most_);
    number("posted", posted_);
    number("shortages", shortages_);
    into.file("bytes", [this] { return std::to_string(chunks_.bytes()); });
}

}  // namespace uct::rc
