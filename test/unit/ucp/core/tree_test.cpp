// What a worker and its endpoints show of themselves in the object tree.
#include <algorithm>
#include <catch2/catch.hpp>

#include "test/unit/ucp/support/raw_peer.hpp"
#include "ucs/vfs/directory.hpp"

namespace {

using namespace ucp_test;

std::string value(const std::string& path) {
    const auto text = ucs::vfs::read(path);
    CAPTURE(path);
    REQUIRE(text);
    return text->ends_with('\n') ? text->substr(0, text->size() - 1) : *text;
}

std::string only_folder(const std::string& path) {
    const auto names = ucs::vfs::list(path);
    CAPTURE(path);
    REQUIRE(names);
    REQUIRE(names->size() == 1);
    return path + "/" + names->front().substr(0, names->front().size() - 1);
}

}  // namespace

TEST_CASE("a context shows its workers, endpoints and interfaces with live values") {
    raw_world in({});
    const std::string worker = only_folder(only_folder("ucp/context") + "/worker");
    CHECK(value(worker + "/thread_mode") == "single");
    CHECK(value(worker + "/num_all_eps") == "1");
    const std::string ep = only_folder(worker + "/ep");
    CHECK(value(ep + "/state") == "ready");
    CHECK(value(ep + "/error_mode") == "none");
    CHECK(value(ep + "/peer_name") == in.ep().remote().peer_name());
    CHECK(value(ep + "/info").find("Why these transports") != std::string::npos);
    const std::string iface = only_folder(worker + "/iface");
    CHECK(value(iface + "/transport") == "sim");

    std::vector<std::byte> data(100);
    told sent;
    told received;
    const ucp_request_param_t on_send = sent.on_send();
    const ucp_request_param_t on_recv = received.on_recv();
    REQUIRE(UCS_PTR_IS_PTR(ucp_tag_send_sync_nbx(in.ep_handle(), data.data(), 100, 1, &on_send)));
    CHECK(value(ep + "/pending_sends") == "1");
    void* posted = ucp_tag_recv_nbx(in.worker_handle(), data.data(), 100, 7, 7, &on_recv);
    REQUIRE(UCS_PTR_IS_PTR(posted));
    CHECK(value(worker + "/expected") == "1");
    CHECK(value(worker + "/requests") == "2");
    in.peer.send(ucp::wire::eager_only, ucp::wire::eager_only_header{8}, data);
    in.settle();
    CHECK(value(worker + "/unexpected") == "1");
    CHECK(value(worker + "/counters/stored_messages") == "1");
    CHECK(value(worker + "/counters/endpoints") == "1");
    CHECK(value(worker + "/counters/reads") == "0");

    in.close_by_force();
    in.peer_closes();
    CHECK(value(worker + "/num_all_eps") == "0");
    CHECK(!ucs::vfs::read(ep + "/state"));
    ucp_request_cancel(in.worker_handle(), posted);
    CHECK(value(worker + "/requests") == "0");
    in.worker.reset();
    in.context.reset();
    CHECK(!ucs::vfs::list(worker));
}
