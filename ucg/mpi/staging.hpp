// Data that do not lie as ucg needs them: copied together before, and apart afterwards.
#pragma once

#include <vector>

#include "ucg/mpi/types.hpp"

namespace ucg::mpi {

// Some elements that lie `place` bytes behind the buffer's begin.
struct piece {
    std::ptrdiff_t place;
    std::uint64_t elements;
};

// The pieces of a user's buffer, one behind the other. Owned by the operation; whoever has its
// turn in the operation.
class staging {
public:
    // `base`: the user's buffer. The type is the program's until keep_type().
    staging(void* base, const layout& of, std::vector<piece> pieces);
    staging(const staging&) = delete;
    staging& operator=(const staging&) = delete;
    ~staging();

    // Copies piece `first` and the `count` - 1 behind it from the user's buffer; MPI_SUCCESS or
    // what MPI says.
    int gather(std::size_t first, std::size_t count);
    // All of them into the user's buffer.
    int scatter();

    // From now on the program may free its type.
    int keep_type();

    [[nodiscard]] std::byte* memory() noexcept { return memory_.data(); }

private:
    int move(std::size_t first, std::size_t count, bool out);
    int move_elements(std::byte* user, std::byte* packed, std::uint64_t count, bool out);

    std::byte* const base_;
    layout of_;
    const std::vector<piece> pieces_;
    std::vector<std::byte> memory_;
    bool own_type_ = false;
};

// A copy between two layouts by a message to oneself; `out`: `into` has the type.
int send_to_self(const void* from, void* into, MPI_Datatype type, std::uint64_t bytes, bool out);

}  // namespace ucg::mpi
