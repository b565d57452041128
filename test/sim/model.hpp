// Records the operations of the simulated programs and checks the library's results.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include "test/sim/memory.hpp"
#include "test/sim/payload.hpp"

namespace sim_test {

class process;
struct operation_record;

// A tag identifies a message: 16 bits are the class, which receivers match; 16 bits are the stream
// (one per sending endpoint); 32 bits are the index in the stream.
inline constexpr ucp_tag_t class_mask = 0xffff000000000000;
inline constexpr ucp_tag_t stream_mask = 0x0000ffff00000000;

struct message_record {
    ucp_tag_t tag = 0;
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t length = 0;
    bool synchronous = false;
    bool active = false;   // received by a handler
    bool refused = false;  // its handler refused it
    operation_record* sent_by = nullptr;
    operation_record* taken_by = nullptr;
};

enum class operation_kind : std::uint8_t {
    send,
    receive,
    flush,
    worker_flush,
    close,
    arrival,       // a handler was called
    data_receive,  // receive of data that a handler kept
    write,         // to a byte stream
    read,          // from a byte stream
    put,           // on a peer's memory
    get,           // on a peer's memory
    atomic,        // on a peer's memory
};
[[nodiscard]] const char* name(operation_kind kind) noexcept;
[[nodiscard]] constexpr bool is_remote(operation_kind kind) noexcept {
    return kind == operation_kind::put || kind == operation_kind::get ||
           kind == operation_kind::atomic;
}

// One operation of the program, from its call to its end.
struct operation_record {
    operation_kind kind = operation_kind::send;
    process* owner = nullptr;
    std::size_t number = 0;  // position in the order of all calls
    std::size_t worker = 0;
    std::size_t endpoint = 0;
    std::size_t peer = 0;  // of a stream operation
    std::unique_ptr<payload> data;
    std::vector<std::uint64_t> user_memory;
    void* handle = nullptr;
    bool user_request = false;
    bool has_callback = false;
    bool inside_call = true;
    bool forgotten = false;  // see model::forget
    bool released = false;   // released before it ended: the callback still comes
    bool canceled = false;
    bool forced = false;
    bool handles_errors = false;  // of the send's endpoint
    bool done = false;
    unsigned callbacks = 0;
    std::size_t done_at = 0;  // number of the call
    std::size_t canceled_at = 0;
    ucs_status_t status = UCS_INPROGRESS;

    message_record* message = nullptr;  // the message that is sent
    ucp_tag_t tag = 0;                  // of a receive
    ucp_tag_t mask = 0;
    ucp_tag_recv_info_t info{};
    std::vector<operation_record*> waits_for;  // of a flush or close
    std::vector<operation_record*> covers;     // of a flush: earlier operations on memory
    std::unique_ptr<remote_operation> remote;  // of an operation on memory
    std::vector<std::byte> header;             // of an active message
    bool wait_all = false;                     // of a stream receive
    std::size_t received = 0;                  // bytes of a stream receive
};

// Collects records and checks them. The first violation is kept, and the run ends there.
class model {
public:
    operation_record& start(operation_kind kind, std::size_t worker);
    message_record& add_message(std::size_t stream, ucp_tag_t tag_class, std::size_t from,
                                std::size_t to, std::size_t length);
    [[nodiscard]] std::size_t new_stream();
    [[nodiscard]] std::size_t stream_length(std::size_t stream) const {
        return streams_[stream].size();
    }

    // Called when an operation ended, by callback or by a test of its request.
    void ended(operation_record& which, ucs_status_t status);
    // Its request was freed before it ended: there is no further notification.
    void forget(operation_record& which);
    // Final checks at the end of a run.
    void check_everything();
    void check_memory(const region& memory) { memory_.check(memory); }

    // The connection between two workers was disturbed: messages may be lost or fail.
    void disturb(std::size_t a, std::size_t b);
    void disturb_all(std::size_t a, std::size_t workers);
    [[nodiscard]] bool disturbed(std::size_t a, std::size_t b) const;
    [[nodiscard]] bool disturbed(std::size_t worker) const { return touched_.contains(worker); }

    // A worker closed an endpoint to another worker: streams between them may end.
    void note_closed(std::size_t worker, std::size_t to) { closed_.insert({worker, to}); }

    void kill(std::size_t worker) { dead_.insert(worker); }
    [[nodiscard]] bool dead(std::size_t worker) const { return dead_.contains(worker); }

    void violation(std::string text);
    [[nodiscard]] bool violated() const noexcept { return !violation_.empty(); }
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

    [[nodiscard]] bool all_ended() const;
    // Ignores receives from streams, which wait until their endpoint is closed.
    [[nodiscard]] bool all_but_reads_ended() const;
    [[nodiscard]] bool all_delivered() const;
    [[nodiscard]] std::string pending_text() const;
    // For each stream to this worker: the last tagged message, if a receive can still wait for it.
    [[nodiscard]] std::vector<const message_record*> last_missing(std::size_t to) const;
    // Returns true if the message was received, or if no receive can wait for it.
    [[nodiscard]] bool settled(const message_record& message) const;
    [[nodiscard]] std::deque<operation_record>& operations() noexcept { return operations_; }
    [[nodiscard]] std::string text(const operation_record& operation) const;
    std::size_t next_call() noexcept { return ++calls_; }

    // A handler was called with the message of this tag. Returns nullptr, with a violation, if the
    // message was never sent or came before.
    message_record* arrived(ucp_tag_t tag, std::size_t receiver, std::size_t length, bool in_order);

private:
    void ended_send(operation_record& send);
    void ended_receive(operation_record& receive);
    void ended_data_receive(operation_record& receive);
    void ended_on_stream(const operation_record& which);
    [[nodiscard]] bool over(const operation_record& which) const;
    void ended_flush(operation_record& flush);
    void check_delivery(const message_record& message);
    void check_order(const operation_record& receive);
    void check_fairness(const operation_record& receive);
    [[nodiscard]] bool may_vanish(const message_record& message) const;

    std::deque<operation_record> operations_;
    std::deque<message_record> messages_;
    std::unordered_map<ucp_tag_t, message_record*> by_tag_;
    std::vector<std::vector<message_record*>> streams_{
        1};  // stream 0 is unused: no message has tag 0
    std::set<std::pair<std::size_t, std::size_t>> disturbed_;
    std::vector<const operation_record*> forgotten_;  // receives
    std::map<std::size_t, ucp_tag_t> last_arrival_;   // by stream
    std::set<std::pair<std::size_t, std::size_t>> closed_;
    std::set<std::size_t> touched_;
    std::set<std::size_t> dead_;
    std::string violation_;
    std::size_t calls_ = 0;
    memory_model memory_{*this};
};

}  // namespace sim_test
