// Worker addresses for tests.
#pragma once

#include <random>
#include <string>
#include <utility>

#include "ucp/address/address.hpp"

namespace test {

inline ucp::address::entry make_entry(std::string transport, std::string device, uct::scope scope,
                                      std::size_t address_length, float bandwidth) {
    using ucp::address::quantise;
    ucp::address::entry made;
    made.transport = std::move(transport);
    made.device = std::move(device);
    made.scope = scope;
    made.latency = quantise(8e-7F);
    made.bandwidth = quantise(bandwidth);
    made.overhead = quantise(1e-8F);
    for (std::size_t i = 0; i < address_length; ++i)
        made.iface_address.push_back(static_cast<std::byte>(17 * i + made.transport.size()));
    return made;
}

// Returns a public key for a worker with this uid; no key pair has it.
inline ucs::security::public_key identity_of(std::uint64_t uid) {
    ucs::security::public_key made{};
    for (std::size_t i = 0; i < made.size(); ++i)
        made[i] = static_cast<std::byte>(uid >> (8 * (i % 8)));
    made.back() &= std::byte{0x7f};
    return made;
}

// Returns the address of a process on an ordinary machine: self, posix, cma and one Ethernet.
inline ucp::address::worker_address ordinary_address() {
    ucp::address::worker_address made;
    made.identity = identity_of(0x123456789abcdef0);
    made.flags = 1;
    made.name = "node17:40321";
    made.entries = {
        make_entry("self", "memory", uct::scope::process, 8, 20e9F),
        make_entry("posix", "memory", uct::scope::host, 20, 12e9F),
        make_entry("cma", "memory", uct::scope::host, 16, 10e9F),
        make_entry("tcp", "enp0s31f6", uct::scope::network, 7, 1.2e8F),
    };
    return made;
}

inline std::string random_name(std::mt19937_64& random, std::size_t length) {
    std::string name;
    while (name.size() < length)
        name += static_cast<char>('!' + random() % ('~' - '!' + 1));
    return name;
}

// Returns a random valid address with up to `entries` entries.
inline ucp::address::worker_address random_address(std::mt19937_64& random, std::size_t entries) {
    static constexpr const char* known[] = {"tcp", "posix", "memory", "eth0", "lo", "rc_verbs"};
    const auto name = [&random](std::size_t shortest) {
        if (random() % 2 == 0) return std::string(known[random() % std::size(known)]);
        return random_name(random, shortest + random() % (16 - shortest));
    };
    ucp::address::worker_address made;
    made.identity = identity_of(random());
    made.flags = static_cast<std::uint32_t>(random() >> (random() % 32 + 32));
    made.name = random_name(random, random() % 32);
    for (std::size_t i = random() % (entries + 1); i > 0; --i) {
        auto entry = make_entry(name(1), name(0), static_cast<uct::scope>(random() % 3),
                                random() % 24, static_cast<float>(random() % 100000) * 1e6F);
        entry.latency = ucp::address::quantise(static_cast<float>(random() % 1000) * 1e-8F);
        made.entries.push_back(std::move(entry));
    }
    return made;
}

}  // namespace test
