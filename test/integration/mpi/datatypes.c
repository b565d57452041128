/*
 * Derived datatypes in both directions: each type comes with its own byte map, written down by
 * hand, and the data that arrives (packed on one side or derived on both) is compared with that
 * map, gaps included.
 */
#include <stddef.h>

#include "check.h"

enum { max_pieces = 64, max_layouts = 12 };

struct piece {
    size_t offset, length;
};

/* A datatype and its expected layout: pieces in type-map order, and the extent. */
struct layout {
    const char* name;
    MPI_Datatype type;
    size_t extent, bytes, piece_count;
    struct piece pieces[max_pieces];
};

static struct layout layouts[max_layouts];
static int layout_count;

static struct layout* layout_new(const char* name, size_t extent) {
    struct layout* layout = &layouts[layout_count++];
    CHECK(layout_count <= max_layouts, "raise max_layouts");
    layout->name = name;
    layout->extent = extent;
    return layout;
}

static void add_piece(struct layout* layout, size_t offset, size_t length) {
    CHECK(layout->piece_count < max_pieces, "raise max_pieces");
    layout->pieces[layout->piece_count++] = (struct piece){offset, length};
    layout->bytes += length;
}

static void commit(struct layout* layout) {
    MPI_Aint lower, extent;
    int size;
    MPI_OK(MPI_Type_commit(&layout->type));
    MPI_OK(MPI_Type_get_extent(layout->type, &lower, &extent));
    MPI_OK(MPI_Type_size(layout->type, &size));
    CHECK((size_t)extent == layout->extent && lower == 0 && (size_t)size == layout->bytes,
          "%s: extent %ld size %d", layout->name, (long)extent, size);
}

static void make_vectors(void) {
    struct layout* vector = layout_new("vector of ints", (4 * 7 + 3) * sizeof(int));
    MPI_OK(MPI_Type_vector(5, 3, 7, MPI_INT, &vector->type));
    for (size_t i = 0; i < 5; ++i)
        add_piece(vector, i * 7 * sizeof(int), 3 * sizeof(int));
    commit(vector);

    struct layout* column = layout_new("column of doubles", 31 * 9 * sizeof(double) + 8);
    MPI_OK(MPI_Type_create_hvector(32, 1, 9 * sizeof(double), MPI_DOUBLE, &column->type));
    for (size_t i = 0; i < 32; ++i)
        add_piece(column, i * 9 * sizeof(double), sizeof(double));
    commit(column);
}

static void make_indexed(void) {
    int lengths[] = {2, 1, 5, 3}, places[] = {10, 0, 20, 4};
    struct layout* indexed = layout_new("indexed shorts out of order", 25 * sizeof(short));
    MPI_OK(MPI_Type_indexed(4, lengths, places, MPI_SHORT, &indexed->type));
    for (size_t i = 0; i < 4; ++i)
        add_piece(indexed, (size_t)places[i] * sizeof(short), (size_t)lengths[i] * sizeof(short));
    commit(indexed);

    MPI_Aint bytes[] = {1, 13, 40, 0};
    int counts[] = {7, 11, 3, 1};
    struct layout* hindexed = layout_new("hindexed bytes, unaligned", 43);
    MPI_OK(MPI_Type_create_hindexed(4, counts, bytes, MPI_BYTE, &hindexed->type));
    for (size_t i = 0; i < 4; ++i)
        add_piece(hindexed, (size_t)bytes[i], (size_t)counts[i]);
    commit(hindexed);

    int blocks[] = {0, 6, 3};
    struct layout* block = layout_new("indexed block of longs", 8 * sizeof(long));
    MPI_OK(MPI_Type_create_indexed_block(3, 2, blocks, MPI_LONG, &block->type));
    for (size_t i = 0; i < 3; ++i)
        add_piece(block, (size_t)blocks[i] * sizeof(long), 2 * sizeof(long));
    commit(block);
}

struct record {
    double weight;
    char name[5];
    int values[3];
    short flag;
};

static void add_record(struct layout* layout, size_t base) {
    add_piece(layout, base + offsetof(struct record, weight), sizeof(double));
    add_piece(layout, base + offsetof(struct record, name), 5);
    add_piece(layout, base + offsetof(struct record, values), 3 * sizeof(int));
    add_piece(layout, base + offsetof(struct record, flag), sizeof(short));
}

static void make_struct(void) {
    int counts[] = {1, 5, 3, 1};
    MPI_Aint places[] = {offsetof(struct record, weight), offsetof(struct record, name),
                         offsetof(struct record, values), offsetof(struct record, flag)};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR, MPI_INT, MPI_SHORT};
    struct layout* record = layout_new("struct with padding", sizeof(struct record));
    MPI_OK(MPI_Type_create_struct(4, counts, places, types, &record->type));
    add_record(record, 0);
    commit(record);

    struct layout* nested = layout_new("vector of structs", 5 * sizeof(struct record));
    MPI_OK(MPI_Type_vector(3, 1, 2, record->type, &nested->type));
    for (size_t i = 0; i < 3; ++i)
        add_record(nested, 2 * i * sizeof(struct record));
    commit(nested);
}

static void make_resized(void) {
    MPI_Datatype inner;
    struct layout* spread = layout_new("int spread over 24 bytes", 24);
    MPI_OK(MPI_Type_create_resized(MPI_INT, 0, 24, &spread->type));
    add_piece(spread, 0, sizeof(int));
    commit(spread);

    struct layout* pair = layout_new("resized vector of chars", 64);
    MPI_OK(MPI_Type_vector(2, 3, 8, MPI_CHAR, &inner));
    MPI_OK(MPI_Type_create_resized(inner, 0, 64, &pair->type));
    MPI_OK(MPI_Type_free(&inner));
    add_piece(pair, 0, 3);
    add_piece(pair, 8, 3);
    commit(pair);
}

static void make_others(void) {
    int sizes[] = {6, 10}, part[] = {4, 3}, start[] = {1, 5};
    struct layout* window = layout_new("window of a matrix", 60 * sizeof(float));
    MPI_OK(MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_FLOAT, &window->type));
    for (size_t i = 0; i < 4; ++i)
        add_piece(window, ((i + 1) * 10 + 5) * sizeof(float), 3 * sizeof(float));
    commit(window);

    struct layout* dense = layout_new("contiguous", 10 * sizeof(int));
    MPI_OK(MPI_Type_contiguous(10, MPI_INT, &dense->type));
    add_piece(dense, 0, 10 * sizeof(int));
    commit(dense);
}

/* Copies between the elements of `layout` in `wide` and the packed bytes, as the map says. */
static void map_copy(const struct layout* layout, size_t count, unsigned char* wide,
                     unsigned char* packed, int to_packed) {
    for (size_t i = 0; i < count; ++i) {
        for (size_t p = 0; p < layout->piece_count; ++p) {
            unsigned char* position = wide + i * layout->extent + layout->pieces[p].offset;
            const size_t length = layout->pieces[p].length;
            if (to_packed)
                memcpy(packed, position, length);
            else
                memcpy(position, packed, length);
            packed += length;
        }
    }
}

static void exchange(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                     MPI_Datatype in_type, int peer) {
    MPI_Status status;
    int bytes;
    MPI_OK(MPI_Sendrecv(out, out_count, out_type, peer, 1, in, in_count, in_type, peer, 1,
                        MPI_COMM_WORLD, &status));
    MPI_OK(MPI_Get_count(&status, in_type, &bytes));
    CHECK(bytes == in_count, "received %d elements of %d", bytes, in_count);
}

static void check_equal(const struct layout* layout, size_t count, const char* direction,
                        const unsigned char* got, const unsigned char* want, size_t n) {
    size_t i = 0;
    if (memcmp(got, want, n) == 0) i = n;
    while (i < n && got[i] == want[i])
        ++i;
    CHECK(i == n, "%s, count %zu, %s: byte %zu of %zu", layout->name, count, direction, i, n);
}

static void run(const struct layout* layout, size_t count, int peer) {
    const size_t wide_size = count * layout->extent, packed_size = count * layout->bytes;
    unsigned char *wide = buffer_new(wide_size), *packed = buffer_new(packed_size);
    unsigned char *got = buffer_new(wide_size), *want = buffer_new(wide_size);
    unsigned char *got_packed = buffer_new(packed_size), *want_packed = buffer_new(packed_size);
    const int n = (int)count, bytes = (int)packed_size;

    pattern_fill(wide, wide_size, (uint64_t)peer + count);
    map_copy(layout, count, wide, want_packed, 1);
    pattern_fill(wide, wide_size, (uint64_t)rank + count);
    exchange(wide, n, layout->type, got_packed, bytes, MPI_PACKED, peer);
    check_equal(layout, count, "derived to packed", got_packed, want_packed, packed_size);

    pattern_fill(packed, packed_size, (uint64_t)peer + 2 * count);
    map_copy(layout, count, want, packed, 0);
    pattern_fill(packed, packed_size, (uint64_t)rank + 2 * count);
    exchange(packed, bytes, MPI_PACKED, got, n, layout->type, peer);
    check_equal(layout, count, "packed to derived", got, want, wide_size);

    memset(got, untouched, wide_size);
    memset(want, untouched, wide_size);
    map_copy(layout, count, want, want_packed, 0);
    exchange(wide, n, layout->type, got, n, layout->type, peer);
    check_equal(layout, count, "derived to derived", got, want, wide_size);

    buffer_free(wide);
    buffer_free(packed);
    buffer_free(got);
    buffer_free(want);
    buffer_free(got_packed);
    buffer_free(want_packed);
}

/* A message that is shorter than the receive type: whole elements and a part of the next. */
static void partial(const struct layout* layout, size_t count, size_t bytes, int peer) {
    unsigned char *packed = buffer_new(bytes), *full = buffer_new(count * layout->bytes);
    unsigned char* got = buffer_new(count * layout->extent);
    MPI_Status status;
    int received;
    pattern_fill(packed, bytes, (uint64_t)rank + bytes);
    MPI_OK(MPI_Sendrecv(packed, (int)bytes, MPI_PACKED, peer, 2, got, (int)count, layout->type,
                        peer, 2, MPI_COMM_WORLD, &status));
    MPI_OK(MPI_Get_count(&status, MPI_PACKED, &received));
    CHECK((size_t)received == bytes, "%s: %d of %zu bytes", layout->name, received, bytes);
    map_copy(layout, count, got, full, 1);
    CHECK_PATTERN(full, bytes, (uint64_t)peer + bytes);
    for (size_t i = bytes; i < count * layout->bytes; ++i)
        if (full[i] != untouched) CHECK(0, "%s: byte %zu was written", layout->name, i);
    buffer_free(packed);
    buffer_free(full);
    buffer_free(got);
}

int main(int argc, char** argv) {
    static const size_t totals[] = {1, 300, 4000, 9000, 70000, 1 << 20};
    test_begin(&argc, &argv, "datatypes", MPI_THREAD_SINGLE);
    make_vectors();
    make_indexed();
    make_struct();
    make_resized();
    make_others();
    const int peer = rank ^ 1;
    for (int i = 0; i < layout_count && peer < ranks; ++i) {
        for (size_t t = 0; t < sizeof(totals) / sizeof(*totals); ++t) {
            const size_t count = totals[t] / layouts[i].bytes + 1;
            run(&layouts[i], count, peer);
            partial(&layouts[i], count, count * layouts[i].bytes - 1, peer);
            partial(&layouts[i], count, count * layouts[i].bytes / 2, peer);
        }
    }
    for (int i = 0; i < layout_count; ++i)
        MPI_OK(MPI_Type_free(&layouts[i].type));
    return test_end();
}
