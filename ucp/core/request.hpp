// The request object behind a request handle of the C interface.
#pragma once

#include <boost/intrusive/parent_from_member.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "ucp/api/ucp.h"
#include "ucp/core/kind.hpp"
#include "ucp/core/request_flags.hpp"
#include "ucp/dt/recv_buffer.hpp"
#include "ucp/dt/send_buffer.hpp"
#include "ucp/tag/match/expected.hpp"
#include "ucs/datastruct/intrusive.hpp"
#include "uct/api/types.hpp"

namespace ucp {

class ep;
class peer;
class worker;
struct protocol;
struct request;

// State of a send, or of an operation on a peer's memory, while it runs. Each kind of operation has
// its own state, which begins with this one, such as message_state and remote_op.
struct send_state {
    dt::send_buffer buffer;  // of a get or atomic operation: destination of the result
    const protocol* proto = nullptr;
    std::uint64_t local_id = 0;  // id of this request in messages to the peer; 0: none
    std::size_t offset = 0;      // bytes handed to the transport
    std::size_t end = 0;         // bytes to send in this phase
    uct::completion parts{.done = nullptr, .count = 0};  // pieces in flight
    void (*fragments_done)(request& send) = nullptr;     // called when all pieces have left
    peer* holds = nullptr;  // set if the send has ended: keeps the peer until its pieces have left
    send_kind kind = send_kind::tag;
    bool owns_header = false;  // the header of a message_state is our own copy
    bool guarded = false;      // `parts` includes one count for the sending loop itself
    bool started = false;      // the protocol has begun its work
    bool short_pack = false;   // the program's pack callback returned nothing
    bool blocked = false;      // waits for reasons other than the lane
    bool rts_counted = false;  // counted in the peer's limit on RTS messages
    bool copies = false;  // the data goes through buffers of the transport: the memory cannot be
                          // registered, or registering costs more than copying
};

// State of a receive while it runs. A short message completes it within one call, which touches the
// first members only; thousands may be posted, so these lie in two cache lines with the beginning
// of the request. begin_transfer sets the rest.
struct recv_state : tag::expected_entry {
    recv_state() noexcept {}

    ucp_tag_recv_info_t info{};
    dt::recv_buffer buffer;

    // To be called when the message arrives in pieces or by rendezvous.
    void begin_transfer() noexcept {
        local_id = 0;
        holds = nullptr;
        outcome = UCS_OK;
        by_rendezvous = false;
    }
    std::uint64_t local_id;  // id of this request in messages to the sender (rendezvous)
    peer* holds;             // aborted: this peer keeps it until the sender has written its part
    ucs_status_t outcome;    // kept while the rest of the message is drained
    bool by_rendezvous;      // it is an rndv_recv (ucp/rndv/rndv_recv.hpp)
};

// A receive of a byte stream, see ucp/stream/channel.hpp.
struct stream_recv_state {
    dt::recv_buffer buffer;
    std::size_t received = 0;
    std::size_t unit = 1;  // the receive ends with whole elements of this size
    bool wait_all = false;
    ucs_status_t outcome = UCS_OK;
};

// Waits for the operations that were started before it on an endpoint.
struct flush_state {
    std::uint64_t until = 0;          // operations with lower sequence numbers must be done
    bool close_after = false;         // the endpoint is closed when the flush ends
    struct request* group = nullptr;  // the flush of the whole worker that this is part of
    std::uint64_t posted = 0;         // see is_confirmed in ucp/rma/order.hpp
    bool marked = false;
    bool awaited = false;
};

// Waits for the flushes of several endpoints.
struct group_state {
    unsigned left = 0;
    ucs_status_t outcome = UCS_OK;  // the first failure among them
};

enum class request_kind : std::uint8_t {
    none,
    send,
    recv,       // of a tagged message
    recv_data,  // of data; the callback gets the length
    recv_stream,
    flush,
    group,
};

// One operation in flight. It lives in the worker's pool with the program's area right behind it,
// or in memory of the program (then never returned to the pool). The handle that the C interface
// shows points at the program's area. Owner context.
struct alignas(16) request {
    union any_callback {
        ucp_send_nbx_callback_t send;
        ucp_tag_recv_nbx_callback_t recv;
        ucp_am_recv_data_nbx_callback_t recv_data;
    };

    ucs_status_t status;
    request_kind kind;
    request_flags flags;
    worker* owner;
    any_callback callback;
    void* user_data;
    ep* via;  // endpoint of a send, or of a matched receive that needs it
    union slot {
        slot() {}
        ~slot() {}
        std::byte space[184];
        send_state send;
        recv_state recv;
        stream_recv_state stream;
        flush_state flush;
        group_state group;
    } state;  // near the beginning: a receive is matched within two cache lines

    std::uint64_t sequence;                  // order of sends on `via`, for flush
    ucs::datastruct::list_hook active_hook;  // in via's list of running operations
    uct::pending_request pending;

    static request& of(void* handle) noexcept { return *(static_cast<request*>(handle) - 1); }
    static request& of(uct::pending_request& queued) noexcept {
        return *boost::intrusive::get_parent_from_member(&queued, &request::pending);
    }
    static request& of(recv_state& recv) noexcept { return of_slot(&recv); }
    static request& of(send_state& send) noexcept { return of_slot(&send); }

    [[nodiscard]] void* handle() noexcept { return this + 1; }
    [[nodiscard]] bool is_completed() const noexcept { return flags.is_completed(); }

    // Memory of the program has undefined contents before its first use.
    void prepare_hooks() noexcept {
        ::new (&active_hook) ucs::datastruct::list_hook();
        ::new (&pending) uct::pending_request();
    }

    template<class State>
    State& start_send() noexcept {
        static_assert(std::is_base_of_v<send_state, State> && sizeof(State) <= sizeof state &&
                      std::is_trivially_destructible_v<State>);
        kind = request_kind::send;
        return *::new (static_cast<void*>(&state)) State;  // members without a default stay unset
    }
    // Returns the state of a send or receive that is of this type.
    template<class State>
    [[nodiscard]] State& as() noexcept {
        static_assert(sizeof(State) <= sizeof state);
        return *static_cast<State*>(static_cast<void*>(&state));
    }
    template<class State>
    [[nodiscard]] const State& as() const noexcept {
        return *static_cast<const State*>(static_cast<const void*>(&state));
    }
    recv_state& start_recv(request_kind started = request_kind::recv) noexcept {
        kind = started;
        return *::new (&state.recv) recv_state();
    }
    stream_recv_state& start_stream_recv() noexcept {
        kind = request_kind::recv_stream;
        return *::new (&state.stream) stream_recv_state();
    }
    flush_state& start_flush() noexcept {
        kind = request_kind::flush;
        return *::new (&state.flush) flush_state();
    }
    group_state& start_group() noexcept {
        kind = request_kind::group;
        return *::new (&state.group) group_state();
    }

private:
    static request& of_slot(void* in_slot) noexcept {
        return *boost::intrusive::get_parent_from_member(static_cast<slot*>(in_slot),
                                                         &request::state);
    }
};

// Programs put it on their stack for every blocking call.
static_assert(sizeof(request) <= 272 && sizeof(request) % 16 == 0);

}  // namespace ucp
