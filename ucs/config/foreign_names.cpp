#include "ucs/config/foreign_names.hpp"

#include <algorithm>
#include <array>

namespace ucs::config {
namespace {

// Transports and devices whose settings have their prefix.
constexpr std::array<std::string_view, 19> prefixes{
    "IB_",    "RC_",       "UD_",    "DC_",   "GGA_", "SRD_",  "RDMA_CM_",
    "CUDA_",  "GDR_COPY_", "GDAKI_", "ROCM_", "ZE_",  "UGNI_", "GAUDI_",
    "XPMEM_", "KNEM_",     "MM_",    "EFA_",  "DEVX_"};

// Features of the whole library. The first rows are set by programs (NIXL, UCC, NCCL plug-ins).
constexpr std::array<std::string_view, 47> names{"MAX_HCA_PER_GPU",
                                                 "RNDV_PIPELINE_ERROR_HANDLING",
                                                 "ADDRESS_VERSION",
                                                 "MAX_COMPONENT_MDS",
                                                 "MEMTYPE_COPY_ENABLE",
                                                 "MEMTYPE_REG_WHOLE_ALLOC_TYPES",
                                                 "NET_DEVICES",
                                                 "RNDV_THRESH",
                                                 "RNDV_SCHEME",
                                                 "ZCOPY_THRESH",
                                                 "TLS",
                                                 "MEMTYPE_CACHE",
                                                 "MEM_MALLOC_HOOKS",
                                                 "MEM_MALLOC_RELOC",
                                                 "MEM_CUDA_HOOK_MODE",
                                                 "MEM_DYNAMIC_MMAP_THRESH",
                                                 "MEM_DLOPEN_PROCESS_RPATH",
                                                 "MEM_MODULE_UNLOAD_PREVENT_MODE",
                                                 "MEM_LOG_LEVEL",
                                                 "MEM_ENABLE_EVENTS",
                                                 "HANDLE_ERRORS",
                                                 "ERROR_SIGNALS",
                                                 "ERROR_MAIL_TO",
                                                 "ERROR_MAIL_FOOTER",
                                                 "GDB_COMMAND",
                                                 "DEBUG_SIGNO",
                                                 "MODULE_DIR",
                                                 "MODULES",
                                                 "MODULE_LOG_LEVEL",
                                                 "VFS_ENABLE",
                                                 "VFS_THREAD_AFFINITY",
                                                 "STATS_DEST",
                                                 "STATS_TRIGGER",
                                                 "STATS_FILTER",
                                                 "STATS_FORMAT",
                                                 "PROFILE_MODE",
                                                 "PROFILE_FILE",
                                                 "PROFILE_LOG_SIZE",
                                                 "MEMTRACK_DEST",
                                                 "RCACHE_CHECK_PFN",
                                                 "LOG_FILE_FILTER",
                                                 "LOG_BUFFER",
                                                 "LOG_DATA_SIZE",
                                                 "LOG_PRINT_ENABLE",
                                                 "LOG_LEVEL_TRIGGER",
                                                 "WARN_INVALID_CONFIG",
                                                 "REG_NONBLOCK_MEM_TYPES"};

// Families inside one feature, whatever comes after.
constexpr std::array<std::string_view, 6> families{"DISTANCE_",  "TOPO_",   "BUILTIN_MEMCPY_",
                                                   "NT_BUFFER_", "RCACHE_", "PROTO_OVERHEAD"};

// Transports that are here, with other options elsewhere: about their pools, what they allocate
// from, and protocols that they do not have here.
constexpr std::array<std::string_view, 5> transports{"SELF_", "TCP_", "POSIX_", "SYSV_", "CMA_"};
constexpr std::array<std::string_view, 29> transport_options{"ALLOC",
                                                             "FAILURE",
                                                             "DEVICES",
                                                             "NUM_DEVICES",
                                                             "MAX_NUM_EPS",
                                                             "SEG_SIZE",
                                                             "TX_QUOTA",
                                                             "TX_MAX_BUFS",
                                                             "TX_BUFS_GROW",
                                                             "TX_MAX_MEM",
                                                             "RX_MAX_BUFS",
                                                             "RX_BUFS_GROW",
                                                             "RX_MAX_MEM",
                                                             "HUGETLB_MODE",
                                                             "DIR",
                                                             "USE_PROC_LINK",
                                                             "FIFO_RELEASE_FACTOR",
                                                             "FIFO_HUGETLB",
                                                             "FIFO_ELEM_SIZE",
                                                             "FIFO_SIZE",
                                                             "FIFO_MAX_POLL",
                                                             "ERROR_HANDLING",
                                                             "MEMORY_INVALIDATE",
                                                             "MAX_IOV",
                                                             "SENDV_THRESH",
                                                             "PREFER_DEFAULT",
                                                             "PUT_ENABLE",
                                                             "CONN_NB",
                                                             "MAX_BW"};

bool is_transport_option(std::string_view name) noexcept {
    for (const std::string_view transport : transports) {
        if (!name.starts_with(transport)) continue;
        const std::string_view option = name.substr(transport.size());
        return option.starts_with("CM_") ||
               std::find(transport_options.begin(), transport_options.end(), option) !=
                   transport_options.end();
    }
    return false;
}

bool starts_with_any(std::string_view name, auto& list) noexcept {
    return std::any_of(std::begin(list), std::end(list),
                       [name](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

bool is_foreign_name(std::string_view name) noexcept {
    return starts_with_any(name, prefixes) || starts_with_any(name, families) ||
           is_transport_option(name) || std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace ucs::config
