// Sends and receives the numbered messages of one thread with the tag functions.
#pragma once

#include "tools/perf/ucp/channel.hpp"

namespace tools::perf {

enum class tag_send : std::uint8_t { standard, sync };

// Each thread uses a tag of its own for its messages.
class tag_channel final : public ucp_channel {
public:
    tag_channel(const connection& conn, unsigned window, tag_send mode);

    // With -U, waits until the message has arrived before it posts the receive.
    void receive() override;

    // Send, and wait for, an empty message in the opposite direction, which acknowledges all
    // messages.
    void acknowledge();
    void wait_acknowledgement();

private:
    static void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                            void* arg);

    [[nodiscard]] ucs_status_ptr_t post_send(const slot& message,
                                             const ucp_request_param_t& param) override;
    void wait_for_arrival();

    const tag_send mode_;
    const ucp_tag_t tag_;
    const ucp_tag_t ack_tag_;
    const ucp_tag_t mask_;
};

}  // namespace tools::perf
