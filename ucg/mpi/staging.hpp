// Staging of data whose layout ucg does not support: packed before an operation, and unpacked
// afterwards.
#pragma once

#include <vector>

#include "ucg/mpi/types.hpp"

namespace ucg::mpi {

// Elements at `place` bytes from the start of the buffer.
struct piece {
    std::ptrdiff_t place;
    std::uint64_t elements;
};

// A packed copy of the pieces of a user's buffer. Owned by the operation; used by one thread at a
// time.
class staging {
public:
    // `base` is the user's buffer. The program owns the type until keep_type().
    staging(void* base, const layout& type, std::vector<piece> pieces);
    staging(const staging&) = delete;
    staging& operator=(const staging&) = delete;
    ~staging();

    // Packs `count` pieces from piece `first` on from the user's buffer. Returns MPI_SUCCESS or an
    // error of MPI.
    int gather(std::size_t first, std::size_t count);
    // Unpacks all pieces into the user's buffer.
    int scatter();

    // Duplicates the type, so that the program may free it.
    int keep_type();

    [[nodiscard]] std::byte* memory() noexcept { return memory_.data(); }

private:
    int move(std::size_t first, std::size_t count, bool out);
    int move_elements(std::byte* user, std::byte* packed, std::uint64_t count, bool out);

    std::byte* const base_;
    layout type_layout_;
    const std::vector<piece> pieces_;
    std::vector<std::byte> memory_;
    bool own_type_ = false;
};

// Copies between two layouts by a message to this process. `out`: `into` has the type.
int send_to_self(const void* from, void* into, MPI_Datatype type, std::uint64_t bytes, bool out);

}  // namespace ucg::mpi
