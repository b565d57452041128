#include "ucg/mpi/served.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

#include "ucg/mpi/types.hpp"
#include "ucg/node/cores.hpp"

namespace ucg::mpi {
namespace {

// --- all that there are, and a fast way to them ---

std::mutex all_lock;
std::vector<served*>& all() {
    static auto* const list = new std::vector<served*>;
    return *list;
}

// Goes up when a communicator is freed: what threads remember is void then.
std::atomic<unsigned> generation{1};

struct remembered {
    MPI_Comm comm = MPI_COMM_NULL;
    served* found = nullptr;
    unsigned when = 0;
};
constexpr std::size_t remembered_count = 8;
thread_local remembered memory_of[remembered_count];

remembered& place_of(MPI_Comm comm) noexcept {
    return memory_of[(number_of(comm) * 0x9e3779b97f4a7c15ULL) >> 61];
}

bool alike(const ucg_coll_args_t& a, const ucg_coll_args_t& b) noexcept {
    return a.coll == b.coll && a.count == b.count && a.type == b.type && a.op == b.op &&
           a.root == b.root && a.flags == b.flags;
}

void on_end(ucg_request_h, ucs_status_t, void* arg) {
    auto* const kept = static_cast<kept_request*>(arg);
    if (kept->owner != nullptr) moving().ended(*kept->owner);
}

// Descriptors, memory or numbers were used up when a group was made last: no other one is tried
// before one of those that there are has gone. Ranks differ in this; they agree in join().
std::atomic<bool> nothing_left{false};

bool is_shortage(ucs_status_t why) noexcept {
    return why == UCS_ERR_EXCEEDS_LIMIT || why == UCS_ERR_NO_MEMORY || why == UCS_ERR_NO_RESOURCE;
}

// How far a rank has come with a communicator of its own.
enum class readiness : int { nothing, found, group };

// Returns a number for a new group that no other call on any rank returns. Several threads may
// agree on groups at a time, each with other ranks: if two of them proposed the same number, two
// groups could get it, and a later communicator would get the one on this rank and the other one
// elsewhere.
std::int64_t propose_number() noexcept {
    static std::atomic<std::int64_t> proposals{0};
    int rank = 0, size = 1;
    PMPI_Group_rank(library().world, &rank);
    PMPI_Group_size(library().world, &size);
    const std::int64_t proposal = 1 + proposals.fetch_add(1, std::memory_order_relaxed);
    return (proposal * size + rank) * (group::most_siblings + 1);  // siblings have the next ones
}

struct agreement {
    readiness least = readiness::nothing;
    bool is_same_spare = false;  // all ranks have the same spare group
    bool has_spares = false;     // some rank has one, and has begun no group
    std::int64_t number = 0;     // of a new group
};

// How far all ranks have come; `spare`: the number of this rank's spare group, or 0. Others may be
// in collectives that need this rank before they come here, so everything moves on meanwhile. The
// call is the MPI's blocking one: the non-blocking one costs several times as much. The greatest of
// some numbers is the complement of the least complement: it overflows for no number of a peer.
agreement agreed(MPI_Comm comm, readiness mine, std::int64_t spare = 0) noexcept {
    const std::int64_t own[] = {static_cast<int>(mine), spare, ~spare, ~propose_number()};
    std::int64_t least[] = {0, 0, 0, 0};
    if (away([&] { return PMPI_Allreduce(own, least, 4, MPI_INT64_T, MPI_MIN, comm); }) !=
        MPI_SUCCESS)
        return {};
    return {static_cast<readiness>(least[0]), least[1] != 0 && least[1] == ~least[2],
            ~least[2] != 0, ~least[3]};
}

}  // namespace

served* served::find(MPI_Comm comm) noexcept {
    remembered& place = place_of(comm);
    const unsigned now = generation.load(std::memory_order_acquire);
    if (place.comm == comm && place.when == now) return place.found;
    void* value = nullptr;
    int there = 0;
    if (PMPI_Comm_get_attr(comm, library().group_key, &value, &there) != MPI_SUCCESS || there == 0)
        return nullptr;
    place = {comm, static_cast<served*>(value), now};
    return place.found;
}

served* served::find_or_make(MPI_Comm comm) noexcept {
    served* const found = find(comm);
    return found != nullptr ? found : make(comm);
}

served* served::make(MPI_Comm comm) noexcept {
    auto* const made = new (std::nothrow) served(comm, membership_of(comm));
    if (made == nullptr || made->hang_on()) return made;
    delete made;
    return nullptr;
}

bool served::hang_on() noexcept try {
    {
        const std::lock_guard guard(all_lock);
        all().push_back(this);
    }
    if (PMPI_Comm_set_attr(comm_, library().group_key, this) == MPI_SUCCESS) return true;
    const std::lock_guard guard(all_lock);
    std::erase(all(), this);
    return false;
} catch (const std::bad_alloc&) {
    return false;
}

void served::decline(MPI_Comm comm) noexcept {
    static_cast<void>(agreed(comm, readiness::nothing));
}

void served::join_early(MPI_Comm comm) noexcept {
    served* const made = find_or_make(comm);
    if (made == nullptr) {
        if (membership_of(comm).refused == reason::none) decline(comm);
    } else if (made->refused() == reason::not_yet) {
        made->join();
    }
}

void served::join() noexcept {
    if (!find_group()) group_.reset();
    if (members_.rank == 0 && refused_ == reason::no_group)
        statistics().count_group(groups::refused);
}

// false: there is none. `refused_` says how it ended.
bool served::find_group() noexcept {
    std::vector<int> members;
    try {
        members = world_ranks_of(comm_, members_.size);
    } catch (const std::bad_alloc&) {
        decline(comm_);
        return false;
    }
    group_ = spares().take(members);
    const std::int64_t spare = group_ ? group_->number : 0;
    if (!group_) begin_group(members);
    const bool has_begun = group_ != nullptr && spare == 0;
    agreement all = agreed(comm_, has_begun ? readiness::group : readiness::found, spare);
    if (all.least != readiness::nothing && all.is_same_spare) {
        refused_ = reason::none;
        if (members_.rank == 0) statistics().count_group(groups::used_again);
        return true;
    }
    if (spare != 0) spares().put(std::move(group_));
    if (all.least == readiness::found && all.has_spares) {
        if (!group_) begin_group(members);
        all = agreed(comm_, group_ ? readiness::group : readiness::found);
    }
    // Where some rank has no object, it would ask again in its next call: so do all.
    if (all.least == readiness::nothing) return false;
    refused_ = reason::no_group;
    if (all.least != readiness::group || !complete_group(all.number)) return false;
    refused_ = reason::none;
    if (members_.rank == 0) statistics().count_group(groups::made);
    return true;
}

// Leaves none where it cannot be begun. The first group of some ranks has no siblings; later ones
// get as many as there are groups, so that many communicators at a time need few rounds.
void served::begin_group(const std::vector<int>& members) noexcept try {
    if (nothing_left.load(std::memory_order_relaxed)) return;
    auto made = std::unique_ptr<group>(new (std::nothrow) group);
    if (!made) return;
    made->rounds.reset(new (std::nothrow) exchange(comm_));
    if (!made->rounds) return;
    const ucg_oob_t oob = made->rounds->as_oob(members_.rank, members_.size);
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = &oob;
    params.timeout = 1e9;  // as long as MPI would wait
    params.siblings = std::min(group::count_of(members), unsigned{group::most_siblings});
    made->set_members(members);
    if (ucg_group_create(library().context, &params, &made->handle) != UCS_OK) {
        made->handle = nullptr;
        return;
    }
    group_ = std::move(made);
} catch (const std::bad_alloc&) {
}

// A program may make any number of communicators: the first one is named, and UCG_MPI_STATS has the
// count of all.
void served::say_refused(ucs_status_t why) const noexcept {
    static std::atomic<bool> said{false};
    if (said.exchange(true, std::memory_order_relaxed)) return;
    std::fprintf(stderr,
                 "ucg_mpi: no group for a communicator of %u ranks (error %d): the MPI does its "
                 "collectives, and those of others for which there is no group\n",
                 members_.size, static_cast<int>(why));
}

bool served::complete_group(std::int64_t number) noexcept {
    group_->number = number;
    group_->rounds->open();
    patience waits;
    ucs_status_t status = UCS_OK;
    while ((status = ucg_group_test(group_->handle)) == UCS_INPROGRESS) {
        static_cast<void>(moving().advance());
        waits.again(false);
    }
    if (status != UCS_OK) {
        if (is_shortage(status)) {
            nothing_left.store(true, std::memory_order_relaxed);
            spares().clear();
        }
        if (members_.rank == 0) say_refused(status);
        return false;
    }
    ucg_group_attr_t attr = UCG_GROUP_ATTR_INIT;
    if (ucg_group_query(group_->handle, &attr) == UCS_OK) {
        if (node::outnumber_cores(attr.node_size)) moving().crowded();
        if (attr.nodes > 1) moving().reaches_others();
    }
    keep_siblings(attr.siblings_left);
    return true;
}

// All ranks put the same ones there, in the same order. Where a rank lacks the memory for one, the
// ranks find out when they compare what they have to spare.
void served::keep_siblings(std::uint32_t count) const noexcept try {
    for (std::uint32_t i = 1; i <= count; ++i) {
        auto sibling = std::make_unique<group>();
        if (ucg_group_make_sibling(group_->handle, &sibling->handle) != UCS_OK) return;
        // Without sign, as the number is one of a peer.
        sibling->number = static_cast<std::int64_t>(static_cast<std::uint64_t>(group_->number) + i);
        sibling->set_members(group_->members());
        spares().put(std::move(sibling));
    }
} catch (const std::bad_alloc&) {
}

// The next communicator of these ranks may have it, unless they no longer agree on how it stands.
served::~served() {
    if (group_ == nullptr) return;
    if (!failed_) spares().put(std::move(group_));
    group_.reset();
    nothing_left.store(false, std::memory_order_relaxed);
}

void served::forget_comm() noexcept {
    comm_ = MPI_COMM_NULL;
    generation.fetch_add(1, std::memory_order_acq_rel);
}

void served::release() noexcept {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    {
        const std::lock_guard guard(all_lock);
        std::erase(all(), this);
    }
    delete this;
}

int served::on_free(MPI_Comm, int, void* value, void*) noexcept {
    auto* const freed = static_cast<served*>(value);
    freed->forget_comm();
    freed->release();
    return MPI_SUCCESS;
}

void served::destroy_all() noexcept {
    std::vector<served*> left;
    {
        const std::lock_guard guard(all_lock);
        left.swap(all());
    }
    for (served* const each : left) {
        if (each->comm_ != MPI_COMM_NULL)
            PMPI_Comm_delete_attr(each->comm_, library().group_key);  // comes to on_free
    }
    spares().clear();
}

ucs_status_t served::make_request(prepared& what, std::unique_ptr<kept_request>& made) {
    auto kept = std::make_unique<kept_request>();
    kept->blocks = what.blocks;
    kept->args = what.args;
    const auto array = [](const std::vector<std::uint64_t>& of) {
        return of.empty() ? nullptr : of.data();
    };
    kept->args.src_counts = array(kept->blocks.src_counts);
    kept->args.src_displs = array(kept->blocks.src_displs);
    kept->args.dst_counts = array(kept->blocks.dst_counts);
    kept->args.dst_displs = array(kept->blocks.dst_displs);
    kept->args.callback = on_end;
    kept->args.callback_arg = kept.get();
    const ucs_status_t status = ucg_request_init(group_->handle, &kept->args, &kept->request);
    if (kept->request != nullptr) made = std::move(kept);
    return status;
}

// The others hear of it, and do not wait for this rank.
ucs_status_t served::end_refused(const kept_request& which, ucs_status_t why) const noexcept {
    if (ucg_request_start(which.request) == UCS_OK) static_cast<void>(wait(which.request));
    return why;
}

ucs_status_t served::get(prepared& what, kept_request*& got) {
    auto& kept = group_->kept;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        kept_request& each = *kept[i];
        if (!alike(each.args, what.args) || each.busy.load(std::memory_order_acquire) ||
            !(what.blocks == each.blocks))
            continue;
        // What is often asked for comes to the front, and what is not to the end.
        if (i != 0) std::swap(kept[i], kept[i / 2]);
        got = &each;
        if (each.args.src == what.args.src && each.args.dst == what.args.dst) return UCS_OK;
        const ucs_status_t status =
            ucg_request_set_buffers(each.request, what.args.src, what.args.dst);
        each.args.src = what.args.src;
        each.args.dst = what.args.dst;
        return status == UCS_OK ? UCS_OK : end_refused(each, status);
    }
    std::unique_ptr<kept_request> made;
    const ucs_status_t status = make_request(what, made);
    if (status != UCS_OK) return made ? end_refused(*made, status) : status;
    // Requests for long vectors may hold as much memory as the program's data: one is kept.
    constexpr std::uint64_t long_count = 1 << 18;
    if (what.args.count > long_count)
        std::erase_if(kept, [](const auto& each) {
            return each->args.count > long_count && !each->busy.load(std::memory_order_acquire);
        });
    constexpr std::size_t most = 32;
    while (kept.size() >= most) {
        const auto idle = std::find_if(kept.rbegin(), kept.rend(), [](const auto& each) {
            return !each->busy.load(std::memory_order_acquire);
        });
        if (idle == kept.rend()) break;
        kept.erase(std::next(idle).base());
    }
    kept.insert(kept.begin(), std::move(made));
    got = kept.front().get();
    return UCS_OK;
}

// All else is moved as well, but only when it takes long: messages of the program may be under way,
// or other operations, that the others need in order to come here.
ucs_status_t served::wait(ucg_request_h request) const noexcept {
    patience waits;
    ucs_status_t status = ucg_request_test(request);
    while (status == UCS_INPROGRESS) {
        const bool moved = ucg_request_progress(request) != 0;
        status = ucg_request_test(request);
        if (status != UCS_INPROGRESS) break;
        if (waits.seldom()) {
            static_cast<void>(ucg_progress(library().context));
            progress::move_mpi();
        }
        waits.again(moved);
    }
    return status;
}

int served::fail(const char* what, ucs_status_t status) noexcept {
    failed_ = true;
    std::fprintf(stderr,
                 "ucg_mpi: %s failed on rank %u of %u: error %d; UCG_MPI=n leaves it to the MPI\n",
                 what, members_.rank, members_.size, static_cast<int>(status));
    PMPI_Comm_call_errhandler(comm_ != MPI_COMM_NULL ? comm_ : MPI_COMM_WORLD, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

}  // namespace ucg::mpi
