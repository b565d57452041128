// Sends and receives the numbered messages of one thread with the tag functions.
#pragma once

#include "tools/perf/ucp/channel.hpp"

namespace tools::perf {

enum class tag_send : std::uint8_t { standard, sync };

// Messages of a thread have their own tag.
class tag_channel final : public ucp_channel {
public:
    tag_channel(const connection& on, unsigned window, tag_send how);

    // With -U only when the message is already here.
    void receive() override;

    // An empty message against the stream.
    void acknowledge();
    void wait_acknowledgement();

private:
    static void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                            void* arg);

    [[nodiscard]] ucs_status_ptr_t post_send(const slot& with,
                                             const ucp_request_param_t& param) override;
    void wait_for_arrival();

    const tag_send how_;
    const ucp_tag_t tag_;
    const ucp_tag_t ack_tag_;
    const ucp_tag_t mask_;
};

}  // namespace tools::perf
