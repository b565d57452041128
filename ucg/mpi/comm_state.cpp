#include "ucg/mpi/comm_state.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <new>

#include "ucg/mpi/types.hpp"
#include "ucg/node/sleeper.hpp"

namespace ucg::mpi {
namespace {

// --- the list of all states, and a cache for look-ups ---

std::mutex all_lock;
std::vector<comm_state*>& all() {
    static auto* const list = new std::vector<comm_state*>;
    return *list;
}

// Incremented when a communicator is freed, which invalidates the caches of all threads.
std::atomic<unsigned> generation{1};

struct cached_lookup {
    MPI_Comm comm = MPI_COMM_NULL;
    comm_state* found = nullptr;
    unsigned generation = 0;
};
constexpr std::size_t cache_size = 8;
thread_local cached_lookup lookup_cache[cache_size];

cached_lookup& cache_slot(MPI_Comm comm) noexcept {
    return lookup_cache[(number_of(comm) * 0x9e3779b97f4a7c15ULL) >> 61];
}

void on_end(ucg_request_h, ucs_status_t, void* arg) {
    auto* const cached = static_cast<cached_request*>(arg);
    if (cached->owner != nullptr) progress_engine().ended(*cached->owner);
}

// The creation of the last group failed for lack of descriptors, memory or numbers: no group is
// tried before an existing one is destroyed. Ranks may differ in this; they agree in join().
std::atomic<bool> is_exhausted{false};

bool is_shortage(ucs_status_t status) noexcept {
    return status == UCS_ERR_EXCEEDS_LIMIT || status == UCS_ERR_NO_MEMORY ||
           status == UCS_ERR_NO_RESOURCE;
}

// How far a rank is with the group of a communicator.
enum class readiness : int { nothing, found, group };

// Returns a number for a new group that no other call on any rank returns. Several threads may
// agree on groups concurrently, each with other ranks. If two of them proposed the same number, two
// groups could get it, and a later communicator could get different groups on different ranks.
std::int64_t propose_number() noexcept {
    static std::atomic<std::int64_t> proposals{0};
    int rank = 0, size = 1;
    PMPI_Group_rank(library().world, &rank);
    PMPI_Group_size(library().world, &size);
    const std::int64_t proposal = 1 + proposals.fetch_add(1, std::memory_order_relaxed);
    return (proposal * size + rank) * (group::max_siblings + 1);  // siblings have the following
                                                                  // numbers
}

struct agreement {
    readiness least = readiness::nothing;
    bool is_same_spare = false;  // all ranks have the same spare group
    bool has_spares = false;     // some rank has a spare group, and has begun no new group
    std::int64_t number = 0;     // number of a new group
};

// Returns the least readiness of all ranks. `spare` is the number of this rank's spare group, or 0.
// Other ranks may be in collectives that need this rank before they arrive here, so everything is
// progressed meanwhile. Uses the MPI's blocking call, because the non-blocking one costs several
// times as much. The maximum of numbers is the complement of the minimum of their complements,
// which does not overflow for any number of a peer.
agreement agree(MPI_Comm comm, readiness own_readiness, std::int64_t spare = 0) noexcept {
    const std::int64_t values[] = {static_cast<int>(own_readiness), spare, ~spare,
                                   ~propose_number()};
    std::int64_t least[] = {0, 0, 0, 0};
    if (call_blocking([&] {
            return PMPI_Allreduce(values, least, 4, MPI_INT64_T, MPI_MIN, comm);
        }) != MPI_SUCCESS)
        return {};
    return {static_cast<readiness>(least[0]), least[1] != 0 && least[1] == ~least[2],
            ~least[2] != 0, ~least[3]};
}

}  // namespace

comm_state* comm_state::find(MPI_Comm comm) noexcept {
    cached_lookup& slot = cache_slot(comm);
    const unsigned now = generation.load(std::memory_order_acquire);
    if (slot.comm == comm && slot.generation == now) return slot.found;
    void* value = nullptr;
    int has_value = 0;
    if (PMPI_Comm_get_attr(comm, library().group_key, &value, &has_value) != MPI_SUCCESS ||
        has_value == 0)
        return nullptr;
    slot = {comm, static_cast<comm_state*>(value), now};
    return slot.found;
}

comm_state* comm_state::find_or_create(MPI_Comm comm) noexcept {
    comm_state* const found = find(comm);
    return found != nullptr ? found : make(comm);
}

comm_state* comm_state::make(MPI_Comm comm) noexcept {
    auto* const made = new (std::nothrow) comm_state(comm, comm_info_of(comm));
    if (made == nullptr || made->attach()) return made;
    delete made;
    return nullptr;
}

bool comm_state::attach() noexcept try {
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

void comm_state::decline(MPI_Comm comm) noexcept {
    static_cast<void>(agree(comm, readiness::nothing));
}

void comm_state::join_early(MPI_Comm comm) noexcept {
    comm_state* const made = find_or_create(comm);
    if (made == nullptr) {
        if (comm_info_of(comm).refused == reason::none) decline(comm);
    } else if (made->refused() == reason::not_yet) {
        made->join();
    }
}

void comm_state::join() noexcept {
    if (!find_group()) group_.reset();
    if (members_.rank == 0 && refused_ == reason::no_group)
        statistics().count_group(groups::refused);
}

// Returns false if there is no group. `refused_` has the result.
bool comm_state::find_group() noexcept {
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
    agreement all = agree(comm_, has_begun ? readiness::group : readiness::found, spare);
    if (all.least != readiness::nothing && all.is_same_spare) {
        refused_ = reason::none;
        if (members_.rank == 0) statistics().count_group(groups::used_again);
        return true;
    }
    if (spare != 0) spares().put(std::move(group_));
    if (all.least == readiness::found && all.has_spares) {
        if (!group_) begin_group(members);
        all = agree(comm_, group_ ? readiness::group : readiness::found);
    }
    // A rank without a state would try again in its next call, so all ranks do.
    if (all.least == readiness::nothing) return false;
    refused_ = reason::no_group;
    if (all.least != readiness::group || !complete_group(all.number)) return false;
    refused_ = reason::none;
    if (members_.rank == 0) statistics().count_group(groups::made);
    return true;
}

// Begins to create a group. On failure there is none. The first group of some ranks has no
// siblings; later groups get as many as there are groups, so that many concurrent communicators
// need few rounds.
void comm_state::begin_group(const std::vector<int>& members) noexcept try {
    if (is_exhausted.load(std::memory_order_relaxed)) return;
    auto made = std::unique_ptr<group>(new (std::nothrow) group);
    if (!made) return;
    made->rounds.reset(new (std::nothrow) exchange(comm_));
    if (!made->rounds) return;
    const ucg_oob_t oob = made->rounds->as_oob(members_.rank, members_.size);
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = &oob;
    params.timeout = 1e9;  // MPI would wait for ever
    params.siblings = std::min(group::count_of(members), unsigned{group::max_siblings});
    made->set_members(members);
    if (ucg_group_create(library().context, &params, &made->handle) != UCS_OK) {
        made->handle = nullptr;
        return;
    }
    group_ = std::move(made);
} catch (const std::bad_alloc&) {
}

// A program may create any number of communicators: the log names the first one, and UCG_MPI_STATS
// has the total.
void comm_state::log_refusal(ucs_status_t status) const noexcept {
    static std::atomic<bool> is_logged{false};
    if (is_logged.exchange(true, std::memory_order_relaxed)) return;
    std::fprintf(stderr,
                 "ucg_mpi: no group for a communicator of %u ranks (error %d): the MPI does its "
                 "collectives, and those of others for which there is no group\n",
                 members_.size, static_cast<int>(status));
}

bool comm_state::complete_group(std::int64_t number) noexcept {
    group_->number = number;
    group_->rounds->open();
    auto pauses = usual_backoff();
    ucs_status_t status = UCS_OK;
    while ((status = ucg_group_test(group_->handle)) == UCS_INPROGRESS) {
        static_cast<void>(progress_engine().advance());
        pauses.wait();
    }
    if (status != UCS_OK) {
        if (is_shortage(status)) {
            is_exhausted.store(true, std::memory_order_relaxed);
            spares().clear();
        }
        if (members_.rank == 0) log_refusal(status);
        return false;
    }
    ucg_group_attr_t attr = UCG_GROUP_ATTR_INIT;
    if (ucg_group_query(group_->handle, &attr) == UCS_OK) {
        if (node::exceeds_cores(attr.node_size)) progress_engine().set_crowded();
        if (attr.nodes > 1) progress_engine().set_multi_node();
    }
    keep_siblings(attr.siblings_left);
    return true;
}

// All ranks store the same siblings, in the same order. If a rank lacks the memory for one, the
// ranks detect that when they compare their spare groups.
void comm_state::keep_siblings(std::uint32_t count) const noexcept try {
    for (std::uint32_t i = 1; i <= count; ++i) {
        auto sibling = std::make_unique<group>();
        if (ucg_group_make_sibling(group_->handle, &sibling->handle) != UCS_OK) return;
        // Unsigned arithmetic, because the number comes from a peer.
        sibling->number = static_cast<std::int64_t>(static_cast<std::uint64_t>(group_->number) + i);
        sibling->set_members(group_->members());
        spares().put(std::move(sibling));
    }
} catch (const std::bad_alloc&) {
}

// Keeps the group for the next communicator of these ranks, unless an operation failed.
comm_state::~comm_state() {
    if (group_ == nullptr) return;
    if (!failed_) spares().put(std::move(group_));
    group_.reset();
    is_exhausted.store(false, std::memory_order_relaxed);
}

void comm_state::detach() noexcept {
    comm_ = MPI_COMM_NULL;
    generation.fetch_add(1, std::memory_order_acq_rel);
}

void comm_state::release() noexcept {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    {
        const std::lock_guard guard(all_lock);
        std::erase(all(), this);
    }
    delete this;
}

int comm_state::on_free(MPI_Comm, int, void* value, void*) noexcept {
    auto* const freed = static_cast<comm_state*>(value);
    freed->detach();
    freed->release();
    return MPI_SUCCESS;
}

void comm_state::destroy_all() noexcept {
    std::vector<comm_state*> left;
    {
        const std::lock_guard guard(all_lock);
        left.swap(all());
    }
    for (comm_state* const each : left) {
        if (each->comm_ != MPI_COMM_NULL)
            PMPI_Comm_delete_attr(each->comm_, library().group_key);  // calls on_free
    }
    spares().clear();
}

ucs_status_t comm_state::make_request(prepared_call& call, std::unique_ptr<cached_request>& made) {
    auto cached = std::make_unique<cached_request>();
    cached->blocks = call.blocks;
    cached->own_args = call.args;
    const auto array = [](const std::vector<std::uint64_t>& values) {
        return values.empty() ? nullptr : values.data();
    };
    cached->own_args.src_counts = array(cached->blocks.src_counts);
    cached->own_args.src_displs = array(cached->blocks.src_displs);
    cached->own_args.dst_counts = array(cached->blocks.dst_counts);
    cached->own_args.dst_displs = array(cached->blocks.dst_displs);
    cached->own_args.callback = on_end;
    cached->own_args.callback_arg = cached.get();
    const ucs_status_t status =
        ucg_request_init(group_->handle, &cached->own_args, &cached->request);
    if (cached->request != nullptr) made = std::move(cached);
    return status;
}

// Starts a refused request, so that the operation fails on all ranks and they do not wait for this
// rank.
ucs_status_t comm_state::end_refused(const cached_request& request,
                                     ucs_status_t status) const noexcept {
    if (ucg_request_start(request.request) == UCS_OK) static_cast<void>(wait(request.request));
    return status;
}

ucs_status_t comm_state::get(prepared_call& call, cached_request*& request) {
    request = group_->kept.find([&](const cached_request& each) {
        return is_same_kind(each.args(), call.args) && each.blocks == call.blocks;
    });
    if (request == nullptr) {
        std::unique_ptr<cached_request> made;
        const ucs_status_t status = make_request(call, made);
        if (status != UCS_OK) return made ? end_refused(*made, status) : status;
        request = &group_->kept.add(std::move(made));
    } else if (request->args().src != call.args.src || request->args().dst != call.args.dst) {
        const ucs_status_t status =
            ucg_request_set_buffers(request->request, call.args.src, call.args.dst);
        request->own_args.src = call.args.src;
        request->own_args.dst = call.args.dst;
        if (status != UCS_OK) return end_refused(*request, status);
    }
    return UCS_OK;
}

// Progresses everything else as well, but only if the wait takes long: other ranks may need
// messages of the program or other operations before they arrive here.
ucs_status_t comm_state::wait(ucg_request_h request) const noexcept {
    auto pauses = usual_backoff();
    unsigned turns = 0;
    constexpr unsigned others_every = 32;
    ucs_status_t status = ucg_request_test(request);
    while (status == UCS_INPROGRESS) {
        const bool moved = ucg_request_progress(request) != 0;
        status = ucg_request_test(request);
        if (status != UCS_INPROGRESS) break;
        if (++turns % others_every == 0) {
            static_cast<void>(ucg_progress(library().context));
            progress::progress_mpi();
        }
        pauses.wait_unless(moved);
    }
    return status;
}

int comm_state::fail(const char* action, ucs_status_t status) noexcept {
    failed_ = true;
    std::fprintf(stderr,
                 "ucg_mpi: %s failed on rank %u of %u: error %d; UCG_MPI=n leaves it to the MPI\n",
                 action, members_.rank, members_.size, static_cast<int>(status));
    PMPI_Comm_call_errhandler(comm_ != MPI_COMM_NULL ? comm_ : MPI_COMM_WORLD, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

}  // namespace ucg::mpi
