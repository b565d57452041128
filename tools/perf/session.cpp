#include "tools/perf/session.hpp"

#include "tools/perf/net/handshake.hpp"
#include "tools/perf/reporter.hpp"
#include "tools/perf/test_run.hpp"
#include "tools/perf/uct/run.hpp"
#include "tools/perf/uct/tests.hpp"
#include "ucs/security/job_key.hpp"

namespace tools::perf {
namespace {

constexpr std::chrono::seconds hello_timeout{30};

std::optional<ucs::security::key> job_key() {
    auto config = ucs::config::source::read("", "");
    if (!config) throw failure("the configuration cannot be read");
    const auto key = ucs::security::load_job_key(*config);
    config->erase_secret("JOB_KEY");
    if (!key) throw failure("the job key cannot be used");
    return *key;
}

struct plan {
    std::vector<std::string> titles;  // names of the batch files
    std::vector<test_case> cases;
};

std::string label_of(const test_case& one) {
    return fmt::format("{}", fmt::join(one.names, "/"));
}

// Returns whether a test of a batch can run here. Throws if a test of the command line cannot.
bool can_be_run(const test_case& one) {
    try {
        find_test(one.params.test).check(one.params);
        return true;
    } catch (const not_offered& reason) {
        if (one.names.empty()) throw;
        fmt::print(stderr, "ucx_perftest: {} is left out: {}\n", label_of(one), reason.what());
        return false;
    }
}

plan make_plan(const program_options& options) {
    plan made;
    std::vector<batch_file> files;
    for (const std::string& path : options.batch) {
        files.push_back(read_batch(path));
        made.titles.push_back(files.back().title);
    }
    made.cases = combine(options.test, files, options.overrides);
    const auto left_out = [](const test_case& one) { return !can_be_run(one); };
    std::erase_if(made.cases, left_out);
    if (made.cases.empty()) throw usage_error("-b: nothing of the batch can be run here");
    check_cpus('c', options.cpus);
    return made;
}

void print_now(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

box_content box_of(const test_params& params, const std::string& label) {
    const test_row& row = find_test(params.test);
    box_content content{std::string(row.title), params.message_size(), label};
    if (row.is_on_transport()) {
        content.api = "transport layer";
        content.data_layout = layout_name(params);
    }
    return content;
}

std::unique_ptr<runnable> make_run(const test_params& params, const run_environment& environment) {
    if (find_test(params.test).is_on_transport()) {
        return std::make_unique<transport_run>(params, environment);
    }
    return std::make_unique<test_run>(params, environment);
}

// Sends the reason of this side's failure to the peer. Best effort: the peer may be gone.
void report_to_peer(control& peer, const std::string& text) noexcept {
    try {
        peer.send(frame_type::failure, std::as_bytes(std::span(text)));
    } catch (...) {
        // The user sees the original failure.
    }
}

// Runs `body` while a watch monitors the connection. Reports a lost peer as a failure with its
// reason, and a failure of this side as a frame to the peer.
template<class Body>
void with_watch(control& peer, Body&& body) {
    stop_flag stop;
    const peer_watch watch(peer, stop);
    try {
        body(stop);
    } catch (const stopped&) {
        if (watch.found_silence()) {
            throw failure(
                fmt::format("the peer has said nothing for {} s: it is stopped, or "
                            "cannot be reached any more",
                            peer.silence_timeout().count() / 1000));
        }
        throw failure(peer.take_failure_report().value_or("the peer is gone"));
    } catch (const std::exception& error) {
        report_to_peer(peer, error.what());
        throw;
    }
}

void print_head(reporter& printer, const plan& planned, bool loopback) {
    const test_params& first = planned.cases.front().params;
    if (loopback && !printer.style().quiet && printer.style().form == output_form::text) {
        print_now(server_box(box_of(first, {}), false));
    }
    printer.header(find_test(first.test).measured, first.rank, planned.titles);
}

void run_case(const test_case& one, const plan& planned, const program_options& options,
              control* peer, reporter& printer, stop_flag& stop) {
    const run_environment environment{peer != nullptr ? side::initiator : side::both,
                                      peer,
                                      &printer,
                                      options.style.is_full_table(),
                                      options.cpus,
                                      stop};
    // This may fail, for example because of a wrong UCX_ variable; the run then ends before any
    // output.
    const std::unique_ptr<runnable> run = make_run(one.params, environment);
    if (&one == &planned.cases.front()) print_head(printer, planned, peer == nullptr);
    if (peer != nullptr) {
        peer->send(frame_type::test, pack_request({label_of(one), one.params}));
    }
    printer.begin_test(one.names);
    const outcome done = run->run();
    printer.final(one, done.result, done.extra_info);
}

void run_cases(const plan& planned, const program_options& options, control* peer,
               stop_flag& stop) {
    reporter printer(options, planned.cases.size());
    try {
        for (const test_case& one : planned.cases)
            run_case(one, planned, options, peer, printer, stop);
    } catch (const stopped&) {
        printer.finish_after("the peer is gone");
        throw;
    } catch (const std::exception& error) {
        printer.finish_after(error.what());
        throw;
    }
    printer.finish();
}

void serve_tests(const program_options& options, control& client, stop_flag& stop) {
    for (;;) {
        const frame request =
            client.receive(frame_type::test, nullptr, std::optional(frame_type::finish));
        if (request.type == frame_type::finish) break;
        const auto [label, params] = parse_request(request.content);
        find_test(params.test).check(params);
        if (!options.style.quiet) {
            print_now(server_box(box_of(params, label), true));
        }
        const run_environment environment{side::responder, &client,      nullptr,
                                          false,           options.cpus, stop};
        make_run(params, environment)->run();
    }
    client.send(frame_type::finish);
}

}  // namespace

void run_server(const program_options& options) {
    check_cpus('c', options.cpus);
    const auto key = job_key();
    ucs::unique_fd listener = listen_on(options.port, options.ipv6);
    if (!options.style.quiet) print_now("Waiting for connection...\n");
    accepted client = accept_client(listener, key ? &*key : nullptr);
    listener.reset();
    if (!options.style.quiet) {
        print_now(fmt::format("Accepted connection from {}\n", client.peer));
    }
    control connection(std::move(client.fd), options.silence_timeout);
    connection.send(frame_type::hello);
    with_watch(connection, [&](stop_flag& stop) { serve_tests(options, connection, stop); });
}

void run_client(const program_options& options) {
    const plan planned = make_plan(options);
    const auto key = job_key();
    control server(connect_to(options.host, options.port, options.ipv6), options.silence_timeout);
    open_connection(server.fd(), key ? &*key : nullptr, hello_timeout);
    server.send(frame_type::hello);
    static_cast<void>(server.receive_within(frame_type::hello, hello_timeout));
    with_watch(server, [&](stop_flag& stop) {
        run_cases(planned, options, &server, stop);
        server.send(frame_type::finish);
        static_cast<void>(server.receive(frame_type::finish));
    });
}

void run_loopback(const program_options& options) {
    const plan planned = make_plan(options);
    stop_flag stop;
    run_cases(planned, options, nullptr, stop);
}

}  // namespace tools::perf
