#include "uct/ib/rc/verbs/descriptors.hpp"

namespace uct::rc {
descriptors::descriptors(ib::domain& on, const settings& options) noexcept
    : bounce_chunks_(on),
      direct_chunks_(on),
      bounces_(ib::pool_of<bounce>("rc bounce buffers", bounce_chunks_,
                                   sizeof(bounce) + options.segment.bytes)),
      directs_(ib::pool_of<direct>("rc descriptors", direct_chunks_, sizeof(direct))) {}

}  // namespace uct::rc
