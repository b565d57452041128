#include "tools/perf/uct/link.hpp"

#include <fmt/format.h>
#include <sched.h>

namespace tools::perf {

transport_link::transport_link(const test_params& params, const stop_flag& stop)
    : stop_(stop), opened_(open_interface(params.transport, params.device)) {
    iface().set_error_handler({&transport_link::on_failure, this});
}

transport_link::~transport_link() = default;

void transport_link::on_failure(void* arg, uct::ep&, ucs_status_t status) {
    static_cast<transport_link*>(arg)->failed_ = status;
}

void transport_link::give_up(const char* operation, ucs_status_t status) const {
    throw failure(fmt::format("{}: {} failed: {}", name(), operation, ucs_status_string(status)));
}

blob transport_link::address(const void* memory) const {
    const auto where = reinterpret_cast<std::uint64_t>(memory);
    blob packed(sizeof where + opened_.iface->attr().address_length);
    std::memcpy(packed.data(), &where, sizeof where);
    opened_.iface->pack_address(std::span(packed).subspan(sizeof where));
    return packed;
}

void transport_link::connect(const blob& peer) {
    if (peer.size() < sizeof remote_memory_) throw failure("the peer sent a malformed address");
    std::memcpy(&remote_memory_, peer.data(), sizeof remote_memory_);
    const auto address = std::span(peer).subspan(sizeof remote_memory_);
    const uct::reachability answer = iface().check_reachable(address);
    if (!answer.ok()) {
        throw failure(fmt::format("{} does not reach the peer: {}", name(), answer.reason));
    }
    auto made = iface().create_ep(address);
    if (!made) give_up("create_ep", made.status());
    ep_ = std::move(*made);
}

blob transport_link::connection() const {
    blob packed(opened_.iface->attr().connection_length);
    ep_->pack_connection(packed);
    return packed;
}

void transport_link::pair(const blob& peer) {
    const ucs_status_t status = ep_->connect_to(peer);
    if (status != UCS_OK) give_up("connect_to", status);
}

uct::memory_domain& transport_link::domain(const char* operation) {
    uct::memory_domain* const found = iface().domain();
    if (found == nullptr) give_up(operation, UCS_ERR_UNSUPPORTED);
    return *found;
}

uct::shared_memory transport_link::share(std::size_t length) {
    auto made = domain("share").allocate(length);
    if (!made) give_up("share", made.status());
    return std::move(*made);
}

uct::shared_memory transport_link::share(std::span<std::byte> memory) {
    auto made = domain("share").share(memory, uct::memory_access::change);
    if (!made) give_up("share", made.status());
    return std::move(*made);
}

void transport_link::reach(const blob& key) {
    auto found = domain("reach").attach(key, uct::memory_access::change);
    if (!found) give_up("reach", found.status());
    memory_ = std::move(*found);
}

void transport_link::pause() {
    idle_ = 0;
    opened_.events->poll(0);
    if (stop_.requested()) throw stopped();
    ::sched_yield();
}

}  // namespace tools::perf
