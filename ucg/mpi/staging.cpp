#include "ucg/mpi/staging.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <mutex>

#include "ucg/mpi/library.hpp"

namespace ucg::mpi {

staging::staging(void* base, const layout& type, std::vector<piece> pieces)
    : base_(static_cast<std::byte*>(base)), type_layout_(type), pieces_(std::move(pieces)) {
    std::uint64_t elements = 0;
    for (const piece& each : pieces_)
        elements += each.elements;
    // Never empty, so that the address is valid even for length zero.
    memory_.resize(std::max<std::uint64_t>(elements * type_layout_.size, 1));
}

staging::~staging() {
    if (own_type_) PMPI_Type_free(&type_layout_.type);
}

int staging::keep_type() {
    if (own_type_ || type_layout_.dense) return MPI_SUCCESS;
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    const int status = PMPI_Type_dup(type_layout_.type, &copy);
    if (status == MPI_SUCCESS) {
        type_layout_.type = copy;
        own_type_ = true;
    }
    return status;
}

int staging::gather(std::size_t first, std::size_t count) {
    return move(first, count, false);
}

int staging::scatter() {
    return move(0, pieces_.size(), true);
}

int staging::move(std::size_t first, std::size_t count, bool out) {
    std::byte* packed = memory_.data();
    for (std::size_t i = 0; i < first + count; ++i) {
        std::byte* const user = shifted(base_, pieces_[i].place);
        if (i >= first) {
            const int status = move_elements(user, packed, pieces_[i].elements, out);
            if (status != MPI_SUCCESS) return status;
        }
        packed += pieces_[i].elements * type_layout_.size;
    }
    return MPI_SUCCESS;
}

// MPI's counts are int: long pieces are split, and an element that is too long by itself is sent as
// a message to this process, which has no such limit.
int staging::move_elements(std::byte* user, std::byte* packed, std::uint64_t count, bool out) {
    if (count == 0 || type_layout_.size == 0) return MPI_SUCCESS;
    if (type_layout_.dense) {
        if (out)
            std::memcpy(user, packed, count * type_layout_.size);
        else
            std::memcpy(packed, user, count * type_layout_.size);
        return MPI_SUCCESS;
    }
    constexpr std::uint64_t max_bytes = 1ULL << 30;
    const std::uint64_t max_elements =
        std::clamp<std::uint64_t>(max_bytes / type_layout_.size, 1, INT_MAX);
    while (count != 0) {
        // MPICH's MPI_Pack does not accept MPI_BOTTOM.
        const bool by_message = user == nullptr || type_layout_.size > INT_MAX;
        const int elements = by_message ? 1 : static_cast<int>(std::min(max_elements, count));
        const std::uint64_t bytes = static_cast<std::uint64_t>(elements) * type_layout_.size;
        int position = 0;
        int status = MPI_SUCCESS;
        if (by_message)
            status = send_to_self(out ? static_cast<void*>(packed) : user, out ? user : packed,
                                  type_layout_.type, bytes, out);
        else if (out)
            status = PMPI_Unpack(packed, static_cast<int>(bytes), &position, user, elements,
                                 type_layout_.type, library().self_comm);
        else
            status = PMPI_Pack(user, elements, type_layout_.type, packed, static_cast<int>(bytes),
                               &position, library().self_comm);
        if (status != MPI_SUCCESS) return status;
        user = shifted(user, type_layout_.extent * elements);
        packed += bytes;
        count -= static_cast<std::uint64_t>(elements);
    }
    return MPI_SUCCESS;
}

// Serialised, because messages of two threads would match each other.
int send_to_self(const void* from, void* into, MPI_Datatype type, std::uint64_t bytes, bool out) {
    // `bytes` as units of 1 MiB and a rest, in one type
    constexpr std::uint64_t unit = 1 << 20;
    MPI_Datatype mega = MPI_DATATYPE_NULL, flat = MPI_DATATYPE_NULL;
    int status = PMPI_Type_contiguous(static_cast<int>(unit), MPI_BYTE, &mega);
    if (status != MPI_SUCCESS) return status;
    const int lengths[2] = {static_cast<int>(bytes / unit), static_cast<int>(bytes % unit)};
    const MPI_Aint places[2] = {0, static_cast<MPI_Aint>(bytes / unit * unit)};
    const MPI_Datatype parts[2] = {mega, MPI_BYTE};
    status = PMPI_Type_create_struct(2, lengths, places, parts, &flat);
    if (status == MPI_SUCCESS) {
        PMPI_Type_commit(&flat);
        static std::mutex one_at_a_time;
        const std::lock_guard guard(one_at_a_time);
        status = PMPI_Sendrecv(from, 1, out ? flat : type, 0, 1, into, 1, out ? type : flat, 0, 1,
                               library().self_comm, MPI_STATUS_IGNORE);
        PMPI_Type_free(&flat);
    }
    PMPI_Type_free(&mega);
    return status;
}

}  // namespace ucg::mpi
