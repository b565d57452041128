#include "uct/ib/base/memory/receive_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ucs/type/allocated.hpp"
#include "uct/ib/base/device/sysfs.hpp"

namespace uct::ib {
namespace {

// Bytes between the header of a buffer and the memory that the device writes.
constexpr std::size_t pad_of(std::size_t front) noexcept {
    return (8 - front % 8) % 8;
}

ucs::memory::mpool::parameters pool_parameters(registered_chunks& chunks,
                                               const receive_pool::setup& with) {
    ucs::memory::mpool::parameters wanted;
    wanted.name = with.name;
    wanted.element_size = sizeof(receive_buffer) + pad_of(with.front) + with.segment;
    wanted.grow_by = with.first;
    wanted.grow_limit = std::max<std::size_t>(with.first, 1024);
    wanted.source = &chunks;
    wanted.arg = &chunks;
    wanted.construct = [](void* element, void*, void* arg) {
        auto& fresh = *static_cast<receive_buffer*>(element);
        fresh.piece.lkey = static_cast<const registered_chunks*>(arg)->newest_key();
        fresh.request = {};
        fresh.request.wr_id = reinterpret_cast<std::uint64_t>(&fresh);
        fresh.request.sg_list = &fresh.piece;
        fresh.request.num_sge = 1;
    };
    return wanted;
}

}  // namespace

receive_pool::receive_pool(domain& on, const setup& with, receive_queue_handle queue,
                           int node) noexcept
    : domain_(on),
      segment_(with.segment),
      front_(with.front),
      batch_(std::min(with.batch, std::max(1U, with.most / 4))),
      most_(with.most),
      chunks_(on, node),
      pool_(pool_parameters(chunks_, with)),
      queue_(std::move(queue)) {}

receive_pool::~receive_pool() {
    queue_.reset();  // the device releases its buffers
    for (receive_buffer* each : buffers_)
        ucs::memory::mpool::put(each);
}

ucs::result<std::unique_ptr<receive_pool>> receive_pool::create(domain& on, unsigned completions,
                                                                const setup& with) {
    const auto offered = static_cast<std::uint32_t>(std::max(1, on.attr().max_srq_wr));
    setup possible = with;
    possible.most = std::min({with.most, offered, completions});
    ibv_srq_init_attr wanted{};
    wanted.attr.max_wr = possible.most;
    wanted.attr.max_sge = 1;
    receive_queue_handle queue(ibv_create_srq(&on.pd(), &wanted));
    if (queue == nullptr) {
        ucs::log::error(ib_log, "{}: no shared receive queue of {} messages: {}", on.name(),
                        possible.most, std::strerror(errno));
        return UCS_ERR_NO_MEMORY;
    }
    std::unique_ptr<receive_pool> made(new receive_pool(
        on, possible, std::move(queue), device_entry::read(on.name()).location.numa_node));
    made->add(std::min(with.first, possible.most));
    if (made->all() == 0) {
        ucs::log::error(ib_log, "{}: no memory for receive buffers", on.name());
        return UCS_ERR_NO_MEMORY;
    }
    made->ask_for_event();
    return made;
}

void receive_pool::add(std::uint32_t count) noexcept {
    if (!ucs::allocated([&] { buffers_.reserve(buffers_.size() + count); })) return;
    for (std::uint32_t i = 0; i < count; ++i) {
        void* const fresh = pool_.get();
        if (fresh == nullptr) break;
        auto& buffer = *static_cast<receive_buffer*>(fresh);
        buffer.piece.addr = reinterpret_cast<std::uint64_t>(&buffer + 1) + pad_of(front_);
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
    ucs::log::error(ib_log, "{}: receive buffers are not taken by the device: {}; tried again",
                    domain_.name(), std::strerror(error));
}

void receive_pool::replenish() noexcept {
    post_returned();
    if (posted_ < low_ && all() < most_) ran_short();
}

void receive_pool::ran_short() noexcept {
    ++shortages_;
    const std::uint32_t before = all();
    add(std::min(before, most_ - before));
    // If the pool cannot grow because of a limit of locked memory, further attempts in each
    // progress would fail and log a line each. So it stops growing.
    if (all() == before) most_ = before;
    ask_for_event();
}

void receive_pool::ask_for_event() noexcept {
    if (all() == most_) return;  // the pool cannot grow
    ibv_srq_attr limit{};
    limit.srq_limit = all() / 4;
    ibv_modify_srq(queue_.get(), &limit,
                   IBV_SRQ_LIMIT);  // without this event progress notices it later
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

}  // namespace uct::ib
