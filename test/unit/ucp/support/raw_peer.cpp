#include "test/unit/ucp/support/raw_peer.hpp"

#include <catch2/catch.hpp>

#include "ucp/capi/handles.hpp"
#include "ucp/wireup/accept.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/proof.hpp"

namespace ucp_test {

namespace {

struct outgoing {
    const void* header;
    std::size_t length;
    const std::vector<std::byte>* body;
};

std::vector<const uct::component*> prepend(const uct::component& first,
                                           std::vector<const uct::component*> others) {
    others.insert(others.begin(), &first);
    return others;
}

std::size_t pack(void* arg, void* into, std::size_t) {
    const auto& message = *static_cast<const outgoing*>(arg);
    std::memcpy(into, message.header, message.length);
    if (!message.body->empty()) {
        std::memcpy(static_cast<std::byte*>(into) + message.length, message.body->data(),
                    message.body->size());
    }
    return message.length + message.body->size();
}

}  // namespace

std::unique_ptr<ucp::context> make_context(const std::vector<const uct::component*>& components,
                                           const settings& options, std::uint64_t features) {
    ucs::config::source source = ucs::config::source::empty();
    source.set("HOST_PROBE", "n");
    for (const auto& [option, value] : options)
        source.set(option, value);
    ucp::context_params params;
    params.features = features;
    return std::move(*ucp::context::create(params, std::move(source), components));
}

std::unique_ptr<ucp::worker> make_worker(const ucp::context& context) {
    ucp::worker_params params;
    params.name = "tested";
    return std::move(*ucp::worker::create(context, params));
}

raw_peer::raw_peer(uct::sim::fabric& network)
    : keys_(ucs::security::key_pair::random()),
      uid_(ucp::address::uid_of(keys_.public_half())),
      component_(network),
      events_(std::move(*ucs::async::event_loop::create())),
      config_(ucs::config::source::empty()) {
    iface_ =
        std::move(*component_.open(component_.query(config_).usable.front(),
                                   {.events = *events_, .config = config_, .worker_uid = uid_}));
    slots_.reserve(uct::am_id_count);
    for (uct::am_id id = 0; id < uct::am_id_count; ++id) {
        slots_.push_back({this, id});
        iface_->set_am_handler(id, {.deliver =
                                        [](void* arg, void* data, std::size_t length) {
                                            const auto& receiver = *static_cast<const slot*>(arg);
                                            const auto* bytes = static_cast<const std::byte*>(data);
                                            receiver.self->inbox_.emplace_back(
                                                receiver.id,
                                                std::vector<std::byte>(bytes, bytes + length));
                                        },
                                    .arg = &slots_.back()});
    }
}

std::vector<std::byte> raw_peer::address() const {
    ucp::address::worker_address all;
    all.identity = keys_.public_half();
    const uct::iface_attr& attr = iface_->attr();
    all.entries.push_back(
        {"sim", "node", attr.reach, 1e-6F, 1e9F, 0, std::vector<std::byte>(attr.address_length)});
    iface_->pack_address(all.entries.front().iface_address);
    return ucp::address::pack(all, false);
}

void raw_peer::require_count(std::size_t received, std::size_t wanted) {
    REQUIRE(received == wanted);
}

void raw_peer::reach(const ucp::worker& to) {
    reached_ = to.identity().address(false);
    reached_uid_ = to.uid();
    const auto address = parsed(reached_);
    lane_ = std::move(*iface_->create_ep(address.entries.front().iface_address));
    shared_ = keys_.agree(address.identity);
    REQUIRE(shared_);
}

ucp::wire::wireup_header raw_peer::unmasked(ucp::wire::wireup_header header) const {
    if (!shared_) return header;
    const auto type = static_cast<ucp::wire::wireup_type>(
        static_cast<std::uint8_t>(header.type) & ~(ucp::wire::no_credits | ucp::wire::over_pair));
    const std::uint64_t mask = ucp::wireup::make_ep_mask(*shared_, header.receipt);
    if (ucp::wireup::connects(type)) header.ep ^= mask;
    if (type == ucp::wire::wireup_type::refuse) header.peer_ep_or_number ^= mask;
    return header;
}

ucp::wire::wireup_header raw_peer::sealed(ucp::wire::wireup_header header,
                                          const std::vector<std::byte>& body) const {
    const bool is_request = (static_cast<std::uint8_t>(header.type) & 0x3f) ==
                            static_cast<std::uint8_t>(ucp::wire::wireup_type::request);
    if (is_request && header.order() == 0) header.set_order(++requests_);
    if (header.receipt == ucs::security::tag{})
        header.receipt = ucp::wireup::make_receipt(*shared_, header.uid, header.ep);
    header = unmasked(header);
    header.proof = ucp::wireup::prove(*shared_, reached_, header, body);
    return header;
}

void send_raw(uct::ep& lane, uct::am_id id, const void* header, std::size_t length,
              const std::vector<std::byte>& body) {
    outgoing message{header, length, &body};
    REQUIRE(lane.am_bcopy(id, pack, &message) >= 0);
}

ucp::address::worker_address parsed(const std::vector<std::byte>& address) {
    auto read = ucp::address::parse(std::span(address));
    REQUIRE(read);
    return std::move(*read);
}

std::vector<std::byte> with_key(const std::vector<std::byte>& address,
                                const ucs::security::public_key& identity) {
    auto changed = parsed(address);
    changed.identity = identity;
    return ucp::address::pack(changed, false);
}

std::vector<std::byte> body_of(ucp::wire::wireup_type type, const std::vector<std::byte>& address,
                               const std::vector<ucp::wireup::pair_lane>& lanes) {
    if (type != ucp::wire::wireup_type::pair) return address;
    return ucp::wireup::pack(ucp::wireup::pair_request{lanes, address});
}

ucp::wire::rts_header rts_of(const std::vector<std::byte>& data, std::uint64_t ep,
                             std::uint32_t flags) {
    constexpr std::uint64_t tag = 1, request = 9;
    return {tag, data.size(), ep, request, reinterpret_cast<std::uint64_t>(data.data()), flags};
}

raw_world::raw_world(const settings& options, const uct::sim::parameters& parameters,
                     const std::vector<const uct::component*>& others)
    : network(1, parameters),
      component(network),
      context(make_context(prepend(component, others), options)),
      worker(make_worker(*context)),
      peer(network),
      driver_(network) {
    driver_.add([this] { return worker == nullptr ? 0 : worker->progress(); });
    driver_.add([this] { return peer.progress(); });
    ep_ = &ucp::capi::from(make_ep());
    peer.reach(*worker);
    deliver(ucp::wire::wireup_type::request, peer_ep, 0);
    const auto replies = peer.connection_messages(1);
    REQUIRE(replies.front().type == ucp::wire::wireup_type::reply);
    REQUIRE(replies.front().peer_ep_or_number == peer_ep);
    ep_id_ = replies.front().ep;
}

raw_world::~raw_world() = default;

void raw_world::settle() {
    REQUIRE(driver_.run_until_quiet());
}

void raw_world::turn() {
    worker->schedule().look_everywhere();
    settle();
}

void raw_world::pass_seconds(int count) {
    for (int i = 0; i < count; ++i) {
        network.advance(ucs::time::second);
        turn();
    }
}

void raw_world::handle_arrivals() {
    network.advance(100'000);
    while (worker->progress() > 0) {
    }
}

ucp_worker_h raw_world::worker_handle() const noexcept {
    return ucp::capi::handle(*worker);
}

ucp_ep_h raw_world::ep_handle() const noexcept {
    return ucp::capi::handle(*ep_);
}

void raw_world::send_sync(const std::vector<std::byte>& data, completion_record& sent) const {
    REQUIRE(UCS_PTR_IS_PTR(
        ucp_tag_send_sync_nbx(ep_handle(), data.data(), data.size(), 1, sent.on_send())));
}

void* raw_world::post_receive(std::vector<std::byte>& into, completion_record& received) const {
    void* const posted =
        ucp_tag_recv_nbx(worker_handle(), into.data(), into.size(), 0, 0, received.on_recv());
    REQUIRE(UCS_PTR_IS_PTR(posted));
    return posted;
}

void raw_world::peer_closes() {
    deliver(ucp::wire::wireup_type::close, peer_ep, ep_id_, {});
}

void raw_world::close_by_force() {
    close_by_force(ep_handle());
    ep_ = nullptr;
}

void raw_world::close_by_force(ucp_ep_h endpoint) {
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = UCP_EP_CLOSE_FLAG_FORCE;
    CHECK(ucp_ep_close_nbx(endpoint, &params) == nullptr);
}

ucp_ep_h raw_world::make_ep() const {
    return ucp::capi::handle(ep_to(peer.address()));
}

ucp::ep& raw_world::ep_to(const std::vector<std::byte>& address) const {
    return **ucp::wireup::create_ep(*worker, address.data(), {});
}

void raw_world::use(ucp::ep& which) {
    ucp::wireup::handle(which, ucp::wireup::event::use);
    settle();
}

namespace {

void note(void* arg, void* request, ucs_status_t status) {
    auto& into = *static_cast<completion_record*>(arg);
    ++into.times;
    into.status = status;
    ucp_request_free(request);
}

}  // namespace

ucp_request_param_t* completion_record::on_send() {
    params = {};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    params.cb.send = [](void* request, ucs_status_t end, void* arg) { note(arg, request, end); };
    params.user_data = this;
    return &params;
}

ucp_request_param_t* completion_record::on_recv() {
    on_send()->cb.recv = [](void* request, ucs_status_t end, const ucp_tag_recv_info_t*,
                            void* arg) { note(arg, request, end); };
    return &params;
}

}  // namespace ucp_test
