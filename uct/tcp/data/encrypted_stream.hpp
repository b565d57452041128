// Encryption and integrity of the bytes of one connection, without a socket.
//
// Each direction is a stream of its own: 24 bytes of header, then records. A record is a length
// (u32, little-endian) and as many bytes of ciphertext, which has 17 bytes more than its plaintext
// (ucs/security/secret_stream.hpp). A record that was changed, dropped, repeated or moved fails to
// decrypt, and so do all records after it.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "ucs/security/secret_stream.hpp"

namespace uct::tcp {

namespace encrypted {
inline constexpr std::size_t header_size = ucs::security::stream_header_size;
inline constexpr std::size_t length_size = 4;
inline constexpr std::size_t overhead = ucs::security::record_overhead;
inline constexpr std::size_t most_plain = 32768;  // bytes of plaintext in a record
inline constexpr std::size_t longest_record = length_size + most_plain + overhead;
}  // namespace encrypted

// Encrypts outgoing bytes into records. Owned by a connection; owner context.
class encrypting_stream {
public:
    explicit encrypting_stream(const ucs::security::key& key);  // may throw std::bad_alloc
    encrypting_stream(const encrypting_stream&) = delete;
    encrypting_stream& operator=(const encrypting_stream&) = delete;
    ~encrypting_stream();

    // Makes a record of the first bytes of `pieces`, at most encrypted::most_plain. The caller must
    // have finished the previous record.
    void encrypt(std::span<const iovec> pieces) noexcept;

    // There is a record that is not finished.
    [[nodiscard]] bool has_record() const noexcept { return plain_ != 0; }
    // The bytes of the record that must be sent; the stream header comes before the first record.
    [[nodiscard]] std::span<const std::byte> ready() const noexcept {
        return {buffer_.get() + begin_, end_ - begin_};
    }
    void sent(std::size_t count) noexcept { begin_ += count; }
    // Ends the record and returns its number of plaintext bytes. The caller must have sent all of
    // ready().
    std::size_t finish_record() noexcept { return std::exchange(plain_, 0); }

private:
    std::unique_ptr<std::byte[]> buffer_;
    std::unique_ptr<std::byte[]> gathered_;      // plaintext of a record, which must be contiguous
    ucs::security::stream_encryptor encryptor_;  // its constructor wrote the header to buffer_
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t plain_ = 0;  // bytes of plaintext in the record
};

// Decrypts received records. The bytes are untrusted. Owned by a connection; owner context.
class decrypting_stream {
public:
    explicit decrypting_stream(const ucs::security::key& key);  // may throw std::bad_alloc
    decrypting_stream(const decrypting_stream&) = delete;
    decrypting_stream& operator=(const decrypting_stream&) = delete;
    ~decrypting_stream();

    // Where to receive the next bytes. Empty while complete records wait to be read.
    [[nodiscard]] std::span<std::byte> space() noexcept;
    // Adds the first `count` bytes that were received into space().
    void take(std::size_t count) noexcept { end_ += count; }

    // Plaintext can be read, or the stream is broken.
    [[nodiscard]] bool has_ready() const noexcept;
    enum class outcome { read, nothing, broken };
    struct result {
        outcome status;
        std::size_t count;  // number of bytes read
    };
    // Moves plaintext of at most one record to `into`. `broken`: a record failed to decrypt, and
    // the stream cannot be read any more.
    [[nodiscard]] result read(std::span<const iovec> into) noexcept;

private:
    [[nodiscard]] std::size_t available() const noexcept { return end_ - begin_; }
    // Length of the whole record at begin_; 0: its length has not arrived.
    [[nodiscard]] std::size_t record_size() const noexcept;
    [[nodiscard]] bool is_complete() const noexcept;
    void start() noexcept;
    [[nodiscard]] bool decrypt_record() noexcept;

    const ucs::security::key key_;
    std::optional<ucs::security::stream_decryptor> decryptor_;  // once the header has come
    std::unique_ptr<std::byte[]> buffer_;
    std::unique_ptr<std::byte[]> plain_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t plain_begin_ = 0;
    std::size_t plain_end_ = 0;
    bool broken_ = false;
};

// Both directions of a connection.
struct encrypted_streams {
    // `session` is the key of the handshake; `connected` says which side of it this is.
    encrypted_streams(const ucs::security::key& session, bool connected);

    encrypting_stream out;
    decrypting_stream in;
};

}  // namespace uct::tcp
