// Sends forged datagrams to an interface of ud_verbs, from a queue pair of its own.
#pragma once

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <vector>

#include "ucs/config/source.hpp"
#include "uct/ib/base/completion_queue.hpp"
#include "uct/ib/base/device/gid.hpp"
#include "uct/ib/ud/base/queue_pair.hpp"
#include "uct/ib/ud/base/wire.hpp"

namespace conformance {

class datagram_forger {
public:
    // Sends to the interface with that address, from the same port.
    explicit datagram_forger(std::span<const std::byte> victim)
        : to_(*uct::ud::wire::address::parse(victim)),
          on_(*uct::ib::domain::open("rxe0", config_)),
          inbox_(*uct::ib::event_inbox::create()) {
        auto& device = on_->context();
        sends_.emplace(*uct::ib::completion_queue::create(*on_, 64, nullptr, *inbox_));
        ibv_srq_init_attr shared{};
        shared.attr.max_wr = 16;
        shared.attr.max_sge = 1;
        receives_.reset(ibv_create_srq(&on_->pd(), &shared));
        REQUIRE(receives_ != nullptr);
        for (const auto& each : uct::ib::read_gids(device, 1, true)) {
            if (each.gid == to_.port.gid && each.type == to_.port.link)
                path_ = uct::ib::path_from(1, 0, each, {});
        }
        pair_.emplace(*uct::ud::queue_pair::create(
            {*on_, path_, options_, sends_->get(), sends_->get(), *receives_}));
        ibv_ah_attr path = uct::ib::address_vector_to(to_.port, path_);
        address_handle_.reset(ibv_create_ah(&on_->pd(), &path));
        REQUIRE(address_handle_ != nullptr);
    }

    // The greeting of a correct interface on this queue pair.
    [[nodiscard]] uct::ud::wire::hello own_hello(std::uint64_t connection) const {
        uct::ud::wire::hello made;
        made.from = {to_.port, pair_->number(), pair_->key()};
        made.from.port.iface_id = 1;
        made.connection = connection;
        made.request_number = 1;
        made.timeout = 30;
        return made;
    }

    void send(uct::ud::wire::kind kind, const uct::ud::wire::hello& body) {
        uct::ud::wire::header head{};
        head.version = uct::ud::wire::version;
        head.type = kind;
        head.to = kind == uct::ud::wire::kind::goodbye ? 1 : 0;
        std::array<std::byte, uct::ud::wire::header_size + uct::ud::wire::hello::size> bytes;
        std::memcpy(bytes.data(), &head, sizeof head);
        body.pack(std::span(bytes).last<uct::ud::wire::hello::size>());
        ibv_sge piece{reinterpret_cast<std::uint64_t>(bytes.data()), bytes.size(), 0};
        ibv_send_wr request{};
        request.sg_list = &piece;
        request.num_sge = 1;
        request.opcode = IBV_WR_SEND;
        request.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
        request.wr.ud.ah = address_handle_.get();
        request.wr.ud.remote_qpn = to_.pair;
        request.wr.ud.remote_qkey = to_.key;
        ibv_send_wr* bad = nullptr;
        REQUIRE(ibv_post_send(&pair_->get(), &request, &bad) == 0);
        while (!sends_->has_entries()) {
        }
        CHECK(sends_->poll().front().status == IBV_WC_SUCCESS);
    }

private:
    const ucs::config::source config_ = ucs::config::source::empty();
    const uct::ud::settings options_ = *ucs::config::load<uct::ud::settings>(config_);
    const uct::ud::wire::address to_;
    const std::shared_ptr<uct::ib::domain> on_;
    const std::unique_ptr<uct::ib::event_inbox> inbox_;
    uct::ib::path_setup path_;
    std::optional<uct::ib::completion_queue> sends_;
    uct::ib::receive_queue_handle receives_;
    std::optional<uct::ud::queue_pair> pair_;
    uct::ib::address_handle address_handle_;
};

}  // namespace conformance
