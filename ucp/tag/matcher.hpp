// Receives tagged messages: matches, stores and assembles them.
#pragma once

#include <string>
#include <vector>

#include "ucp/core/operation.hpp"
#include "ucp/core/request.hpp"
#include "ucp/core/slots.hpp"
#include "ucp/eager/assembly.hpp"
#include "ucp/eager/wire.hpp"
#include "ucp/rndv/receiver.hpp"
#include "ucp/tag/flow.hpp"
#include "ucp/tag/match/expected.hpp"
#include "ucp/tag/match/unexpected.hpp"
#include "ucp/tag/message.hpp"
#include "uct/api/iface.hpp"

namespace ucp {

// Matches posted receives with arriving messages. The slot of a worker; owner context.
class tag_matcher {
public:
    explicit tag_matcher(worker& owner) noexcept;
    ~tag_matcher();
    tag_matcher(const tag_matcher&) = delete;
    tag_matcher& operator=(const tag_matcher&) = delete;

    [[nodiscard]] worker& owner() const noexcept { return owner_; }

    // Registers the handlers of all tag messages.
    void listen(uct::iface& iface);

    // See ucp_tag_recv_nbx, ucp_tag_probe_nb, ucp_tag_msg_recv_nbx. receive_probed consumes the
    // message even when it returns an error, because the caller cannot distinguish that from an
    // error of the message.
    ucs_status_ptr_t receive(void* buffer, std::size_t count, ucp_tag_t tag, ucp_tag_t mask,
                             const operation& params);
    message* probe(ucp_tag_t tag, ucp_tag_t mask, bool remove, ucp_tag_recv_info_t& info);
    ucs_status_ptr_t receive_probed(void* buffer, std::size_t count, message& taken,
                                    const operation& params);

    // A posted receive completes with UCS_ERR_CANCELED; a matched receive continues.
    void cancel(request& receive);

    [[nodiscard]] unexpected_memory& memory() noexcept { return memory_; }
    // Cuts off senders that sent eagerly without credits. It stops when no more than the hard
    // limit is stored, or when no sender has more stored than a well-behaved sender may have. Then
    // it drops the oldest messages of connections that have ended, as long as these together have
    // more than that. Called by the worker's progress, outside of the progress of interfaces.
    void relieve();

    // Appends counts, and the first few posted receives and stored messages, in text for people.
    void describe(std::string& counts, std::string& details);
    [[nodiscard]] std::size_t expected_count() const noexcept { return expected_.size(); }
    [[nodiscard]] std::size_t unexpected_count() const noexcept { return unexpected_.size(); }

private:
    request* start(void* buffer, std::size_t count, const operation& params, ucs_status_t& status);
    ucs_status_ptr_t end(request& receive, const operation& params);

    // Consumes a message that a probe removed and no receive can take, and reports `status` to its
    // sender.
    void drop(message& taken, ucs_status_t status);
    // Gives a stored message to a receive; consumes the message.
    void take(request& receive, message& stored);
    void take_eager(request& receive, message& stored);
    void rendezvous(request& receive, std::uint64_t ep, rts_info rts);
    // Directs the rest of a fragmented message into this receive.
    void attach_assembly(request& receive, assembly& more);

    // Handlers of arriving messages, one per message id of wire.hpp.
    void on_eager_only(uct::peer_bytes whole);
    void on_eager_first(uct::peer_bytes whole);
    void on_eager_ack(uct::peer_bytes whole);
    void on_rts(uct::peer_bytes whole);
    // Records that the sender of an RTS defers further messages.
    void note_sends_deferred(const ep& sender, std::uint32_t round) noexcept;

    // `whole` is the message with its header, as the transport delivers it.
    void store_eager(std::uint64_t tag, uct::peer_bytes whole);
    void receive_first(request& receive, const wire::eager_first_header& header,
                       const std::byte* data, std::size_t length, assembly* rest);
    message* store_first(const wire::eager_first_header& header, uct::peer_bytes whole) noexcept;
    void deliver(request& receive, std::uint64_t tag, const void* data, std::size_t length);
    void start_assembly(ep* from, const wire::eager_first_header& header, uct::peer_bytes whole);
    // Stores the message until a receive or a probe takes it.
    void queue(message& stored) noexcept;
    void drop_queued(message& stored);
    // Counts the bytes of memory that the delivered message or fragment takes.
    void account(message& stored, std::size_t bytes, uct::peer_bytes delivered) noexcept;
    [[gnu::noinline, gnu::cold]] void attribute(message& stored, std::size_t bytes,
                                                uct::peer_bytes delivered) noexcept;
    void cut_off(const connection_shares::share& worst);
    std::size_t drop_stored_from(std::uint64_t connection);
    void relieve_ended_connections();
    // Drops the oldest messages of connections that have ended, until `wanted` bytes are free or
    // none is left. `alive` lists the other connections, sorted.
    void drop_ended(const std::vector<std::uint64_t>& alive, std::size_t wanted);
    void acknowledge(std::uint64_t ep, std::uint64_t sender_request, ucs_status_t status = UCS_OK);
    void answer_sync(const ep& to, std::uint64_t sender_request, ucs_status_t status);
    // Marks a message whose data could not be stored for lack of memory. Its receive ends with that
    // error.
    void give_up(message& stored);
    // For messages in fragments, see assembly_sink.
    void add_fragment(assembly& into, const std::byte* data, std::size_t length);
    void finish_assembly(const assembly& done);
    void drop_incomplete(ep& sender, const assembly& incomplete);
    void drop_rts(ep& sender, message& stored);

    // returns null if there is no memory
    message* new_message(std::uint64_t tag, message::kind type) noexcept;
    void free_message(message& done) noexcept;

    friend class tag_handlers;

    worker& owner_;
    tag::expected_queue expected_;
    tag::unexpected_queue unexpected_;
    unexpected_memory memory_;
    message* spare_ = nullptr;  // recycled objects
    std::size_t spare_count_ = 0;
};

}  // namespace ucp
