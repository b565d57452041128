#include "uct/ib/rc/verbs/iface.hpp"

#include <algorithm>

#include "uct/base/implemented_ops.hpp"
#include "uct/ib/rc/verbs/ep.hpp"

namespace uct::rc {
namespace {

// Short operations exist on every device, through a buffer if necessary.
constexpr std::size_t minimal_short = 32;

}  // namespace

ucs::result<std::unique_ptr<uct::iface>> verbs_iface::open(const resource& where,
                                                           const iface_params& params) {
    auto gathered = gather(where, params);
    if (!gathered) return gathered.status();
    std::unique_ptr<verbs_iface> made(new verbs_iface(where, params, std::move(*gathered)));
    if (const ucs_status_t status = made->start(); status != UCS_OK) return status;
    if (const ucs_status_t status = made->find_limits(); status != UCS_OK) return status;
    made->provide_windows();
    return std::unique_ptr<uct::iface>(std::move(made));
}

verbs_iface::verbs_iface(const resource& where, const iface_params& params, parts made)
    : iface(where, params, std::move(made)),
      pools_(*domain_, "rc bounce buffers", options().segment.bytes, "rc descriptors") {}

// Operations use descriptors of the pools, so all must end before the pools are destroyed.
verbs_iface::~verbs_iface() {
    close();
}

// A trial queue pair shows the properties that the device provides.
ucs_status_t verbs_iface::find_limits() {
    auto trial = queue_pair::create(pair_setup());
    if (!trial) return trial.status();
    constexpr std::size_t short_header = wire::header_size + sizeof(std::uint64_t);
    inline_bytes_ = trial->inline_bytes();
    const std::size_t message = options().segment.bytes - wire::header_size;
    attr_.ops = implemented_ops<verbs_ep>();
    attr_.keyed = true;
    attr_.connections_at_hand = options().connections_at_hand;
    attr_.connection_length = wire::connection_data::size;
    // If inline data is too small, a short message is sent through a buffer.
    attr_.max_short = inline_bytes_ > short_header ? inline_bytes_ - short_header : 0;
    if (attr_.max_short < minimal_short) attr_.max_short = minimal_short;
    attr_.max_bcopy = message;
    attr_.max_zcopy = message;
    attr_.max_zcopy_header = std::min<std::size_t>(128, direct::extra_bytes - wire::header_size);
    attr_.max_iov = std::min<std::size_t>(trial->pieces() - 1, ib::local_pieces::most);
    attr_.max_rma = std::max<std::size_t>(port_attr_.max_msg_sz, 4096);
    attr_.max_put_short = std::max(inline_bytes_, minimal_short);
    attr_.max_put_bcopy = options().segment.bytes;
    attr_.max_get_bcopy = options().segment.bytes;
    if (domain_->has_atomics()) {
        atomic_kinds_of_size all;
        for (unsigned number = 0; number < atomic_kinds; ++number) {
            const auto kind = static_cast<atomic_kind>(number);
            all.fetching.add(kind);
            if (!atomic_op{.kind = kind}.must_fetch()) all.posted.add(kind);
        }
        attr_.atomics = {all, all};
    } else {
        attr_.ops.remove(op::atomic);
    }
    return UCS_OK;
}

ucs::result<std::unique_ptr<uct::ep>> verbs_iface::create_ep(std::span<const std::byte> address) {
    if (const reachability answer = check_reachable(address); !answer.ok()) {
        ucs::log::error(ib_log, "{}: create_ep: {}", where().device, answer.reason);
        return UCS_ERR_UNREACHABLE;
    }
    const auto peer = ib::address::parse(address);
    auto made = make_connection();
    if (!made) return made.status();
    return std::unique_ptr<uct::ep>(std::make_unique<verbs_ep>(*this, *peer, std::move(*made)));
}

void verbs_iface::describe(ucs::vfs::directory& into) const {
    iface::describe(into);
    into.file("inline_bytes", [this] { return std::to_string(inline_bytes_); });
    pools_.describe(into);
}

}  // namespace uct::rc
