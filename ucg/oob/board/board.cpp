#include "ucg/oob/board/board.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "ucg/oob/log.hpp"
#include "ucs/sys/byte_lock.hpp"

namespace ucg::oob {

ucs::result<local_board> local_board::make(rank_t size) {
    const std::size_t bytes = size * (sizeof(local_rank_state) + sizeof(local_publications));
    auto file = ucs::memory::make_memory_file("hawser-oob", bytes);
    if (!file) return file.status();
    auto memory = ucs::memory::mapped::file(file->get(), bytes);
    if (!memory) return memory.status();
    for (rank_t rank = 0; rank < size; ++rank)
        new (memory->data() + rank * sizeof(local_rank_state)) local_rank_state;
    // The file is zero-filled, and so are empty publications.
    return local_board(std::move(*memory), std::move(*file), size);
}

bool local_publications::add(std::uint64_t number, std::span<const std::byte> block) noexcept {
    // Groups made one after the other mostly publish the same worker address.
    if (const auto last = find(number); std::ranges::equal(last, block)) return true;
    const record head{number, block.size()};
    // Other processes share this memory, so the value may be anything.
    const std::uint64_t offset = used.load(std::memory_order_relaxed);
    if (offset > capacity || offset % 8 != 0) return false;
    const std::uint64_t end = offset + sizeof head + (block.size() + 7) / 8 * 8;
    if (end > capacity) return false;
    std::memcpy(&records[offset], &head, sizeof head);
    std::memcpy(&records[offset + sizeof head], block.data(), block.size());
    used.store(end, std::memory_order_release);
    return true;
}

std::span<const std::byte> local_publications::find(std::uint64_t number) const noexcept {
    const std::uint64_t end =
        std::min<std::uint64_t>(used.load(std::memory_order_acquire), capacity);
    std::span<const std::byte> found;
    for (std::uint64_t offset = 0; offset + sizeof(record) <= end;) {
        record head;
        std::memcpy(&head, &records[offset], sizeof head);
        offset += sizeof head;
        if (head.number > number || head.bytes > end - offset) break;
        found = {&records[offset], static_cast<std::size_t>(head.bytes)};
        offset += (head.bytes + 7) / 8 * 8;
    }
    return found;
}

ucs_status_t local_board::enter(rank_t rank) const noexcept {
    if (!ucs::sys::lock_byte(locks_.get(), rank)) {
        const bool is_taken = errno == EAGAIN || errno == EACCES;
        ucs::log::error(oob_log, "this process cannot be rank {}: {}", rank,
                        is_taken ? "another one is" : std::strerror(errno));
        return is_taken ? UCS_ERR_ALREADY_EXISTS : UCS_ERR_IO_ERROR;
    }
    state_of(rank).pid.store(static_cast<std::uint32_t>(::getpid()), std::memory_order_release);
    return UCS_OK;
}

bool local_board::is_dead(rank_t rank) const noexcept {
    const auto pid = state_of(rank).pid.load(std::memory_order_acquire);
    if (pid == 0 || pid == static_cast<std::uint32_t>(::getpid())) return false;
    return ucs::sys::is_byte_free(locks_.get(), rank);
}

}  // namespace ucg::oob
