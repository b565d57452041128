// The byte stream of an endpoint, both directions.
#pragma once

#include <cstdint>

#include "ucp/core/operation.hpp"
#include "ucp/core/request.hpp"
#include "ucp/stream/chunk.hpp"
#include "ucp/stream/wire.hpp"
#include "ucs/vfs/directory.hpp"

namespace ucp {

// Receives wait here in order, or bytes do, never both. A sender has at most a window of bytes on
// the way that nobody has taken out yet; as they are taken, its limit rises. Made at the first use
// of the endpoint as a stream, owned by it. Owner context.
class stream_channel final : public ucs::vfs::object {
public:
    stream_channel(ep& of, std::size_t window) noexcept;
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
    // Bytes that wait for somebody.
    [[nodiscard]] std::size_t stored() const noexcept;

    // Bytes arrived. An error: there is no memory for them, or the peer sends more than it may.
    [[nodiscard]] ucs_status_t arrived(const std::byte* data, std::size_t length);
    // Where the next bytes belong when so many come at once, or nullptr: see arrived.
    [[nodiscard]] void* place(std::size_t length) const noexcept;
    [[nodiscard]] ucs_status_t landed(std::size_t length);

    // Drops bytes that nobody will read.
    void drop_stored() noexcept;
    // The program has asked for the endpoint, or it goes: what is stored is not the worker's
    // concern any more, see worker::unread.
    void end_uninvited() noexcept;

    // The peer sends nothing more: receives that wait end with the status. Bytes that are here can
    // still be read.
    void end_receives(ucs_status_t status);

    // --- sending ---
    // Whether so many bytes may be sent now, before all that waits.
    [[nodiscard]] bool may_send(std::size_t length) const noexcept {
        return turn_ > last_number_ && length <= limit_ - sent_;
    }
    // How much of `wanted` may be sent now.
    [[nodiscard]] std::size_t grant(std::size_t wanted) const noexcept {
        return std::min<std::size_t>(wanted, limit_ - sent_);
    }
    void note_sent(std::size_t length) noexcept { sent_ += length; }
    // The number of the next send that is not over at once: some wait here for the limit, others
    // in the lane for its resources, and they may change places. So each has its turn, by number,
    // which it passes on when all its bytes are handed over.
    [[nodiscard]] std::uint64_t next_number() noexcept { return ++last_number_; }
    [[nodiscard]] bool has_turn(std::uint64_t number) const noexcept { return number == turn_; }
    void pass_turn() noexcept { ++turn_; }
    // Waits for its turn and for the limit; `send` continues by its protocol's progress then.
    void block(request& send) noexcept;
    // Those that wait go on, as far as they may.
    void go_on();
    void unblock(request& send) noexcept;
    void raise_limit(std::uint64_t limit);
    // The program of the peer has closed: the limit does not rise any more, and sends that wait for
    // it fail.
    [[nodiscard]] bool reader_gone() const noexcept;
    // Receives wait.
    [[nodiscard]] bool awaits_bytes() const noexcept { return !waiting_.empty(); }

    // In the worker's list of those that have bytes and a program that may hear of them: it has not
    // closed their endpoint, and it has made it.
    void show_ready() noexcept;
    ucs::datastruct::auto_unlink_hook ready_hook;
    [[nodiscard]] ep& owner() const noexcept { return owner_; }

    void describe(ucs::vfs::directory& into) const override;

private:
    // Gives a receive bytes; how many it took. Its state tells whether it is full.
    std::size_t feed(request& receive, const std::byte* data, std::size_t length);
    // Whether a receive ends with so many bytes.
    [[nodiscard]] static bool satisfied(const stream_recv_state& state,
                                        std::size_t received) noexcept;
    void finish(request& receive, ucs_status_t status);
    [[nodiscard]] ucs_status_t store(const std::byte* data, std::size_t length);
    void note_unread(const stream_chunk& fresh) noexcept;
    void read_stored(request& receive);
    void drop_front() noexcept;
    void note_taken(std::size_t length);
    [[nodiscard]] bool may_go_on() noexcept;
    void resume_first();

    ep& owner_;
    const std::uint64_t window_;
    std::uint64_t received_ = 0;
    std::uint64_t taken_ = 0;  // of them, by the program
    std::uint64_t granted_;    // the limit that the peer was told
    std::size_t unread_ = 0;   // memory that counts in worker::unread
    ucs::datastruct::list<request, &request::active_hook> waiting_;
    ucs::datastruct::list<stream_chunk, &stream_chunk::hook> stored_;
    ucs::datastruct::list<stream_chunk, &stream_chunk::hook> handed_out_;

    std::uint64_t sent_ = 0;
    std::uint64_t limit_ = wire::first_stream_window;
    ucs::datastruct::list<uct::pending_request, &uct::pending_request::pending_hook> blocked_;
    std::uint64_t last_number_ = 0;
    std::uint64_t turn_ = 1;
    bool going_on_ = false;
};

}  // namespace ucp
