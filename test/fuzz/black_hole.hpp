// A transport whose peer is the fuzzer.
#pragma once

#include <algorithm>

#include "uct/api/component.hpp"
#include "uct/base/base_ep.hpp"
#include "uct/base/base_iface.hpp"
#include "uct/base/implemented_ops.hpp"

namespace fuzz {

class hole_iface;

// Accepts every message and records the numbers in it, so that the fuzzer can use ids that the
// worker sent. Remote memory holds zeros. Owner context.
class hole_ep final : public uct::base_ep {
public:
    explicit hole_ep(hole_iface& owner);
    ~hole_ep() override;
    ucs_status_t am_short(uct::am_id id, std::uint64_t header, const void* payload,
                          std::size_t length) override;
    ssize_t am_bcopy(uct::am_id id, uct::pack_function pack, void* arg) override;
    ucs_status_t get_zcopy(std::span<const uct::iov> into, const uct::remote_place& from,
                           uct::completion* done) override;
    ucs_status_t put_zcopy(std::span<const uct::iov> from, const uct::remote_place& to,
                           uct::completion* done) override;
    ucs_status_t flush(uct::completion*) override { return UCS_OK; }
    std::string peer_name() const override { return "the fuzzer"; }

private:
    [[nodiscard]] ucs_status_t room() const noexcept;
    ucs_status_t transfer(uct::completion* done);

    hole_iface& hole_;
};

// The worker's interface, with public functions for the fuzzer. Owner context.
class hole_iface final : public uct::base_iface {
public:
    hole_iface(const uct::resource& where, const uct::iface_params& params)
        : base_iface(where, params) {
        attr_.ops = uct::implemented_ops<hole_ep>();
        attr_.max_short = 1000;
        attr_.max_bcopy = max_message;
        attr_.max_iov = 4;
        attr_.max_rma = 4096;
        attr_.address_length = 4;
        attr_.latency = 1e-7;
        attr_.bandwidth = 1e10;
        attr_.overhead = 1e-8;
        attr_.reach = uct::scope::host;
        last = this;
    }
    ~hole_iface() override {
        if (last == this) last = nullptr;
    }

    unsigned progress() override {
        unsigned events = blocked ? 0 : dispatch_waiting();
        // Completions may start new transfers.
        std::vector<uct::completion*> ended;
        ended.swap(transfers);
        for (uct::completion* each : ended)
            each->finish(transfer_status);
        events += static_cast<unsigned>(ended.size());
        return events + report_failures();
    }
    void pack_address(std::span<std::byte> into) const override {
        std::fill(into.begin(), into.end(), std::byte{7});
    }
    uct::reachability check_reachable(std::span<const std::byte> address) const override {
        if (address.size() == 4 && address[0] == std::byte{7}) return {};
        return {"not of this network"};
    }
    ucs::result<std::unique_ptr<uct::ep>> create_ep(std::span<const std::byte>) override {
        return std::unique_ptr<uct::ep>(std::make_unique<hole_ep>(*this));
    }

    // Delivers a message to the worker, in a heap block of its exact size, or directly in its
    // destination, if the worker provides one.
    void inject(uct::am_id id, std::span<const std::byte> message) {
        const std::unique_ptr<std::byte[]> copy(new std::byte[message.size()]);
        if (!message.empty()) std::memcpy(copy.get(), message.data(), message.size());
        const uct::am_handler& taker = handler(id);
        const bool asks =
            supports_landing && taker.locate != nullptr && message.size() > taker.landing_header;
        if (!asks || !land(taker, copy.get(), message.subspan(taker.landing_header))) {
            deliver(id, copy.get(), message.size());
        }
    }
    void break_links() {
        for (hole_ep* each : endpoints)
            note_failure(*each, UCS_ERR_CONNECTION_RESET);
    }
    void remember(const void* bytes, std::size_t length) {
        for (std::size_t offset = 0; offset + 8 <= std::min<std::size_t>(length, 48); offset += 8) {
            std::memcpy(&seen[next_seen], static_cast<const std::byte*>(bytes) + offset, 8);
            next_seen = (next_seen + 1) % seen.size();
        }
    }

    static constexpr std::size_t max_message = 2048;
    bool supports_landing = false;             // asks the worker for destinations of messages
    static inline hole_iface* last = nullptr;  // the open interface
    bool blocked = false;                      // no resources for messages
    bool slow_transfers = false;  // remote operations complete in the next progress only
    ucs_status_t transfer_status = UCS_OK;
    std::vector<uct::completion*> transfers;
    std::vector<hole_ep*> endpoints;
    std::array<std::uint64_t, 64> seen{};  // numbers in the worker's messages
    std::size_t next_seen = 0;

private:
    // Like a stream transport: the payload comes in two pieces, and the worker is asked for the
    // destination of each.
    static bool land(const uct::am_handler& taker, const void* header,
                     std::span<const std::byte> payload) {
        void* first = taker.locate(taker.arg, header, payload.size());
        if (first == nullptr) return false;
        const std::size_t half = payload.size() / 2;
        std::memcpy(first, payload.data(), half);
        void* second = taker.locate(taker.arg, header, payload.size());
        if (second == nullptr) return true;  // dropped
        std::memcpy(static_cast<std::byte*>(second) + half, payload.data() + half,
                    payload.size() - half);
        taker.landed(taker.arg, header, payload.size());
        return true;
    }
};

inline hole_ep::hole_ep(hole_iface& owner) : base_ep(owner), hole_(owner) {
    hole_.endpoints.push_back(this);
}

inline hole_ep::~hole_ep() {
    std::erase(hole_.endpoints, this);
}

inline ucs_status_t hole_ep::room() const noexcept {
    return hole_.blocked || must_queue() ? UCS_ERR_NO_RESOURCE : UCS_OK;
}

inline ucs_status_t hole_ep::am_short(uct::am_id, std::uint64_t header, const void* payload,
                                      std::size_t length) {
    if (room() != UCS_OK) return room();
    hole_.remember(&header, sizeof header);
    hole_.remember(payload, length);
    return UCS_OK;
}

inline ssize_t hole_ep::am_bcopy(uct::am_id, uct::pack_function pack, void* arg) {
    if (room() != UCS_OK) return room();
    const std::unique_ptr<std::byte[]> buffer(new std::byte[hole_iface::max_message]);
    const std::size_t length = pack(arg, buffer.get(), hole_iface::max_message);
    hole_.remember(buffer.get(), length);
    return static_cast<ssize_t>(length);
}

inline ucs_status_t hole_ep::transfer(uct::completion* done) {
    if (!hole_.slow_transfers) return hole_.transfer_status;
    hole_.transfers.push_back(done);
    return UCS_INPROGRESS;
}

inline ucs_status_t hole_ep::get_zcopy(std::span<const uct::iov> into, const uct::remote_place&,
                                       uct::completion* done) {
    for (const uct::iov& piece : into)
        std::memset(piece.base, 0, piece.length);
    return transfer(done);
}

inline ucs_status_t hole_ep::put_zcopy(std::span<const uct::iov> from, const uct::remote_place&,
                                       uct::completion* done) {
    unsigned sum = 0;
    for (const uct::iov& piece : from)
        for (std::size_t i = 0; i < piece.length; ++i)
            sum += static_cast<const unsigned char*>(piece.base)[i];
    volatile unsigned kept = sum;
    (void)kept;
    return transfer(done);
}

// Finds the one interface "hole/hole". Stateless.
class hole_component final : public uct::component {
public:
    const char* name() const noexcept override { return "hole"; }
    std::vector<const ucs::config::table*> options() const override { return {}; }
    uct::listing query(const ucs::config::source&) const override {
        return {{{name(), name(), uct::device_type::simulated}}, {}};
    }
    ucs::result<std::unique_ptr<uct::iface>> open(const uct::resource& where,
                                                  const uct::iface_params& params) const override {
        return std::unique_ptr<uct::iface>(std::make_unique<hole_iface>(where, params));
    }
};

}  // namespace fuzz
