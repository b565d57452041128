#include "ucg/core/joining.hpp"

#include <algorithm>

#include "ucg/core/context.hpp"
#include "ucg/core/log.hpp"
#include "ucp/address/address.hpp"
#include "ucs/security/key.hpp"
#include "ucs/sys/byte_lock.hpp"
#include "ucs/sys/uuid.hpp"

namespace ucg {
namespace {

using schedule::rank_t;

constexpr std::uint32_t most_siblings = 63;

}  // namespace

joining::joining(context& of, std::unique_ptr<exchange> by, const wish& what)
    : context_(of), by_(std::move(by)), wish_(what), proposal_(group_ids::none) {}

// The round that is given up uses memory that goes before it.
joining::~joining() {
    by_.reset();
    forget_keys();
    if (!reserved_) return;
    context_.ids().release(proposal_);
    // Others may have become the group, and send.
    context_.told().late().expect(proposal_);
    context_.told().forget(proposal_);
}

membership joining::take() noexcept {
    reserved_ = false;
    return std::move(made_);
}

// A rank that never agrees on a number, and blocks of rounds that are here before their time, make
// rounds without end. So the deadline also ends a rank that need not wait for any round, and one
// call goes through no more than some rounds.
ucs_status_t joining::advance() noexcept try {
    constexpr unsigned most_rounds = 16;
    for (unsigned round = 0; round < most_rounds; ++round) {
        if (at_ != stage::begin) {
            const ucs_status_t status =
                at_ == stage::neighbours ? look_for_neighbours() : by_->test();
            if (status == UCS_INPROGRESS) return see_deadline();
            if (status != UCS_OK) {
                ucs::log::error(core_log, "rank {} cannot exchange with the others: {}",
                                by_->rank(), ucs_status_string(status));
                return status;
            }
        }
        const ucs_status_t status = step();
        if (status != UCS_INPROGRESS || at_ == stage::over) return status;
    }
    return see_deadline();
} catch (const std::bad_alloc&) {
    ucs::log::error(core_log, "no memory to make a group of {} ranks", by_->size());
    return UCS_ERR_NO_MEMORY;
}

ucs_status_t joining::see_deadline() const {
    if (ucs::time::now() < wish_.deadline) return UCS_INPROGRESS;
    ucs::log::error(core_log,
                    "the group of {} ranks was not made in time: rank {} waits for others, which "
                    "may have ended or never begun",
                    by_->size(), by_->rank());
    return UCS_ERR_TIMED_OUT;
}

// What follows the end of a round; UCS_INPROGRESS: another one has begun.
ucs_status_t joining::step() {
    switch (at_) {
        case stage::begin:
            return say_who();
        case stage::who:
            return hear_who();
        case stage::how:
            return hear_how();
        case stage::addresses:
            return hear_addresses();
        case stage::neighbours:
            return say_ready();
        case stage::ready:
            return hear_ready();
        case stage::readable:
            return hear_readable();
        case stage::over:
            break;
    }
    return UCS_OK;
}

template<class Said>
ucs_status_t joining::send(const Said& own, std::vector<Said>& all, stage next) {
    all.resize(by_->size());
    at_ = next;
    const ucs_status_t status = by_->begin(&own, all.data(), sizeof own);
    return status == UCS_OK ? UCS_INPROGRESS : status;
}

// The first error that a member of this color reports.
template<class Said>
ucs_status_t joining::worst(const std::vector<Said>& all, const char* what) const {
    for (rank_t rank = 0; rank < members_.size(); ++rank) {
        const std::int32_t said = all[members_[rank]].status;
        if (said == UCS_OK) continue;
        const auto status =
            said < 0 && said > UCS_ERR_LAST ? static_cast<ucs_status_t>(said) : UCS_ERR_IO_ERROR;
        ucs::log::error(core_log, "the group cannot be made: rank {} {}: {}", rank, what,
                        ucs_status_string(status));
        return status;
    }
    return UCS_OK;
}

// --- who is there ---

ucs_status_t joining::say_who() {
    proposal_ = context_.ids().propose();
    reserved_ = proposal_ != group_ids::none;
    mine_.node = context_.node();
    mine_.numa = context_.numa();
    mine_.process = node::process_mark::own();
    mine_.color = wish_.color;
    mine_.key = wish_.key;
    mine_.proposal = proposal_;
    mine_.options = context_.options().common();
    mine_.siblings = wish_.siblings;
    mine_.reads = context_.options().single_copy.is_inf() ? 0 : 1;
    mine_.job_key = context_.offer_key(by_->is_private(), by_->rank() == 0);
    return send(mine_, people_, stage::who);
}

ucs_status_t joining::hear_who() {
    if (wish_.color != no_color) {
        for (rank_t each = 0; each < people_.size(); ++each)
            if (people_[each].color == wish_.color) members_.push_back(each);
        std::ranges::stable_sort(members_, {}, [&](rank_t each) { return people_[each].key; });
        // Whoever cannot take part any more still goes through all rounds: members of other colors
        // do not fail with it.
        std::vector<std::uint64_t> nodes;
        for (rank_t i = 0; i < members_.size(); ++i) {
            nodes.push_back(people_[members_[i]].node);
            if (members_[i] == by_->rank()) made_.rank = i;
        }
        compare_options();
        made_.where = schedule::placement(nodes);
        for (const rank_t each : made_.where.on(made_.where.node_of(made_.rank))) {
            made_.processes.push_back(people_[members_[each]].process);
            made_.numa.push_back(people_[members_[each]].numa);
        }
        if (needs_addresses()) {
            agree_on_key();
            find_addresses();
        }
        if (shares_memory() && made_.where.index_of(made_.rank) == 0) make_memory();
    }
    forget_keys();
    prepare_how();
    return say_how();
}

// It happens before the worker is made, which has one key for as long as it lives.
void joining::agree_on_key() {
    std::vector<key_offer> offers;
    for (const rank_t each : members_)
        offers.push_back(people_[each].job_key);
    const key_agreement agreed = ucg::agree_on_key(offers);
    for (key_offer& each : offers)
        ucs::security::erase(each.key);
    if (agreed.what == key_agreement::outcome::random) {
        if (agreed.key && !context_.job_key()) context_.adopt(*agreed.key);
        ucs::log::debug(core_log, "the ranks of the group have a random job key in common");
        return;
    }
    const bool differs = agreed.what == key_agreement::outcome::differs;
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

void joining::forget_keys() noexcept {
    ucs::security::erase(mine_.job_key.key);
    for (who& each : people_)
        ucs::security::erase(each.job_key.key);
}

// Those whom the exchange knows need not tell where they are.
void joining::find_addresses() {
    if (const net::contacts known = by_->contacts()) {
        made_.contacts = known.of(members_);
        return;
    }
    auto address = context_.address();
    if (address && address->size() <= ucp::address::max_packed_size)
        address_ = std::move(*address);
    else
        own_failure_ = address ? UCS_ERR_EXCEEDS_LIMIT : address.status();
    // With the next round all have done so.
    if (own_failure_ == UCS_OK && context_.options().is_lazy(by_->size()))
        asked_ = by_->publish(address_);
}

void joining::compare_options() {
    const auto differs = std::ranges::find_if(members_, [&](rank_t each) {
        return people_[each].options != people_[members_[0]].options;
    });
    if (differs == members_.end()) return;
    own_failure_ = UCS_ERR_INVALID_PARAM;
    if (made_.rank != 0 && members_[made_.rank] != *differs) return;  // those concerned say it
    ucs::log::error(core_log,
                    "the group cannot be made: rank {} has other UCG_ options than rank 0; sizes, "
                    "leaders, rails, costs, algorithms and UCG_CHECK must be the same on all ranks",
                    differs - members_.begin());
}

// Something is done together on a node where several ranks of any node are: also by a rank that is
// alone on its own.
bool joining::shares_memory() const noexcept {
    return made_.where.most() > 1 || made_.where.nodes() == 1;
}

node::geometry joining::geometry() const noexcept {
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
    // Between nodes all messages go over the network; and rings of many ranks are many.
    constexpr rank_t few = 64;
    constexpr std::uint32_t short_ring = 512, middle_ring = 4096;
    if (needs_addresses())
        made.ring_bytes = short_ring;
    else if (made.ranks > few)
        made.ring_bytes = middle_ring;
    return made;
}

// Siblings share the memory of one node, so groups that have several nodes have none. All wish for
// as many as they like, and get the fewest; together they take no more address space than `bytes`.
std::uint32_t joining::most_copies() const noexcept {
    constexpr std::size_t bytes = 512U << 20;
    if (made_.where.nodes() > 1) return 1;
    std::uint32_t fewest = most_siblings;
    for (const rank_t each : members_)
        fewest = std::min(fewest, people_[each].siblings);
    const auto fit = static_cast<std::uint32_t>(bytes / geometry().bytes());
    return std::max(1U, std::min(fewest + 1, fit));
}

// Where there is no room for siblings, the group is made without.
void joining::make_memory() {
    own_memory_tag_ = ucs::sys::random_id();
    made_.copies = most_copies();
    auto memory = node::segment::make(geometry(), own_memory_tag_, made_.copies);
    if (!memory && made_.copies > 1) {
        made_.copies = 1;
        memory = node::segment::make(geometry(), own_memory_tag_);
    }
    if (memory)
        memory_file_ = std::move(*memory);
    else
        own_failure_ = memory.status();
}

// --- the number, and what each has to offer ---

// Takes the number that the highest proposal gives. False: it is not free here, and another one is
// proposed.
bool joining::settle() {
    std::uint32_t highest = 0;
    const auto consider = [&](std::uint32_t proposal) { highest = std::max(highest, proposal); };
    for (const rank_t each : members_)
        consider(ways_.empty() ? people_[each].proposal : ways_[each].proposal);
    group_ids& ids = context_.ids();
    if (highest < group_ids::none) {
        const std::uint32_t before = reserved_ ? proposal_ : group_ids::none;
        reserved_ = ids.settle(before, highest);
        if (reserved_) {
            proposal_ = highest;
            return true;
        }
        proposal_ = ids.propose(highest + 1 + leap());
        if (proposal_ == group_ids::none) proposal_ = ids.propose(highest + 1);
    } else if (!from_zero_) {
        from_zero_ = true;
        if (reserved_) ids.release(proposal_);
        proposal_ = ids.propose(0);
    } else {
        own_failure_ = UCS_ERR_EXCEEDS_LIMIT;
        ucs::log::error(core_log, "the group cannot be made: its ranks have too many groups");
        return true;  // there is nothing to agree on any more
    }
    reserved_ = proposal_ != group_ids::none;
    return false;
}

// Groups that are made at the same time, in another order on each rank, would chase each other from
// number to number for ever, if all tried the next one. So each leaves out some, more each time:
// how many is a matter of what its ranks proposed first, which differs between such groups.
std::uint32_t joining::leap() noexcept {
    constexpr unsigned most = 6;
    std::uint64_t hash = ++conflicts_;
    for (const who& each : people_)
        hash = ucs::sys::mix(hash ^ each.proposal);
    return static_cast<std::uint32_t>(hash & ((1U << std::min(conflicts_, most)) - 1));
}

void joining::prepare_how() {
    const bool agreed = wish_.color == no_color || own_failure_ != UCS_OK || settle();
    my_way_.agreed = agreed ? 1 : 0;
    my_way_.proposal = proposal_;
    my_way_.address_length = static_cast<std::uint32_t>(address_.size());
    my_way_.memory = memory_file_ ? memory_file_.get() : -1;
    my_way_.memory_tag = own_memory_tag_;
    my_way_.copies = made_.copies;
    my_way_.status = own_failure_;
    my_way_.published = asked_ != nullptr ? asked_->number() + 1 : 0;
}

ucs_status_t joining::say_how() {
    return send(my_way_, ways_, stage::how);
}

ucs_status_t joining::hear_how() {
    if (own_failure_ == UCS_OK) own_failure_ = worst(ways_, "cannot take part");
    // Those who agreed keep the number as their next proposal, and the others propose higher ones.
    if (!std::ranges::all_of(ways_, [](const how& each) { return each.agreed == 1; })) {
        prepare_how();
        return say_how();
    }
    made_.id = proposal_;
    const auto longest = std::ranges::max_element(ways_, {}, &how::address_length);
    longest_ = longest->address_length;
    if (longest_ > ucp::address::max_packed_size) {
        ucs::log::error(core_log,
                        "the group cannot be made: rank {} of {} announces an address of {} bytes",
                        longest - ways_.begin(), ways_.size(), longest_);
        return UCS_ERR_IO_ERROR;
    }
    if (longest_ == 0 || look_up_addresses()) return find_neighbours();
    return say_address();
}

// Whether all have published what they have to tell. One that could not makes all tell it.
bool joining::look_up_addresses() {
    const std::uint64_t number = ways_[0].published;
    if (number == 0 || !std::ranges::all_of(
                           ways_, [number](const how& each) { return each.published == number; })) {
        asked_.reset();
        return false;
    }
    if (asked_ == nullptr) return false;
    asked_->limit(longest_);
    made_.contacts = net::contacts(std::move(asked_), by_->size()).of(members_);
    return true;
}

// --- addresses ---

ucs_status_t joining::say_address() {
    address_.resize(longest_);
    addresses_.resize(longest_ * by_->size());
    at_ = stage::addresses;
    const ucs_status_t status = by_->begin(address_.data(), addresses_.data(), longest_);
    return status == UCS_OK ? UCS_INPROGRESS : status;
}

ucs_status_t joining::hear_addresses() {
    if (needs_addresses()) {
        const auto book = std::make_shared<net::whole_book>(std::move(addresses_), longest_);
        made_.contacts = net::contacts(book, by_->size()).of(members_);
    }
    return find_neighbours();
}

// A failure is told to the ranks at distances 1, 2, 4, ... (net/ucp_fabric.hpp), also when nobody
// can be asked for addresses any more: theirs are here before the group is.
ucs_status_t joining::find_neighbours() {
    if (!made_.contacts) return say_ready();
    at_ = stage::neighbours;
    return UCS_INPROGRESS;
}

ucs_status_t joining::look_for_neighbours() noexcept {
    made_.contacts.book()->serve();
    ucs_status_t all = UCS_OK;
    std::span<const std::byte> address;
    for (std::uint64_t distance = 1; distance < made_.contacts.size(); distance *= 2) {
        const auto whom = static_cast<rank_t>((made_.rank + distance) % made_.contacts.size());
        const ucs_status_t status = made_.contacts.find(whom, address);
        if (status == UCS_INPROGRESS)
            all = status;
        else if (status != UCS_OK && own_failure_ == UCS_OK)
            own_failure_ = status;
    }
    return own_failure_ == UCS_OK ? all : UCS_OK;  // in the next round all hear of it
}

// --- whether everybody has what it needs ---

ucs_status_t joining::say_ready() {
    if (own_failure_ == UCS_OK && wish_.color != no_color && shares_memory())
        own_failure_ = open_memory();
    my_end_.status = own_failure_;
    my_end_.copies = made_.copies;
    return send(my_end_, ends_, stage::ready);
}

ucs_status_t joining::open_memory() {
    const auto node = made_.where.on(made_.where.node_of(made_.rank));
    const rank_t owner = members_[node[0]];
    const bool is_owner = node[0] == made_.rank;
    if (!is_owner) {
        const how& its = ways_[owner];
        auto found = node::segment::open({static_cast<std::uint64_t>(people_[owner].process.pid),
                                          static_cast<std::uint64_t>(std::int64_t{its.memory}),
                                          its.memory_tag});
        if (!found) return found.status();
        memory_file_ = std::move(*found);
        made_.copies = std::min(its.copies, most_copies());
    }
    auto memory = node::segment::attach(memory_file_.get(), geometry(), made_.copies);
    if (!memory) return memory.status();
    made_.memory = std::move(*memory);
    made_.copies = made_.memory.copies();
    if (mine_.reads == 1)
        // Where it fails, the others find that out.
        static_cast<void>(
            ucs::sys::lock_byte(memory_file_.get(), made_.where.index_of(made_.rank)));
    else if (!is_owner)
        memory_file_.reset();
    return UCS_OK;
}

ucs_status_t joining::hear_ready() {
    if (wants_to_read()) return say_readable();
    return end();
}

// --- whether ranks may read the memory of those that they share a node with ---

// All ranks of the exchange see the same.
bool joining::wants_to_read() const noexcept {
    return std::ranges::any_of(people_, [](const who& each) { return each.reads == 1; });
}

// A rank says which process it is, and could name any. So each rank has locked its byte of the
// node's memory before it said that it is ready, and keeps the lock until all have looked: the
// kernel tells the others which process holds it. A process that was only handed a descriptor of
// the file holds none.
bool joining::may_read_all() const noexcept {
    const auto here = made_.where.index_of(made_.rank);
    for (rank_t rank = 0; rank < made_.processes.size(); ++rank)
        if (rank != here &&
            !ucs::sys::is_byte_locked_by(memory_file_.get(), rank,
                                         static_cast<pid_t>(made_.processes[rank].pid)))
            return false;
    return node::neighbours(made_.processes).can_read_all();
}

ucs_status_t joining::say_readable() {
    my_reading_.may_read = mine_.reads == 1 && may_read_all() ? 1 : 0;
    return send(my_reading_, readings_, stage::readable);
}

ucs_status_t joining::hear_readable() {
    made_.may_read =
        std::ranges::all_of(members_, [&](rank_t each) { return readings_[each].may_read == 1; });
    return end();
}

ucs_status_t joining::end() noexcept {
    at_ = stage::over;
    memory_file_.reset();
    if (wish_.color == no_color) {
        if (reserved_) context_.ids().release(proposal_);
        reserved_ = false;
        return UCS_OK;
    }
    for (const rank_t each : members_)
        made_.copies = std::min(ends_[each].copies, made_.copies);
    made_.copies = std::max(made_.copies, 1U);
    return worst(ends_, "is not ready");
}

}  // namespace ucg
