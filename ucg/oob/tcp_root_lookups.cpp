// What ranks publish here and ask, and what comes before its time.
#include <algorithm>
#include <cstring>

#include "ucg/oob/log.hpp"
#include "ucg/oob/tcp_root.hpp"

namespace ucg::oob {

// --- rank 0 itself ---

ucs_status_t tcp_root::put(std::uint64_t number, std::span<const std::byte> block) {
    return store_.put(number, 0, block) ? UCS_OK : UCS_ERR_EXCEEDS_LIMIT;
}

ucs_status_t tcp_root::find(std::uint64_t number, rank_t of, std::span<std::byte> into,
                            std::size_t& bytes) {
    if (const tcp_store::block found = store_.find(number, of))
        return hand_over(*found, into, bytes);
    ucs::log::error(oob_log, "rank {} has published nothing under number {}", of, number);
    return UCS_ERR_NO_ELEM;
}

// Others may ask until they have withdrawn it, too; after a failure nobody can.
ucs_status_t tcp_root::drop(std::uint64_t number) {
    store_.withdraw(number, 0);
    answer();
    return failed_ == UCS_OK && store_.is_open(number) ? UCS_INPROGRESS : UCS_OK;
}

// The first round brings the others here. In a round its own calls do the same.
void tcp_root::answer() {
    if (failed_ != UCS_OK || now().deadline == 0) return;
    poll();
    drop_strangers();
    look_for_silent();
}

// --- what the others send ---

// The content of a frame into memory of the guest's. False: it has not come whole.
bool tcp_root::take_in(guest& from) {
    from.incoming.resize(static_cast<std::size_t>(from.link.header().content));
    const ucs_status_t status = from.link.read_body(from.incoming);
    if (status != UCS_OK && status != UCS_INPROGRESS) lose(from, "died or left");
    return status == UCS_OK;
}

bool tcp_root::take_published(guest& from) {
    if (!take_in(from)) return false;
    if (store_.put(from.link.header().round, from.rank, from.incoming)) return true;
    lose(from, "published too much");
    return false;
}

bool tcp_root::take_question(guest& from) {
    if (!take_in(from)) return false;
    const rank_t of =
        wire::parse_question(std::span<const std::byte>(from.incoming).first<sizeof(rank_t)>());
    if (of >= size()) {
        lose(from, "sent what a rank does not send");
        return false;
    }
    from.question = {from.link.header().round, of};
    send_on(from);
    return true;
}

bool tcp_root::take_withdrawn(guest& from) {
    static_cast<void>(from.link.read_body({}));
    store_.withdraw(from.link.header().round, from.rank);
    return true;
}

// --- blocks for a round that has not begun here ---

// Kept aside, so that what is asked behind it is answered: whoever begins a round may still need
// something that was published before, and rank 0 need not begin it until that is over.
bool tcp_root::take_early(guest& from) {
    from.is_early_coming = true;
    if (!take_in(from)) return false;
    from.is_early_coming = false;
    from.early = std::move(from.incoming);
    from.incoming = {};
    // Half of it had come when the round began.
    return from.has_given || use_early(from);
}

bool tcp_root::use_early(guest& from) {
    const std::vector<std::byte> mine = *std::exchange(from.early, std::nullopt);
    if (mine.size() != now().bytes) {
        fail(differs(from.rank, mine.size()), {&from.rank, 1});
        return false;
    }
    std::ranges::copy(mine, block(from.rank).begin());
    from.has_given = true;
    --wanted_;
    return true;
}

void tcp_root::take_early_blocks() {
    bool is_late = false;
    for (const auto& each : members_) {
        if (!each || each->is_gone || !each->early || failed_ != UCS_OK) continue;
        static_cast<void>(use_early(*each));
        is_late = std::exchange(each->is_late, false) || is_late;
    }
    if (is_late && wanted_ != 0 && failed_ == UCS_OK) fail_late();
}

}  // namespace ucg::oob
