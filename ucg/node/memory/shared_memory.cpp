#include "ucg/node/memory/shared_memory.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "ucg/node/sleeper.hpp"
#include "ucg/schedule/log.hpp"
#include "ucs/descriptor/descriptor_budget.hpp"
#include "ucs/topology/machine.hpp"

namespace ucg::node {
namespace {

constexpr const char* kind = "hawser-node";

}  // namespace

ucs::result<ucs::unique_fd> shared_memory::make(const geometry& layout, std::uint64_t tag,
                                                std::uint32_t copies) {
    if (!layout.valid() || copies == 0) {
        ucs::log::error(node_log, "no memory can be laid out for {} ranks with slots of {} bytes",
                        layout.ranks, layout.slot_bytes);
        return UCS_ERR_INVALID_PARAM;
    }
    auto file = ucs::memory::make_memory_file(ucs::sys::tagged_file_name(kind, tag).c_str(),
                                              layout.bytes() * copies);
    if (!file) return file.status();
    *file = ucs::sys::within_budget(std::move(*file));
    if (!*file) return UCS_ERR_EXCEEDS_LIMIT;
    auto first = ucs::memory::mapped::file(file->get(), page);
    if (!first) return first.status();
    header& head = *reinterpret_cast<header*>(first->data());
    head.ranks = layout.ranks;
    head.mailboxes = layout.mailboxes;
    head.mailbox_bytes = layout.mailbox_bytes;
    head.slots = layout.slots;
    head.slot_bytes = layout.slot_bytes;
    head.ring_bytes = layout.ring_bytes;
    head.copies = copies;
    head.magic = header::right_magic;
    return file;
}

ucs::result<ucs::unique_fd> shared_memory::open(const ucs::sys::process_file& path) {
    ucs::sys::opened_memory_file opened = ucs::sys::open_process_file(path, kind, true);
    int error = opened.error;
    if (opened.file) {
        opened.file = ucs::sys::within_budget(std::move(opened.file));
        if (opened.file) return std::move(opened.file);
        error = errno;
        opened.reason = std::strerror(error);
    }
    ucs::log::error(node_log,
                    "the memory of this node cannot be opened: {}; with UCG_NODE_ENGINE=n in all "
                    "processes messages are used instead",
                    opened.reason);
    const bool none_left = error == EMFILE || error == ENFILE;
    return none_left ? UCS_ERR_EXCEEDS_LIMIT : UCS_ERR_SHMEM_SEGMENT;
}

ucs::result<shared_memory> shared_memory::attach(int fd, const geometry& layout,
                                                 std::uint32_t copies) {
    if (!layout.valid()) return UCS_ERR_INVALID_PARAM;
    if (copies == 0) {
        ucs::log::error(node_log, "fd {} was announced as the memory of no group at all", fd);
        return UCS_ERR_INVALID_PARAM;
    }
    const auto size = ucs::memory::check_memory_file(fd, layout.bytes() * copies);
    if (!size) return size.status();
    auto memory = ucs::memory::mapped::file(fd, layout.bytes() * copies);
    if (!memory && copies > 1) {
        ucs::log::info(node_log,
                       "there is no room for {} groups of the same ranks at once; further ones are "
                       "made one by one",
                       copies);
        memory = ucs::memory::mapped::file(fd, layout.bytes());
    }
    if (!memory) return memory.status();
    const header& head = *reinterpret_cast<const header*>(memory->data());
    const geometry found{head.ranks, head.mailboxes,  head.mailbox_bytes,
                         head.slots, head.slot_bytes, head.ring_bytes};
    if (head.magic != header::right_magic || !(found == layout) || head.copies != copies) {
        ucs::log::error(node_log,
                        "fd {} is not the memory of {} groups of {} ranks laid out as here", fd,
                        copies, layout.ranks);
        return UCS_ERR_INVALID_PARAM;
    }
    auto shared = std::make_shared<const ucs::memory::mapped>(std::move(*memory));
    std::byte* const base = shared->data();
    return shared_memory(std::move(shared), layout, base);
}

void shared_memory::place(rank_t rank) const noexcept {
    const int node = ucs::topology::home_node();
    ucs::topology::prefer_node(mailbox_address(rank, 0), layout_.mailboxes * mailbox_stride_, node);
    ucs::topology::prefer_node(slot(rank, 0), std::size_t{layout_.slots} * layout_.slot_bytes,
                               node);
}

void shared_memory::decline(rank_t rank, ucs_status_t why) const noexcept {
    store_release(control_of(rank).failed, word_of(why));
    store_release(control_of(rank).silent, word_of(why));
    wake_sleepers(*this, rank);
}

}  // namespace ucg::node
