// Conformance: flushes and completions are reported exactly once, and not too early.
#include "test/conformance/support/suite.hpp"

namespace conformance {

CONFORMANCE_CASE(flush_idle, "flush of an idle endpoint ends at once or completes once",
                 needs::nothing) {
    counted done;
    const auto via = a.connect(b);
    const ucs_status_t status = via->flush(&done);
    REQUIRE((status == UCS_OK || status == UCS_INPROGRESS));
    if (status == UCS_INPROGRESS) REQUIRE(net.run_until([&] { return done.calls > 0; }));
    net.settle();
    CHECK(done.calls == (status == UCS_INPROGRESS ? 1U : 0U));
}

CONFORMANCE_CASE(flush_waits, "flush ends after every operation before it", needs::messages) {
    std::vector<std::unique_ptr<counted>> flushes;
    std::vector<std::unique_ptr<outgoing>> messages;
    const auto via = a.connect(b);
    constexpr std::uint32_t count = 60;
    for (std::uint32_t i = 0; i < count; ++i) {
        const uct::op which = ops[i % ops.size()];
        const std::size_t size = std::min<std::size_t>(lengths(a.attr(), which).max, 3000);
        messages.push_back(std::make_unique<outgoing>(which, 1, make_message({1, i}, size)));
        REQUIRE(net.run_until([&] { return messages[i]->post(*via, a.attr()) == UCS_OK; }));
        if (i % 7 != 0) continue;
        auto done = std::make_unique<counted>();
        const ucs_status_t status = via->flush(done.get());
        REQUIRE((status == UCS_OK || status == UCS_INPROGRESS));
        if (status == UCS_OK) {
            for (const auto& message : messages)
                CHECK(message->ended());
        } else {
            flushes.push_back(std::move(done));
        }
    }
    REQUIRE(net.run_until([&] {
        for (const auto& done : flushes) {
            if (done->calls == 0) return false;
        }
        return true;
    }));
    REQUIRE(net.run_until([&] { return b.inbox.size() == count; }));
    net.settle();
    for (const auto& done : flushes) {
        CHECK(done->calls == 1);
        CHECK(done->result == UCS_OK);
    }
}

CONFORMANCE_CASE(shared_completion, "one completion counts several operations", needs::am_zcopy) {
    counted done;
    constexpr std::uint32_t count = 12;
    std::vector<bytes> buffers;
    const auto via = a.connect(b);
    for (std::uint32_t i = 0; i < count; ++i)
        buffers.push_back(make_message({1, i}, 500));
    for (bytes& buffer : buffers) {
        const uct::iov piece{buffer.data(), buffer.size()};
        ucs_status_t status = UCS_OK;
        REQUIRE(net.run_until([&] {
            ++done.count;
            status = via->am_zcopy(1, {}, {&piece, 1}, &done);
            if (status != UCS_INPROGRESS) --done.count;
            return status != UCS_ERR_NO_RESOURCE;
        }));
        REQUIRE((status == UCS_OK || status == UCS_INPROGRESS));
    }
    CHECK(done.calls == 0);
    REQUIRE(net.run_until([&] { return b.inbox.size() == count && done.count == 1; }));
    CHECK(done.calls == 0);
    done.finish(UCS_OK);
    CHECK(done.calls == 1);
}

namespace {

// A completion that posts the next message.
struct chain : uct::completion {
    explicit chain(uct::ep& e) : uct::completion{.done = next}, via(e) {}

    void post() {
        buffer = make_message({1, number}, 100);
        const uct::iov piece{buffer.data(), buffer.size()};
        const ucs_status_t posted = via.am_zcopy(1, {}, {&piece, 1}, this);
        waits = posted == UCS_ERR_NO_RESOURCE;
        if (waits) return;
        ++number;
        at_once = posted == UCS_OK;
    }
    static void next(uct::completion& c) {
        auto& self = static_cast<chain&>(c);
        self.count = 1;
        if (self.number < limit) self.post();
    }

    static constexpr std::uint32_t limit = 30;
    uct::ep& via;
    bytes buffer;
    std::uint32_t number = 0;
    bool at_once = false;
    bool waits = false;
};

}  // namespace

CONFORMANCE_CASE(completion_posts, "a completion may post the next operation", needs::am_zcopy) {
    const auto via = a.connect(b);
    chain link(*via);
    link.waits = true;
    REQUIRE(net.run_until([&] {
        if ((link.waits || link.at_once) && link.number < chain::limit) {
            link.at_once = false;
            link.post();
        }
        return b.inbox.size() == chain::limit;
    }));
    for (std::uint32_t i = 0; i < chain::limit; ++i)
        CHECK(b.inbox[i].data == make_message({1, i}, 100));
    net.settle();
    CHECK(link.number == chain::limit);
}

}  // namespace conformance
