#include "uct/tcp/data/encrypted_stream.hpp"

#include <algorithm>
#include <cstring>

namespace uct::tcp {

namespace {

// Space for several short records, or for a long one and the beginning of the next.
constexpr std::size_t received_size = 2 * encrypted::longest_record;

std::unique_ptr<std::byte[]> make_buffer(std::size_t size) {
    return std::unique_ptr<std::byte[]>(new std::byte[size]);
}

// Copies the first bytes of the pieces, at most `most`. Returns the number of copied bytes.
std::size_t gather(std::span<const iovec> pieces, std::byte* into, std::size_t most) noexcept {
    std::size_t count = 0;
    for (const iovec& piece : pieces) {
        const std::size_t step = std::min(piece.iov_len, most - count);
        std::memcpy(into + count, piece.iov_base, step);
        count += step;
        if (count == most) break;
    }
    return count;
}

// Copies to the pieces. Returns the number of copied bytes.
std::size_t scatter(const std::byte* from, std::size_t length,
                    std::span<const iovec> pieces) noexcept {
    std::size_t count = 0;
    for (const iovec& piece : pieces) {
        const std::size_t step = std::min(piece.iov_len, length - count);
        std::memcpy(piece.iov_base, from + count, step);
        count += step;
        if (count == length) break;
    }
    return count;
}

ucs::security::key direction_key(const ucs::security::key& session, bool to_accepting) noexcept {
    return ucs::security::key::derive(
        session, to_accepting ? "hawser tcp to accepting side" : "hawser tcp to connecting side");
}

}  // namespace

encrypting_stream::encrypting_stream(const ucs::security::key& key)
    : buffer_(make_buffer(encrypted::header_size + encrypted::longest_record)),
      gathered_(make_buffer(encrypted::most_plain)),
      encryptor_(
          key, std::span<std::byte, encrypted::header_size>(buffer_.get(), encrypted::header_size)),
      end_(encrypted::header_size) {}

encrypting_stream::~encrypting_stream() {
    ucs::security::erase({gathered_.get(), encrypted::most_plain});
}

void encrypting_stream::encrypt(std::span<const iovec> pieces) noexcept {
    // The stream header is sent with the first record.
    if (begin_ == end_) begin_ = end_ = 0;
    const std::byte* plain = gathered_.get();
    if (!pieces.empty() && pieces[0].iov_len >= encrypted::most_plain) {
        plain = static_cast<const std::byte*>(pieces[0].iov_base);
        plain_ = encrypted::most_plain;
    } else {
        plain_ = gather(pieces, gathered_.get(), encrypted::most_plain);
    }
    std::byte* record = buffer_.get() + end_;
    const auto length = static_cast<std::uint32_t>(plain_ + encrypted::overhead);
    std::memcpy(record, &length, sizeof length);
    encryptor_.encrypt({plain, plain_}, {record, encrypted::length_size},
                       record + encrypted::length_size);
    end_ += encrypted::length_size + length;
}

decrypting_stream::decrypting_stream(const ucs::security::key& key)
    : key_(key), buffer_(make_buffer(received_size)), plain_(make_buffer(encrypted::most_plain)) {}

decrypting_stream::~decrypting_stream() {
    ucs::security::erase({plain_.get(), encrypted::most_plain});
}

std::span<std::byte> decrypting_stream::space() noexcept {
    if (has_ready()) return {};
    if (begin_ == end_) {
        begin_ = end_ = 0;
    } else if (received_size - begin_ < encrypted::longest_record) {
        std::memmove(buffer_.get(), buffer_.get() + begin_, available());
        end_ -= begin_;
        begin_ = 0;
    }
    return {buffer_.get() + end_, received_size - end_};
}

std::size_t decrypting_stream::record_size() const noexcept {
    if (available() < encrypted::length_size) return 0;
    std::uint32_t length = 0;
    std::memcpy(&length, buffer_.get() + begin_, sizeof length);
    return encrypted::length_size + length;
}

bool decrypting_stream::is_complete() const noexcept {
    if (!decryptor_) return available() >= encrypted::header_size;
    const std::size_t size = record_size();
    // An invalid length counts as complete: reading it then finds that the stream is broken.
    return size > 0 && (available() >= size || size > encrypted::longest_record);
}

bool decrypting_stream::has_ready() const noexcept {
    return broken_ || plain_begin_ < plain_end_ || is_complete();
}

void decrypting_stream::start() noexcept {
    decryptor_.emplace(key_, std::span<const std::byte, encrypted::header_size>(
                                 buffer_.get() + begin_, encrypted::header_size));
    begin_ += encrypted::header_size;
}

bool decrypting_stream::decrypt_record() noexcept {
    const std::size_t size = record_size();
    if (size > encrypted::longest_record || size <= encrypted::length_size + encrypted::overhead) {
        return false;
    }
    const std::byte* record = buffer_.get() + begin_;
    const std::size_t length = size - encrypted::length_size;
    begin_ += size;
    if (!decryptor_->decrypt({record + encrypted::length_size, length},
                             {record, encrypted::length_size}, plain_.get())) {
        return false;
    }
    plain_begin_ = 0;
    plain_end_ = length - encrypted::overhead;
    return true;
}

decrypting_stream::result decrypting_stream::read(std::span<const iovec> into) noexcept {
    if (!decryptor_ && is_complete()) start();
    if (!broken_ && decryptor_ && plain_begin_ == plain_end_ && is_complete()) {
        broken_ = !decrypt_record();
    }
    if (broken_) return {outcome::broken, 0};
    if (plain_begin_ == plain_end_) return {outcome::nothing, 0};
    const std::size_t count = scatter(plain_.get() + plain_begin_, plain_end_ - plain_begin_, into);
    plain_begin_ += count;
    return {outcome::read, count};
}

encrypted_streams::encrypted_streams(const ucs::security::key& session, bool connected)
    : out(direction_key(session, connected)), in(direction_key(session, !connected)) {}

}  // namespace uct::tcp
