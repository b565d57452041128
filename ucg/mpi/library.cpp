// Begin and end.
#include "ucg/mpi/library.hpp"

#include "ucg/mpi/exported.hpp"
#include "ucg/mpi/persistent.hpp"
#include "ucg/mpi/progress.hpp"
#include "ucg/mpi/served.hpp"
#include "ucg/mpi/settings.hpp"
#include "ucg/mpi/stats.hpp"
#include "ucg/mpi/types.hpp"

namespace ucg::mpi {
namespace {

ucs_thread_mode_t mode_of(int level) noexcept {
    // Below MULTIPLE the helping thread and the program's take turns.
    return level == MPI_THREAD_MULTIPLE ? UCS_THREAD_MODE_MULTI : UCS_THREAD_MODE_SERIALIZED;
}

constexpr int tag_of_never = 2;

bool bring_up(int level) noexcept {
    library_state& own = library();
    ucg_context_params_t params = UCG_CONTEXT_PARAMS_INIT;
    params.thread_mode = mode_of(level);
    if (ucg_context_create(&params, &own.context) != UCS_OK) return false;
    return PMPI_Comm_dup(MPI_COMM_SELF, &own.alone) == MPI_SUCCESS &&
           PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, tag_of_never, own.alone, &own.never) ==
               MPI_SUCCESS &&
           PMPI_Comm_group(MPI_COMM_WORLD, &own.world) == MPI_SUCCESS &&
           PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, served::on_free, &own.group_key,
                                   nullptr) == MPI_SUCCESS;
}

void tear_down() noexcept {
    library_state& own = library();
    if (own.group_key != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&own.group_key);
    if (own.world != MPI_GROUP_NULL) PMPI_Group_free(&own.world);
    if (own.never != MPI_REQUEST_NULL) {
        PMPI_Send(nullptr, 0, MPI_BYTE, 0, tag_of_never, own.alone);
        PMPI_Wait(&own.never, MPI_STATUS_IGNORE);
    }
    if (own.alone != MPI_COMM_NULL) PMPI_Comm_free(&own.alone);
    if (own.context != nullptr) ucg_context_destroy(own.context);
    own = {};
}

int on_self_deleted(MPI_Comm, int, void*, void*) noexcept {
    end();
    return MPI_SUCCESS;
}

// The key lives as long as the attribute.
bool end_with_self() noexcept {
    int key = MPI_KEYVAL_INVALID;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_self_deleted, &key, nullptr) !=
        MPI_SUCCESS)
        return false;
    const bool set = PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr) == MPI_SUCCESS;
    PMPI_Comm_free_keyval(&key);
    return set;
}

}  // namespace

library_state& library() noexcept {
    static library_state one;
    return one;
}

void begin(int thread_level) noexcept {
    library_state& own = library();
    own.multiple = thread_level == MPI_THREAD_MULTIPLE;
    // How ranks differ in this must not matter: the lowest wish counts.
    const settings wanted = settings::read();
    const int wishes[2] = {wanted.take && bring_up(thread_level) ? 1 : 0, wanted.eager ? 1 : 0};
    int agreed[2] = {0, 0};
    PMPI_Allreduce(wishes, agreed, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (wanted.stats) statistics().enable();
    if (agreed[0] == 0) {
        tear_down();
        own.ends_with_self = end_with_self();
        return;
    }
    own.ends_with_self = end_with_self();
    learn_types();
    own.eager = agreed[1] != 0;
    own.active = true;
    served::join_early(MPI_COMM_WORLD);
}

void end() noexcept {
    if (library().active) {
        // What is still on its way to others leaves while all are here.
        end_helper();
        persistent_requests().clear();
        served::destroy_all();
        library().active = false;
    }
    statistics().print();
    tear_down();
}

}  // namespace ucg::mpi

using namespace ucg::mpi;

int MPI_Init(int* argc, char*** argv) {
    const int status = PMPI_Init(argc, argv);
    if (status != MPI_SUCCESS) return status;
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    begin(level);
    return status;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    const int status = PMPI_Init_thread(argc, argv, required, provided);
    if (status == MPI_SUCCESS) begin(*provided);
    return status;
}

int MPI_Finalize() {
    if (!library().ends_with_self) end();
    return PMPI_Finalize();
}
