// The socket of a connection, whose bytes may be encrypted (UCX_TCP_ENCRYPTION).
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <memory>
#include <span>

#include "ucs/type/unique_fd.hpp"
#include "uct/tcp/data/encrypted_stream.hpp"

namespace uct::tcp {

// Part of a connection, which handles the errors. Owner context.
class stream_socket {
public:
    [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(fd_); }
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    void open(ucs::unique_fd fresh) noexcept { fd_ = std::move(fresh); }
    void close() noexcept;

    // Encrypts the bytes that follow. May throw std::bad_alloc. `session` is the key of the
    // handshake; `connected` says which side of it this is.
    void encrypt(const ucs::security::key& session, bool connected);
    [[nodiscard]] bool is_encrypted() const noexcept { return encrypted_ != nullptr; }
    // Works like sendmsg(): returns the number of bytes sent, or -1 with errno. A byte counts as
    // sent when the whole record that contains it has been sent. Until then the caller must pass
    // the same bytes again.
    [[nodiscard]] ssize_t write_encrypted(std::span<const iovec> pieces) noexcept;
    // Works like readv(). Fails with EBADMSG if the received bytes are not what the peer sent.
    [[nodiscard]] ssize_t read_encrypted(std::span<const iovec> into) noexcept;
    // Returns true if read_encrypted() can return bytes that no event of the socket announces.
    [[nodiscard]] bool has_decrypted() const noexcept {
        return encrypted_ != nullptr && encrypted_->in.has_ready();
    }
    [[nodiscard]] ssize_t read_plain(std::span<const iovec> into) noexcept {
        return into.size() == 1 ? ::recv(fd_.get(), into[0].iov_base, into[0].iov_len, MSG_DONTWAIT)
                                : ::readv(fd_.get(), into.data(), static_cast<int>(into.size()));
    }

    // Reads and drops at most so many batches of unread bytes of the peer. If a socket is closed
    // with unread bytes, the kernel sends a reset, which may overtake the bytes sent before it.
    void drop_unread(unsigned reads) noexcept;
    // Returns true if bytes have come since note_unread(), read or unread.
    [[nodiscard]] bool has_received() const noexcept;
    void note_readable() noexcept { was_readable_ = true; }
    void note_unread() noexcept { was_readable_ = false; }
    // See uct::ep::received.
    [[nodiscard]] std::uint64_t received() const noexcept;

    std::uint32_t watched = 0;  // events that the interface waits for; 0: it does not wait

private:
    ucs::unique_fd fd_;
    bool was_readable_ = false;
    std::unique_ptr<encrypted_streams> encrypted_;  // null: not encrypted
};

}  // namespace uct::tcp
