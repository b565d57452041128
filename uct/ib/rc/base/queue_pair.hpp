// State transitions of an RC queue pair and their attributes.
#pragma once

#include "ucs/log/throttle.hpp"
#include "uct/ib/base/device/path.hpp"
#include "uct/ib/base/memory/domain.hpp"
#include "uct/ib/base/memory/memory_windows.hpp"
#include "uct/ib/rc/base/settings.hpp"
#include "uct/ib/rc/base/wire.hpp"

namespace uct::rc {

// Attributes of a port for the queue pairs on it.
struct port_setup : ib::path_setup {
    ibv_mtu mtu = IBV_MTU_1024;
    std::uint8_t read_depth = 1;      // own reads that may be outstanding
    std::uint8_t read_resources = 1;  // reads of a peer that are served at a time
};

// Attributes of a transition, and the mask of those that are set. Pure.
struct transition {
    ibv_qp_attr attr;
    int mask;
};
[[nodiscard]] transition to_init(const port_setup& port, bool atomics) noexcept;
[[nodiscard]] transition to_receive(const port_setup& port, const settings& options,
                                    const ib::address& peer,
                                    const wire::connection_data& peer_data) noexcept;
[[nodiscard]] transition to_send(const port_setup& port, const settings& options,
                                 const ib::address& peer,
                                 const wire::connection_data& own_data) noexcept;
// Returns the common subset of both sides' options for enhanced connection establishment. Both
// sides compute the same. Options 0: none. Pure.
[[nodiscard]] ibv_ece common_options(const wire::connection_data& own_data,
                                     const wire::connection_data& peer_data) noexcept;

// A queue pair with the states reset, init, receive, send and error of the specification (volume 1,
// chapter 10.3). It is created in init; `connect` moves it to send. Owned by a connection; owner
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
        ucs::log::throttle& rejected;  // for errors that a peer's data causes
    };
    // Failures of all functions are logged.
    static ucs::result<queue_pair> create(const setup& with);

    // The connection data that the peer needs.
    [[nodiscard]] const wire::connection_data& data() const noexcept { return own_data_; }
    ucs_status_t connect(const setup& with, const ib::address& peer,
                         const wire::connection_data& peer_data) noexcept;
    // Makes the device end all requests, with completions. Idempotent.
    void fail() noexcept;

    void destroy() noexcept { pair_.reset(); }
    [[nodiscard]] ib::pair_handle release() noexcept { return std::move(pair_); }

    [[nodiscard]] ibv_qp& get() const noexcept { return *pair_; }
    [[nodiscard]] std::uint32_t number() const noexcept { return own_data_.qp_number; }
    [[nodiscard]] state current_state() const noexcept { return state_; }
    [[nodiscard]] std::uint32_t inline_bytes() const noexcept { return inline_; }
    [[nodiscard]] std::uint32_t pieces() const noexcept { return pieces_; }
    [[nodiscard]] std::uint32_t send_room() const noexcept { return send_room_; }

private:
    queue_pair(ib::pair_handle pair, const ibv_qp_cap& got) noexcept;
    // `rejected`: throttle for a transition that depends on a peer's data.
    ucs_status_t move(const transition& transition, state to,
                      ucs::log::throttle* rejected = nullptr) noexcept;
    void query_ece() noexcept;
    void set_ece(const wire::connection_data& peer_data) noexcept;

    ib::pair_handle pair_;
    std::uint32_t inline_;
    std::uint32_t pieces_;
    std::uint32_t send_room_;
    wire::connection_data own_data_;
    state state_ = state::init;
};

[[nodiscard]] const char* name(queue_pair::state value) noexcept;

// Creates a queue pair that is connected to itself over the port, because only a connected queue
// pair accepts requests, and its queues. `own`: the port's address. Failures are logged.
[[nodiscard]] ucs::result<ib::memory_windows::queues> make_window_queues(
    const queue_pair::setup& port, const ib::address& own) noexcept;

}  // namespace uct::rc
