// One simulated process: a worker, its endpoints, and the program that uses them.
#pragma once

#include "test/sim/model.hpp"
#include "test/sim/scenario.hpp"
#include "test/sim/sockets.hpp"
#include "ucp/core/context.hpp"
#include "ucp/core/worker.hpp"
#include "uct/sim/component.hpp"

namespace sim_test {

class process;

// The program's view of an endpoint.
struct endpoint_record {
    process* owner = nullptr;
    std::size_t number = 0;  // in its process
    std::size_t to = 0;
    std::size_t stream = 0;
    ucp_ep_h handle = nullptr;
    bool handles_errors = false;
    bool failed = false;  // the error callback was called
    bool closed = false;  // the handle must not be used any more
    unsigned error_callbacks = 0;

    // The byte stream that the program writes, and the one that it reads. `source` is set when the
    // first word of the latter has arrived. `reads` keeps receives in the order of their calls;
    // completed ones at its front are checked.
    std::size_t written = 0;
    std::size_t read = 0;
    std::uint64_t first_word = 0;
    endpoint_record* source = nullptr;
    std::deque<operation_record*> reads;
    std::vector<void*> handed_out;
    bool has_reader = false;                     // the peer has read the first word of this stream
    const endpoint_record* reads_all = nullptr;  // see process::note_streams
};

// State that all processes of a run share.
struct simulation {
    const scenario& plan;
    uct::sim::fabric& network;
    ucs::sys::random& dice;
    model& records;
    sockets& wires;
    std::vector<std::unique_ptr<process>> processes;
};

// Counts the calls of the user's init and cleanup callbacks for requests.
struct request_areas {
    static void init(void* area);
    static void cleanup(void* area);
    static bool intact(const void* area) noexcept;
    static constexpr std::size_t size = 24;
    static inline std::size_t alive = 0;
};

// Starts random operations through the C interface and receives their completions. Owned by the
// run.
class process {
public:
    process(simulation& all, std::size_t number, std::shared_ptr<ucp::context> from);
    ~process();

    // May start an operation, then calls progress once.
    unsigned turn();

    // --- phases, see run.cpp ---
    [[nodiscard]] bool busy() const noexcept { return left_ > 0; }
    void stop();  // no new operations; posts a receive for the last message of each stream
    [[nodiscard]] bool waits() const;
    void start_draining();
    void check_error_callbacks();
    void close_everything();
    void destroy();  // as if the process exited or died

    [[nodiscard]] ucp::worker* worker() noexcept { return worker_.get(); }
    [[nodiscard]] const std::vector<std::byte>& address() const { return address_; }
    [[nodiscard]] std::size_t number() const noexcept { return number_; }
    // Describes objects that remain after everything was closed; empty: none.
    [[nodiscard]] std::string leftovers();
    [[nodiscard]] std::string state_text();
    void install_handlers();
    void register_memory();
    void check_memory() const;
    // Called while all endpoints are open and nothing is in flight. From then on, all bytes that
    // were written to an endpoint with a partner must be read before or when the partner closes.
    void note_streams();
    void check_streams();
    void listen();
    // The next turn polls all descriptors.
    void look_everywhere() noexcept {
        if (worker_ != nullptr) worker_->schedule().look_everywhere();
    }

private:
    void act();
    void create_endpoint();
    endpoint_record& new_endpoint(std::size_t to);
    void connect_by_socket();
    static void on_connect(ucp_conn_request_h request, void* arg);
    void answer_one();
    void accept(ucp_conn_request_h request, std::size_t from);
    void stop_listening();
    void send(endpoint_record& to);
    void post_receive();
    // Returns false if the receive was not allowed to wait and found no message.
    bool receive(ucp_tag_t tag, ucp_tag_t mask, std::size_t capacity);
    void probe();
    void take_probed();
    void send_active(endpoint_record& to);
    void receive_kept_messages();
    static ucs_status_t on_active(void* arg, const void* header, std::size_t header_length,
                                  void* data, std::size_t length, const ucp_am_recv_param_t* param);
    ucs_status_t arrived(message_record& message, void* data, const ucp_am_recv_param_t& param);
    void receive_kept(message_record& message, void* data);
    static void on_data(void* request, ucs_status_t status, std::size_t length, void* arg);
    void act_on_stream(endpoint_record& endpoint);
    void write(endpoint_record& to);
    bool read(endpoint_record& from, bool at_once);
    bool take(endpoint_record& from);
    unsigned read_ready();
    void check_reads(endpoint_record& endpoint);
    void check_read(endpoint_record& endpoint, const operation_record& receive);
    void release_chunks(endpoint_record& endpoint);
    [[nodiscard]] endpoint_record* partner_of(const endpoint_record& which) const;
    [[nodiscard]] endpoint_record* writer_of(std::uint64_t stream) const;
    bool find_writer(endpoint_record& endpoint, const operation_record& receive);
    static void on_stream(void* request, ucs_status_t status, std::size_t length, void* arg);
    // Memory of this process that others access.
    struct registered {
        std::unique_ptr<region> memory;
        bool writable = true;
        ucp_mem_h registration = nullptr;
        std::vector<std::byte> key;
    };
    void act_remotely(endpoint_record& to);
    void put(endpoint_record& to, const registered& which);
    void get(endpoint_record& from, const registered& which);
    void change(endpoint_record& to, const registered& which);
    void fence();
    ucp_rkey_h key_to(endpoint_record& to, const registered& which);
    operation_record& new_remote(operation_kind kind, const endpoint_record& to,
                                 const registered& which);
    void describe_remote(operation_record& op, std::size_t from, std::size_t room,
                         ucs_status_t not_allowed);
    std::size_t some_offset(std::size_t from, std::size_t room, std::size_t length);
    template<class Call>
    void start_remote(operation_record& op, ucp_request_param_t& param,
                      std::vector<operation_record*>& among, Call&& call);
    void forget_keys();
    void unregister_memory();

    void flush(endpoint_record& which);
    void flush_worker();
    void close(endpoint_record& which, bool force);
    void random_close();
    void cancel(operation_record& receive);
    void cancel_one();
    void cancel_posted();
    void release_one();
    void poll_requests();  // tests requests without callbacks
    bool drain();          // receives a stored message; false: there is none

    [[nodiscard]] endpoint_record* some_endpoint();
    [[nodiscard]] operation_record* some_running();
    [[nodiscard]] std::size_t some_size();
    [[nodiscard]] layout some_layout();
    void choose_criteria(ucp_tag_t& tag, ucp_tag_t& mask);

    operation_record& new_operation(operation_kind kind);
    ucp_request_param_t prepare(operation_record& op);
    // Returns false if the call was not allowed to wait, and did nothing.
    bool started(operation_record& op, ucs_status_ptr_t result, const ucp_request_param_t& param);
    void check_area(const operation_record& op);
    void completed(operation_record& op, void* request, ucs_status_t status);
    void after_callback(operation_record& op);
    void note_running(operation_record& flush, const endpoint_record* only);
    static void on_send(void* request, ucs_status_t status, void* arg);
    static void on_receive(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                           void* arg);
    static void on_error(void* arg, ucp_ep_h which, ucs_status_t status);

    simulation& all_;
    const std::size_t number_;
    const std::shared_ptr<ucp::context> context_;
    std::unique_ptr<ucp::worker> worker_;
    std::vector<std::byte> address_;
    std::vector<std::unique_ptr<endpoint_record>> endpoints_;
    std::size_t left_;
    bool draining_ = false;
    std::vector<const message_record*> awaited_;
    bool quiet_ = false;  // callbacks start nothing new
    unsigned depth_ = 0;
    double callbacks_send_;
    std::vector<operation_record*> polled_;  // running, without callback
    struct probed {
        ucp_tag_message_h message;
        ucp_tag_recv_info_t info;
        ucp_tag_t tag;
        ucp_tag_t mask;
        std::size_t number;
    };
    std::vector<probed> probed_;

    // Data that handlers kept for a later receive.
    struct kept_message {
        message_record* message;
        void* data;
        bool announced;
    };
    std::vector<kept_message> kept_;

    std::vector<registered> memories_;
    std::map<const region*, ucp_rkey_h> keys_;
    std::size_t fences_ = 0;

    std::uint64_t uid_ = 0;
    ucp_listener_h listener_ = nullptr;
    std::vector<ucp_conn_request_h> requests_;  // not answered yet
    bool closing_ = false;
};

}  // namespace sim_test
