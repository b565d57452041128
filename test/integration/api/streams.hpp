// Two workers whose endpoints belong together, for byte streams in both directions.
#pragma once

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "test/integration/api/world.hpp"

namespace api {

inline plan for_streams(settings config = {}) {
    plan how = configured(std::move(config));
    how.features = UCP_FEATURE_TAG | UCP_FEATURE_STREAM;
    return how;
}

inline void note_stream(void* request, ucs_status_t status, std::size_t length, void* user_data) {
    note_send(request, status, user_data);
    static_cast<outcome*>(user_data)->info.length = length;
}

// A sender and a receiver whose endpoints belong together.
struct pair : world {
    ucp_ep_h back = nullptr;  // the receiver's, to the sender

    explicit pair(const plan& how = for_streams()) : world(how) {
        back = loopback() ? ep : make_ep(receiver, sender);
        if (!loopback()) {
            const params none;
            REQUIRE(finish(ucp_ep_flush_nbx(back, &none)) == UCS_OK);
        }
    }
    ~pair() {
        if (back != nullptr && !loopback()) close(back, true);
    }
    pair(const pair&) = delete;
    pair& operator=(const pair&) = delete;

    ucs_status_ptr_t write(const std::vector<std::byte>& bytes) const {
        const params none;
        return ucp_stream_send_nbx(ep, bytes.data(), bytes.size(), &none);
    }
    // What is there now, up to the length; empty: nothing.
    std::vector<std::byte> read_some(std::size_t most) const {
        std::vector<std::byte> into(most);
        std::size_t length = 0;
        const params at_once = params().flag(UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
        const ucs_status_ptr_t got =
            ucp_stream_recv_nbx(back, into.data(), into.size(), &length, &at_once);
        if (UCS_PTR_IS_ERR(got)) {
            REQUIRE(UCS_PTR_STATUS(got) == UCS_ERR_NO_RESOURCE);
            return {};
        }
        REQUIRE(got == nullptr);
        into.resize(length);
        return into;
    }
};

}  // namespace api
