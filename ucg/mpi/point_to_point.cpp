// Blocking point-to-point calls: while a ucg operation is active they use the non-blocking form and
// a loop, because a rank that waits here may hold up collectives of other ranks.
#include <algorithm>
#include <cstring>
#include <vector>

#include "ucg/mpi/exported.hpp"
#include "ucg/mpi/progress.hpp"
#include "ucg/mpi/types.hpp"

using namespace ucg::mpi;

namespace {

bool is_pass_through() noexcept {
    return !library().active || !progress_engine().is_needed();
}

int finish(MPI_Request request, MPI_Status* status) {
    return until([&](int* flag) { return PMPI_Test(&request, flag, status); });
}

// Waits for a send and a receive. Returns the error of either.
int finish_both(MPI_Request out, MPI_Request in, MPI_Status* status) {
    const int received = finish(in, status);
    const int sent = finish(out, MPI_STATUS_IGNORE);
    return received != MPI_SUCCESS ? received : sent;
}

// `blocking` calls MPI's own function, which serves if no ucg operation is active.
template<class Blocking, class Begin>
int run_with(MPI_Status* status, const Blocking& blocking, const Begin& begin) {
    if (is_pass_through()) return blocking();
    MPI_Request request = MPI_REQUEST_NULL;
    const int begun = begin(&request);
    return begun == MPI_SUCCESS ? finish(request, status) : begun;
}

template<class Send, class Receive>
int exchange_with(MPI_Status* status, const Send& send, const Receive& receive) {
    MPI_Request sends = MPI_REQUEST_NULL, receives = MPI_REQUEST_NULL;
    int begun = receive(&receives);
    if (begun != MPI_SUCCESS) return begun;
    begun = send(&sends);
    if (begun != MPI_SUCCESS) {
        PMPI_Cancel(&receives);
        PMPI_Request_free(&receives);
        return begun;
    }
    return finish_both(sends, receives, status);
}

// Sends a copy of short dense data by `exchange`. For other data calls the MPI's function, while
// another thread progresses ucg.
template<class Blocking, class Exchange>
int replace_with(const void* data, MPI_Count count, MPI_Datatype type, const Blocking& blocking,
                 const Exchange& exchange) {
    constexpr std::uint64_t most = 1 << 20;
    if (is_pass_through()) return blocking();
    const layout type_layout = count > 0 && type != MPI_DATATYPE_NULL ? layout_of(type) : layout{};
    const auto elements = static_cast<std::uint64_t>(std::max<MPI_Count>(count, 0));
    if (!type_layout.dense || elements == 0 || type_layout.size == 0 ||
        elements > most / type_layout.size)
        return call_blocking(blocking);
    std::vector<std::byte> copy;
    try {
        copy.resize(static_cast<std::size_t>(elements * type_layout.size));
    } catch (...) {
        return call_blocking(blocking);
    }
    std::memcpy(copy.data(), data, copy.size());
    return exchange(copy.data());
}

}  // namespace

// Defines a blocking send that BEGIN is the non-blocking form of.
#define UCG_MPI_SEND(NAME, BEGIN, COUNT)                                                      \
    int MPI_##NAME(const void* data, COUNT count, MPI_Datatype type, int to, int tag,         \
                   MPI_Comm comm) {                                                           \
        return run_with(                                                                      \
            MPI_STATUS_IGNORE, [&] { return PMPI_##NAME(data, count, type, to, tag, comm); }, \
            [&](MPI_Request* request) {                                                       \
                return PMPI_##BEGIN(data, count, type, to, tag, comm, request);               \
            });                                                                               \
    }

// Defines the functions with counts of a type; their names end with END.
#define UCG_MPI_MESSAGES(END, COUNT)                                                               \
    UCG_MPI_SEND(Send##END, Isend##END, COUNT)                                                     \
    UCG_MPI_SEND(Ssend##END, Issend##END, COUNT)                                                   \
    UCG_MPI_SEND(Rsend##END, Irsend##END, COUNT)                                                   \
    int MPI_Recv##END(void* data, COUNT count, MPI_Datatype type, int from, int tag,               \
                      MPI_Comm comm, MPI_Status* status) {                                         \
        return run_with(                                                                           \
            status, [&] { return PMPI_Recv##END(data, count, type, from, tag, comm, status); },    \
            [&](MPI_Request* request) {                                                            \
                return PMPI_Irecv##END(data, count, type, from, tag, comm, request);               \
            });                                                                                    \
    }                                                                                              \
    int MPI_Mrecv##END(void* data, COUNT count, MPI_Datatype type, MPI_Message* message,           \
                       MPI_Status* status) {                                                       \
        return run_with(                                                                           \
            status, [&] { return PMPI_Mrecv##END(data, count, type, message, status); },           \
            [&](MPI_Request* request) {                                                            \
                return PMPI_Imrecv##END(data, count, type, message, request);                      \
            });                                                                                    \
    }                                                                                              \
    int MPI_Sendrecv##END(const void* out, COUNT out_count, MPI_Datatype out_type, int to,         \
                          int out_tag, void* in, COUNT in_count, MPI_Datatype in_type, int from,   \
                          int in_tag, MPI_Comm comm, MPI_Status* status) {                         \
        if (is_pass_through())                                                                     \
            return PMPI_Sendrecv##END(out, out_count, out_type, to, out_tag, in, in_count,         \
                                      in_type, from, in_tag, comm, status);                        \
        return exchange_with(                                                                      \
            status,                                                                                \
            [&](MPI_Request* request) {                                                            \
                return PMPI_Isend##END(out, out_count, out_type, to, out_tag, comm, request);      \
            },                                                                                     \
            [&](MPI_Request* request) {                                                            \
                return PMPI_Irecv##END(in, in_count, in_type, from, in_tag, comm, request);        \
            });                                                                                    \
    }                                                                                              \
    int MPI_Sendrecv_replace##END(void* data, COUNT count, MPI_Datatype type, int to, int out_tag, \
                                  int from, int in_tag, MPI_Comm comm, MPI_Status* status) {       \
        return replace_with(                                                                       \
            data, count, type,                                                                     \
            [&] {                                                                                  \
                return PMPI_Sendrecv_replace##END(data, count, type, to, out_tag, from, in_tag,    \
                                                  comm, status);                                   \
            },                                                                                     \
            [&](const void* copy) {                                                                \
                return MPI_Sendrecv##END(copy, count, type, to, out_tag, data, count, type, from,  \
                                         in_tag, comm, status);                                    \
            });                                                                                    \
    }

UCG_MPI_MESSAGES(, int)
#if MPI_VERSION >= 4
UCG_MPI_MESSAGES(_c, MPI_Count)
#endif

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status* status) {
    if (is_pass_through()) return PMPI_Probe(from, tag, comm, status);
    return until([&](int* flag) { return PMPI_Iprobe(from, tag, comm, flag, status); });
}

int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    if (is_pass_through()) return PMPI_Mprobe(from, tag, comm, message, status);
    return until([&](int* flag) { return PMPI_Improbe(from, tag, comm, flag, message, status); });
}

// Programs call these in loops, and rely on them for progress.
int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    if (!is_pass_through()) static_cast<void>(progress_engine().advance());
    return PMPI_Iprobe(from, tag, comm, flag, status);
}

int MPI_Improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                MPI_Status* status) {
    if (!is_pass_through()) static_cast<void>(progress_engine().advance());
    return PMPI_Improbe(from, tag, comm, flag, message, status);
}

int MPI_Win_test(MPI_Win win, int* flag) {
    if (!is_pass_through()) static_cast<void>(progress_engine().advance());
    return PMPI_Win_test(win, flag);
}

#if UCG_MPI_HAS_CALLS_OF_4
int MPI_Parrived(MPI_Request request, int partition, int* flag) {
    if (!is_pass_through()) static_cast<void>(progress_engine().advance());
    return pass_on(PMPI_Parrived, request, partition, flag);
}
#endif
