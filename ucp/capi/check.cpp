#include "ucp/capi/check.hpp"

#include <exception>
#include <new>

namespace ucp::capi {

ucs_status_t report_exception(const char* call) noexcept {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        ucs::log::error(core_log, "{}: out of memory", call);
        return UCS_ERR_NO_MEMORY;
    } catch (const std::exception& unexpected) {
        ucs::log::error(core_log, "{}: {}", call, unexpected.what());
    } catch (...) {
        ucs::log::error(core_log, "{}: an exception of an unknown kind", call);
    }
    return UCS_ERR_IO_ERROR;
}

}  // namespace ucp::capi
