// Tests of connection messages that their sender cannot prove, of altered ones, and of repeated
// ones.
#include "ucp/wireup/proof.hpp"

#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/address/address.hpp"
#include "ucp/address/wire.hpp"
#include "ucp/capi/handles.hpp"
#include "ucp/tag/matcher.hpp"
#include "ucp/wireup/accept.hpp"
#include "ucp/wireup/connection.hpp"
#include "ucp/wireup/lane_setup.hpp"
#include "ucp/wireup/pair_wire.hpp"

namespace {

using namespace ucp_test;
namespace wire = ucp::wire;
using namespace wire;
using state = ucp::wireup::state;

// A worker with an endpoint of its own that has sent a request to the peer, in addition to the
// endpoint that the peer has requested.
struct asking_world : raw_world {
    asking_world() : raw_world({}) {
        handle = make_ep();
        use(asking());
        const auto received = peer.connection_messages();
        REQUIRE(received.back().type == wireup_type::request);
        request = received.back();
    }
    [[nodiscard]] ucp::ep& asking() const { return ucp::capi::from(handle); }
    [[nodiscard]] wireup_header to_asking(wireup_type type) const {
        return peer.about(type, 88, request.ep);
    }
    [[nodiscard]] wireup_header to_ready(wireup_type type) const {
        return peer.about(type, peer_ep, ep_id());
    }
    [[nodiscard]] std::size_t message_count() const { return peer.connection_messages().size(); }
    [[nodiscard]] wireup_header last_message() const { return peer.connection_messages().back(); }
    // Checks that nothing has changed, and that the worker has sent no more messages.
    void check_untouched(std::size_t count_before) const {
        CHECK(ucp::wireup::state_of(asking()) == state::requested);
        CHECK(asking().failure() == UCS_OK);
        CHECK(ucp::wireup::state_of(ep()) == state::ready);
        CHECK(ep().failure() == UCS_OK);
        CHECK(worker->endpoints().size() == 2);
        CHECK(message_count() == count_before);
    }

    ucp_ep_h handle = nullptr;
    wireup_header request{};
};

struct forgery {
    const char* name;
    std::function<std::pair<wireup_header, std::vector<std::byte>>(const asking_world&)> make;
};

const std::vector<ucp::wireup::pair_lane> one_lane{{"sim", {}, {}, {}, 0}};

std::vector<forgery> forgeries() {
    using enum wireup_type;
    std::vector<forgery> list;
    for (const wireup_type type : {reply, refuse, close, failed, bind}) {
        list.push_back({"to the endpoint that has asked", [type](const asking_world& in) {
                            return std::pair(in.to_asking(type), in.peer.address());
                        }});
        list.push_back({"to the endpoint that is ready", [type](const asking_world& in) {
                            return std::pair(in.to_ready(type), in.peer.address());
                        }});
    }
    list.push_back({"a new request", [](const asking_world& in) {
                        return std::pair(in.peer.about(request, 99, 7), in.peer.address());
                    }});
    for (const wireup_type type : {pair, paired, unpaired, joined}) {
        list.push_back({"about lanes in pairs", [type](const asking_world& in) {
                            return std::pair(in.peer.about(type, 4711, 0),
                                             type == pair
                                                 ? body_of(pair, in.peer.address(), one_lane)
                                                 : std::vector<std::byte>());
                        }});
    }
    return list;
}

}  // namespace

TEST_CASE("a connection message without its proof is dropped and changes nothing") {
    enum class proof { none, of_others, of_another_message };
    const auto kind = GENERATE(proof::none, proof::of_others, proof::of_another_message);
    for (const forgery& each : forgeries()) {
        asking_world in;
        auto [header, body] = each.make(in);
        INFO(each.name << ", type " << static_cast<unsigned>(header.type) << ", proof "
                       << static_cast<int>(kind));
        if (kind == proof::of_others) {
            // The sender knows the addresses of both workers and the private key of neither.
            const auto keys = ucs::security::key_pair::random();
            const auto shared = keys.agree(in.worker->identity().public_half());
            header.receipt = ucp::wireup::make_receipt(*shared, header.uid, header.ep);
            header.proof =
                ucp::wireup::prove(*shared, in.worker->identity().address(false), header, body);
        } else if (kind == proof::of_another_message) {
            header = in.peer.sealed(header, body);
            header.ep ^= 1;
        }
        const std::size_t before = in.message_count();
        const test::log_capture log;
        in.deliver_as_it_is(header, body);
        INFO(log.text());
        // The sender of a request may have a wrong address of the worker, and is notified.
        const bool is_refused =
            header.type == wireup_type::request || header.type == wireup_type::pair;
        in.check_untouched(before + (is_refused ? 1 : 0));
        if (is_refused) CHECK(in.last_message().receipt == header.receipt);
        CHECK(log.count("has not proven", ucs::log::level::warn) == 1);
        CHECK(in.worker->log().rejected().count() == 1);
    }
}

TEST_CASE("a proven reply counts once, and has no effect when repeated") {
    asking_world in;
    const std::vector<std::byte> address = in.peer.address();
    const wireup_header reply = in.peer.sealed(in.to_asking(wireup_type::reply), address);
    const test::log_capture log;
    for (int times = 0; times < 3; ++times) {
        in.deliver_as_it_is(reply, address);
        CHECK(ucp::wireup::state_of(in.asking()) == state::ready);
        CHECK(in.asking().remote_id() == 88);
    }
    CHECK(in.worker->endpoints().size() == 2);
    CHECK(log.size() == 0);
}

TEST_CASE("a repeated request does not disturb the connection that it has made") {
    raw_world in({});
    const std::vector<std::byte> address = in.peer.address();
    const wireup_header request =
        in.peer.sealed(in.peer.about(wireup_type::request, raw_world::peer_ep, 0), address);
    for (int times = 0; times < 3; ++times) {
        in.deliver_as_it_is(request, address);
        CHECK(ucp::wireup::state_of(in.ep()) == state::ready);
        CHECK(in.ep().remote_id() == raw_world::peer_ep);
        CHECK(in.worker->endpoints().size() == 1);
    }
}

TEST_CASE("a repeated request whose endpoint has ended takes no waiting endpoint") {
    enum class end { closed_by_peer, failed_there, failed_here, before_many_others };
    const auto cause =
        GENERATE(end::closed_by_peer, end::failed_there, end::failed_here, end::before_many_others);
    raw_world in({});
    const std::vector<std::byte> address = in.peer.address();
    // Makes the peer send a request, and returns the message.
    const auto request = [&](std::uint64_t ep, std::uint64_t number) {
        const wireup_header sent =
            in.peer.sealed(in.peer.about(wireup_type::request, ep, number), address);
        in.deliver_as_it_is(sent, address);
        return sent;
    };
    const wireup_header recorded = request(raw_world::peer_ep, 0);
    REQUIRE(in.worker->endpoints().size() == 1);
    if (cause == end::failed_here) {
        // The peer sends no message about that.
        ucp::wireup::handle(in.ep(), ucp::wireup::event::failure, UCS_ERR_IO_ERROR);
    } else {
        in.deliver(cause == end::failed_there ? wireup_type::failed : wireup_type::close,
                   raw_world::peer_ep, in.ep_id(), {});
    }
    for (std::uint64_t i = 0; cause == end::before_many_others && i < 5000; ++i) {
        request(1000 + i, 1 + i);
        wireup_header reply;
        std::memcpy(&reply, in.peer.last_received().data(), sizeof reply);
        in.deliver(wireup_type::close, 1000 + i, in.peer.unmasked(reply).ep, {});
    }
    in.close_by_force();
    in.settle();
    REQUIRE(in.worker->endpoints().size() == 0);

    ucp::ep& waiting = ucp::capi::from(in.make_ep());
    REQUIRE(waiting.number() == recorded.peer_ep_or_number);
    in.deliver_as_it_is(recorded, address);
    CHECK(ucp::wireup::state_of(waiting) == state::idle);
    CHECK(waiting.failure() == UCS_OK);
    CHECK(in.worker->endpoints().size() == 1);
    // A new endpoint of the same worker is served.
    request(raw_world::peer_ep + 1, waiting.number());
    CHECK(waiting.remote_id() == raw_world::peer_ep + 1);
    CHECK(in.worker->endpoints().size() == 1);
}

TEST_CASE("a request older than another one of its sender takes no endpoint") {
    raw_world in({});
    const std::vector<std::byte> address = in.peer.address();
    const auto sealed = [&](std::uint64_t ep, std::uint64_t number) {
        return in.peer.sealed(in.peer.about(wireup_type::request, ep, number), address);
    };
    const wireup_header held_up = sealed(88, 1);
    in.deliver_as_it_is(sealed(89, 2), address);
    CHECK(in.worker->endpoints().size() == 2);
    in.deliver_as_it_is(held_up, address);
    CHECK(in.worker->endpoints().size() == 2);
    // The sender repeats the request.
    in.deliver_as_it_is(sealed(88, 1), address);
    CHECK(in.worker->endpoints().size() == 3);
}

TEST_CASE("a worker numbers each request higher, even a repeated one") {
    asking_world in;
    ucp::wireup::connect_again(in.asking());
    in.settle();
    const wireup_header again = in.last_message();
    CHECK(again.type == wireup_type::request);
    CHECK(again.ep == in.request.ep);
    CHECK(again.order() > in.request.order());
    CHECK(in.request.order() > 0);
}

TEST_CASE("a repeated request over another connection does not change the peer's connection") {
    // Regression: the process that had recorded the request filled the receiver's memory, and the
    // peer was cut off for that.
    raw_world in({});
    raw_peer other(in.network, *in.worker);
    const std::vector<std::byte> address = in.peer.address();
    const std::uint64_t connection = in.ep().remote().connection;
    REQUIRE(connection != 0);
    other.send_as_it_is(
        in.peer.sealed(in.peer.about(wireup_type::request, raw_world::peer_ep, 0), address),
        address);
    in.settle();
    CHECK(in.ep().remote().connection == connection);
}

namespace {

// A worker, a second worker, and a peer with the second worker's public key and its own interfaces.
struct mixed_world : raw_world {
    mixed_world() : raw_world({}) {
        drive([this] { return victim->progress(); });
        drive([this] { return between.progress(); });
    }
    [[nodiscard]] ucp::address::worker_address mixed_address() const {
        auto mixed = parsed(between.address());
        mixed.identity = victim->identity().public_half();
        return mixed;
    }

    std::unique_ptr<ucp::context> victim_context = make_context({&component}, {});
    std::unique_ptr<ucp::worker> victim = make_worker(*victim_context);
    raw_peer between{network};
};

// Interfaces that work inside the host only, and a second worker.
struct host_world : raw_world {
    host_world() : raw_world({}, {.reach = uct::scope::host}) {
        drive([this] { return wanted->progress(); });
    }

    std::unique_ptr<ucp::context> wanted_context = make_context({&component}, {});
    std::unique_ptr<ucp::worker> wanted = make_worker(*wanted_context);
};

}  // namespace

TEST_CASE("an address with a worker's key does not let its author stand between two workers") {
    mixed_world in;
    raw_peer& between = in.between;
    between.reach(*in.victim);

    auto mixed = in.mixed_address();
    ucp::ep& asking = in.ep_to(ucp::address::pack(mixed, false));
    in.use(asking);
    // The peer passes the request on unchanged.
    const std::vector<std::byte>& received = between.last_received();
    wireup_header request;
    REQUIRE(received.size() > sizeof request);
    std::memcpy(&request, received.data(), sizeof request);
    REQUIRE(request.type == wireup_type::request);
    const test::log_capture log;
    between.send_as_it_is(request, {received.begin() + sizeof request, received.end()});
    in.settle();
    CHECK(in.victim->endpoints().size() == 0);
    CHECK(log.count("has not proven", ucs::log::level::warn) == 1);
    // The endpoint does not wait for ever.
    CHECK(asking.failure() == UCS_ERR_UNREACHABLE);
}

TEST_CASE("an address with the worker's own key that leads elsewhere is invalid") {
    // Regression: no message had to be proven, and messages of the worker to itself went to another
    // process.
    raw_world in({});
    const auto mixed = with_key(in.peer.address(), in.worker->identity().public_half());
    const test::log_capture log;
    const auto made = ucp::wireup::create_ep(*in.worker, mixed.data(), {});
    CHECK(made.status() == UCS_ERR_INVALID_ADDR);
    CHECK(log.count("this worker's own key", ucs::log::level::error) == 1);
    for (const bool net_only : {false, true}) {
        const auto own =
            ucp::wireup::create_ep(*in.worker, in.worker->identity().address(net_only).data(), {});
        REQUIRE(own.ok());
        ucp::wireup::handle(**own, ucp::wireup::event::use);
        CHECK(ucp::wireup::state_of(**own) == state::ready);
    }
}

TEST_CASE("the last given address counts until an endpoint is connected") {
    // Regression: an endpoint by a wrong address broke the endpoints by the right one.
    host_world in;
    const raw_peer silent(in.network);
    const auto wrong = with_key(silent.address(), in.wanted->identity().public_half());
    ucp::ep& first = in.ep_to(wrong);
    in.use(first);
    CHECK(ucp::wireup::state_of(first) == state::requested);
    const ucp::ep& second = in.ep_to(in.wanted->identity().address(false));
    CHECK(&second.remote() == &first.remote());
    in.settle();
    CHECK(ucp::wireup::state_of(first) == state::ready);
    // Another form of the right address changes nothing, and neither does a wrong one any more.
    auto& lanes = ucp::slot_of<ucp::wireup::lane_setup>(first.remote());
    CHECK_FALSE(lanes.readdress(in.wanted->identity().address(true)));
    CHECK_FALSE(lanes.readdress(wrong));
}

TEST_CASE("a peer without lanes is reached by the interfaces that its full address adds") {
    // The address for other hosts leads nowhere.
    host_world in;
    ucp::ep& first = in.ep_to(in.wanted->identity().address(true));
    const ucp::ep& second = in.ep_to(in.wanted->identity().address(false));
    REQUIRE(&second.remote() == &first.remote());
    in.use(first);
    CHECK(ucp::wireup::state_of(first) == state::ready);
}

TEST_CASE("every message that starts a connection corrects a wrong address of its sender") {
    const wireup_type type = GENERATE(wireup_type::request, wireup_type::bind, wireup_type::pair);
    raw_world in({});
    raw_peer wanted(in.network, *in.worker);
    const raw_peer elsewhere(in.network);
    const std::vector<std::byte> own = wanted.address();
    const ucp::ep& made = in.ep_to(with_key(elsewhere.address(), *ucp::address::identity_in(own)));
    const test::log_capture log;
    // The message names an endpoint that is not here, so it has no other effect.
    const std::uint64_t last = type == wireup_type::bind ? 4711 : 0;
    wanted.send(wire::wireup, wanted.about(type, 88, last), body_of(type, own, one_lane));
    in.settle();
    CHECK(made.remote().identity().has_address(own));
    CHECK(log.count("has another address than the program was given", ucs::log::level::warn) == 1);
}

TEST_CASE("a worker that connects by itself gets its reply although a wrong address has its key") {
    mixed_world in;
    raw_peer& between = in.between;

    auto mixed = in.mixed_address();
    if (GENERATE(false, true)) {  // in addition to the victim's own interface
        const auto own = parsed(in.victim->identity().address(false));
        mixed.name = own.name;
        mixed.flags = own.flags;
        mixed.entries.front().latency = 0;
        mixed.entries.push_back(own.entries.front());
    }
    ucp_ep_h handle = ucp::capi::handle(in.ep_to(ucp::address::pack(mixed, false)));
    // The wrong lanes may exist already, with requests waiting on them.
    const auto has_asked = GENERATE(true, false);
    if (has_asked) ucp::wireup::handle(ucp::capi::from(handle), ucp::wireup::event::use);
    in.settle();
    ucp::ep& victims_ep =
        **ucp::wireup::create_ep(*in.victim, in.worker->identity().address(false).data(), {});
    in.use(victims_ep);
    CHECK(ucp::wireup::state_of(victims_ep) == state::ready);
    CHECK(ucp::wireup::state_of(ucp::capi::from(handle)) == state::ready);
    CHECK(between.connection_messages().size() == (has_asked ? 1 : 0));
    const std::vector<std::byte> data(8);
    CHECK(ucp_tag_send_nbx(handle, data.data(), data.size(), 1, &plain) == nullptr);
    in.settle();
    CHECK(between.received<std::uint64_t>(wire::eager_only).empty());
    CHECK(slot_of<ucp::tag_matcher>(*in.victim).unexpected_count() == 1);
}

TEST_CASE("a worker is reached by either of its addresses, and by no other one") {
    raw_world in({}, {.reach = uct::scope::host});
    REQUIRE(in.worker->identity().address(true) != in.worker->identity().address(false));
    std::vector<std::byte> other = in.worker->identity().address(false);
    other.back() ^= std::byte{1};
    const auto shared = in.peer.keys().agree(in.worker->identity().public_half());
    const std::vector<std::byte> own = in.peer.address();
    std::uint64_t asked = 100;
    const auto is_answered = [&](const std::vector<std::byte>& reached) {
        const std::size_t before = in.worker->endpoints().size();
        ++asked;
        wireup_header request = in.peer.about(wireup_type::request, asked, asked);
        request.set_order(asked);
        request.proof = ucp::wireup::prove(*shared, reached, request, own);
        in.deliver_as_it_is(request, own);
        return in.worker->endpoints().size() > before;
    };
    CHECK(is_answered(in.worker->identity().address(false)));
    CHECK(is_answered(in.worker->identity().address(true)));
    CHECK_FALSE(is_answered(other));
}

TEST_CASE("the proof of a reply covers every byte, and none may be missing") {
    asking_world in;
    const std::vector<std::byte> address = in.peer.address();
    const wireup_header reply = in.peer.sealed(in.to_asking(wireup_type::reply), address);
    std::vector<std::byte> whole(sizeof reply);
    std::memcpy(whole.data(), &reply, sizeof reply);
    whole.insert(whole.end(), address.begin(), address.end());
    const std::size_t before = in.message_count();
    const auto send = [&](const std::vector<std::byte>& bytes) {
        if (bytes.size() < sizeof reply) return;
        wireup_header header;
        std::memcpy(&header, bytes.data(), sizeof header);
        in.deliver_as_it_is(header, {bytes.begin() + sizeof header, bytes.end()});
    };
    const test::log_capture log;
    // A message for another worker is refused: the receiver cannot tell whether it is proven.
    const auto names_receiver = [](std::size_t offset) { return offset >= 16 && offset < 24; };
    for (std::size_t offset = 0; offset < whole.size(); ++offset) {
        if (names_receiver(offset)) continue;
        std::vector<std::byte> changed = whole;
        changed[offset] ^= std::byte{1};
        send(changed);
    }
    for (std::size_t length = 0; length < whole.size(); ++length)
        send({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
    in.check_untouched(before);
    send(whole);
    CHECK(ucp::wireup::state_of(in.asking()) == state::ready);
}

namespace {

// The address with one more byte at its end, which makes it malformed; header and checksum match
// it.
std::vector<std::byte> lengthened(std::vector<std::byte> address, std::byte last) {
    namespace format = ucp::address::wire;
    address.push_back(last);
    address[format::length_at] = static_cast<std::byte>(address.size());
    address[format::length_at + 1] = static_cast<std::byte>(address.size() >> 8);
    address[format::check_at] =
        std::byte{format::header_check(std::span<const std::byte>(address))};
    const std::uint32_t sum = format::checksum(address);
    for (std::size_t i = 0; i < sizeof sum; ++i)
        address[format::crc_at + i] = static_cast<std::byte>(sum >> (8 * i));
    return address;
}

// Addresses with the right public key that are damaged otherwise.
std::vector<std::vector<std::byte>> damaged_forms(const std::vector<std::byte>& address) {
    constexpr std::size_t up_to_key = ucp::address::wire::header_size + 32;
    std::vector<std::vector<std::byte>> forms(3, address);
    std::fill_n(forms[0].begin(), ucp::address::wire::header_size, std::byte{0});
    forms[0].resize(up_to_key);
    forms[1].back() ^= std::byte{1};
    // The header states a longer address.
    forms[2].resize(up_to_key);
    forms[2][ucp::address::wire::length_at] = std::byte{0};
    forms[2][ucp::address::wire::length_at + 1] = std::byte{4};
    forms[2][ucp::address::wire::check_at] =
        std::byte{ucp::address::wire::header_check(std::span<const std::byte>(forms[2]))};
    forms.push_back(lengthened(address, std::byte{1}));
    return forms;
}

}  // namespace

TEST_CASE("a proven message with a damaged address is dropped") {
    const auto type = GENERATE(wireup_type::request, wireup_type::bind, wireup_type::pair);
    const auto form = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3});
    asking_world in;
    const std::vector<std::byte> address = damaged_forms(in.peer.address())[form];
    const std::size_t before = in.message_count();
    const test::log_capture log;
    in.deliver(type, 99, 7, body_of(type, address));
    INFO(log.text());
    in.check_untouched(before);
    CHECK(log.count("", ucs::log::level::warn) <= 1);
}

TEST_CASE("malformed addresses in proven messages replace no valid one and log few lines") {
    // Regression: the malformed addresses replaced the sender's address.
    const auto type = GENERATE(wireup_type::request, wireup_type::bind, wireup_type::pair);
    raw_world in({});
    raw_peer sender(in.network, *in.worker);
    in.drive([&] { return sender.progress(); });
    const std::vector<std::byte> own = sender.address();
    const ucp::ep& made = in.ep_to(own);
    const test::log_capture log;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const std::vector<std::byte> bad = lengthened(own, static_cast<std::byte>(i));
        sender.send(wire::wireup, sender.about(type, 100 + i, 4711), body_of(type, bad, one_lane));
        in.settle();
    }
    INFO(log.text());
    CHECK(made.remote().identity().has_address(own));
    CHECK(log.count("", ucs::log::level::warn) <= 25);
    CHECK(in.worker->log().rejected().count() == 1000);
}

TEST_CASE("a refusal by another worker counts only with the right receipt") {
    asking_world in;
    wireup_header refusal = in.peer.about(wireup_type::refuse, 0, in.request.ep);
    const std::size_t before = in.message_count();
    const auto other = GENERATE(false, true);
    const test::log_capture log;
    // The refusal has no receipt, or the receipt of another endpoint.
    if (other) refusal.receipt = in.peer.connection_messages().front().receipt;
    in.deliver_as_it_is(in.peer.unmasked(refusal));
    in.check_untouched(before);
    refusal.receipt = in.request.receipt;
    // The refusing worker cannot see the id of the endpoint.
    in.deliver_as_it_is(refusal);
    in.check_untouched(before);
    in.deliver_as_it_is(in.peer.unmasked(refusal));
    CHECK(in.asking().failure() == UCS_ERR_UNREACHABLE);
    CHECK(in.ep().failure() == UCS_OK);
}

TEST_CASE("a refusal for another worker holds its receipt, and keeps no peer object") {
    raw_world in({});
    const std::size_t peers = in.worker->peers().size();
    const auto packed =
        with_key(in.peer.address(), ucs::security::key_pair::random().public_half());
    const auto type = GENERATE(wireup_type::request, wireup_type::pair);
    wireup_header asked{type, {}, parsed(packed).uid(), in.worker->uid() + 1, 66, 0};
    asked.receipt.fill(std::byte{7});
    in.deliver_as_it_is(asked, body_of(type, packed));
    const auto refusal = in.peer.connection_messages().back();
    CHECK(refusal.type ==
          (type == wireup_type::request ? wireup_type::refuse : wireup_type::unpaired));
    CHECK(refusal.uid == in.worker->uid() + 1);
    CHECK(refusal.receipt == asked.receipt);
    in.settle();
    CHECK(in.worker->peers().size() == peers);
    CHECK(in.worker->endpoints().size() == 1);
}
