/* MPI's progress rule for collectives that another library may take: a rank in any MPI call
 * makes progress on everything that others wait for. Each test would hang if one of both
 * libraries made no progress. Also with several threads. */
#include <pthread.h>

#include "check.h"
#include "persistent.h"

enum { large = 1 << 18, threads = 3, rounds = 30 };

static int64_t in[large], out[large], message[large];

static void prepare(void) {
    for (int i = 0; i < large; ++i) {
        in[i] = (int64_t)rank * 3 + i;
        message[i] = rank;
    }
}

static void check_sum(void) {
    const int64_t ranks_sum = (int64_t)ranks * (ranks - 1) / 2 * 3;
    for (int i = 0; i < large; ++i)
        CHECK(out[i] == ranks_sum + (int64_t)i * ranks, "element %d is %lld", i, (long long)out[i]);
}

/* Sends and receives two ints with a gap between them, with tag 3. */
static void replace_with_gaps(int to, int from) {
    int data[3] = {rank, -7, rank + 1};
    MPI_Datatype type = vector_type_new(2, 1, 2, MPI_INT);
    MPI_OK(MPI_Sendrecv_replace(data, 1, type, to, 3, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_OK(MPI_Type_free(&type));
    CHECK(data[0] == from && data[1] == -7 && data[2] == from + 1, "got %d %d %d", data[0], data[1],
          data[2]);
}

static void buffered_send(int to) {
    static char room[sizeof(message) + 4096 + MPI_BSEND_OVERHEAD];
    void* back = NULL;
    int size = 0;
    MPI_OK(MPI_Buffer_attach(room, (int)sizeof(room)));
    MPI_OK(MPI_Bsend(message, large, MPI_INT64_T, to, 2, MPI_COMM_WORLD));
    MPI_OK(MPI_Buffer_detach((void*)&back, &size));
    CHECK(back == room && size == (int)sizeof(room), "%d bytes come back", size);
}

/* Waits for a message in each blocking call, while the others wait for this rank's part of a
 * collective before they send. */
enum { first_of_mpi_4 = 10, variants = 14 };

static void messages_while_a_collective_runs(int variant) {
    /* The partner's part: one int with tag 1, and one with tag 2. */
    static const char sends[variants] = {1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 1};
    static const char receives[variants] = {0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0};
    MPI_Request request;
    MPI_Status status;
    MPI_Message got;
    const int partner = rank ^ 1, last = ranks - ranks % 2;
    int32_t one = rank, other = sends[variant] ? -1 : partner;
    prepare();
    MPI_OK(MPI_Iallreduce(in, out, large, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request));
    if (rank < last && rank % 2 == 0) { /* messages first */
        switch (variant) {
            case 0:
                MPI_OK(MPI_Recv(&other, 1, MPI_INT32_T, partner, 1, MPI_COMM_WORLD, &status));
                CHECK(status.MPI_SOURCE == partner && status.MPI_TAG == 1, "status");
                break;
            case 1:
                MPI_OK(MPI_Probe(partner, 1, MPI_COMM_WORLD, &status));
                MPI_OK(MPI_Recv(&other, 1, MPI_INT32_T, partner, 1, MPI_COMM_WORLD, &status));
                break;
            case 2:
                MPI_OK(MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &got, &status));
                MPI_OK(MPI_Mrecv(&other, 1, MPI_INT32_T, &got, &status));
                break;
            case 3:
                MPI_OK(MPI_Sendrecv(&one, 1, MPI_INT32_T, partner, 2, &other, 1, MPI_INT32_T,
                                    partner, 1, MPI_COMM_WORLD, &status));
                break;
            case 4:
                other = rank;
                MPI_OK(MPI_Sendrecv_replace(&other, 1, MPI_INT32_T, partner, 2, partner, 1,
                                            MPI_COMM_WORLD, &status));
                break;
            case 5:
                MPI_OK(MPI_Ssend(&one, 1, MPI_INT32_T, partner, 2, MPI_COMM_WORLD));
                break;
            case 6: /* longer than the MPI sends eagerly */
                MPI_OK(MPI_Send(message, large, MPI_INT64_T, partner, 2, MPI_COMM_WORLD));
                break;
            case 7: /* zero bytes, and non-contiguous data */
                MPI_OK(MPI_Sendrecv_replace(NULL, 0, MPI_INT, partner, 2, partner, 1,
                                            MPI_COMM_WORLD, &status));
                replace_with_gaps(partner, partner);
                break;
            case 8: /* longer than is copied */
                MPI_OK(MPI_Sendrecv_replace(message, large, MPI_INT64_T, partner, 2, partner, 1,
                                            MPI_COMM_WORLD, &status));
                CHECK(message[large - 1] == partner, "got %lld", (long long)message[large - 1]);
                break;
            case 9: /* synchronous, and longer than the MPI sends eagerly */
                buffered_send(partner);
                break;
#if MPI_VERSION >= 4
            case 10:
                MPI_OK(MPI_Recv_c(&other, 1, MPI_INT32_T, partner, 1, MPI_COMM_WORLD, &status));
                break;
            case 11:
                MPI_OK(MPI_Sendrecv_c(&one, 1, MPI_INT32_T, partner, 2, &other, 1, MPI_INT32_T,
                                      partner, 1, MPI_COMM_WORLD, &status));
                break;
            case 12:
                MPI_OK(MPI_Ssend_c(&one, 1, MPI_INT32_T, partner, 2, MPI_COMM_WORLD));
                break;
#endif
            default: {
                MPI_Request receive;
                MPI_OK(MPI_Irecv(&other, 1, MPI_INT32_T, partner, 1, MPI_COMM_WORLD, &receive));
                MPI_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
                break;
            }
        }
        CHECK(other == partner, "got %d from %d", other, partner);
    }
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_sum();
    if (rank < last && rank % 2 == 1) { /* the collective first */
        if (sends[variant]) MPI_OK(MPI_Send(&one, 1, MPI_INT32_T, partner, 1, MPI_COMM_WORLD));
        if (receives[variant])
            MPI_OK(MPI_Recv(&other, 1, MPI_INT32_T, partner, 2, MPI_COMM_WORLD, &status));
        if (variant == 7) {
            MPI_OK(MPI_Send(NULL, 0, MPI_INT, partner, 1, MPI_COMM_WORLD));
            MPI_OK(MPI_Recv(NULL, 0, MPI_INT, partner, 2, MPI_COMM_WORLD, &status));
            replace_with_gaps(partner, partner);
        }
        if (variant == 8)
            MPI_OK(MPI_Sendrecv_replace(message, large, MPI_INT64_T, partner, 1, partner, 2,
                                        MPI_COMM_WORLD, &status));
        if (variant == 6 || variant == 9) {
            MPI_OK(MPI_Recv(message, large, MPI_INT64_T, partner, 2, MPI_COMM_WORLD, &status));
            CHECK(message[large - 1] == partner, "got %lld", (long long)message[large - 1]);
        }
    }
}

/* The same with collectives that are not taken, and with the creation of a communicator. */
static void other_collectives_while_one_runs(void) {
    MPI_Request request;
    int one = rank, all[64];
    MPI_Comm made;
    for (int variant = 0; variant < 4; ++variant) {
        prepare();
        if (variant == 3) {
            MPI_OK(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request));
            MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        MPI_OK(MPI_Iallreduce(in, out, large, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request));
        if (rank % 2 == 1) MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (variant == 0) MPI_OK(MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD));
        if (variant == 1) {
            MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made));
            MPI_OK(MPI_Comm_free(&made));
        }
        if (variant == 3) { /* its first collective makes a group */
            MPI_OK(MPI_Barrier(made));
            MPI_OK(MPI_Comm_free(&made));
        }
        if (variant == 2) MPI_OK(MPI_Scan(&one, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        if (rank % 2 == 0) MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check_sum();
    }
}

/* A long message needs progress of its sender, which is already in a blocking collective. */
static void collective_while_a_message_goes(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    int64_t got = 0, value = 1;
    prepare();
    if (rank == 0 && ranks > 1)
        MPI_OK(MPI_Isend(message, large, MPI_INT64_T, 1, 4, MPI_COMM_WORLD, &request));
    if (rank == 1) {
        MPI_OK(MPI_Recv(message, large, MPI_INT64_T, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(message[large - 1] == 0, "got %lld", (long long)message[large - 1]);
    }
    MPI_OK(MPI_Allreduce(&value, &got, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    CHECK(got == ranks, "sum %lld", (long long)got);
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Many collectives of all kinds at once, in one array with messages. Persistent ones start in
 * another order than they were made. */
static void mixed(void) {
    enum { kinds = 6 };
    MPI_Request all[kinds];
    int sum = 0, highest = -1, value = rank, from = -1, everyone[64];
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Request first, second;
    CHECK(ranks <= 64, "at most 64 ranks");
    MPI_OK(PERSISTENT(Allreduce)(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                                 &first));
    MPI_OK(PERSISTENT(Allreduce)(&value, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                                 MPI_INFO_NULL, &second));
    for (int round = 0; round < rounds; ++round) {
        MPI_Status statuses[kinds];
        sum = highest = from = -1;
        MPI_OK(MPI_Recv_init(&from, 1, MPI_INT, left, round, MPI_COMM_WORLD, &all[0]));
        all[1] = rank % 2 == 0 ? first : second;
        all[2] = rank % 2 == 0 ? second : first;
        MPI_OK(MPI_Startall(3, all));
        MPI_OK(MPI_Isend(&value, 1, MPI_INT, right, round, MPI_COMM_WORLD, &all[3]));
        MPI_OK(MPI_Iallgather(&value, 1, MPI_INT, everyone, 1, MPI_INT, MPI_COMM_WORLD, &all[4]));
        MPI_OK(MPI_Ibarrier(MPI_COMM_WORLD, &all[5]));
        if (round % 3 == 0) {
            MPI_OK(MPI_Waitall(kinds, all, statuses));
            CHECK(statuses[0].MPI_SOURCE == left, "source %d", statuses[0].MPI_SOURCE);
        } else if (round % 3 == 1) {
            for (int ended = 0; ended < kinds; ++ended) {
                int index = -1;
                MPI_OK(MPI_Waitany(kinds, all, &index, &statuses[0]));
                CHECK(index >= 0 && index < kinds, "index %d", index);
            }
            int index = 0;
            MPI_OK(MPI_Waitany(kinds, all, &index, &statuses[0]));
            CHECK(index == MPI_UNDEFINED, "index %d of nothing", index);
        } else {
            for (int ended = 0, some = 0, which[kinds]; ended < kinds; ended += some)
                MPI_OK(MPI_Waitsome(kinds, all, &some, which, statuses));
        }
        CHECK(sum == ranks * (ranks - 1) / 2 && highest == ranks - 1, "%d %d", sum, highest);
        CHECK(from == left, "from %d", from);
        for (int r = 0; r < ranks; ++r)
            CHECK(everyone[r] == r, "%d", everyone[r]);
        MPI_OK(MPI_Request_free(&all[0]));
    }
    MPI_OK(MPI_Request_free(&first));
    MPI_OK(MPI_Request_free(&second));
}

/* A communicator is freed while its operations run, and another one is made after it. */
static void freed_early(void) {
    const char* eager = getenv("UCG_MPI_EAGER");
    const int lazy = eager == NULL || *eager != 'y';
    for (int round = 0; round < 8; ++round) {
        MPI_Comm made;
        MPI_Request request[2];
        int value = rank, sum = 0, again = 0;
        MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
        /* Open MPI 4.1 would crash if it served these itself. */
        if (lazy) MPI_OK(MPI_Barrier(made));
        MPI_OK(MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, made, &request[0]));
        MPI_OK(MPI_Iallreduce(&value, &again, 1, MPI_INT, MPI_SUM, made, &request[1]));
        MPI_OK(MPI_Comm_free(&made));
        MPI_OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
        CHECK(sum == ranks * (ranks - 1) / 2 && again == sum, "%d %d", sum, again);
        MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
        MPI_OK(MPI_Barrier(made));
        MPI_OK(MPI_Comm_disconnect(&made));
        CHECK(made == MPI_COMM_NULL, "it is not gone");
    }
}

/* A program need not free a persistent request. */
static void never_freed(void) {
    static int value = 1, sum = 0;
    static MPI_Request request;
    MPI_OK(PERSISTENT(Allreduce)(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                                 &request));
    for (int round = 0; round < 3; ++round) {
        sum = -1;
        MPI_OK(MPI_Start(&request));
        MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(sum == ranks, "%d", sum);
    }
}

/* ---- threads ---- */

static MPI_Comm own[threads];

/* Several threads copy non-contiguous data at the same time. */
static void from_absolute_addresses(int number) {
    int data[64];
    MPI_Aint address;
    MPI_Datatype type;
    MPI_OK(MPI_Get_address(data, &address));
    MPI_OK(MPI_Type_create_hindexed_block(1, 32, &address, MPI_INT, &type));
    MPI_OK(MPI_Type_commit(&type));
    for (int i = 0; i < 64; ++i)
        data[i] = rank == 0 ? number * 100 + i : -1;
    MPI_OK(MPI_Bcast(MPI_BOTTOM, 1, type, 0, own[number]));
    MPI_OK(MPI_Type_free(&type));
    for (int i = 0; i < 64; ++i)
        CHECK(data[i] == (rank == 0 || i < 32 ? number * 100 + i : -1), "thread %d: int %d is %d",
              number, i, data[i]);
}

static void* in_thread(void* arg) {
    const int number = (int)(intptr_t)arg;
    for (int round = 0; round < rounds; ++round) {
        int value = rank + number, sum = 0, other = 0;
        MPI_Request request;
        MPI_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, own[number]));
        MPI_OK(MPI_Iallreduce(&value, &other, 1, MPI_INT, MPI_MAX, own[number], &request));
        if (round % 4 == number)
            MPI_OK(MPI_Gather(&value, 1, MPI_INT, (int[64]){0}, 1, MPI_INT, 0, own[number]));
        MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(sum == ranks * (ranks - 1) / 2 + ranks * number, "%d", sum);
        CHECK(other == ranks - 1 + number, "%d", other);
        from_absolute_addresses(number);
        MPI_Comm made;
        if (round % 10 == 0) {
            MPI_OK(MPI_Comm_dup(own[number], &made));
            MPI_OK(MPI_Barrier(made));
            MPI_OK(MPI_Comm_free(&made));
        }
    }
    return NULL;
}

static void several_threads(void) {
    pthread_t all[threads];
    for (int i = 0; i < threads; ++i)
        MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &own[i]));
    for (int i = 0; i < threads; ++i)
        CHECK(pthread_create(&all[i], NULL, in_thread, (void*)(intptr_t)i) == 0, "no thread");
    for (int i = 0; i < threads; ++i)
        pthread_join(all[i], NULL);
    for (int i = 0; i < threads; ++i)
        MPI_OK(MPI_Comm_free(&own[i]));
}

int main(int argc, char** argv) {
    const int level = env_number("HAWSER_MPI_THREADS", 0) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    test_begin(&argc, &argv, "taken_progress", level);
    for (int variant = 0; variant < variants; ++variant)
        if (MPI_VERSION >= 4 || variant < first_of_mpi_4 || variant == variants - 1)
            messages_while_a_collective_runs(variant);
    other_collectives_while_one_runs();
    collective_while_a_message_goes();
    mixed();
    freed_early();
    if (level == MPI_THREAD_MULTIPLE) several_threads();
    never_freed();
    return test_end();
}
