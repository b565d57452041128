#include "ucs/log/boundary.hpp"

#include <exception>
#include <new>

namespace ucs {

failure describe_exception() noexcept {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return {UCS_ERR_NO_MEMORY, "out of memory"};
    } catch (const std::exception& unexpected) {
        return {UCS_ERR_IO_ERROR, unexpected.what()};
    } catch (...) {
        return {UCS_ERR_IO_ERROR, "an exception of an unknown kind"};
    }
}

}  // namespace ucs
