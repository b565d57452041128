// libpmix, loaded when it is needed.
#pragma once

#include <pmix.h>

#include <string>

namespace ucg::oob {

// Its functions. Once loaded it stays: it has threads. Any thread.
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

    // Null: `why_not` says why.
    [[nodiscard]] static const pmix_library* load(std::string& why_not);
};

}  // namespace ucg::oob
