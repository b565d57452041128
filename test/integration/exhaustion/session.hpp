// Two workers and what runs between them; nothing in here allocates with operator new.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ucp/api/ucp.h"

namespace exhaustion {

// Runs operations of a program that goes on when one of them fails, in both directions, and keeps
// account of how each ended. The buffers belong to all sessions, one after the other.
class session {
public:
    explicit session(ucp_context_h context);
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    // Ends what still runs by force.
    ~session();

    // --- what a program does; memory may run out
    void connect();
    void expect_then_send(std::size_t length, bool sync = false);
    void send_then_expect(std::size_t length, bool sync = false);
    void send_then_probe(std::size_t length);
    void send_unexpected(std::size_t length, unsigned times);
    void expect_in_vain(std::size_t length, unsigned times);
    void use_many_masks();
    void cancel_a_receive();
    // Answers find no room on their way, because the other side has filled it.
    void fill_lane();
    void answer_through_full_lane();
    void flush();
    void close();

    // --- afterwards
    // Waits until everything has ended, or, when the log may say why not, only a little.
    void settle();
    [[nodiscard]] std::size_t failed() const noexcept { return failed_; }
    // Neither ended nor failed.
    [[nodiscard]] std::size_t running() const noexcept;
    // A receive that ended well has other data than was sent.
    [[nodiscard]] bool corrupted() const noexcept { return corrupted_; }
    // Of a call that failed with what a shortage of memory does not explain.
    [[nodiscard]] ucs_status_t odd_status() const noexcept { return odd_; }

private:
    struct operation {
        void* request = nullptr;
        ucp_worker_h on = nullptr;            // of a receive, with the rest
        const std::byte* received = nullptr;  // where
        std::size_t length = 0;
        ucp_tag_t tag = 0;
    };

    ucp_ep_h make_ep(ucp_worker_h from, ucp_worker_h to);
    std::byte* place(std::size_t length);
    void note(const operation& what, ucs_status_ptr_t started);
    void send(ucp_ep_h via, std::size_t length, bool sync, ucp_tag_t tag);
    void receive(ucp_worker_h on, std::size_t length, ucp_tag_t tag,
                 ucp_tag_t mask = ~ucp_tag_t{0});
    void ended(const operation& which, ucs_status_t status);
    bool look();
    template<class Condition>
    void until(Condition holds);
    void wait();
    void close(ucp_ep_h& which, unsigned flags);

    ucp_worker_h left_ = nullptr;
    ucp_worker_h right_ = nullptr;
    ucp_ep_h to_right_ = nullptr;
    ucp_ep_h to_left_ = nullptr;
    ucp_tag_t tag_ = 0;
    std::array<operation, 8192> operations_{};
    std::size_t count_ = 0;
    std::size_t failed_ = 0;
    std::size_t first_running_ = 0;
    std::size_t room_ = 0;  // bytes of the receive buffer that are used
    bool corrupted_ = false;
    bool stuck_ = false;  // something did not end in the turns that it was given
    ucs_status_t odd_ = UCS_OK;
};

}  // namespace exhaustion
