#include "ucg/mpi/served.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <numeric>

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

// What a rank knows of a communicator without asking the others, who find the same.
struct membership {
    reason refused = reason::none;
    std::uint32_t rank = 0, size = 0;
};

// Whether MPI_COMM_WORLD has all members of a group. Some at a time: it must not need memory, since
// a rank that finds out less than the others would wait for them.
bool are_of_world(MPI_Group members, int size) noexcept {
    int here[64], there[64];
    for (int begin = 0; begin < size; begin += 64) {
        const int count = std::min(size - begin, 64);
        std::iota(here, here + count, begin);
        PMPI_Group_translate_ranks(members, count, here, library().world, there);
        if (std::find(there, there + count, MPI_UNDEFINED) != there + count) return false;
    }
    return true;
}

// In the order in which it can be told.
membership membership_of(MPI_Comm comm) noexcept {
    int between = 0, rank = 0, size = 0;
    PMPI_Comm_test_inter(comm, &between);
    if (between != 0) return {reason::intercommunicator, 0, 0};
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    membership made{reason::none, static_cast<std::uint32_t>(rank),
                    static_cast<std::uint32_t>(size)};
    if (size == 1) {
        made.refused = reason::alone;
        return made;
    }
    // Processes of another MPI_COMM_WORLD may run without this library. If any member is of
    // another one, each member sees one that is of another than its own.
    MPI_Group members = MPI_GROUP_NULL;
    if (PMPI_Comm_group(comm, &members) != MPI_SUCCESS) {
        made.refused = reason::no_group;
        return made;
    }
    if (!are_of_world(members, size)) made.refused = reason::several_worlds;
    PMPI_Group_free(&members);
    return made;
}

// How far a rank has come with a communicator of its own.
enum class readiness : int { nothing, found, group };

// How far all ranks have come. Others may be in collectives that need this rank before they come
// here, so everything moves on meanwhile.
readiness agreed(MPI_Comm comm, readiness mine) noexcept {
    MPI_Request request = MPI_REQUEST_NULL;
    int own = static_cast<int>(mine), least = 0;
    if (PMPI_Iallreduce(&own, &least, 1, MPI_INT, MPI_MIN, comm, &request) != MPI_SUCCESS ||
        until([&](int* flag) { return PMPI_Test(&request, flag, MPI_STATUS_IGNORE); }) !=
            MPI_SUCCESS)
        return readiness::nothing;
    return static_cast<readiness>(least);
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

served* served::make(MPI_Comm comm) noexcept {
    const membership own = membership_of(comm);
    auto* const made = new (std::nothrow) served(comm, own.refused, own.rank, own.size);
    const bool found = made != nullptr && made->hang_on();
    bool found_by_all = found;
    if (own.refused == reason::none)
        found_by_all =
            found ? made->join_others() : agreed(comm, readiness::nothing) >= readiness::found;
    if (found_by_all) return made;
    // Some rank would not find it again, and make another one alone: so all of them forget it.
    if (found)
        PMPI_Comm_delete_attr(comm, library().group_key);  // comes to on_free
    else
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

bool served::join_others() noexcept {
    exchange_.reset(new (std::nothrow) exchange(comm_));
    if (exchange_) begin_group();
    const readiness all = agreed(comm_, group_ != nullptr ? readiness::group : readiness::found);
    if (all == readiness::group && complete_group()) {
        refused_ = reason::none;
    } else {
        // It would stay among those that each call moves on.
        ucg_group_destroy(group_);
        group_ = nullptr;
        refused_ = reason::no_group;
    }
    return all >= readiness::found;
}

void served::begin_group() noexcept {
    const ucg_oob_t oob = exchange_->as_oob(rank_, size_);
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = &oob;
    params.timeout = 1e9;  // as long as MPI would wait
    if (ucg_group_create(library().context, &params, &group_) != UCS_OK) group_ = nullptr;
}

bool served::complete_group() noexcept {
    exchange_->open();
    patience waits;
    ucs_status_t status = UCS_OK;
    while ((status = ucg_group_test(group_)) == UCS_INPROGRESS) {
        static_cast<void>(moving().advance());
        waits.again(false);
    }
    if (status != UCS_OK) {
        if (rank_ == 0)
            std::fprintf(
                stderr,
                "ucg_mpi: no group for a communicator of %u ranks (error %d): the MPI does its "
                "collectives\n",
                size_, static_cast<int>(status));
        return false;
    }
    ucg_group_attr_t attr = UCG_GROUP_ATTR_INIT;
    if (ucg_group_query(group_, &attr) == UCS_OK) {
        if (node::outnumber_cores(attr.node_size)) moving().crowded();
        if (attr.nodes > 1) moving().reaches_others();
    }
    return true;
}

served::~served() {
    kept_.clear();
    ucg_group_destroy(group_);
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
    const ucs_status_t status = ucg_request_init(group_, &kept->args, &kept->request);
    if (kept->request != nullptr) made = std::move(kept);
    return status;
}

// The others hear of it, and do not wait for this rank.
ucs_status_t served::end_refused(const kept_request& which, ucs_status_t why) const noexcept {
    if (ucg_request_start(which.request) == UCS_OK) static_cast<void>(wait(which.request));
    return why;
}

ucs_status_t served::get(prepared& what, kept_request*& got) {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
        kept_request& each = *kept_[i];
        if (!alike(each.args, what.args) || each.busy.load(std::memory_order_acquire) ||
            !(what.blocks == each.blocks))
            continue;
        // What is often asked for comes to the front, and what is not to the end.
        if (i != 0) std::swap(kept_[i], kept_[i / 2]);
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
        std::erase_if(kept_, [](const auto& each) {
            return each->args.count > long_count && !each->busy.load(std::memory_order_acquire);
        });
    constexpr std::size_t most = 32;
    while (kept_.size() >= most) {
        const auto idle = std::find_if(kept_.rbegin(), kept_.rend(), [](const auto& each) {
            return !each->busy.load(std::memory_order_acquire);
        });
        if (idle == kept_.rend()) break;
        kept_.erase(std::next(idle).base());
    }
    kept_.insert(kept_.begin(), std::move(made));
    got = kept_.front().get();
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

int served::fail(const char* what, ucs_status_t status) const noexcept {
    std::fprintf(stderr,
                 "ucg_mpi: %s failed on rank %u of %u: error %d; UCG_MPI=n leaves it to the MPI\n",
                 what, rank_, size_, static_cast<int>(status));
    PMPI_Comm_call_errhandler(comm_ != MPI_COMM_NULL ? comm_ : MPI_COMM_WORLD, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

}  // namespace ucg::mpi
