// Replaces pmix.cpp if the build did not find PMIx's header.
#include "ucg/oob/factories.hpp"
#include "ucg/oob/log.hpp"

namespace ucg::oob {

ucs::result<std::unique_ptr<exchange>> make_pmix(double) {
    ucs::log::error(oob_log,
                    "this library was built without PMIx (package libpmix-dev); choose another way "
                    "by UCG_OOB=tcp or directory");
    return UCS_ERR_UNSUPPORTED;
}

}  // namespace ucg::oob
