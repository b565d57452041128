// Publications, look-ups and early blocks at the TCP store's server.
#include <algorithm>
#include <cstring>

#include "ucg/oob/log.hpp"
#include "ucg/oob/tcp/root.hpp"

namespace ucg::oob {

// --- publications and look-ups of rank 0 ---

ucs_status_t tcp_root::put(std::uint64_t number, std::span<const std::byte> block) {
    return store_.put(number, 0, block) ? UCS_OK : UCS_ERR_EXCEEDS_LIMIT;
}

ucs_status_t tcp_root::find(std::uint64_t number, rank_t publisher, std::span<std::byte> into,
                            std::size_t& bytes) {
    if (const tcp_store::block found = store_.find(number, publisher))
        return copy_block(*found, into, bytes);
    ucs::log::error(oob_log, "rank {} has published nothing under number {}", publisher, number);
    return UCS_ERR_NO_ELEM;
}

// Other ranks may look up the number until they have withdrawn it. After a failure no rank can.
ucs_status_t tcp_root::drop(std::uint64_t number) {
    store_.withdraw(number, 0);
    serve_requests();
    return failed_ == UCS_OK && store_.is_open(number) ? UCS_INPROGRESS : UCS_OK;
}

// Other ranks connect in the first round. During a round its own calls do this work.
void tcp_root::serve_requests() {
    if (failed_ != UCS_OK || current().deadline == 0) return;
    poll();
    drop_strangers();
    drop_silent_peers();
}

// --- frames of the other ranks ---

// Receives the content of a frame into the connection's memory. Returns false if it is not
// complete.
bool tcp_root::receive_content(connection& peer) {
    peer.content.resize(static_cast<std::size_t>(peer.link.header().content));
    const ucs_status_t status = peer.link.read_body(peer.content);
    if (status != UCS_OK && status != UCS_INPROGRESS) drop_peer(peer, "died or left");
    return status == UCS_OK;
}

bool tcp_root::receive_published(connection& peer) {
    if (!receive_content(peer)) return false;
    if (store_.put(peer.link.header().round, peer.rank, peer.content)) return true;
    drop_peer(peer, "published too much");
    return false;
}

bool tcp_root::receive_lookup(connection& peer) {
    if (!receive_content(peer)) return false;
    const rank_t publisher =
        wire::parse_lookup(std::span<const std::byte>(peer.content).first<sizeof(rank_t)>());
    if (publisher >= size()) {
        drop_peer(peer, "sent what a rank does not send");
        return false;
    }
    peer.request = {peer.link.header().round, publisher};
    send_next(peer);
    return true;
}

bool tcp_root::receive_withdrawn(connection& peer) {
    static_cast<void>(peer.link.read_body({}));
    store_.withdraw(peer.link.header().round, peer.rank);
    return true;
}

// --- blocks for a round that rank 0 has not begun ---

// Stores an early block, so that the look-ups behind it are served: a rank that begins a round may
// still need an earlier publication, and rank 0 may begin the round only after that.
bool tcp_root::receive_early_block(connection& peer) {
    peer.is_receiving_early = true;
    if (!receive_content(peer)) return false;
    peer.is_receiving_early = false;
    peer.early_block = std::move(peer.content);
    peer.content = {};
    // If the round has begun meanwhile, the block belongs to it.
    return peer.has_sent_block || use_early_block(peer);
}

bool tcp_root::use_early_block(connection& peer) {
    const std::vector<std::byte> received = *std::exchange(peer.early_block, std::nullopt);
    if (received.size() != current().bytes) {
        fail(log_size_mismatch(peer.rank, received.size()), {&peer.rank, 1});
        return false;
    }
    std::ranges::copy(received, block(peer.rank).begin());
    peer.has_sent_block = true;
    --missing_blocks_;
    return true;
}

void tcp_root::use_early_blocks() {
    bool is_late = false;
    for (const auto& each : members_) {
        if (!each || each->is_closed || !each->early_block || failed_ != UCS_OK) continue;
        static_cast<void>(use_early_block(*each));
        is_late = std::exchange(each->is_late, false) || is_late;
    }
    if (is_late && missing_blocks_ != 0 && failed_ == UCS_OK) fail_timed_out();
}

}  // namespace ucg::oob
