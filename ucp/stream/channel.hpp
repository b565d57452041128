// Byte stream of an endpoint, both directions.
#pragma once

#include <cstdint>

#include "ucp/core/operation.hpp"
#include "ucp/core/request.hpp"
#include "ucp/stream/chunk.hpp"
#include "ucp/stream/wire.hpp"
#include "ucs/vfs/directory.hpp"

namespace ucp {

// State of a send on a stream.
struct stream_send_state : send_state {
    std::uint64_t number = 0;  // its turn, see stream_channel::next_number; 0: the send is empty
};

// Either receives or bytes are queued here in order, never both. A sender has at most a window of
// bytes outstanding that the receiving program has not taken; as it takes bytes, the sender's limit
// rises. Made when the endpoint is first used as a stream, and owned by it. Owner context.
class stream_channel final : public ucs::vfs::object {
public:
    stream_channel(ep& endpoint, std::size_t window) noexcept;
    ~stream_channel();
    stream_channel(const stream_channel&) = delete;
    stream_channel& operator=(const stream_channel&) = delete;

    // --- receiving ---
    // See ucp_stream_recv_nbx, ucp_stream_recv_data_nb, ucp_stream_data_release.
    ucs_status_ptr_t receive(void* buffer, std::size_t count, std::size_t& length,
                             const operation& params);
    void* take(std::size_t& length) noexcept;
    void release(stream_chunk& taken);

    [[nodiscard]] bool has_bytes() const noexcept { return !stored_.empty(); }
    // Returns the number of stored bytes, which wait for a receive.
    [[nodiscard]] std::size_t stored() const noexcept;

    // Delivers arrived bytes. Returns an error if there is no memory for them, or if the peer sends
    // more than it may.
    [[nodiscard]] ucs_status_t arrived(const std::byte* data, std::size_t length);
    // Returns the address for the next `length` bytes if a receive can take them at once, or
    // nullptr; then use arrived.
    [[nodiscard]] void* receive_address(std::size_t length) const noexcept;
    [[nodiscard]] ucs_status_t landed(std::size_t length);

    // Drops stored bytes that the program will not read.
    void drop_stored() noexcept;
    // Call when the program has taken over the endpoint, or when it ends. The stored bytes no
    // longer count in worker_streams::unread.
    void end_uninvited() noexcept;

    // Call when the peer sends nothing more. Waiting receives end with the status. Stored bytes can
    // still be read.
    void end_receives(ucs_status_t status);

    // --- sending ---
    // Returns true if `length` bytes may be sent now, ahead of all waiting sends.
    [[nodiscard]] bool may_send(std::size_t length) const noexcept {
        return turn_ > last_number_ && length <= limit_ - sent_;
    }
    // Returns how many of the `wanted` bytes may be sent now.
    [[nodiscard]] std::size_t grant(std::size_t wanted) const noexcept {
        return std::min<std::size_t>(wanted, limit_ - sent_);
    }
    void note_sent(std::size_t length) noexcept { sent_ += length; }
    // Returns the number of the next send that does not complete at once. Some sends wait here for
    // credits, others wait in the lane for resources, and their order may change. So sends take
    // turns by number; a send passes its turn on when all its bytes are handed over.
    [[nodiscard]] std::uint64_t next_number() noexcept { return ++last_number_; }
    [[nodiscard]] bool has_turn(std::uint64_t number) const noexcept { return number == turn_; }
    void pass_turn() noexcept { ++turn_; }
    // Makes `send` wait for its turn and for credits. It then continues by its protocol's progress.
    void block(request& send) noexcept;
    // Resumes waiting sends, as far as turns and credits allow.
    void resume();
    void unblock(request& send) noexcept;
    void raise_limit(std::uint64_t limit);
    // Returns true if the peer's program has closed its endpoint. The limit does not rise any more,
    // and sends that wait for it fail.
    [[nodiscard]] bool reader_gone() const noexcept;
    // Returns true if receives wait.
    [[nodiscard]] bool awaits_bytes() const noexcept { return !waiting_.empty(); }

    // Adds the stream to the worker's list of streams with bytes, if its program may learn of them:
    // the program has made the endpoint and not closed it.
    void show_ready() noexcept;
    ucs::datastruct::auto_unlink_hook ready_hook;
    [[nodiscard]] ep& owner() const noexcept { return owner_; }

    void describe(ucs::vfs::directory& into) const override;

private:
    // Gives bytes to a receive; returns how many it took. The receive's state tells whether it is
    // full.
    std::size_t fill(request& receive, const std::byte* data, std::size_t length);
    // Returns true if a receive ends with `received` bytes.
    [[nodiscard]] static bool satisfied(const stream_recv_state& state,
                                        std::size_t received) noexcept;
    void finish(request& receive, ucs_status_t status);
    [[nodiscard]] ucs_status_t store(const std::byte* data, std::size_t length);
    void note_unread(const stream_chunk& fresh) noexcept;
    void read_stored(request& receive);
    void drop_front() noexcept;
    void note_taken(std::size_t length);
    [[nodiscard]] bool may_resume() noexcept;
    void resume_first();

    ep& owner_;
    const std::uint64_t window_;
    std::uint64_t received_ = 0;
    std::uint64_t taken_ = 0;  // bytes of these that the program has taken
    std::uint64_t granted_;    // the limit that was sent to the peer
    std::size_t unread_ = 0;   // memory that counts in worker_streams::unread
    ucs::datastruct::list<request, &request::active_hook> waiting_;
    ucs::datastruct::list<stream_chunk, &stream_chunk::hook> stored_;
    ucs::datastruct::list<stream_chunk, &stream_chunk::hook> handed_out_;

    std::uint64_t sent_ = 0;
    std::uint64_t limit_ = wire::first_stream_window;
    ucs::datastruct::list<uct::pending_request, &uct::pending_request::pending_hook> blocked_;
    std::uint64_t last_number_ = 0;
    std::uint64_t turn_ = 1;
    bool resuming_ = false;
};

}  // namespace ucp
