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

ucs_status_t log_exception(const log::component& source, const char* name) noexcept {
    const failure caught = describe_exception();
    log::error(source, "{}: {}", name, caught.text);
    return caught.status;
}

}  // namespace ucs
