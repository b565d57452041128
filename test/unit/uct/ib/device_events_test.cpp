#include "uct/ib/base/device/device_events.hpp"

#include <poll.h>

#include <catch2/catch.hpp>
#include <thread>

using namespace uct::ib;

namespace {

bool readable(int fd) {
    pollfd one{fd, POLLIN, 0};
    return ::poll(&one, 1, 0) == 1;
}

}  // namespace

TEST_CASE("events of a device have a scope") {
    CHECK(scope_of(IBV_EVENT_DEVICE_FATAL) == event_scope::device);
    CHECK(scope_of(IBV_EVENT_PORT_ERR) == event_scope::port);
    CHECK(scope_of(IBV_EVENT_GID_CHANGE) == event_scope::port);
    CHECK(scope_of(IBV_EVENT_QP_ACCESS_ERR) == event_scope::pair);
    CHECK(scope_of(IBV_EVENT_SRQ_LIMIT_REACHED) == event_scope::receive_queue);
    CHECK(scope_of(IBV_EVENT_CQ_ERR) == event_scope::completion_queue);
    CHECK(scope_of(IBV_EVENT_WQ_FATAL) == event_scope::other);
}

TEST_CASE("an event requires an action, or none") {
    using action = event_meaning::action;
    struct row {
        ibv_event_type type;
        event_meaning meaning;
    };
    const row table[] = {
        {IBV_EVENT_CQ_ERR, {action::abandon_all, UCS_ERR_IO_ERROR}},
        {IBV_EVENT_QP_FATAL, {action::fail_pair, UCS_ERR_IO_ERROR}},
        {IBV_EVENT_QP_REQ_ERR, {action::fail_pair, UCS_ERR_REJECTED}},
        {IBV_EVENT_QP_ACCESS_ERR, {action::fail_pair, UCS_ERR_REJECTED}},
        {IBV_EVENT_COMM_EST, {}},
        {IBV_EVENT_SQ_DRAINED, {}},
        {IBV_EVENT_PATH_MIG, {}},
        {IBV_EVENT_PATH_MIG_ERR, {}},
        {IBV_EVENT_DEVICE_FATAL, {action::abandon_all, UCS_ERR_IO_ERROR}},
        {IBV_EVENT_PORT_ACTIVE, {action::port_up}},
        {IBV_EVENT_PORT_ERR, {action::port_down}},
        {IBV_EVENT_LID_CHANGE, {}},
        {IBV_EVENT_PKEY_CHANGE, {}},
        {IBV_EVENT_SM_CHANGE, {}},
        {IBV_EVENT_SRQ_ERR, {action::fail_all, UCS_ERR_IO_ERROR}},
        {IBV_EVENT_SRQ_LIMIT_REACHED, {action::refill}},
        {IBV_EVENT_QP_LAST_WQE_REACHED, {}},
        {IBV_EVENT_CLIENT_REREGISTER, {}},
        {IBV_EVENT_GID_CHANGE, {}},
        {IBV_EVENT_WQ_FATAL, {}},
    };
    for (const row& each : table) {
        CAPTURE(static_cast<int>(each.type));
        CHECK(meaning_of(each.type) == each.meaning);
    }
}

TEST_CASE("an inbox is readable while it holds events, and returns each once, in order") {
    auto inbox = event_inbox::create();
    REQUIRE(inbox.ok());
    CHECK_FALSE(readable((*inbox)->fd()));
    (*inbox)->put({.type = IBV_EVENT_PORT_ERR, .port = 1});
    (*inbox)->put({.type = IBV_EVENT_QP_FATAL, .qp_number = 7});
    CHECK(readable((*inbox)->fd()));
    const auto events = (*inbox)->take();
    REQUIRE(events.size() == 2);
    CHECK(events[0].port == 1);
    CHECK(events[1].qp_number == 7);
    CHECK_FALSE(readable((*inbox)->fd()));
    CHECK((*inbox)->take().empty());
}

TEST_CASE("events may be put by any thread while the owner takes them") {
    auto inbox = event_inbox::create();
    REQUIRE(inbox.ok());
    constexpr unsigned count = 2000;
    const auto put = [&] {
        for (unsigned i = 0; i < count; ++i)
            (*inbox)->put({.type = IBV_EVENT_PORT_ERR});
    };
    std::thread first(put), second(put);
    std::size_t taken = 0;
    while (taken < 2 * count)
        taken += (*inbox)->take().size();
    first.join();
    second.join();
    CHECK(taken == 2 * count);
}
