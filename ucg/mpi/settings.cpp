#include "ucg/mpi/settings.hpp"

#include <cstdio>
#include <cstdlib>

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

}  // namespace

settings settings::read() noexcept {
    settings made;
    const bool take = read_one("UCG_MPI", made.take), eager = read_one("UCG_MPI_EAGER", made.eager),
               stats = read_one("UCG_MPI_STATS", made.stats);
    made.take = made.take && take && eager && stats;
    return made;
}

}  // namespace ucg::mpi
