// The states of a queue pair, and what it is told on the way from one to the next.
#pragma once

#include "ucs/log/throttle.hpp"
#include "uct/ib/base/domain.hpp"
#include "uct/ib/base/path.hpp"
#include "uct/ib/rc/base/settings.hpp"
#include "uct/ib/rc/base/wire.hpp"

namespace uct::rc {

// What a port gives to the queue pairs on it.
struct port_setup : ib::path_setup {
    ibv_mtu mtu = IBV_MTU_1024;
    std::uint8_t read_depth = 1;      // of ours that may be under way
    std::uint8_t read_resources = 1;  // of a peer's that are served
};

// Attributes of a step and which of them are set. Pure.
struct step {
    ibv_qp_attr attr;
    int mask;
};
[[nodiscard]] step to_init(const port_setup& port, bool atomics) noexcept;
[[nodiscard]] step to_receive(const port_setup& port, const settings& options,
                              const ib::address& peer,
                              const wire::connection_data& theirs) noexcept;
[[nodiscard]] step to_send(const port_setup& port, const settings& options, const ib::address& peer,
                           const wire::connection_data& ours) noexcept;
// What both sides have of their options for enhanced connection establishment: each computes the
// same and takes that. Options 0: none. Pure.
[[nodiscard]] ibv_ece common_options(const wire::connection_data& ours,
                                     const wire::connection_data& theirs) noexcept;

// Reset, init, receive, send, error: the states of the specification (volume 1, chapter 10.3) that
// are used. A queue pair is made in init; `connect` brings it to send. Owned by a connection; owner
// context.
class queue_pair {
public:
    enum class state : std::uint8_t { init, receive, send, error };

    struct setup {
        ib::domain& on;
        const port_setup& port;
        const settings& options;
        ibv_cq& sends;
        ibv_cq& receives;
        ibv_srq& shared;
        ucs::log::throttle& rejected;  // for what a peer's data leads to
    };
    // Failures of all functions are logged.
    static ucs::result<queue_pair> create(const setup& with);

    // What the peer has to know.
    [[nodiscard]] const wire::connection_data& data() const noexcept { return ours_; }
    ucs_status_t connect(const setup& with, const ib::address& peer,
                         const wire::connection_data& theirs) noexcept;
    // The device ends what is under way, with completions. Idempotent.
    void fail() noexcept;

    void destroy() noexcept { pair_.reset(); }
    [[nodiscard]] ib::pair_handle release() noexcept { return std::move(pair_); }

    [[nodiscard]] ibv_qp& get() const noexcept { return *pair_; }
    [[nodiscard]] std::uint32_t number() const noexcept { return ours_.qp_number; }
    [[nodiscard]] state at() const noexcept { return at_; }
    [[nodiscard]] std::uint32_t inline_bytes() const noexcept { return inline_; }
    [[nodiscard]] std::uint32_t pieces() const noexcept { return pieces_; }
    [[nodiscard]] std::uint32_t send_room() const noexcept { return send_room_; }

private:
    queue_pair(ib::pair_handle pair, const ibv_qp_cap& got) noexcept;
    // `rejected`: of a step that a peer's data is part of.
    ucs_status_t move(const step& by, state to, ucs::log::throttle* rejected = nullptr) noexcept;
    void ask_for_ece() noexcept;
    void set_ece(const wire::connection_data& theirs) noexcept;

    ib::pair_handle pair_;
    std::uint32_t inline_;
    std::uint32_t pieces_;
    std::uint32_t send_room_;
    wire::connection_data ours_;
    state at_ = state::init;
};

[[nodiscard]] const char* name(queue_pair::state which) noexcept;

}  // namespace uct::rc
