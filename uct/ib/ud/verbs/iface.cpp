#include "uct/ib/ud/verbs/iface.hpp"

#include <algorithm>

#include "uct/base/builtin.hpp"
#include "uct/base/implemented_ops.hpp"

namespace uct::ud {
namespace {

// Short messages exist on every device, through a buffer if necessary.
constexpr std::size_t least_short = 64;
constexpr std::size_t most_short = 160;

}  // namespace

ucs::result<std::unique_ptr<uct::iface>> verbs_iface::open(const resource& where,
                                                           const iface_params& params) {
    auto gathered = gather(where, params);
    if (!gathered) return gathered.status();
    std::unique_ptr<verbs_iface> made(new verbs_iface(where, params, std::move(*gathered)));
    if (const ucs_status_t status = made->start(); status != UCS_OK) return status;
    return std::unique_ptr<uct::iface>(std::move(made));
}

verbs_iface::verbs_iface(const resource& where, const iface_params& params, parts made)
    : iface(where, params, std::move(made)), scratch_(longest_message()) {
    constexpr std::size_t front = wire::header_size + sizeof(std::uint64_t);
    const queue_pair& pair = sends().pair();
    attr_.ops = implemented_ops<verbs_ep>();
    attr_.max_short = std::clamp<std::size_t>(
        pair.inline_bytes() > front ? pair.inline_bytes() - front : 0, least_short, most_short);
    attr_.max_bcopy = longest_message();
    attr_.max_zcopy = longest_message();
    attr_.max_zcopy_header = direct::most_copied;
    attr_.max_iov = std::min<std::size_t>(pair.pieces() - 1, ib::local_pieces::most);
    if (attr_.max_iov == 0) attr_.ops.remove(op::am_zcopy);
}

ucs::result<std::unique_ptr<uct::ep>> verbs_iface::create_ep(std::span<const std::byte> address) {
    if (const reachability answer = check_reachable(address); !answer.ok()) {
        ucs::log::error(ib_log, "{}: create_ep: {}", where().device, answer.reason);
        return UCS_ERR_UNREACHABLE;
    }
    auto made = make_connection(*wire::address::parse(address));
    if (!made) return made.status();
    return std::unique_ptr<uct::ep>(std::make_unique<verbs_ep>(*this, std::move(*made)));
}

}  // namespace uct::ud

namespace uct {

namespace {

class component_of_ud_verbs final : public component {
public:
    const char* name() const noexcept override { return "ud_verbs"; }
    std::vector<const ucs::config::table*> options() const override {
        return {&ud::settings::options(), &ib::settings::options()};
    }

    listing query(const ucs::config::source&) const override { return ib::list_ports(name()); }

    ucs::result<std::unique_ptr<iface>> open(const resource& where,
                                             const iface_params& params) const override {
        return ud::verbs_iface::open(where, params);
    }
};

}  // namespace

const component& ud_verbs_component() noexcept {
    static const component_of_ud_verbs instance;
    return instance;
}

}  // namespace uct
