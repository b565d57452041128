// The functions of libpmix, which is loaded on first use.
#pragma once

#include <pmix.h>

#include <string>

namespace ucg::oob {

// The library stays loaded, because it has threads. Any thread.
struct pmix_library {
    decltype(&PMIx_Init) init;
    decltype(&PMIx_Finalize) finalize;
    decltype(&PMIx_Put) put;
    decltype(&PMIx_Commit) commit;
    decltype(&PMIx_Fence_nb) fence;
    decltype(&PMIx_Get) get_now;
    decltype(&PMIx_Get_nb) get;
    decltype(&PMIx_Error_string) error_string;
    decltype(&PMIx_Get_version) version;  // "OpenPMIx 4.2.2, repo rev: ..."
    decltype(&PMIx_Value_destruct) destruct_value;

    // Returns null if the library cannot be loaded; `reason` then explains it.
    [[nodiscard]] static const pmix_library* load(std::string& reason);
};

}  // namespace ucg::oob
