// Conformance: every byte of a message arrives, for all sizes and pieces.
#include <sys/mman.h>

#include <set>

#include "test/conformance/support/suite.hpp"
#include "ucs/memory/mapped.hpp"

namespace conformance {

namespace {

// Returns all small sizes, the powers of two with their neighbours, and the largest size.
std::set<std::size_t> interesting(length_range range) {
    std::set<std::size_t> sizes{range.min, range.max};
    for (std::size_t size = range.min; size <= std::min<std::size_t>(range.max, 80); ++size)
        sizes.insert(size);
    for (std::size_t power = 64; power / 2 <= range.max; power *= 2) {
        for (const std::size_t size : {power - 1, power, power + 1, power + header_size}) {
            if (size >= range.min && size <= range.max) sizes.insert(size);
        }
    }
    if (range.max > 9) sizes.insert({range.max - 1, range.max - 7});
    return sizes;
}

void check_sizes(network& net, uct::op which) {
    side& a = net.at(0);
    side& b = net.at(1);
    sender out(net);
    const auto via = a.connect(b);
    std::uint32_t number = 0;
    for (const std::size_t size : interesting(lengths(a.attr(), which))) {
        CAPTURE(size);
        const bytes message = make_message({7, number++}, size);
        REQUIRE(out.send(a, *via, which, 1, message));
        REQUIRE(net.run_until([&] { return b.inbox.size() == number && out.all_ended(); }));
        // No CHECK(a == b), because Catch would print megabytes.
        const bool same = b.inbox.back().data == message;
        CHECK(same);
        CHECK(b.inbox.back().aligned);
        b.inbox.back().data.clear();
    }
    CHECK(out.each_called_once());
}

}  // namespace

CONFORMANCE_CASE(short_sizes, "am_short carries every size whole and aligned", needs::am_short) {
    check_sizes(net, uct::op::am_short);
}

CONFORMANCE_CASE(bcopy_sizes, "am_bcopy carries every size whole and aligned", needs::am_bcopy) {
    check_sizes(net, uct::op::am_bcopy);
}

CONFORMANCE_CASE(zcopy_sizes, "am_zcopy carries every size whole and aligned", needs::am_zcopy) {
    check_sizes(net, uct::op::am_zcopy);
}

CONFORMANCE_CASE(tiny_bcopy, "am_bcopy carries messages shorter than any header", needs::am_bcopy) {
    const auto via = a.connect(b);
    for (std::size_t size = 0; size < header_size; ++size) {
        const bytes message = make_message({0x01020304, 0x05060708}, size);
        REQUIRE(out.send(a, *via, uct::op::am_bcopy, 2, message));
        REQUIRE(net.run_until([&] { return b.inbox.size() == size + 1; }));
        CHECK(b.inbox.back().data == message);
    }
}

CONFORMANCE_CASE(zcopy_cuts, "am_zcopy joins any header and any pieces to one message",
                 needs::am_zcopy) {
    const uct::iface_attr& limits = a.attr();
    const auto via = a.connect(b);
    std::uint32_t number = 0;
    for (std::size_t header = 0; header <= limits.max_zcopy_header;
         header += 1 + limits.max_zcopy_header / 16) {
        for (std::size_t pieces = 0; pieces <= std::min<std::size_t>(limits.max_iov, 5); ++pieces) {
            CAPTURE(header, pieces);
            const std::size_t each = 13;
            bytes message = make_message({9, number++}, header + pieces * each);
            if (message.size() < header_size) continue;
            std::vector<uct::iov> cut;
            for (std::size_t i = 0; i < pieces; ++i)
                cut.push_back({message.data() + header + i * each, each});
            counted done;
            b.inbox.clear();
            const ucs_status_t status = retry(net, [&] {
                return via->am_zcopy(3, std::span(message).first(header), cut, &done);
            });
            REQUIRE((status == UCS_OK || status == UCS_INPROGRESS));
            REQUIRE(net.run_until(
                [&] { return b.inbox.size() == 1 && (status == UCS_OK || done.calls == 1); }));
            CHECK(b.inbox.front().data == message);
        }
    }
}

CONFORMANCE_CASE(constants, "am_zcopy carries read-only memory", needs::am_zcopy) {
    const auto via = a.connect(b);
    const std::size_t length = std::min<std::size_t>(a.attr().max_zcopy, 4000);
    const std::size_t header = std::min(a.attr().max_zcopy_header, header_size);
    const bytes message = make_message({9, 1}, length);
    auto pages = ucs::memory::mapped::anonymous(length);
    REQUIRE(pages);
    std::copy(message.begin(), message.end(), pages->data());
    REQUIRE(::mprotect(pages->data(), pages->size(), PROT_READ) == 0);
    const uct::iov rest{pages->data() + header, length - header};
    counted done;
    const ucs_status_t status = retry(net, [&] {
        return via->am_zcopy(3, std::span(message).first(header), {&rest, 1}, &done);
    });
    REQUIRE((status == UCS_OK || status == UCS_INPROGRESS));
    REQUIRE(net.run_until(
        [&] { return b.inbox.size() == 1 && (status == UCS_OK || done.calls == 1); }));
    CHECK(b.inbox.front().data == message);
    if (status == UCS_INPROGRESS) CHECK(done.result == UCS_OK);
}

CONFORMANCE_CASE(handler_owns, "a handler that overwrites its message changes no other message",
                 needs::messages) {
    // The recording handler overwrites each message after copying it.
    const auto via = a.connect(b);
    constexpr std::uint32_t count = 200;
    for (std::uint32_t i = 0; i < count; ++i) {
        const uct::op which = ops[i % ops.size()];
        const auto range = lengths(a.attr(), which);
        const std::size_t size = std::min(range.max, range.min + i % 50);
        REQUIRE(out.send(a, *via, which, 0, make_message({2, i}, size)));
    }
    REQUIRE(net.run_until([&] { return b.inbox.size() == count; }));
    for (std::uint32_t i = 0; i < count; ++i)
        CHECK(b.inbox[i].data == make_message({2, i}, b.inbox[i].data.size()));
}

}  // namespace conformance
