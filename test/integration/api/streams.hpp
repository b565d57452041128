// Two workers with paired endpoints, for byte streams in both directions.
#pragma once

#include <catch2/catch.hpp>

#include "test/integration/api/world.hpp"

namespace api {

inline world_options for_streams(settings config = {}) {
    world_options options = configured(std::move(config));
    options.features = UCP_FEATURE_TAG | UCP_FEATURE_STREAM;
    return options;
}

inline void record_stream(void* request, ucs_status_t status, std::size_t length, void* user_data) {
    record_send(request, status, user_data);
    static_cast<outcome*>(user_data)->info.length = length;
}

// A sender and a receiver with paired endpoints.
struct pair : world {
    ucp_ep_h back = nullptr;  // from the receiver to the sender

    explicit pair(const world_options& options = for_streams()) : world(options) {
        back = loopback() ? ep : make_ep(receiver, sender);
        if (!loopback()) {
            REQUIRE(finish(ucp_ep_flush_nbx(back, &none)) == UCS_OK);
        }
    }
    ~pair() {
        if (back != nullptr && !loopback()) close(back, true);
    }
    pair(const pair&) = delete;
    pair& operator=(const pair&) = delete;

    ucs_status_ptr_t write(const std::vector<std::byte>& bytes) const {
        return ucp_stream_send_nbx(ep, bytes.data(), bytes.size(), &none);
    }
    // Reads the available bytes, up to a length. Returns an empty vector if there are none.
    std::vector<std::byte> read_some(std::size_t limit) const {
        std::vector<std::byte> into(limit);
        std::size_t length = 0;
        const params immediate = params().flag(UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
        const ucs_status_ptr_t got =
            ucp_stream_recv_nbx(back, into.data(), into.size(), &length, &immediate);
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
