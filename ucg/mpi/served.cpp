#include "ucg/mpi/served.hpp"

#include <algorithm>
#include <climits>
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
    if (!nothing_left.load(std::memory_order_relaxed)) begin_group();
    const readiness all = agreed(comm_, group_ != nullptr ? readiness::group : readiness::found);
    const bool made = all == readiness::group && complete_group();
    if (!made) drop_group();
    // Where some rank has no object, it would ask again in its next call: so do all.
    if (all >= readiness::found) refused_ = made ? reason::none : reason::no_group;
    if (members_.rank == 0) statistics().count_group(made);
}

// A group that was not completed would stay among those that each call moves on.
void served::drop_group() noexcept {
    ucg_group_destroy(group_);
    group_ = nullptr;
}

void served::begin_group() noexcept {
    exchange_.reset(new (std::nothrow) exchange(comm_));
    if (!exchange_) return;
    const ucg_oob_t oob = exchange_->as_oob(members_.rank, members_.size);
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    params.oob = &oob;
    params.timeout = 1e9;  // as long as MPI would wait
    if (ucg_group_create(library().context, &params, &group_) != UCS_OK) group_ = nullptr;
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

bool served::complete_group() noexcept {
    exchange_->open();
    patience waits;
    ucs_status_t status = UCS_OK;
    while ((status = ucg_group_test(group_)) == UCS_INPROGRESS) {
        static_cast<void>(moving().advance());
        waits.again(false);
    }
    if (status != UCS_OK) {
        if (is_shortage(status)) nothing_left.store(true, std::memory_order_relaxed);
        if (members_.rank == 0) say_refused(status);
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
    if (group_ == nullptr) return;
    ucg_group_destroy(group_);
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
                 what, members_.rank, members_.size, static_cast<int>(status));
    PMPI_Comm_call_errhandler(comm_ != MPI_COMM_NULL ? comm_ : MPI_COMM_WORLD, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

}  // namespace ucg::mpi
