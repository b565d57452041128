// Initialisation and finalisation.
#include "ucg/mpi/library.hpp"

#include <cstdio>
#include <cstdlib>

#include "ucg/mpi/comm_state.hpp"
#include "ucg/mpi/exported.hpp"
#include "ucg/mpi/persistent.hpp"
#include "ucg/mpi/progress.hpp"
#include "ucg/mpi/stats.hpp"
#include "ucg/mpi/types.hpp"
#include "ucs/config/text.hpp"

namespace ucg::mpi {
namespace {

// Reads an option. An unset option keeps its value. Returns false if the value is invalid.
bool read_one(const char* name, bool& into) noexcept {
    const char* const text = std::getenv(name);
    if (text == nullptr) return true;
    const auto parsed = ucs::config::parse_bool(text);
    if (parsed)
        into = *parsed;
    else
        std::fprintf(stderr,
                     "ucg_mpi: %s: \"%.200s\" is not a valid value; expected %s. The MPI does all "
                     "collectives\n",
                     name, text, ucs::config::boolean_form);
    return parsed.has_value();
}

ucs_thread_mode_t mode_of(int level) noexcept {
    // Below MULTIPLE the helper thread and the program's thread enter ucg by turns.
    return level == MPI_THREAD_MULTIPLE ? UCS_THREAD_MODE_MULTI : UCS_THREAD_MODE_SERIALIZED;
}

constexpr int dummy_tag = 2;

bool set_up(int level) noexcept {
    library_state& state = library();
    ucg_context_params_t params = UCG_CONTEXT_PARAMS_INIT;
    params.thread_mode = mode_of(level);
    if (ucg_context_create(&params, &state.context) != UCS_OK) return false;
    return PMPI_Comm_dup(MPI_COMM_SELF, &state.self_comm) == MPI_SUCCESS &&
           PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, dummy_tag, state.self_comm, &state.dummy_receive) ==
               MPI_SUCCESS &&
           PMPI_Comm_group(MPI_COMM_WORLD, &state.world) == MPI_SUCCESS &&
           PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_state::on_free, &state.group_key,
                                   nullptr) == MPI_SUCCESS;
}

void tear_down() noexcept {
    library_state& state = library();
    if (state.group_key != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&state.group_key);
    if (state.world != MPI_GROUP_NULL) PMPI_Group_free(&state.world);
    if (state.dummy_receive != MPI_REQUEST_NULL) {
        PMPI_Send(nullptr, 0, MPI_BYTE, 0, dummy_tag, state.self_comm);
        PMPI_Wait(&state.dummy_receive, MPI_STATUS_IGNORE);
    }
    if (state.self_comm != MPI_COMM_NULL) PMPI_Comm_free(&state.self_comm);
    if (state.context != nullptr) ucg_context_destroy(state.context);
    state = {};
}

int on_self_deleted(MPI_Comm, int, void*, void*) noexcept {
    end();
    return MPI_SUCCESS;
}

// Arranges that end() runs when MPI_COMM_SELF's attributes are deleted. The key lives as long as
// the attribute.
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

settings settings::read() noexcept {
    settings made;
    const bool take = read_one("UCG_MPI", made.take), eager = read_one("UCG_MPI_EAGER", made.eager),
               stats = read_one("UCG_MPI_STATS", made.stats);
    made.take = made.take && take && eager && stats;
    return made;
}

library_state& library() noexcept {
    static library_state one;
    return one;
}

void begin(int thread_level) noexcept {
    library_state& state = library();
    state.multiple = thread_level == MPI_THREAD_MULTIPLE;
    // Ranks may have different settings, so the minimum over all ranks decides.
    const settings options = settings::read();
    const int own_settings[2] = {options.take && set_up(thread_level) ? 1 : 0,
                                 options.eager ? 1 : 0};
    int agreed[2] = {0, 0};
    PMPI_Allreduce(own_settings, agreed, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (options.stats) statistics().enable();
    if (agreed[0] == 0) {
        tear_down();
        state.ends_with_self = end_with_self();
        return;
    }
    state.ends_with_self = end_with_self();
    register_types();
    state.eager = agreed[1] != 0;
    state.active = true;
    comm_state::join_early(MPI_COMM_WORLD);
}

void end() noexcept {
    if (library().active) {
        // Data for other ranks is sent while all ranks are still here.
        end_helper();
        persistent_requests().clear();
        comm_state::destroy_all();
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
