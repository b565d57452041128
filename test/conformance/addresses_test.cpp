// Conformance: untrusted addresses.
#include "test/conformance/support/suite.hpp"
#include "test/support/log_capture.hpp"
#include "ucs/random/seeded.hpp"

namespace conformance {

namespace {

// Wrong addresses must not cause a crash or a hang, and are refused with a reason. A changed
// address that passes as reachable may still give an endpoint: a changed byte can be the number of
// another possible peer.
void try_address(network& net, std::span<const std::byte> address) {
    // A copy of exactly that size, so that a read beyond its end is found.
    const std::unique_ptr<std::byte[]> exact(new std::byte[address.size()]);
    std::copy(address.begin(), address.end(), exact.get());
    const std::span<const std::byte> view(exact.get(), address.size());
    side& a = net.at(0);
    const uct::reachability answer = a.iface().check_reachable(view);
    auto created = a.iface().create_ep(view);
    if (!answer.ok()) {
        CHECK_FALSE(created.ok());
    }
    if (!created.ok()) CHECK(created.status() < 0);
}

}  // namespace

CONFORMANCE_CASE(address_stable, "the address has the announced length and does not change",
                 needs::nothing) {
    const bytes first = a.address();
    net.settle();
    CHECK(a.address() == first);
    const auto via = a.connect(b);
    net.settle();
    CHECK(a.address() == first);
    // The address is written completely: two fillings give the same bytes.
    bytes zeros(a.attr().address_length, std::byte{0});
    bytes ones(a.attr().address_length, std::byte{0xff});
    a.iface().pack_address(zeros);
    a.iface().pack_address(ones);
    CHECK(zeros == ones);
    CHECK(a.iface().check_reachable(b.address()).ok());
}

CONFORMANCE_CASE(address_unique, "two interfaces have different addresses", needs::two_sides) {
    CHECK(a.address() != b.address());
}

CONFORMANCE_CASE(wrong_length, "addresses that are too short or too long are unreachable",
                 needs::nothing) {
    const bytes good = b.address();
    test::log_capture log;
    for (std::size_t length = 0; length < good.size(); ++length) {
        CAPTURE(length);
        const auto part = std::span(good).first(length);
        const uct::reachability answer = a.iface().check_reachable(part);
        CHECK_FALSE(answer.ok());
        CHECK_FALSE(a.iface().create_ep(part).ok());
        try_address(net, part);
    }
    bytes longer = good;
    longer.resize(good.size() + 1000, std::byte{0xff});
    try_address(net, longer);
}

CONFORMANCE_CASE(mutated, "changed addresses are refused or lead nowhere, and do no harm",
                 needs::nothing) {
    const bytes good = b.address();
    test::log_capture log;
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        bytes changed = good;
        changed[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        try_address(net, changed);
    }
    ucs::sys::random dice(42);
    for (unsigned round = 0; round < 500; ++round) {
        bytes changed = good;
        for (std::uint64_t i = dice.below(8); i-- > 0;)
            changed[dice.below(changed.size())] = static_cast<std::byte>(dice.below(256));
        changed.resize(dice.chance(0.3) ? dice.below(good.size() * 2) : good.size());
        try_address(net, changed);
    }
    for (const std::byte fill : {std::byte{0}, std::byte{0xff}})
        try_address(net, bytes(good.size(), fill));
    net.settle();
}

CONFORMANCE_CASE(works_after_garbage, "wrong addresses do not disturb valid ones",
                 needs::messages) {
    {
        test::log_capture log;
        const bytes good = b.address();
        for (std::size_t bit = 0; bit < good.size() * 8; bit += 3) {
            bytes changed = good;
            changed[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
            try_address(net, changed);
        }
    }
    const auto via = a.connect(b);
    REQUIRE(out.send(a, *via, ops.front(), 1, make_message({1, 0}, 16)));
    REQUIRE(net.run_until([&] { return b.inbox.size() == 1; }));
}

}  // namespace conformance
