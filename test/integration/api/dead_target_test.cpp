// A process that owns memory is killed while another one uses it.
#include <unistd.h>

#include <array>
#include <chrono>
#include <span>

#include "test/integration/api/remote.hpp"
#include "test/support/child.hpp"

using namespace api;

namespace {

constexpr std::size_t length = 1 << 20;

// Data that the owner of the memory sends.
struct greeting {
    std::array<std::byte, 2048> address;  // of its worker
    std::array<std::byte, 255> key[2];    // for memory of the program, and for an allocated block
    std::uint64_t base[2];
};

void copy_into(std::span<std::byte> into, const std::vector<std::byte>& from) {
    std::memcpy(into.data(), from.data(), std::min(into.size(), from.size()));
}

// Does not return: makes progress until the process is killed.
[[noreturn]] void own_memory(int output) {
    const ucp_context_h context = make_context({});
    const ucp_worker_h worker = make_worker(context);
    std::vector<std::byte> bytes(length);
    const registered own(context, bytes.data(), length);
    const registered block(context, length);
    greeting hello{};
    copy_into(hello.address, address_of(worker));
    const registered* const all[] = {&own, &block};
    for (std::size_t i = 0; i < 2; ++i) {
        copy_into(hello.key[i], packed_rkey(context, *all[i]).bytes());
        hello.base[i] = all[i]->address();
    }
    if (::send(output, &hello, sizeof hello, 0) != sizeof hello) ::_exit(1);
    while (true)
        ucp_worker_progress(worker);
}

struct owning_process : test::child_process {
    owning_process() : child_process(own_memory) { receive(hello); }
    greeting hello{};
};

}  // namespace

TEST_CASE("operations on the memory of a process that is killed end with an error") {
    if (only_self()) return;
    owning_process owner;
    const ucp_context_h context = make_context({});
    const ucp_worker_h worker = make_worker(context);
    int failures = 0;
    const auto count = [](void* arg, ucp_ep_h, ucs_status_t) { ++*static_cast<int*>(arg); };
    const ucp_ep_h ep =
        create_ep(worker, ep_params_for(owner.hello.address.data(), count, &failures));
    ucp_rkey_h keys[2] = {};
    for (std::size_t i = 0; i < 2; ++i)
        REQUIRE(ucp_ep_rkey_unpack(ep, owner.hello.key[i].data(), &keys[i]) == UCS_OK);

    const auto data = pattern(length, 1);
    std::vector<std::byte> got(length);
    for (std::size_t i = 0; i < 2; ++i) {
        REQUIRE(ucp_put(ep, data.data(), length, owner.hello.base[i], keys[i]) == UCS_OK);
        REQUIRE(ucp_ep_flush(ep) == UCS_OK);
        REQUIRE(ucp_get(ep, got.data(), length, owner.hello.base[i], keys[i]) == UCS_OK);
        REQUIRE(got == data);
    }
    void* block = nullptr;
    const bool mapped = ucp_rkey_ptr(keys[1], owner.hello.base[1], &block) == UCS_OK;

    owner.kill();
    captured_output log;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (failures == 0 && std::chrono::steady_clock::now() < limit)
        ucp_worker_progress(worker);
    const std::string text = log.text();
    CHECK(failures == 1);
    // No access raises a signal: the block exists as long as a process has it mapped.
    if (mapped) std::memset(block, 7, length);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(ucp_put(ep, data.data(), 8, owner.hello.base[i], keys[i]) < UCS_OK);
        CHECK(ucp_put(ep, data.data(), length, owner.hello.base[i], keys[i]) < UCS_OK);
        CHECK(ucp_get(ep, got.data(), length, owner.hello.base[i], keys[i]) < UCS_OK);
        CHECK(ucp_atomic_post(ep, UCP_ATOMIC_POST_OP_ADD, 1, 8, owner.hello.base[i], keys[i]) <
              UCS_OK);
    }
    CHECK(ucp_ep_flush(ep) < UCS_OK);
    for (const ucp_rkey_h key : keys)
        ucp_rkey_destroy(key);
    const ucs_status_ptr_t closing = ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FORCE);
    if (UCS_PTR_IS_PTR(closing)) ucp_request_free(closing);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}
