/* Every collective that libucg_mpi takes, in its blocking, non-blocking and persistent form:
 * types, operators, counts from zero, in place, types that differ between ranks but match, on
 * all kinds of communicators. Also calls that libucg_mpi must hand over. It is a plain MPI
 * program and runs with and without libucg_mpi. */
#include <sched.h>

#include "check.h"
#include "persistent.h"

enum { most_ranks = 16, most_count = 20000 };

static MPI_Comm comm;
static int me, size;
static MPI_Request request;

/* ---- elements of any type: small integers that every type represents exactly ---- */

struct type {
    MPI_Datatype type;
    size_t bytes;
    char kind; /* i, u, f, d, c (complex of float), z (of double) */
};

static void put(const struct type* t, void* base, size_t i, int value) {
    unsigned char* position = (unsigned char*)base + i * t->bytes;
    const int64_t wide = value;
    const float f[2] = {(float)value, -(float)value};
    const double d[2] = {value, -value};
    if (t->kind == 'i' || t->kind == 'u') memcpy(position, &wide, t->bytes); /* little endian */
    if (t->kind == 'f' || t->kind == 'c') memcpy(position, f, t->bytes);
    if (t->kind == 'd' || t->kind == 'z') memcpy(position, d, t->bytes);
}

static int get(const struct type* t, const void* base, size_t i) {
    const unsigned char* position = (const unsigned char*)base + i * t->bytes;
    int64_t wide = 0;
    float f[2];
    double d[2];
    if (t->kind == 'f' || t->kind == 'c') {
        memcpy(f, position, t->bytes);
        if (t->kind == 'c') CHECK(f[1] == -f[0], "the imaginary part is %g", (double)f[1]);
        return (int)f[0];
    }
    if (t->kind == 'd' || t->kind == 'z') {
        memcpy(d, position, t->bytes);
        if (t->kind == 'z') CHECK(d[1] == -d[0], "the imaginary part is %g", d[1]);
        return (int)d[0];
    }
    memcpy(&wide, position, t->bytes);
    if (t->kind == 'i' && t->bytes < 8) {
        const int shift = (int)(64 - 8 * t->bytes);
        wide = (int64_t)((uint64_t)wide << shift) >> shift;
    }
    return (int)wide;
}

static int value_of(int r, size_t i) {
    return (int)((i * 7 + (size_t)r * 3 + i / 5) % 3) + (int)((i + (size_t)r) % 2);
}

enum op_kind { sum, prod, min, max, land, lor, lxor, band, bor, bxor };

static int combine(enum op_kind op, int a, int b) {
    switch (op) {
        case sum:
            return a + b;
        case prod:
            return a * b;
        case min:
            return a < b ? a : b;
        case max:
            return a > b ? a : b;
        case land:
            return a && b;
        case lor:
            return a || b;
        case lxor:
            return !a != !b;
        case band:
            return a & b;
        case bor:
            return a | b;
        default:
            return a ^ b;
    }
}

static MPI_Op op_of(enum op_kind op) {
    const MPI_Op all[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_LAND,
                          MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
    return all[op];
}

static int expected(enum op_kind op, size_t i) {
    int result = value_of(0, i);
    for (int r = 1; r < size; ++r)
        result = combine(op, result, value_of(r, i));
    return result;
}

/* ---- forms ---- */

/* Number of starts of each persistent operation. */
static int starts;

/* Collectives of one rank are always the MPI's own. MPICH 4.0's persistent ones take a reference
 * to a derived type once and drop it in each start, so the type may be freed after the second
 * start. */
static int starts_on(int members) {
#ifdef OPEN_MPI
    (void)members;
    return 3;
#else
    return members == 1 ? 1 : 3;
#endif
}

static int finishing;

/* Alternates between the functions that complete a request. There may be more ranks than cores. */
static void finish(void) {
    int flag = 0, index = 0, done = 0;
    MPI_Request many[3] = {MPI_REQUEST_NULL, request, MPI_REQUEST_NULL};
    MPI_Status statuses[3];
    const MPI_Request before = request;
    switch (finishing++ % 9) {
        case 0:
            MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            return;
        case 1:
            while (!flag) {
                MPI_OK(MPI_Test(&request, &flag, &statuses[0]));
                sched_yield();
            }
            return;
        case 2:
            MPI_OK(MPI_Waitall(3, many, statuses));
            break;
        case 3:
            MPI_OK(MPI_Waitany(3, many, &index, &statuses[0]));
            CHECK(index == 1, "index %d", index);
            break;
        case 4:
            MPI_OK(MPI_Waitsome(3, many, &done, (int[3]){0}, statuses));
            CHECK(done == 1, "%d are done", done);
            break;
#ifdef OPEN_MPI /* MPICH 4.0 fails with its own persistent collectives */
        case 5:
            while (!flag) {
                MPI_OK(MPI_Testall(3, many, &flag, MPI_STATUSES_IGNORE));
                sched_yield();
            }
            break;
#endif
        case 6:
            while (!flag) {
                MPI_OK(MPI_Testany(3, many, &index, &flag, MPI_STATUS_IGNORE));
                sched_yield();
            }
            CHECK(index == 1, "index %d", index);
            break;
        case 7:
            while (done == 0) {
                MPI_OK(MPI_Testsome(3, many, &done, (int[3]){0}, MPI_STATUSES_IGNORE));
                sched_yield();
            }
            break;
        default:
            while (!flag) {
                MPI_OK(MPI_Request_get_status(request, &flag, &statuses[0]));
                sched_yield();
            }
            MPI_OK(MPI_Wait(&many[1], MPI_STATUS_IGNORE));
            break;
    }
    CHECK(many[1] == MPI_REQUEST_NULL || many[1] == before, "a request became another one");
    request = many[1];
}

#define ALL_FORMS(prepare, blocking, nonblocking, persistent, check) \
    do {                                                             \
        prepare;                                                     \
        MPI_OK(blocking);                                            \
        check;                                                       \
        prepare;                                                     \
        MPI_OK(nonblocking);                                         \
        finish();                                                    \
        CHECK(request == MPI_REQUEST_NULL, "it has not ended");      \
        check;                                                       \
        MPI_OK(persistent);                                          \
        for (int round_ = 0; round_ < starts; ++round_) {            \
            prepare;                                                 \
            MPI_OK(MPI_Start(&request));                             \
            finish();                                                \
            CHECK(request != MPI_REQUEST_NULL, "it is gone");        \
            check;                                                   \
        }                                                            \
        MPI_OK(MPI_Request_free(&request));                          \
        CHECK(request == MPI_REQUEST_NULL, "it is not freed");       \
    } while (0)

#define FORMS(name, prepare, check, ...)                                                        \
    ALL_FORMS(prepare, MPI_##name(__VA_ARGS__, comm), MPI_I##name(__VA_ARGS__, comm, &request), \
              PERSISTENT(name)(__VA_ARGS__, comm, MPI_INFO_NULL, &request), check)

#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IReduce MPI_Ireduce
#define MPI_IReduce_scatter MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block
#define MPI_IBcast MPI_Ibcast
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAllgatherv MPI_Iallgatherv
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IAlltoallv MPI_Ialltoallv

/* ---- reductions ---- */

static void fill(const struct type* t, void* into, size_t n) {
    for (size_t i = 0; i < n; ++i)
        put(t, into, i, value_of(me, i));
}

static void compare(const struct type* t, const void* got, size_t n, enum op_kind op,
                    size_t first) {
    for (size_t i = 0; i < n; ++i) {
        const int is = get(t, got, i), want = expected(op, first + i);
        CHECK(is == want, "operator %d, element %zu of %zu: %d, wanted %d", op, i, n, is, want);
    }
}

static void reductions(const struct type* t, enum op_kind op, int count) {
    const MPI_Datatype type = t->type;
    const MPI_Op operation = op_of(op);
    const size_t n = (size_t)count, all = n * (size_t)size;
    unsigned char* in = buffer_new(all * t->bytes);
    unsigned char* out = buffer_new(all * t->bytes);
    int counts[most_ranks], first = 0;

    FORMS(Allreduce, fill(t, in, n), compare(t, out, n, op, 0), in, out, count, type, operation);
    FORMS(Allreduce, fill(t, out, n), compare(t, out, n, op, 0), MPI_IN_PLACE, out, count, type,
          operation);
    const int root = size - 1;
    FORMS(Reduce, fill(t, in, n), compare(t, out, me == root ? n : 0, op, 0), in,
          me == root ? out : NULL, count, type, operation, root);
    FORMS(Reduce, fill(t, out, n), compare(t, out, me == root ? n : 0, op, 0),
          me == root ? MPI_IN_PLACE : out, me == root ? out : NULL, count, type, operation, root);
    FORMS(Reduce_scatter_block, fill(t, in, all), compare(t, out, n, op, (size_t)me * n), in, out,
          count, type, operation);
    FORMS(Reduce_scatter_block, fill(t, out, all), compare(t, out, n, op, (size_t)me * n),
          MPI_IN_PLACE, out, count, type, operation);
    for (int r = 0; r < size; ++r) /* some are 0 */
        counts[r] = r % 2 == 0 ? count : count / 3;
    for (int r = 0; r < me; ++r)
        first += counts[r];
    FORMS(Reduce_scatter, fill(t, in, all), compare(t, out, (size_t)counts[me], op, (size_t)first),
          in, out, counts, type, operation);
    FORMS(Reduce_scatter, fill(t, out, all), compare(t, out, (size_t)counts[me], op, (size_t)first),
          MPI_IN_PLACE, out, counts, type, operation);
    buffer_free(in);
    buffer_free(out);
}

static void all_reductions(void) {
    const struct type types[] = {
        {MPI_INT, sizeof(int), 'i'},
        {MPI_DOUBLE, sizeof(double), 'd'},
        {MPI_FLOAT, sizeof(float), 'f'},
        {MPI_SIGNED_CHAR, 1, 'i'},
        {MPI_UNSIGNED_CHAR, 1, 'u'},
        {MPI_SHORT, sizeof(short), 'i'},
        {MPI_UNSIGNED_SHORT, sizeof(short), 'u'},
        {MPI_UNSIGNED, sizeof(unsigned), 'u'},
        {MPI_LONG, sizeof(long), 'i'},
        {MPI_UNSIGNED_LONG, sizeof(long), 'u'},
        {MPI_LONG_LONG, sizeof(long long), 'i'},
        {MPI_UNSIGNED_LONG_LONG, sizeof(long long), 'u'},
        {MPI_INT8_T, 1, 'i'},
        {MPI_INT16_T, 2, 'i'},
        {MPI_INT32_T, 4, 'i'},
        {MPI_INT64_T, 8, 'i'},
        {MPI_UINT8_T, 1, 'u'},
        {MPI_UINT16_T, 2, 'u'},
        {MPI_UINT32_T, 4, 'u'},
        {MPI_UINT64_T, 8, 'u'},
        {MPI_AINT, sizeof(MPI_Aint), 'i'},
        {MPI_OFFSET, sizeof(MPI_Offset), 'i'},
        {MPI_C_FLOAT_COMPLEX, 2 * sizeof(float), 'c'},
        {MPI_C_DOUBLE_COMPLEX, 2 * sizeof(double), 'z'},
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); ++i) {
        const char kind = types[i].kind;
        const bool complex = kind == 'c' || kind == 'z', real = kind == 'f' || kind == 'd';
        for (enum op_kind op = sum; op <= bxor; ++op)
            if ((!complex || op == sum) && (!real || op <= max)) reductions(&types[i], op, 5);
    }
    const int counts[] = {0, 1, 300, 3001};
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); ++i)
        for (int t = 0; t < 2; ++t)
            reductions(&types[t], sum, counts[i]);
}

/* ---- a value and its index ---- */

struct double_at {
    double value;
    int place;
};
struct short_at {
    short value;
    int place;
};

static void places(void) {
    struct double_at in[9], out[9];
    struct short_at shorts[9];
    memset(shorts, 0, sizeof(shorts));
    for (int i = 0; i < 9; ++i) {
        in[i] = (struct double_at){(me * 5 + i) % 4, me};
        shorts[i] = (struct short_at){(short)((me * 5 + i) % 4), me};
    }
    MPI_OK(MPI_Allreduce(in, out, 9, MPI_DOUBLE_INT, MPI_MINLOC, comm));
    MPI_OK(MPI_Allreduce(MPI_IN_PLACE, shorts, 9, MPI_SHORT_INT, MPI_MAXLOC, comm));
    for (int i = 0; i < 9; ++i) {
        int low = 0, high = 0;
        for (int r = 1; r < size; ++r) {
            if ((r * 5 + i) % 4 < (low * 5 + i) % 4) low = r;
            if ((r * 5 + i) % 4 > (high * 5 + i) % 4) high = r;
        }
        CHECK(out[i].place == low && out[i].value == (low * 5 + i) % 4, "minloc: %g at %d",
              out[i].value, out[i].place);
        CHECK(shorts[i].place == high && shorts[i].value == (high * 5 + i) % 4, "maxloc: %d at %d",
              shorts[i].value, shorts[i].place);
    }
}

/* ---- data movement; each rank describes the same ints by another type ---- */

/* Layout of a rank's ints: every `stride`th of an array, as elements of `ints` each. */
struct view {
    MPI_Datatype type;
    int ints, stride;
};

static struct view views[4];

static void make_views(void) {
    views[0] = (struct view){MPI_INT, 1, 1};
    views[1].ints = 2;
    views[1].stride = 1;
#if MPI_VERSION >= \
    4 /* functions of small counts report less about types that were made by large counts */
    MPI_OK(MPI_Type_contiguous_c(2, MPI_INT, &views[1].type));
#else
    MPI_OK(MPI_Type_contiguous(2, MPI_INT, &views[1].type));
#endif
    MPI_OK(MPI_Type_commit(&views[1].type));
    views[2].ints = 2;
    views[2].stride = 3; /* two ints with gaps, resized so that elements follow evenly */
    MPI_Datatype plain;
    MPI_OK(MPI_Type_vector(2, 1, 3, MPI_INT, &plain));
    MPI_OK(MPI_Type_create_resized(plain, 0, 6 * sizeof(int), &views[2].type));
    MPI_OK(MPI_Type_commit(&views[2].type));
    MPI_OK(MPI_Type_free(&plain));
    views[3] = (struct view){MPI_DATATYPE_NULL, 1, 1};
    MPI_OK(MPI_Type_dup(MPI_INT, &views[3].type));
}

static void free_views(void) {
    for (int i = 1; i < 4; ++i)
        MPI_OK(MPI_Type_free(&views[i].type));
}

static int item(int from, int to, int i) {
    return from * 100003 + to * 1009 + i;
}

/* The ints that this rank has for `to`, every `stride`th of an array. */
static void put_items(int* into, int stride, int n, int to) {
    for (int i = 0; i < n; ++i)
        into[i * stride] = item(me, to, i);
}

static void moves(int n, int turn) { /* n is even */
    const struct view* a = &views[(me + turn) % 4];
    const struct view* b = &views[(me + turn / 4 + 1) % 4];
    const int sa = a->stride, sb = b->stride, ca = n / a->ints, cb = n / b->ints;
    const size_t room = (size_t)n * (size_t)size * 3 * sizeof(int);
    int* in = (int*)(void*)buffer_new(room);
    int* out = (int*)(void*)buffer_new(room);
    const int root = turn % size;

#define EACH(r, i)                 \
    for (int r = 0; r < size; ++r) \
        for (int i = 0; i < n; ++i)
#define SAME(title, is, want)                                                                    \
    do {                                                                                         \
        const int is_ = (is);                                                                    \
        const int want_ = (want);                                                                \
        CHECK(is_ == want_, title " %d of %d ints from %d: %d, wanted %d", i, n, r, is_, want_); \
    } while (0)

    FORMS(
        Bcast,
        {
            for (int i = 0; i < n; ++i)
                in[i * sa] = me == root ? item(root, 0, i) : -1;
        },
        {
            const int r = root;
            for (int i = 0; i < n; ++i)
                SAME("bcast", in[i * sa], item(root, 0, i));
        },
        in, ca, a->type, root);
    FORMS(Allgather, put_items(in, sa, n, 1),
          EACH(r, i) SAME("allgather", out[(r * n + i) * sb], item(r, 1, i)), in, ca, a->type, out,
          cb, b->type);
    FORMS(Allgather, put_items(out + me * n * sb, sb, n, 2),
          EACH(r, i) SAME("allgather in place", out[(r * n + i) * sb], item(r, 2, i)), MPI_IN_PLACE,
          0, MPI_DATATYPE_NULL, out, cb, b->type);
    FORMS(Alltoall, EACH(r, i) in[(r * n + i) * sa] = item(me, r, i),
          EACH(r, i) SAME("alltoall", out[(r * n + i) * sb], item(r, me, i)), in, ca, a->type, out,
          cb, b->type);
    FORMS(Alltoall, EACH(r, i) out[(r * n + i) * sb] = item(me, r, i),
          EACH(r, i) SAME("alltoall in place", out[(r * n + i) * sb], item(r, me, i)), MPI_IN_PLACE,
          0, MPI_DATATYPE_NULL, out, cb, b->type);

    /* blocks in falling order, of different sizes, with gaps */
    int in_counts[most_ranks], in_places[most_ranks], out_counts[most_ranks],
        out_places[most_ranks];
#define LENGTH(from, to) \
    (((from) + (to)) % 3 == 0 ? 0 : ((from) + (to)) % 3 == 1 ? n / 2 / 2 * 2 : n)
    for (int r = 0; r < size; ++r) {
        in_counts[r] = LENGTH(me, r) / a->ints;
        in_places[r] = (size - 1 - r) * n / a->ints;
        out_counts[r] = LENGTH(r, me) / b->ints;
        out_places[r] = (size - 1 - r) * n / b->ints;
    }
    FORMS(Alltoallv, EACH(r, i) in[((size - 1 - r) * n + i) * sa] = item(me, r, i),
          EACH(r, i) if (i < LENGTH(r, me))
              SAME("alltoallv", out[((size - 1 - r) * n + i) * sb], item(r, me, i)),
          in, in_counts, in_places, a->type, out, out_counts, out_places, b->type);
    FORMS(Alltoallv, EACH(r, i) out[((size - 1 - r) * n + i) * sb] = item(me, r, i),
          EACH(r, i) if (i < LENGTH(r, me))
              SAME("alltoallv in place", out[((size - 1 - r) * n + i) * sb], item(r, me, i)),
          MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, out, out_counts, out_places, b->type);
    for (int r = 0; r < size; ++r)
        out_counts[r] = LENGTH(r, 0) / b->ints;
    FORMS(Allgatherv, put_items(in, sa, n, 3),
          EACH(r, i) if (i < LENGTH(r, 0))
              SAME("allgatherv", out[((size - 1 - r) * n + i) * sb], item(r, 3, i)),
          in, LENGTH(me, 0) / a->ints, a->type, out, out_counts, out_places, b->type);
    FORMS(Allgatherv, put_items(out + (size - 1 - me) * n * sb, sb, n, 4),
          EACH(r, i) if (i < LENGTH(r, 0))
              SAME("allgatherv in place", out[((size - 1 - r) * n + i) * sb], item(r, 4, i)),
          MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, out_counts, out_places, b->type);

    /* one array for both sides: what is sent and what is received lie between each other */
    for (int r = 0; r < size; ++r) {
        in_counts[r] = out_counts[r] = n;
        in_places[r] = 2 * r * n - n * size; /* counted from the middle: some are negative */
        out_places[r] = in_places[r] + n;
    }
    int* both = (int*)(void*)buffer_new(2 * (size_t)n * (size_t)size * sizeof(int));
    EACH(r, i) both[2 * r * n + i] = item(me, r, i);
    MPI_OK(MPI_Alltoallv(both + n * size, in_counts, in_places, MPI_INT, both + n * size,
                         out_counts, out_places, MPI_INT, comm));
    EACH(r, i) SAME("between", both[(2 * r + 1) * n + i], item(r, me, i));
    buffer_free((unsigned char*)both);
    buffer_free((unsigned char*)in);
    buffer_free((unsigned char*)out);
}

/* Absolute addresses with MPI_BOTTOM, and a type that is freed while the operation runs. */
static void absolute(void) {
    int data[6];
    MPI_Aint address;
    MPI_Datatype type;
    const int lengths[2] = {2, 1};
    MPI_OK(MPI_Get_address(data, &address));
    const MPI_Aint places_of[2] = {address + 3 * (MPI_Aint)sizeof(int), address};
    MPI_OK(MPI_Type_create_hindexed(2, lengths, places_of, MPI_INT, &type));
    MPI_OK(MPI_Type_commit(&type));
    for (int i = 0; i < 6; ++i)
        data[i] = me == 0 ? i : -1;
    MPI_OK(MPI_Ibcast(MPI_BOTTOM, 1, type, 0, comm, &request));
    MPI_OK(MPI_Type_free(&type));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    const int want[6] = {0, -1, -1, 3, 4, -1};
    for (int i = 0; i < 6; ++i)
        CHECK(data[i] == (me == 0 ? i : want[i]), "int %d is %d", i, data[i]);
}

/* Types of large counts with gaps, and types by precision, which must not be freed. Twice: a second
 * lookup would not find a type that was freed. */
static void other_makers(void) {
    MPI_Datatype row_type, pair;
    int data[4];
    MPI_OK(MPI_Type_create_f90_integer(9, &row_type));
    for (int turn = 0; turn < 2; ++turn) {
        for (int i = 0; i < 4; ++i)
            data[i] = me == 0 ? i + turn : -1;
        MPI_OK(MPI_Type_contiguous(2, row_type, &pair));
        MPI_OK(MPI_Type_commit(&pair));
        MPI_OK(MPI_Bcast(data, 2, pair, 0, comm));
        MPI_OK(MPI_Type_free(&pair));
        for (int i = 0; i < 4; ++i)
            CHECK(data[i] == i + turn, "by precision: int %d is %d", i, data[i]);
    }
#if MPI_VERSION >= 4
    for (int i = 0; i < 4; ++i)
        data[i] = me == 0 ? i : -1;
    MPI_OK(MPI_Type_vector_c(2, 1, 3, MPI_INT, &pair));
    MPI_OK(MPI_Type_commit(&pair));
    MPI_OK(MPI_Bcast(data, 1, pair, 0, comm));
    MPI_OK(MPI_Type_free(&pair));
    for (int i = 0; i < 4; ++i)
        CHECK(data[i] == (me == 0 || i % 3 == 0 ? i : -1), "large counts: int %d is %d", i,
              data[i]);
    MPI_OK(MPI_Bcast_c(data, 4, MPI_INT, 0, comm));
    MPI_OK(MPI_Ibcast_c(data, 4, MPI_INT, 0, comm, &request));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < 4; ++i)
        CHECK(data[i] == i, "large counts: int %d is %d", i, data[i]);
#endif
}

/* ---- calls that the MPI must serve ---- */

static void add_twice(void* in, void* inout, int* n, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *n; ++i)
        ((int*)inout)[i] += ((int*)in)[i];
}

static void handed_over(void) {
    MPI_Op own;
    int one = me + 1, all = 0;
    long double precise = 0.5L, total = 0;
    MPI_OK(MPI_Op_create(add_twice, 1, &own));
    FORMS(Allreduce, all = 0, CHECK(all == size * (size + 1) / 2, "own operator: %d", all), &one,
          &all, 1, MPI_INT, own);
    MPI_OK(MPI_Op_free(&own));
    MPI_OK(MPI_Allreduce(&precise, &total, 1, MPI_LONG_DOUBLE, MPI_SUM, comm));
    CHECK(total == 0.5L * size, "%Lg", total);
    int gathered[most_ranks];
    MPI_OK(MPI_Gather(&one, 1, MPI_INT, gathered, 1, MPI_INT, 0, comm));
    for (int r = 0; me == 0 && r < size; ++r)
        CHECK(gathered[r] == r + 1, "%d", gathered[r]);
}

static void barriers(void) {
    MPI_OK(MPI_Barrier(comm));
    MPI_OK(MPI_Ibarrier(comm, &request));
    finish();
    MPI_OK(PERSISTENT(Barrier)(comm, MPI_INFO_NULL, &request));
    for (int i = 0; i < 3; ++i) {
        MPI_OK(MPI_Start(&request));
        finish();
    }
    MPI_OK(MPI_Request_free(&request));
}

static void everything(MPI_Comm on, bool all) {
    comm = on;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    starts = starts_on(size);
    barriers();
    if (all) all_reductions();
    reductions(&(struct type){MPI_INT, sizeof(int), 'i'}, max, 77);
    places();
    for (int turn = 0; turn < 16; ++turn)
        moves(2 + turn * 6, turn);
    moves(0, 1);
    moves(6000, 5);
    absolute();
    other_makers();
    handed_over();
}

static void between_groups(void) {
    MPI_Comm half, bridge;
    int own = rank, sum_of_others = 0, want = 0;
    MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
    MPI_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &bridge));
    MPI_OK(MPI_Allreduce(&own, &sum_of_others, 1, MPI_INT, MPI_SUM, bridge));
    for (int r = 1 - rank % 2; r < ranks; r += 2)
        want += r;
    CHECK(sum_of_others == want, "%d, wanted %d", sum_of_others, want);
    MPI_OK(MPI_Barrier(bridge));
    MPI_Comm merged;
    MPI_OK(MPI_Intercomm_merge(bridge, rank % 2, &merged));
    everything(merged, false);
    MPI_OK(MPI_Comm_free(&merged));
    MPI_OK(MPI_Comm_free(&bridge));
    MPI_OK(MPI_Comm_free(&half));
}

int main(int argc, char** argv) {
    MPI_Comm made;
    test_begin(&argc, &argv, "taken_forms", MPI_THREAD_SINGLE);
    CHECK(ranks <= most_ranks, "at most %d ranks", most_ranks);
    make_views();
    everything(MPI_COMM_WORLD, true);
    MPI_OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
    everything(made, false);
    MPI_OK(MPI_Comm_free(&made));
    MPI_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &made));
    everything(made, false);
    MPI_OK(MPI_Comm_free(&made));
    MPI_OK(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request));
    MPI_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    everything(made, false);
    MPI_OK(MPI_Comm_free(&made));
    if (ranks > 1) between_groups();
    everything(MPI_COMM_SELF, false);
    free_views();
    return test_end();
}
