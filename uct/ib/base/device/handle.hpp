// Ownership of verbs objects.
#pragma once

#include <cstring>
#include <memory>

#include "uct/base/log.hpp"
#include "uct/ib/base/device/verbs_library.hpp"

namespace uct::ib {

// Owners must destroy objects before the objects that these use. The library refuses to destroy an
// object in use, which would be a mistake of Hawser and is logged.
template<auto Destroy>
struct destroyer {
    template<class Object>
    void operator()(Object* object) const noexcept {
        if (const int error = Destroy(object); error != 0) {
            ucs::log::error(ib_log, "an object of an RDMA device cannot be destroyed: {}",
                            std::strerror(error));
        }
    }
};
// Wrapper of a static function of the verbs header, which cannot be a template argument.
inline int free_window(ibv_mw* window) noexcept {
    return ibv_dealloc_mw(window);
}
template<class Object, auto Destroy>
using handle = std::unique_ptr<Object, destroyer<Destroy>>;

using context_handle = handle<ibv_context, ibv_close_device>;
using domain_handle = handle<ibv_pd, ibv_dealloc_pd>;
using region_handle = handle<ibv_mr, ibv_dereg_mr>;
using window_handle = handle<ibv_mw, free_window>;
using channel_handle = handle<ibv_comp_channel, ibv_destroy_comp_channel>;
using queue_handle = handle<ibv_cq, ibv_destroy_cq>;
using receive_queue_handle = handle<ibv_srq, ibv_destroy_srq>;
using address_handle = handle<ibv_ah, ibv_destroy_ah>;
using pair_handle = handle<ibv_qp, ibv_destroy_qp>;

}  // namespace uct::ib
