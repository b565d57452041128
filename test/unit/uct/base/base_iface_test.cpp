#include "uct/base/base_iface.hpp"

#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"

namespace {

class fake_ep final : public uct::base_ep {
public:
    using base_ep::base_ep;
    using base_ep::must_queue;
    std::string peer_name() const override { return "nobody"; }
};

// Makes the protected functions of the base accessible.
class fake_iface final : public uct::base_iface {
public:
    using base_iface::base_iface;
    using base_iface::deliver;
    using base_iface::dispatch_waiting;
    using base_iface::note_failure;
    using base_iface::report_failures;
    unsigned progress() override { return 0; }
    void pack_address(std::span<std::byte>) const override {}
    uct::reachability check_reachable(std::span<const std::byte>) const override { return {}; }
    ucs::result<std::unique_ptr<uct::ep>> create_ep(std::span<const std::byte>) override {
        return std::unique_ptr<uct::ep>(std::make_unique<fake_ep>(*this));
    }
};

struct fixture {
    fixture()
        : events(std::move(*ucs::async::event_loop::create())),
          config(ucs::config::source::empty()),
          iface({.transport = "fake", .device = "none"},
                {.events = *events, .config = config, .worker_uid = 1}) {}
    std::unique_ptr<ucs::async::event_loop> events;
    ucs::config::source config;
    fake_iface iface;
};

// Records its number when it is progressed, and refuses as often as configured.
struct waiting : uct::pending_request {
    waiting(std::vector<int>& l, int n, unsigned refuse = 0)
        : uct::pending_request{.progress = run, .pending_hook = {}},
          log(l),
          number(n),
          refusals(refuse) {}
    static ucs_status_t run(uct::pending_request& request) {
        auto& self = static_cast<waiting&>(request);
        if (self.refusals > 0) {
            --self.refusals;
            return UCS_ERR_NO_RESOURCE;
        }
        self.log.push_back(self.number);
        return UCS_OK;
    }
    std::vector<int>& log;
    int number;
    unsigned refusals;
};

}  // namespace

TEST_CASE("queued sends of an endpoint are sent in order, a refused one stays first") {
    fixture f;
    fake_ep ep(f.iface);
    std::vector<int> log;
    waiting first(log, 1, 2);
    waiting second(log, 2);
    CHECK_FALSE(ep.must_queue());
    ep.pending_add(first);
    ep.pending_add(second);
    CHECK(ep.must_queue());
    CHECK(f.iface.dispatch_waiting() == 0);
    CHECK(f.iface.dispatch_waiting() == 0);
    CHECK(log.empty());
    CHECK(ep.must_queue());
    CHECK(f.iface.dispatch_waiting() == 2);
    CHECK(log == std::vector<int>{1, 2});
    CHECK_FALSE(ep.must_queue());
    CHECK(f.iface.dispatch_waiting() == 0);
}

TEST_CASE("endpoints that wait take turns") {
    fixture f;
    fake_ep a(f.iface);
    fake_ep b(f.iface);
    std::vector<int> log;
    waiting stuck(log, 1, 1000);
    waiting free(log, 2);
    a.pending_add(stuck);
    b.pending_add(free);
    CHECK(f.iface.dispatch_waiting() == 1);
    CHECK(log == std::vector<int>{2});
    a.pending_purge([](uct::pending_request&, void*) {}, nullptr);
}

TEST_CASE("an endpoint may be destroyed while another one's queue is dispatched") {
    fixture f;
    auto a = std::make_unique<fake_ep>(f.iface);
    auto b = std::make_unique<fake_ep>(f.iface);
    struct destroyer : uct::pending_request {
        std::unique_ptr<fake_ep>* victim = nullptr;
    } request;
    request.progress = [](uct::pending_request& r) {
        auto& victim = *static_cast<destroyer&>(r).victim;
        victim->pending_purge([](uct::pending_request&, void*) {}, nullptr);
        victim.reset();
        return UCS_OK;
    };
    request.victim = &b;
    std::vector<int> log;
    waiting never(log, 1);
    a->pending_add(request);
    b->pending_add(never);
    CHECK(f.iface.dispatch_waiting() == 1);
    CHECK(b == nullptr);
    CHECK(log.empty());
}

TEST_CASE("a purge returns every request, and requests queued by it stay") {
    fixture f;
    fake_ep ep(f.iface);
    std::vector<int> log;
    waiting first(log, 1);
    waiting second(log, 2);
    ep.pending_add(first);
    ep.pending_add(second);
    ep.pending_purge([](uct::pending_request& request,
                        void* arg) { static_cast<fake_ep*>(arg)->pending_add(request); },
                     &ep);
    CHECK(ep.must_queue());
    CHECK(f.iface.dispatch_waiting() == 2);
    CHECK(log == std::vector<int>{1, 2});
}

TEST_CASE("a failure is reported once, and not for an endpoint that was destroyed before") {
    fixture f;
    std::vector<std::pair<uct::ep*, ucs_status_t>> told;
    f.iface.set_error_handler({.failed =
                                   [](void* arg, uct::ep& which, ucs_status_t status) {
                                       static_cast<decltype(told)*>(arg)->emplace_back(&which,
                                                                                       status);
                                   },
                               .arg = &told});
    fake_ep ep(f.iface);
    auto gone = std::make_unique<fake_ep>(f.iface);
    f.iface.note_failure(ep, UCS_ERR_CONNECTION_RESET);
    f.iface.note_failure(*gone, UCS_ERR_TIMED_OUT);
    gone.reset();
    CHECK(told.empty());
    CHECK(f.iface.report_failures() == 1);
    f.iface.note_failure(ep, UCS_ERR_TIMED_OUT);
    CHECK(f.iface.report_failures() == 0);
    REQUIRE(told.size() == 1);
    CHECK(told.front().first == &ep);
    CHECK(told.front().second == UCS_ERR_CONNECTION_RESET);
}

TEST_CASE("a message without handler is dropped with a line, also after its handler was removed") {
    fixture f;
    test::log_capture log;
    unsigned taken = 0;
    f.iface.deliver(3, nullptr, 0);
    CHECK(log.count("without handler") == 1);
    const auto count = [](void* arg, void*, std::size_t) { ++*static_cast<unsigned*>(arg); };
    f.iface.set_am_handler(3, {.deliver = count, .arg = &taken});
    f.iface.deliver(3, nullptr, 0);
    CHECK(taken == 1);
    f.iface.set_am_handler(3, {});
    f.iface.deliver(3, nullptr, 0);
    // An id from a peer may have any value.
    f.iface.deliver(0xff, nullptr, 0);
    CHECK(taken == 1);
    CHECK(log.count("without handler") == 3);
}
