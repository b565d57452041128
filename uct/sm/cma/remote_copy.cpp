#include "uct/sm/cma/remote_copy.hpp"

#include <algorithm>
#include <cerrno>

namespace uct::cma {
namespace {

using outcome = copy_outcome::kind;

iovec remote_range(std::uint64_t address, std::size_t length) noexcept {
    return {reinterpret_cast<void*>(address), length};
}

std::size_t bytes_of(std::span<const iovec> chunk) noexcept {
    std::size_t sum = 0;
    for (const iovec& piece : chunk)
        sum += piece.iov_len;
    return sum;
}

copy_outcome check(const remote_process& process) noexcept {
    std::uint64_t seen = 0;
    const iovec local{&seen, sizeof seen};
    const iovec remote = remote_range(process.cookie_at, sizeof seen);
    const ssize_t got = ::process_vm_readv(process.pid, &local, 1, &remote, 1, 0);
    if (got < 0 && errno != EFAULT) return {outcome::refused, errno};
    return {got == sizeof seen && seen == process.cookie ? outcome::done : outcome::other_process,
            0};
}

// EFAULT does not tell which side's memory is missing, so the cookie decides.
copy_outcome failure(const remote_process& process, int error) noexcept {
    if (error != EFAULT) return {outcome::refused, error};
    const copy_outcome identity = check(process);
    return identity.type == outcome::done ? copy_outcome{outcome::bad_address, EFAULT} : identity;
}

using transfer = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                             unsigned long);

copy_outcome copy_rest(transfer call, const remote_process& process, std::uint64_t remote_address,
                       piece_cursor& cursor) noexcept {
    while (true) {
        const std::span<const iovec> chunk = cursor.chunk();
        if (chunk.empty()) return {};
        const iovec remote = remote_range(remote_address, bytes_of(chunk));
        const ssize_t copied = call(process.pid, chunk.data(), chunk.size(), &remote, 1, 0);
        if (copied <= 0) return failure(process, copied < 0 ? errno : EFAULT);
        cursor.advance(static_cast<std::size_t>(copied));
        remote_address += static_cast<std::uint64_t>(copied);
    }
}

}  // namespace

std::span<const iovec> piece_cursor::chunk() noexcept {
    std::size_t count = 0, bytes = 0, skip = offset_;
    for (const iov& piece : pieces_) {
        if (count == max_pieces || bytes == limit_) break;
        const std::size_t length = std::min(piece.length - skip, limit_ - bytes);
        if (length > 0) chunk_[count++] = {static_cast<std::byte*>(piece.base) + skip, length};
        bytes += length;
        skip = 0;
    }
    return std::span(chunk_).first(count);
}

void piece_cursor::advance(std::size_t bytes) noexcept {
    offset_ += bytes;
    while (!pieces_.empty() && offset_ >= pieces_.front().length) {
        offset_ -= pieces_.front().length;
        pieces_ = pieces_.subspan(1);
    }
}

copy_outcome read_remote(const remote_process& from, std::uint64_t remote_address,
                         std::span<const iov> into, std::size_t limit) noexcept {
    piece_cursor cursor{into, limit};
    const std::span<const iovec> chunk = cursor.chunk();
    if (chunk.empty()) return check(from);

    std::uint64_t seen = 0;
    std::array<iovec, piece_cursor::max_pieces + 1> local;
    local[0] = {&seen, sizeof seen};
    std::copy(chunk.begin(), chunk.end(), local.begin() + 1);
    const iovec remote[] = {remote_range(from.cookie_at, sizeof seen),
                            remote_range(remote_address, bytes_of(chunk))};
    const ssize_t copied =
        ::process_vm_readv(from.pid, local.data(), chunk.size() + 1, remote, 2, 0);
    if (copied < 0) return failure(from, errno);
    if (copied < static_cast<ssize_t>(sizeof seen) || seen != from.cookie) {
        return {outcome::other_process, 0};
    }
    const std::size_t payload = static_cast<std::size_t>(copied) - sizeof seen;
    cursor.advance(payload);
    return copy_rest(::process_vm_readv, from, remote_address + payload, cursor);
}

copy_outcome write_remote(const remote_process& to, std::uint64_t remote_address,
                          std::span<const iov> from, std::size_t limit) noexcept {
    const copy_outcome identity = check(to);
    if (identity.type != outcome::done) return identity;
    piece_cursor cursor{from, limit};
    return copy_rest(::process_vm_writev, to, remote_address, cursor);
}

}  // namespace uct::cma
