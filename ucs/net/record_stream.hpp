// Records over a connected socket: a header of fixed size, and a body whose length the header has.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "ucs/type/status.h"
#include "ucs/type/unique_fd.hpp"

namespace ucs::net {

// Sends one record at a time, and receives bytes; never blocks. One thread may send while another
// receives. The functions return UCS_OK: done; UCS_INPROGRESS: call again when the socket is ready;
// UCS_ERR_CONNECTION_RESET: the peer is gone, and errno has the reason, 0 if it closed.
class record_socket {
public:
    // The longest of all users: a failure that a rank of ucg/oob/tcp tells the others.
    static constexpr std::size_t longest_head = 304;

    explicit record_socket(unique_fd socket) noexcept;
    ~record_socket() { close(); }
    record_socket(const record_socket&) = delete;
    record_socket& operator=(const record_socket&) = delete;

    [[nodiscard]] int fd() const noexcept { return socket_.get(); }
    // Ends the connection. The caller must not send or receive afterwards. In a forked child the
    // connection stays open, because it is the parent's.
    void close() noexcept;
    // Hands over the socket. The caller must not send or receive here afterwards.
    [[nodiscard]] unique_fd take() noexcept { return std::move(socket_); }

    // Begins to send a record. The record before must be sent. `head`, of at most longest_head
    // bytes, is copied; `body` stays valid until flush() returns UCS_OK.
    void put(std::span<const std::byte> head, std::span<const std::byte> body = {}) noexcept;
    [[nodiscard]] ucs_status_t flush() noexcept;
    [[nodiscard]] bool is_sending() const noexcept { return sent_ < head_size_ + body_.size(); }
    // Drops the unsent rest of the record, because the memory of its body goes away. Returns true
    // if the record was complete.
    bool forget_body() noexcept;

    // The number of bytes that were received. Any thread.
    [[nodiscard]] std::uint64_t received() const noexcept { return received_; }

protected:
    // Receives the rest of `into`, whose first `count` bytes have come.
    [[nodiscard]] ucs_status_t read_rest(std::span<std::byte> into, std::size_t& count) noexcept;

private:
    unique_fd socket_;
    const pid_t process_;
    std::array<std::byte, longest_head> head_;
    std::size_t head_size_ = 0;
    std::span<const std::byte> body_;
    std::size_t sent_ = 0;  // bytes of head_ and body_
    std::atomic<std::uint64_t> received_{0};
};

// Receives records, too. `Parse` turns the HeaderSize bytes of a header into its value, or into
// nothing if they are malformed.
template<std::size_t HeaderSize, auto Parse>
class record_stream : public record_socket {
    using header_bytes = std::span<const std::byte, HeaderSize>;

public:
    using header_type = typename decltype(Parse(std::declval<header_bytes>()))::value_type;
    using record_socket::record_socket;

    // Receives the header of the next record. UCS_ERR_INVALID_PARAM: it is malformed, and so are
    // all records after it.
    [[nodiscard]] ucs_status_t read_header() noexcept {
        assert(!in_record_);
        const ucs_status_t status = read_rest(bytes_, count_);
        if (status != UCS_OK) return status;
        const auto parsed = Parse(header_bytes(bytes_));
        if (!parsed) return UCS_ERR_INVALID_PARAM;
        header_ = *parsed;
        in_record_ = true;
        count_ = 0;
        return UCS_OK;
    }
    [[nodiscard]] const header_type& header() const noexcept { return header_; }
    // Returns true if the header was received and the body was not.
    [[nodiscard]] bool in_record() const noexcept { return in_record_; }
    // Receives the body into memory of the caller, which has the length from the header and the
    // same content from call to call. UCS_OK ends the record.
    [[nodiscard]] ucs_status_t read_body(std::span<std::byte> into) noexcept {
        assert(in_record_);
        const ucs_status_t status = read_rest(into, count_);
        if (status != UCS_OK) return status;
        in_record_ = false;
        count_ = 0;
        return UCS_OK;
    }

private:
    std::array<std::byte, HeaderSize> bytes_{};
    std::size_t count_ = 0;  // received bytes of the header, then of the body
    bool in_record_ = false;
    header_type header_{};
};

}  // namespace ucs::net
