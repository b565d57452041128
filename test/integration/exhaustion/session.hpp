// Two workers and the operations between them. Nothing in this file allocates with operator new.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ucp/api/ucp.h"

namespace exhaustion {

// Runs operations in both directions, continues if one fails, and records how each ended. All
// sessions share the buffers, one after the other.
class session {
public:
    explicit session(ucp_context_h context);
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    // Force-closes endpoints, so that pending operations end.
    ~session();

    // --- operations of a program, during which memory may run out
    void connect();
    void expect_then_send(std::size_t length, bool sync = false);
    void send_then_expect(std::size_t length, bool sync = false);
    void send_then_probe(std::size_t length);
    void send_unexpected(std::size_t length, unsigned times);
    void expect_in_vain(std::size_t length, unsigned times);
    void use_many_masks();
    void cancel_a_receive();
    // Replies find no resources, because the other side has used them up.
    void fill_lane();
    void answer_through_full_lane();
    void flush();
    void close();

    // --- results
    // Waits until all operations have ended. If the log may explain that they do not end, waits
    // only for a short time.
    void settle();
    [[nodiscard]] std::size_t failed() const noexcept { return failed_; }
    // Number of operations that neither ended nor failed.
    [[nodiscard]] std::size_t running() const noexcept;
    // A successful receive got wrong data.
    [[nodiscard]] bool corrupted() const noexcept { return corrupted_; }
    // The status of a call whose failure is not explained by a shortage of memory.
    [[nodiscard]] ucs_status_t odd_status() const noexcept { return odd_; }

private:
    struct operation {
        void* request = nullptr;
        ucp_worker_h on = nullptr;  // worker of a receive; the members below belong to it, too
        const std::byte* received = nullptr;  // its buffer
        std::size_t length = 0;
        ucp_tag_t tag = 0;
    };

    ucp_ep_h make_ep(ucp_worker_h from, ucp_worker_h to);
    std::byte* place(std::size_t length);
    void note(const operation& started_operation, ucs_status_ptr_t started);
    void send(ucp_ep_h via, std::size_t length, bool sync, ucp_tag_t tag);
    void receive(ucp_worker_h on, std::size_t length, ucp_tag_t tag,
                 ucp_tag_t mask = ~ucp_tag_t{0});
    void ended(const operation& which, ucs_status_t status);
    bool look();
    template<class Condition>
    void until(Condition holds);
    void wait();
    void close(ucp_ep_h& which, unsigned flags);
    void progress() const;

    ucp_worker_h left_ = nullptr;
    ucp_worker_h right_ = nullptr;
    ucp_ep_h to_right_ = nullptr;
    ucp_ep_h to_left_ = nullptr;
    ucp_tag_t tag_ = 0;
    std::array<operation, 8192> operations_{};
    std::size_t count_ = 0;
    std::size_t failed_ = 0;
    std::size_t first_running_ = 0;
    std::size_t room_ = 0;  // used bytes of the receive buffer
    bool corrupted_ = false;
    bool stuck_ = false;  // an operation has not ended within its turns
    ucs_status_t odd_ = UCS_OK;
};

}  // namespace exhaustion
