// Sends and receives the numbered messages of one thread as active messages.
#pragma once

#include "tools/perf/ucp/channel.hpp"

namespace tools::perf {

// The handler reads data in place, and fetches the data of rendezvous messages; with `-r recv_data`
// it fetches all data. Each thread has its own handlers. Validation relies on messages arriving in
// the order of their sending.
class am_channel final : public ucp_channel {
public:
    am_channel(const connection& conn, unsigned window);
    ~am_channel();

    void receive() override {
        receives_.started();
        throw_if_failed();
    }

    // An empty message in the opposite direction, to another handler.
    void acknowledge();
    void wait_acknowledgement();

private:
    static ucs_status_t on_message(void* arg, const void* header, std::size_t header_length,
                                   void* data, std::size_t length,
                                   const ucp_am_recv_param_t* param);
    static ucs_status_t on_acknowledgement(void* arg, const void* header, std::size_t header_length,
                                           void* data, std::size_t length,
                                           const ucp_am_recv_param_t* param);
    static void on_fetched(void* request, ucs_status_t status, std::size_t length, void* arg);

    [[nodiscard]] ucs_status_ptr_t post_send(const slot& message,
                                             const ucp_request_param_t& param) override;
    void set_handler(unsigned id, std::uint32_t flags, ucp_am_recv_callback_t handler);
    void check_header_length() const;
    [[nodiscard]] std::span<std::byte> header_of(const slot& message) noexcept {
        return std::span(headers_).subspan(message.index * header_length_, header_length_);
    }
    ucs_status_t fetch(void* data, std::size_t length, std::uint64_t number);
    void process_data(std::span<const std::byte> data, std::uint64_t number);
    void verify_header(std::span<const std::byte> header, std::uint64_t number);

    const unsigned id_;
    const unsigned ack_id_;
    const std::size_t header_length_;
    const bool copies_;
    const bool fetches_all_;
    std::vector<std::byte> headers_;  // one for each message in flight
    std::uint64_t next_arrival_ = 0;
    in_flight acknowledgements_;
};

}  // namespace tools::perf
