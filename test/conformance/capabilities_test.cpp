// Conformance: an interface has the features of its flags and limits, and refuses others.
#include "test/conformance/support/suite.hpp"
#include "test/support/vfs_text.hpp"

namespace conformance {

namespace {

std::size_t pack_nothing(void* arg, void*, std::size_t) {
    ++*static_cast<unsigned*>(arg);
    return 0;
}

}  // namespace

CONFORMANCE_CASE(flags_match, "operations that are not flagged are refused as unsupported",
                 needs::nothing) {
    const auto via = a.connect(b);
    std::uint64_t word = 0;
    uct::iov piece{&word, sizeof word};
    counted done;
    unsigned packed = 0;
    if (!a.attr().ops.has(uct::op::am_short)) {
        CHECK(via->am_short(0, 1, nullptr, 0) == UCS_ERR_UNSUPPORTED);
    }
    if (!a.attr().ops.has(uct::op::am_bcopy)) {
        CHECK(via->am_bcopy(0, pack_nothing, &packed) == UCS_ERR_UNSUPPORTED);
        CHECK(packed == 0);
    }
    if (!a.attr().ops.has(uct::op::am_zcopy)) {
        CHECK(via->am_zcopy(0, {}, {&piece, 1}, &done) == UCS_ERR_UNSUPPORTED);
    }
    const auto address = reinterpret_cast<std::uintptr_t>(&word);
    if (!a.attr().ops.has(uct::op::get_zcopy)) {
        CHECK(via->get_zcopy({&piece, 1}, {address}, &done) == UCS_ERR_UNSUPPORTED);
    }
    if (!a.attr().ops.has(uct::op::put_zcopy)) {
        CHECK(via->put_zcopy({&piece, 1}, {address}, &done) == UCS_ERR_UNSUPPORTED);
    }
    if (!a.attr().ops.has(uct::op::atomic)) {
        CHECK(via->atomic({uct::atomic_kind::add, 8, 1, 0}, {address}, &word, &done) ==
              UCS_ERR_UNSUPPORTED);
    }
    if (!a.attr().ops.has(uct::op::put_short)) {
        CHECK(via->put_short(&word, sizeof word, {address}) == UCS_ERR_UNSUPPORTED);
    }
    if (!a.attr().ops.has(uct::op::put_bcopy)) {
        CHECK(via->put_bcopy(pack_nothing, &packed, {address}) == UCS_ERR_UNSUPPORTED);
        CHECK(packed == 0);
    }
    if (!a.attr().ops.has(uct::op::get_bcopy)) {
        CHECK(via->get_bcopy(&word, sizeof word, {address}, &done) == UCS_ERR_UNSUPPORTED);
    }
    CHECK(a.attr().ops.bits != 0);
    net.settle();
    CHECK(done.calls == 0);
}

CONFORMANCE_CASE(limits, "limits belong to flagged operations and make sense together",
                 needs::nothing) {
    const uct::iface_attr& attr = a.attr();
    if (attr.ops.has(uct::op::am_bcopy)) CHECK(attr.max_bcopy >= 64);
    if (attr.ops.has(uct::op::am_zcopy)) {
        CHECK(attr.max_iov >= 1);
        CHECK(attr.max_zcopy > attr.max_zcopy_header);
    }
    const bool rma = attr.ops.has(uct::op::get_zcopy) || attr.ops.has(uct::op::put_zcopy);
    if (rma) {
        CHECK(attr.max_iov >= 1);
        CHECK(attr.max_rma >= 4096);
    }
    for (const auto* kinds : {&attr.atomics.words32, &attr.atomics.words64}) {
        // Every operation without a result also exists with a result.
        CHECK((kinds->posted.bits & ~kinds->fetching.bits) == 0);
        if (!attr.ops.has(uct::op::atomic)) CHECK(kinds->fetching.bits == 0);
    }
    if (attr.ops.has(uct::op::atomic)) CHECK(attr.atomics.words64.fetching.bits != 0);
    CHECK(attr.address_length > 0);
    CHECK(attr.address_length <= 256);
    CHECK(attr.latency > 0);
    CHECK(attr.bandwidth > 0);
    CHECK(attr.overhead >= 0);
}

CONFORMANCE_CASE(flagged_work, "each flagged message operation carries a message to its handler",
                 needs::messages) {
    const auto via = a.connect(b);
    std::uint32_t number = 0;
    for (const uct::op which : message_ops(a.attr())) {
        const bytes message = make_message({1, number++}, 24);
        const auto id = static_cast<uct::am_id>(number % side::recorded_ids);
        REQUIRE(out.send(a, *via, which, id, message));
        REQUIRE(net.run_until([&] { return b.inbox.size() == number && out.all_ended(); }));
        CHECK(b.inbox.back().data == message);
        CHECK(b.inbox.back().id == id);
    }
    CHECK(out.each_called_once());
}

CONFORMANCE_CASE(description, "interfaces and endpoints describe themselves and name the peer",
                 needs::nothing) {
    const auto via = a.connect(b);
    CHECK_FALSE(via->peer_name().empty());
    ucs::vfs::directory of_iface;
    a.iface().describe(of_iface);
    CHECK_FALSE(of_iface.entries().empty());
    ucs::vfs::directory of_ep;
    via->describe(of_ep);
    CHECK_FALSE(of_ep.entries().empty());
    if (a.attr().ops.has(uct::op::atomic)) {
        const ucs::vfs::directory words =
            test::folder_of(test::folder_of(of_iface, "capability"), "atomic64");
        REQUIRE(words.entries().size() == 2);
        CHECK(words.entries()[1].read() == names_of(a.attr().atomics.words64.fetching));
    }
    for (const ucs::vfs::directory::entry& each : of_ep.entries()) {
        if (each.read) CHECK_FALSE(each.read().empty());
    }
}

}  // namespace conformance
