// Tests of the object tree of a worker and its endpoints.
#include "ucs/vfs/tree.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucp/am/receiver.hpp"
#include "ucp/cm/listener.hpp"
#include "ucp/cm/manager.hpp"
#include "ucp/proto/eager_window.hpp"
#include "ucp/stream/channel.hpp"
#include "ucp/wireup/accept.hpp"
#include "ucp/wireup/explain.hpp"
#include "ucs/vfs/walk.hpp"

namespace {

using namespace ucp_test;
namespace vfs = ucs::vfs;

// The worker answers directly, as it does in its progress.
vfs::answer ask(const raw_world& in, vfs::verb verb, const std::string& path) {
    return vfs::answer_below(*in.worker, {verb, path, {}});
}

std::string value(const raw_world& in, const std::string& path) {
    const vfs::answer got = ask(in, vfs::verb::read, path);
    CAPTURE(path);
    REQUIRE(got.status == UCS_OK);
    return got.text.ends_with('\n') ? got.text.substr(0, got.text.size() - 1) : got.text;
}

std::string only_folder(const raw_world& in, const std::string& path) {
    const vfs::answer got = ask(in, vfs::verb::list, path);
    CAPTURE(path);
    REQUIRE(got.status == UCS_OK);
    REQUIRE(got.items.size() == 1);
    return path + "/" + got.items.front().name;
}

std::string only_folder(const std::string& path) {
    const auto items = vfs::list(path);
    CAPTURE(path);
    REQUIRE(items);
    REQUIRE(items->size() == 1);
    return path + "/" + items->front().name;
}

// Returns the memory of so many stored messages of 100 bytes, as text.
std::string memory_of(std::size_t messages) {
    return std::to_string(messages * (100 + ucp::eager_window::message_cost));
}

}  // namespace

TEST_CASE("a worker shows how many of its sends are deferred") {
    raw_world in({{"RNDV_THRESH", "0"}, {"UNEXPECTED_ANNOUNCEMENTS", "1"}});
    CHECK(value(in, "deferred") == "0");
    const std::vector<std::byte> data(100);
    for (int i = 0; i < 3; ++i)
        ucp_request_free(ucp_tag_send_nbx(in.ep_handle(), data.data(), data.size(), 1, &plain));
    CHECK(value(in, "deferred") == "2");
}

TEST_CASE("a peer's name is shown without terminal control characters") {
    const raw_world in({});
    auto named = parsed(in.peer.address());
    named.identity = ucs::security::key_pair::random().public_half();
    named.name =
        "gr\xc3\xb6\xc3\x9f"
        "e\xc2\x9b"
        "2J\xe4";
    const std::vector<std::byte> address = ucp::address::pack(named, false);
    const ucp::ep& made = in.ep_to(address);
    const std::string shown =
        "gr\xc3\xb6\xc3\x9f"
        "e\\xc2\\x9b2J\\xe4";
    CHECK(made.remote().identity().worker_name() == shown);
    CHECK(ucp::wireup::explain(made).find("(" + shown + ")") != std::string::npos);
}

TEST_CASE("a worker shows its endpoints and interfaces with live values") {
    raw_world in({});
    CHECK(value(in, "num_all_eps") == "1");
    const std::string ep = only_folder(in, "ep");
    CHECK(value(in, ep + "/state") == "ready");
    CHECK(value(in, ep + "/failure") == "Success");
    CHECK(value(in, ep + "/error_mode") == "none");
    CHECK(value(in, ep + "/peer_name") == in.ep().remote().identity().worker_name());
    const std::string iface = only_folder(in, "iface");
    CHECK(value(in, iface + "/transport") == "sim");
    CHECK(std::stoul(value(in, iface + "/capability/am/max_short")) > 0);
    CHECK(value(in, iface + "/capability/flag/am_short") == "y");

    std::vector<std::byte> data(100);
    completion_record sent;
    completion_record received;
    REQUIRE(
        UCS_PTR_IS_PTR(ucp_tag_send_sync_nbx(in.ep_handle(), data.data(), 100, 1, sent.on_send())));
    CHECK(value(in, ep + "/pending_sends") == "1");
    void* posted = ucp_tag_recv_nbx(in.worker_handle(), data.data(), 100, 7, 7, received.on_recv());
    REQUIRE(UCS_PTR_IS_PTR(posted));
    CHECK(value(in, "expected") == "1");
    CHECK(value(in, "requests") == "2");
    in.deliver(ucp::wire::eager_only, ucp::wire::eager_only_header{8}, data);
    CHECK(value(in, "unexpected") == "1");
    CHECK(value(in, "unexpected_bytes") == memory_of(1));
    const std::string shown = only_folder(only_folder("ucp/context") + "/worker");
    CHECK(*vfs::read(shown + "/thread_mode") == "single");
    CHECK(*vfs::read(shown + "/counters/stored_messages") == "1\n");
    CHECK(*vfs::read(shown + "/counters/ep_creations") == "1\n");
    CHECK(*vfs::read(shown + "/counters/reads") == "0\n");

    in.close_by_force();
    in.peer_closes();
    CHECK(value(in, "num_all_eps") == "0");
    CHECK(*vfs::read(shown + "/counters/ep_closures") == "1\n");
    CHECK(ask(in, vfs::verb::read, ep + "/state").status == UCS_ERR_NO_ELEM);
    ucp_request_cancel(in.worker_handle(), posted);
    CHECK(value(in, "requests") == "0");
    in.worker.reset();
    in.context.reset();
    CHECK(!vfs::list(shown));
}

TEST_CASE("taking stored messages gives their bytes back") {
    raw_world in({});
    std::vector<std::byte> data(100);
    for (int i = 0; i < 3; ++i)
        in.peer.send(ucp::wire::eager_only, ucp::wire::eager_only_header{8}, data);
    in.settle();
    CHECK(value(in, "unexpected_bytes") == memory_of(3));
    completion_record received;
    (void)ucp_tag_recv_nbx(in.worker_handle(), data.data(), 100, 8, 8, received.on_recv());
    CHECK(value(in, "unexpected_bytes") == memory_of(2));
    ucp_tag_recv_info_t info;
    ucp_tag_message_h taken = ucp_tag_probe_nb(in.worker_handle(), 8, 8, 1, &info);
    REQUIRE(taken != nullptr);
    CHECK(value(in, "unexpected") == "1");
    CHECK(value(in, "unexpected_bytes") == memory_of(2));  // the taken message still counts
    (void)ucp_tag_msg_recv_nbx(in.worker_handle(), data.data(), 100, taken, received.on_recv());
    CHECK(value(in, "unexpected_bytes") == memory_of(1));
    in.settle();
}

TEST_CASE("an endpoint shows its lanes with their traffic") {
    raw_world in({});
    const std::string ep = only_folder(in, "ep");
    const std::string lane = ep + "/lane/0";
    CHECK(value(in, lane + "/transport") == "sim");
    CHECK(value(in, lane + "/role") == "am");
    CHECK(value(in, ep + "/lane/1/role") == "rma");
    CHECK(value(in, ep + "/lane/1/operations") == "0");
    const auto operations = [&] { return std::stoul(value(in, lane + "/operations")); };
    const auto bytes = [&] { return std::stoul(value(in, lane + "/bytes")); };
    const unsigned long operations_before = operations();
    const unsigned long bytes_before = bytes();
    const std::vector<std::byte> data(100);
    for (int i = 0; i < 3; ++i) {
        CHECK(ucp_tag_send_nbx(in.ep_handle(), data.data(), 20, 1, &plain) == nullptr);
        in.settle();
    }
    CHECK(operations() == operations_before + 3);
    CHECK(bytes() == bytes_before + 3 * (20 + sizeof(ucp::wire::eager_only_header)));
    CHECK(value(in, lane + "/queued") == "0");
}

TEST_CASE("the parts of an endpoint's info text are files") {
    raw_world in({});
    const std::string ep = only_folder(in, "ep");
    const std::string page = ucp::wireup::explain(in.ep());
    CHECK(value(in, ep + "/info") + "\n" == page);
    for (const char* part : {"lanes", "transports", "protocols"}) {
        CAPTURE(part);
        const std::string text = value(in, ep + "/" + part);
        CHECK(text.size() > 20);
        CHECK(page.find(text) != std::string::npos);
    }
    CHECK(value(in, ep + "/transports").find("Why these transports") != std::string::npos);
    CHECK(value(in, ep + "/protocols").find("predicted") != std::string::npos);
}

TEST_CASE("transports of a worker are also found under uct") {
    raw_world in({});
    const std::string link = only_folder("uct/worker") + "/iface";
    const vfs::answer got = vfs::ask({vfs::verb::stat, link, {}});
    REQUIRE(got.status == UCS_OK);
    CHECK(got.items.front().target.starts_with("../../../ucp/context/"));
    CHECK(got.items.front().target.ends_with("/iface"));
}

TEST_CASE("other threads read a worker while it works, until it is destroyed") {
    raw_world in({});
    const std::string shown = only_folder(only_folder("ucp/context") + "/worker");
    std::atomic<int> answers{0};
    std::atomic<bool> ending{false};
    std::thread reader([&] {
        while (!ending) {
            const auto text = vfs::read(shown + "/info");
            if (text && text->find("UCP worker") != std::string::npos) ++answers;
            (void)vfs::list(shown + "/ep");
            (void)vfs::read(shown + "/counters/ep_creations");
        }
    });
    const std::vector<std::byte> data(100);
    // The peer receives nothing: its messages stay, and describing the worker takes longer and
    // longer.
    for (unsigned left = 1000; answers<10; left -= left> 0 ? 1 : 0) {
        if (left > 0) {
            void* const one = ucp_tag_send_nbx(in.ep_handle(), data.data(), 20, 1, &plain);
            if (UCS_PTR_IS_PTR(one)) ucp_request_free(one);
        }
        in.settle();
        in.network.advance(20 * ucs::time::microsecond);  // descriptors are polled now and then
    }
    in.worker.reset();
    in.context.reset();
    ending = true;
    reader.join();
    CHECK(!vfs::list(shown));
}

TEST_CASE(
    "a worker shows the handlers of its active messages and the messages that the program keeps") {
    raw_world in({});
    CHECK(value(in, "am/handlers").empty());
    CHECK(value(in, "am/kept") == "0");
    void* kept = nullptr;
    const ucp::am_handler keeps{
        .call = [](void* arg, const void*, std::size_t, void* data, std::size_t,
                   const ucp_am_recv_param_t*) -> ucs_status_t {
            *static_cast<void**>(arg) = data;
            return UCS_INPROGRESS;
        },
        .arg = &kept,
        .persistent = true};
    slot_of<ucp::am_receiver>(*in.worker).set_handler(5, keeps);
    slot_of<ucp::am_receiver>(*in.worker)
        .set_handler(40'000, {.call = keeps.call, .arg = &kept, .whole = true});
    CHECK(value(in, "am/handlers") == "5 persistent data\n40000 whole messages");

    in.deliver(ucp::wire::am_only, ucp::wire::to_bits({5, 0, 0}), std::vector<std::byte>(20));
    REQUIRE(kept != nullptr);
    CHECK(value(in, "am/kept") == "1");
    CHECK(value(in, "am/kept_bytes") == "20");
    CHECK(value(in, "am/kept_announced") == "0");
    ucp_am_data_release(in.worker_handle(), kept);
    CHECK(value(in, "am/kept") == "0");

    in.deliver(ucp::wire::am_rts,
               ucp::wire::rts_header{ucp::wire::to_bits({5, 0, 0}), 1000, in.ep_id(), 9, 0, 0});
    CHECK(value(in, "am/kept_announced") == "1");
    CHECK(value(in, "am/kept_bytes") == "0");
    ucp_am_data_release(in.worker_handle(), kept);
    slot_of<ucp::am_receiver>(*in.worker).set_handler(5, {});
    slot_of<ucp::am_receiver>(*in.worker).set_handler(40'000, {});
    CHECK(value(in, "am/handlers").empty());
}

TEST_CASE("an endpoint that is used as a stream shows it") {
    raw_world in({});
    const std::string ep = only_folder(in, "ep");
    CHECK(ask(in, vfs::verb::list, ep + "/stream").status == UCS_ERR_NO_ELEM);
    in.deliver(ucp::wire::stream_data, in.ep_id(), std::vector<std::byte>(100));
    const std::string stream = ep + "/stream";
    CHECK(value(in, stream + "/stored") == "100");
    CHECK(value(in, stream + "/received") == "100");
    CHECK(value(in, stream + "/taken") == "0");
    const auto window = std::to_string(ucp::wire::first_stream_window);
    CHECK(value(in, stream + "/may_send") == window);
    CHECK(std::stoul(value(in, stream + "/window")) >= 100);

    std::size_t length = 0;
    void* const piece = ucp_stream_recv_data_nb(in.ep_handle(), &length);
    REQUIRE(length == 100);
    CHECK(value(in, stream + "/stored") == "0");
    CHECK(value(in, stream + "/handed_out") == "1");
    ucp_stream_data_release(in.ep_handle(), piece);
    CHECK(value(in, stream + "/handed_out") == "0");
    CHECK(value(in, stream + "/taken") == "100");

    std::vector<std::byte> data(ucp::wire::first_stream_window);
    const ucs_status_ptr_t receive =
        ucp_stream_recv_nbx(in.ep_handle(), data.data(), 10, &length, &plain);
    CHECK(value(in, stream + "/pending_receives") == "1");
    const ucs_status_ptr_t first =
        ucp_stream_send_nbx(in.ep_handle(), data.data(), data.size(), &plain);
    in.settle();
    CHECK(value(in, stream + "/may_send") == "0");
    CHECK(value(in, stream + "/sent") == window);
    const ucs_status_ptr_t second = ucp_stream_send_nbx(in.ep_handle(), data.data(), 1, &plain);
    CHECK(value(in, stream + "/blocked_sends") == "1");
    in.close_by_force();
    for (const ucs_status_ptr_t each : {receive, first, second})
        if (UCS_PTR_IS_PTR(each)) ucp_request_free(each);
}

TEST_CASE("a worker shows its listeners and their waiting clients") {
    raw_world in({});
    CHECK(ask(in, vfs::verb::list, "listener").items.empty());
    ucp::cm::listener_params params;
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    params.address = {reinterpret_cast<const sockaddr*>(&any), sizeof any};
    int offered = 0;
    params.on_request = {[](ucp_conn_request_h, void* arg) { ++*static_cast<int*>(arg); },
                         &offered};
    auto opened = ucp::cm::listener::open(ucp::cm::manager_of(*in.worker), params);
    REQUIRE(opened.ok());
    const ucp::cm::listener& listener = **opened;
    ucp::cm::manager_of(*in.worker).add(std::move(*opened));
    const std::string folder = only_folder(in, "listener");
    CHECK(value(in, folder + "/address") == listener.address().text());
    CHECK(value(in, folder + "/accepted") == "0");

    const ucs::unique_fd silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(silent.get(), listener.address().data(), listener.address().size()) == 0);
    for (unsigned turn = 0; turn < 100'000 && value(in, folder + "/silent") != "1"; ++turn)
        in.worker->events().poll(1);
    CHECK(value(in, folder + "/silent") == "1");
    CHECK(value(in, folder + "/accepted") == "1");
    CHECK(value(in, folder + "/waiting") == "0");
    CHECK(value(in, folder + "/told") == "0");
    ucp::cm::manager_of(*in.worker).remove(listener);
    CHECK(ask(in, vfs::verb::list, "listener").items.empty());
}
