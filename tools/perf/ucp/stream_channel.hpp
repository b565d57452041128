// Sends and receives the numbered messages of one thread as parts of a byte stream.
#pragma once

#include "tools/perf/ucp/channel.hpp"

namespace tools::perf {

// A message is a sequence of bytes of the endpoint's stream. `-r recv` receives each message into a
// buffer, `-r recv_data` takes the arrived data piece by piece, without a copy.
class stream_channel final : public ucp_channel {
public:
    stream_channel(const connection& conn, unsigned window);

    void receive() override;
    void wait_sends(unsigned left);
    void wait_receives(unsigned left) override;

    // One byte in the opposite direction.
    void acknowledge();
    void wait_acknowledgement();

private:
    static void on_received(void* request, ucs_status_t status, std::size_t length, void* arg);

    [[nodiscard]] ucs_status_ptr_t post_send(const slot& message,
                                             const ucp_request_param_t& param) override;
    bool take_piece();
    void verify_piece(std::span<const std::byte> piece);

    const bool takes_pieces_;
    const bool sends_to_itself_;
    const std::uint64_t message_size_;
    std::uint64_t expected_bytes_ = 0;  // with recv_data
    std::uint64_t taken_bytes_ = 0;
};

}  // namespace tools::perf
