#include "ucg/core/group_wireup.hpp"

#include <algorithm>

#include "ucg/core/context.hpp"
#include "ucg/schedule/log.hpp"
#include "ucp/address/address.hpp"
#include "ucs/log/boundary.hpp"
#include "ucs/random/random_bytes.hpp"
#include "ucs/random/seeded.hpp"
#include "ucs/security/key.hpp"
#include "ucs/sys/byte_lock.hpp"

namespace ucg {
namespace {

using schedule::rank_t;

constexpr std::uint32_t most_siblings = 63;

}  // namespace

group_wireup::group_wireup(context& owner, std::unique_ptr<exchange> over, const params& requested)
    : context_(owner), exchange_(std::move(over)), params_(requested), proposal_(group_ids::none) {}

// The exchange must be destroyed first: a round under way uses memory of this object.
group_wireup::~group_wireup() {
    exchange_.reset();
    erase_keys();
    if (!reserved_) return;
    context_.ids().release(proposal_);
    // Other ranks may have made the group, and may send messages.
    context_.control_messages().late().expect(proposal_);
    context_.control_messages().drop_early(proposal_);
}

membership group_wireup::take() noexcept {
    reserved_ = false;
    return std::move(made_);
}

// A rank that never agrees on a number, and rounds whose data are there early, could make rounds
// without end. So the deadline also ends a rank that need not wait in any round, and one call does
// only a limited number of rounds.
ucs_status_t group_wireup::advance() {
    constexpr unsigned most_rounds = 16;
    for (unsigned round = 0; round < most_rounds; ++round) {
        if (stage_ != stage::begin) {
            const ucs_status_t status =
                stage_ == stage::peer_addresses ? poll_peer_addresses() : exchange_->test();
            if (status == UCS_INPROGRESS) return check_deadline();
            if (status != UCS_OK) {
                ucs::log::error(core_log, "rank {} cannot exchange with the others: {}",
                                exchange_->rank(), ucs_status_string(status));
                return status;
            }
        }
        const ucs_status_t status = step();
        if (status != UCS_INPROGRESS || stage_ == stage::over) return status;
    }
    return check_deadline();
}

ucs_status_t group_wireup::check_deadline() const {
    if (ucs::time::now() < params_.deadline) return UCS_INPROGRESS;
    ucs::log::error(core_log,
                    "the group of {} ranks was not made in time: rank {} waits for others, which "
                    "may have ended or never begun",
                    exchange_->size(), exchange_->rank());
    return UCS_ERR_TIMED_OUT;
}

// Handles the end of a round. Returns UCS_INPROGRESS if another round has begun.
ucs_status_t group_wireup::step() {
    switch (stage_) {
        case stage::begin:
            return send_identity();
        case stage::identities:
            return receive_identities();
        case stage::resources:
            return receive_resources();
        case stage::addresses:
            return receive_addresses();
        case stage::peer_addresses:
            return send_ready();
        case stage::ready:
            return receive_ready();
        case stage::readable:
            return receive_readable();
        case stage::over:
            break;
    }
    return UCS_OK;
}

template<class Message>
ucs_status_t group_wireup::send(const Message& own, std::vector<Message>& all, stage next) {
    all.resize(exchange_->size());
    stage_ = next;
    const ucs_status_t status = exchange_->begin(&own, all.data(), sizeof own);
    return status == UCS_OK ? UCS_INPROGRESS : status;
}

// Returns the first error that a member of this color reports.
template<class Message>
ucs_status_t group_wireup::worst(const std::vector<Message>& all, const char* problem) const {
    for (rank_t rank = 0; rank < members_.size(); ++rank) {
        const std::int32_t reported = all[members_[rank]].status;
        if (reported == UCS_OK) continue;
        const auto status = reported < 0 && reported > UCS_ERR_LAST
                                ? static_cast<ucs_status_t>(reported)
                                : UCS_ERR_IO_ERROR;
        ucs::log::error(core_log, "the group cannot be made: rank {} {}: {}", rank, problem,
                        ucs_status_string(status));
        return status;
    }
    return UCS_OK;
}

// --- round 1: identities ---

ucs_status_t group_wireup::send_identity() {
    proposal_ = context_.ids().propose();
    reserved_ = proposal_ != group_ids::none;
    own_identity_.node = context_.node();
    own_identity_.numa = context_.numa();
    own_identity_.process = node::process_identity::own();
    own_identity_.color = params_.color;
    own_identity_.key = params_.key;
    own_identity_.proposal = proposal_;
    own_identity_.options = context_.options().common();
    own_identity_.siblings = params_.siblings;
    own_identity_.reads = context_.options().single_copy.is_inf() ? 0 : 1;
    own_identity_.job_key = context_.offer_key(exchange_->is_private(), exchange_->rank() == 0);
    return send(own_identity_, identities_, stage::identities);
}

ucs_status_t group_wireup::receive_identities() {
    if (params_.color != no_color) {
        for (rank_t each = 0; each < identities_.size(); ++each)
            if (identities_[each].color == params_.color) members_.push_back(each);
        std::ranges::stable_sort(members_, {}, [&](rank_t each) { return identities_[each].key; });
        // A rank that can no longer take part still goes through all rounds, so that members of
        // other colors do not fail with it.
        std::vector<std::uint64_t> nodes;
        for (rank_t i = 0; i < members_.size(); ++i) {
            nodes.push_back(identities_[members_[i]].node);
            if (members_[i] == exchange_->rank()) made_.rank = i;
        }
        compare_options();
        made_.placement = schedule::placement(nodes);
        for (const rank_t each : made_.placement.ranks_on(made_.placement.node_of(made_.rank))) {
            made_.processes.push_back(identities_[members_[each]].process);
            made_.numa.push_back(identities_[members_[each]].numa);
        }
        if (needs_addresses()) {
            agree_on_key();
            find_addresses();
        }
        if (shares_memory() && made_.placement.index_of(made_.rank) == 0) make_memory();
    }
    erase_keys();
    prepare_resources();
    return send_resources();
}

// Happens before the worker is made, because a worker has one key for its whole life.
void group_wireup::agree_on_key() {
    std::vector<key_offer> offers;
    for (const rank_t each : members_)
        offers.push_back(identities_[each].job_key);
    const key_agreement agreed = ucg::agree_on_key(offers);
    for (key_offer& each : offers)
        ucs::security::erase(each.key);
    if (agreed.result == key_agreement::outcome::random) {
        if (agreed.key && !context_.job_key()) context_.adopt(*agreed.key);
        ucs::log::debug(core_log, "the ranks of the group have a random job key in common");
        return;
    }
    const bool differs = agreed.result == key_agreement::outcome::differs;
    if (!differs && !agreed.insists) return;
    if (agreed.insists && own_failure_ == UCS_OK) own_failure_ = UCS_ERR_REJECTED;
    if (differs)
        ucs::log::error(core_log,
                        "rank {} of the group has not the random job key of others, and cannot "
                        "reach them by tcp; set the same UCX_JOB_KEY_FILE in all processes",
                        agreed.member);
    else
        ucs::log::error(core_log,
                        "the group cannot be made: UCG_RANDOM_JOB_KEY=y, and it gets no random job "
                        "key, because the exchange is not private or a rank has its worker "
                        "already; set the same UCX_JOB_KEY_FILE in all processes");
}

void group_wireup::erase_keys() noexcept {
    ucs::security::erase(own_identity_.job_key.key);
    for (identity& each : identities_)
        ucs::security::erase(each.job_key.key);
}

// If the exchange knows the addresses of all members, they are not exchanged. A rank without an
// address, for example for want of memory, tells the others in the next round.
void group_wireup::find_addresses() {
    if (const net::member_addresses known = exchange_->addresses()) {
        made_.addresses = known.subset(members_);
        return;
    }
    const ucs_status_t status = ucs::boundary(core_log, "the address of this rank", [&] {
        auto address = context_.address();
        if (!address) return address.status();
        if (address->size() > ucp::address::max_packed_size) return UCS_ERR_EXCEEDS_LIMIT;
        address_ = std::move(*address);
        return UCS_OK;
    });
    if (status != UCS_OK) own_failure_ = status;
    // When the next round ends, all ranks have published their addresses.
    if (own_failure_ == UCS_OK && context_.options().is_lazy(exchange_->size()))
        book_ = exchange_->publish(address_);
}

void group_wireup::compare_options() {
    const auto differs = std::ranges::find_if(members_, [&](rank_t each) {
        return identities_[each].options != identities_[members_[0]].options;
    });
    if (differs == members_.end()) return;
    own_failure_ = UCS_ERR_INVALID_PARAM;
    if (made_.rank != 0 && members_[made_.rank] != *differs)
        return;  // the two ranks concerned log it
    ucs::log::error(core_log,
                    "the group cannot be made: rank {} has other UCG_ options than rank 0; sizes, "
                    "leaders, rails, costs, algorithms and UCG_CHECK must be the same on all ranks",
                    differs - members_.begin());
}

// A node's memory is made if any node has several ranks, also by a rank that is alone on its node.
bool group_wireup::shares_memory() const noexcept {
    return made_.placement.max_ranks_per_node() > 1 || made_.placement.nodes() == 1;
}

node::geometry group_wireup::geometry() const noexcept {
    const config& options = context_.options();
    node::geometry made;
    made.ranks = static_cast<rank_t>(made_.processes.size());
    made.slots = options.slots;
    made.slot_bytes = static_cast<std::uint32_t>(options.slot_size.bytes);
    constexpr std::uint32_t few_slots = 32;
    constexpr std::size_t most_bytes = 8 << 20;
    while (made.slots >= 2 * few_slots &&
           std::size_t{made.slots} * made.slot_bytes * made.ranks > most_bytes)
        made.slots /= 2;
    while (made.longest_segment() / node::line < made.ranks)
        made.slot_bytes *= 2;
    // If the group has several nodes, all messages use the network. Rings of many ranks take much
    // memory.
    constexpr rank_t few = 64;
    constexpr std::uint32_t short_ring = 512, middle_ring = 4096;
    if (needs_addresses())
        made.ring_bytes = short_ring;
    else if (made.ranks > few)
        made.ring_bytes = middle_ring;
    return made;
}

// Siblings share the memory of one node, so a group with several nodes has none. The fewest
// siblings that any member wants are made; together they take no more address space than `bytes`.
std::uint32_t group_wireup::most_copies() const noexcept {
    constexpr std::size_t bytes = 512U << 20;
    if (made_.placement.nodes() > 1) return 1;
    std::uint32_t fewest = most_siblings;
    for (const rank_t each : members_)
        fewest = std::min(fewest, identities_[each].siblings);
    const auto fit = static_cast<std::uint32_t>(bytes / geometry().bytes());
    return std::max(1U, std::min(fewest + 1, fit));
}

// If there is no room for siblings, the group is made without.
void group_wireup::make_memory() {
    own_memory_tag_ = ucs::sys::random_id();
    made_.copies = most_copies();
    auto memory = node::shared_memory::make(geometry(), own_memory_tag_, made_.copies);
    if (!memory && made_.copies > 1) {
        made_.copies = 1;
        memory = node::shared_memory::make(geometry(), own_memory_tag_);
    }
    if (memory)
        memory_file_ = std::move(*memory);
    else
        own_failure_ = memory.status();
}

// --- round 2: the number and resources ---

// Takes the highest proposed number. Returns false if it is not free on this rank; then another one
// is proposed.
bool group_wireup::agree_on_number() {
    std::uint32_t highest = 0;
    const auto consider = [&](std::uint32_t proposal) { highest = std::max(highest, proposal); };
    for (const rank_t each : members_)
        consider(all_resources_.empty() ? identities_[each].proposal
                                        : all_resources_[each].proposal);
    group_ids& ids = context_.ids();
    if (highest < group_ids::none) {
        const std::uint32_t before = reserved_ ? proposal_ : group_ids::none;
        reserved_ = ids.settle(before, highest);
        if (reserved_) {
            proposal_ = highest;
            return true;
        }
        proposal_ = ids.propose(highest + 1 + number_gap());
        if (proposal_ == group_ids::none) proposal_ = ids.propose(highest + 1);
    } else if (!from_zero_) {
        from_zero_ = true;
        if (reserved_) ids.release(proposal_);
        proposal_ = ids.propose(0);
    } else {
        own_failure_ = UCS_ERR_EXCEEDS_LIMIT;
        ucs::log::error(core_log, "the group cannot be made: its ranks have too many groups");
        return true;  // there is nothing left to agree on
    }
    reserved_ = proposal_ != group_ids::none;
    return false;
}

// Groups that are made at the same time, in a different order on each rank, would chase each other
// from number to number for ever if all tried the next one. So each group skips some numbers, more
// each time. How many depends on what its ranks proposed first, which differs between such groups.
std::uint32_t group_wireup::number_gap() noexcept {
    constexpr unsigned most = 6;
    std::uint64_t hash = ++conflicts_;
    for (const identity& each : identities_)
        hash = ucs::sys::mix(hash ^ each.proposal);
    return static_cast<std::uint32_t>(hash & ((1U << std::min(conflicts_, most)) - 1));
}

void group_wireup::prepare_resources() {
    const bool agreed = params_.color == no_color || own_failure_ != UCS_OK || agree_on_number();
    own_resources_.agreed = agreed ? 1 : 0;
    own_resources_.proposal = proposal_;
    own_resources_.address_length = static_cast<std::uint32_t>(address_.size());
    own_resources_.memory = memory_file_ ? memory_file_.get() : -1;
    own_resources_.memory_tag = own_memory_tag_;
    own_resources_.copies = made_.copies;
    own_resources_.status = own_failure_;
    own_resources_.published = book_ != nullptr ? book_->number() + 1 : 0;
}

ucs_status_t group_wireup::send_resources() {
    return send(own_resources_, all_resources_, stage::resources);
}

ucs_status_t group_wireup::receive_resources() {
    if (own_failure_ == UCS_OK) own_failure_ = worst(all_resources_, "cannot take part");
    // Ranks that agreed keep the number as their next proposal; the others propose higher ones.
    if (!std::ranges::all_of(all_resources_,
                             [](const resources& each) { return each.agreed == 1; })) {
        prepare_resources();
        return send_resources();
    }
    made_.id = proposal_;
    const auto longest = std::ranges::max_element(all_resources_, {}, &resources::address_length);
    longest_ = longest->address_length;
    if (longest_ > ucp::address::max_packed_size) {
        ucs::log::error(core_log,
                        "the group cannot be made: rank {} of {} announces an address of {} bytes",
                        longest - all_resources_.begin(), all_resources_.size(), longest_);
        return UCS_ERR_IO_ERROR;
    }
    if (longest_ == 0 || look_up_addresses()) return find_peer_addresses();
    return send_address();
}

// Returns whether all ranks have published their addresses. If one could not, all exchange them.
bool group_wireup::look_up_addresses() {
    const std::uint64_t number = all_resources_[0].published;
    if (number == 0 || !std::ranges::all_of(all_resources_, [number](const resources& each) {
            return each.published == number;
        })) {
        book_.reset();
        return false;
    }
    if (book_ == nullptr) return false;
    book_->set_longest(longest_);
    made_.addresses = net::member_addresses(std::move(book_), exchange_->size()).subset(members_);
    return true;
}

// --- round 3: addresses ---

ucs_status_t group_wireup::send_address() {
    address_.resize(longest_);
    addresses_.resize(longest_ * exchange_->size());
    stage_ = stage::addresses;
    const ucs_status_t status = exchange_->begin(address_.data(), addresses_.data(), longest_);
    return status == UCS_OK ? UCS_INPROGRESS : status;
}

ucs_status_t group_wireup::receive_addresses() {
    if (needs_addresses()) {
        const auto book = std::make_shared<net::full_address_book>(std::move(addresses_), longest_);
        made_.addresses = net::member_addresses(book, exchange_->size()).subset(members_);
    }
    return find_peer_addresses();
}

// Waits for the addresses of the ranks at distances 1, 2, 4, ..., to which failures are reported
// (net/ucp_fabric.hpp). They must be known before the group is made, because a failure must be
// reported even when addresses can no longer be looked up.
ucs_status_t group_wireup::find_peer_addresses() {
    if (!made_.addresses) return send_ready();
    stage_ = stage::peer_addresses;
    return UCS_INPROGRESS;
}

ucs_status_t group_wireup::poll_peer_addresses() noexcept {
    made_.addresses.book()->serve();
    ucs_status_t all = UCS_OK;
    std::span<const std::byte> address;
    for (std::uint64_t distance = 1; distance < made_.addresses.size(); distance *= 2) {
        const auto peer = static_cast<rank_t>((made_.rank + distance) % made_.addresses.size());
        const ucs_status_t status = made_.addresses.find(peer, address);
        if (status == UCS_INPROGRESS)
            all = status;
        else if (status != UCS_OK && own_failure_ == UCS_OK)
            own_failure_ = status;
    }
    return own_failure_ == UCS_OK ? all : UCS_OK;  // the next round tells all ranks
}

// --- round 4: whether every rank has what it needs ---

ucs_status_t group_wireup::send_ready() {
    if (own_failure_ == UCS_OK && params_.color != no_color && shares_memory())
        own_failure_ = open_memory();
    own_ready_.status = own_failure_;
    own_ready_.copies = made_.copies;
    return send(own_ready_, all_ready_, stage::ready);
}

ucs_status_t group_wireup::open_memory() {
    const auto node = made_.placement.ranks_on(made_.placement.node_of(made_.rank));
    const rank_t owner = members_[node[0]];
    const bool is_owner = node[0] == made_.rank;
    if (!is_owner) {
        const resources& owner_resources = all_resources_[owner];
        auto found = node::shared_memory::open(
            {static_cast<std::uint64_t>(identities_[owner].process.pid),
             static_cast<std::uint64_t>(std::int64_t{owner_resources.memory}),
             owner_resources.memory_tag});
        if (!found) return found.status();
        memory_file_ = std::move(*found);
        made_.copies = std::min(owner_resources.copies, most_copies());
    }
    auto memory = node::shared_memory::attach(memory_file_.get(), geometry(), made_.copies);
    if (!memory) return memory.status();
    made_.memory = std::move(*memory);
    made_.copies = made_.memory.copies();
    if (own_identity_.reads == 1)
        // If locking fails, the other ranks detect that.
        static_cast<void>(
            ucs::sys::lock_byte(memory_file_.get(), made_.placement.index_of(made_.rank)));
    else if (!is_owner)
        memory_file_.reset();
    return UCS_OK;
}

ucs_status_t group_wireup::receive_ready() {
    if (wants_to_read()) return send_readable();
    return end();
}

// --- round 5: whether ranks may read the memory of the ranks of their node ---

// All ranks of the exchange get the same result.
bool group_wireup::wants_to_read() const noexcept {
    return std::ranges::any_of(identities_, [](const identity& each) { return each.reads == 1; });
}

// A rank could claim to be any process. So each rank locks its byte of the node's memory before it
// reports that it is ready, and keeps the lock until all have checked: the kernel tells the others
// which process holds it. A process that was only handed a descriptor of the file holds no lock.
bool group_wireup::may_read_all() const noexcept {
    const auto own_index = made_.placement.index_of(made_.rank);
    for (rank_t rank = 0; rank < made_.processes.size(); ++rank)
        if (rank != own_index &&
            !ucs::sys::is_byte_locked_by(memory_file_.get(), rank,
                                         static_cast<pid_t>(made_.processes[rank].pid)))
            return false;
    return node::local_peers(made_.processes).can_read_all();
}

ucs_status_t group_wireup::send_readable() {
    own_readable_.may_read = own_identity_.reads == 1 && may_read_all() ? 1 : 0;
    return send(own_readable_, all_readable_, stage::readable);
}

ucs_status_t group_wireup::receive_readable() {
    made_.may_read = std::ranges::all_of(
        members_, [&](rank_t each) { return all_readable_[each].may_read == 1; });
    return end();
}

ucs_status_t group_wireup::end() noexcept {
    stage_ = stage::over;
    memory_file_.reset();
    if (params_.color == no_color) {
        if (reserved_) context_.ids().release(proposal_);
        reserved_ = false;
        return UCS_OK;
    }
    for (const rank_t each : members_)
        made_.copies = std::min(all_ready_[each].copies, made_.copies);
    made_.copies = std::max(made_.copies, 1U);
    return worst(all_ready_, "is not ready");
}

}  // namespace ucg
