// Byte stream of an endpoint, both directions.
#pragma once

#include <cstdint>

#include "ucp/core/operation.hpp"
#include "ucp/core/request.hpp"
#include "ucp/stream/chunk.hpp"
#include "ucp/stream/sends.hpp"
#include "ucs/vfs/directory.hpp"

namespace ucp {

// Either receives or bytes are queued here in order, never both. A sender has at most a window of
// bytes outstanding that the receiving program has not taken; as it takes bytes, the sender's limit
// rises. Made when the endpoint is first used as a stream, and owned by it. Owner context.
class stream_channel final : public ucs::vfs::object {
public:
    stream_channel(ep& endpoint, std::size_t window) noexcept;
    ~stream_channel();
    stream_channel(const stream_channel&) = delete;
    stream_channel& operator=(const stream_channel&) = delete;

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

    // Returns true if receives wait.
    [[nodiscard]] bool awaits_bytes() const noexcept { return !waiting_.empty(); }

    // Adds the stream to the worker's list of streams with bytes, if its program may learn of them:
    // the program has made the endpoint and not closed it.
    void show_ready() noexcept;
    ucs::datastruct::auto_unlink_hook ready_hook;
    stream_sends sends;
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

    ep& owner_;
    const std::uint64_t window_;
    std::uint64_t received_ = 0;
    std::uint64_t taken_ = 0;  // bytes of these that the program has taken
    std::uint64_t granted_;    // the limit that was sent to the peer
    std::size_t unread_ = 0;   // memory that counts in worker_streams::unread
    ucs::datastruct::list<request, &request::active_hook> waiting_;
    ucs::datastruct::list<stream_chunk, &stream_chunk::hook> stored_;
    ucs::datastruct::list<stream_chunk, &stream_chunk::hook> handed_out_;
};

}  // namespace ucp
