#include "ucs/security/job_key.hpp"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>

#include "test/support/log_capture.hpp"
#include "test/support/temp_dir.hpp"
#include "ucs/config/general.hpp"

using namespace ucs::security;

namespace {

constexpr const char* good_text = "0123456789abcdef0123456789abcdef";

ucs::config::source with(std::string_view name, std::string_view text) {
    auto made = ucs::config::source::empty();
    made.set(name, text);
    return made;
}

std::string file_with(const test::temp_dir& folder, std::string_view text, mode_t mode = 0600) {
    const std::string path = folder.write("key", text);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    return path;
}

// Checks that the file is refused, with one log line that has the reason.
void check_refused(const std::string& path, std::string_view reason) {
    test::log_capture log;
    const auto loaded = load_job_key(with("JOB_KEY_FILE", path));
    INFO(log.text());
    CHECK(loaded.status() == UCS_ERR_INVALID_PARAM);
    CHECK(log.size() == 1);
    CHECK(log.count(reason, ucs::log::level::error) == 1);
}

}  // namespace

TEST_CASE("without options there is no job key") {
    const auto loaded = load_job_key(ucs::config::source::empty());
    REQUIRE(loaded.ok());
    CHECK_FALSE(loaded->has_value());
}

TEST_CASE("a key in the environment and the same one in a file are equal") {
    const test::temp_dir folder;
    const auto text = load_job_key(with("JOB_KEY", good_text));
    const auto file =
        load_job_key(with("JOB_KEY_FILE", file_with(folder, std::string("  ") + good_text + "\n")));
    REQUIRE((text.ok() && text->has_value()));
    REQUIRE((file.ok() && file->has_value()));
    CHECK(**text == **file);
    CHECK(**text == key::from_text(good_text));
}

namespace {

// Runs the function in a thread whose stack is `stack`.
void run_on(std::vector<char>& stack, const std::function<void()>& body) {
    pthread_attr_t attributes;
    REQUIRE(::pthread_attr_init(&attributes) == 0);
    REQUIRE(::pthread_attr_setstack(&attributes, stack.data(), stack.size()) == 0);
    pthread_t thread{};
    REQUIRE(::pthread_create(
                &thread, &attributes,
                [](void* arg) -> void* {
                    (*static_cast<const std::function<void()>*>(arg))();
                    return nullptr;
                },
                const_cast<std::function<void()>*>(&body)) == 0);
    REQUIRE(::pthread_join(thread, nullptr) == 0);
    REQUIRE(::pthread_attr_destroy(&attributes) == 0);
}

// Searches the stack for the secret and for parts of it. Until libsodium is initialised, as in a
// test that runs alone, it uses a hash implementation that copies its input.
void check_forgotten(const std::vector<char>& stack, bytes secret) {
    constexpr std::size_t part = 8;
    const std::string_view text(reinterpret_cast<const char*>(secret.data()), secret.size());
    for (std::size_t offset = 0; offset + part <= text.size(); offset += part) {
        CAPTURE(offset);
        const bool is_found =
            std::string_view(stack.data(), stack.size()).find(text.substr(offset, part)) !=
            std::string_view::npos;
        CHECK_FALSE(is_found);
    }
}

}  // namespace

TEST_CASE("the text of a key file is erased from the stack") {
    const test::temp_dir folder;
    // Build the text at run time, so that it is not among the constants of the program.
    std::string text;
    for (int i = 0; i < 40; ++i)
        text += static_cast<char>('!' + (i * i * 7 + i * 31) % 89);
    const std::string path = file_with(folder, text);
    std::vector<char> stack(std::size_t{1} << 20);
    bool was_read = false;
    run_on(stack, [&] { was_read = read_job_key(path).ok(); });
    REQUIRE(was_read);
    check_forgotten(stack, bytes_of(text));
}

TEST_CASE("a key that was combined with another one is erased from the stack") {
    const key first = key::from_text(good_text);
    const key second = key::derive(first, "the second key");
    std::vector<char> stack(std::size_t{1} << 20);
    run_on(stack, [&] { static_cast<void>(key::combine(first, second)); });
    check_forgotten(stack, second.data());
}

TEST_CASE("a short key is refused and not printed") {
    test::log_capture log;
    CHECK(load_job_key(with("JOB_KEY", "open sesame")).status() == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("UCX_JOB_KEY has less than 16 characters", ucs::log::level::error) == 1);
    CHECK(log.count("sesame") == 0);
}

TEST_CASE("a file that others could read or replace, or that could block, is refused") {
    const test::temp_dir folder;
    check_refused(folder / "absent", "No such file");
    check_refused(file_with(folder, good_text, 0640), "give it 600");
    check_refused(file_with(folder, good_text, 0602), "give it 600");
    check_refused(file_with(folder, "short"), "less than 16 characters");
    check_refused(file_with(folder, std::string(5000, 'x')), "File too large");
    check_refused(folder.path(), "a folder, not a regular file");
    folder.link("link", file_with(folder, good_text));
    check_refused(folder / "link", "symbolic link");
    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    check_refused(folder / "fifo", "a pipe, not a regular file");
    if (::geteuid() != 0) return;
    const std::string foreign = file_with(folder, good_text);
    REQUIRE(::chown(foreign.c_str(), 1, 1) == 0);
    check_refused(foreign, "it belongs to user 1");
}

TEST_CASE("a key in a configuration file is accepted only if other users cannot read the file") {
    const test::temp_dir folder;
    const std::string line = std::string("JOB_KEY=") + good_text + "\n";
    const auto load_from = [](const std::string& path) {
        const auto settings = ucs::config::source::read("", path);
        REQUIRE(settings.ok());
        return load_job_key(*settings);
    };
    const auto closed = load_from(file_with(folder, line, 0600));
    REQUIRE(closed.ok());
    CHECK(closed->has_value());
    for (const mode_t mode : {0640U, 0604U}) {
        const test::log_capture log;
        CHECK(load_from(file_with(folder, line, mode)).status() == UCS_ERR_INVALID_PARAM);
        CHECK(log.size() == 1);
        CHECK(log.count("that other users can read", ucs::log::level::error) == 1);
    }
    // Such a file may hold other settings.
    CHECK(load_from(file_with(folder, "TLS=tcp\n", 0644)).ok());
}

TEST_CASE("listing the options does not show the key") {
    const auto source = with("JOB_KEY", good_text);
    const std::string text = ucs::config::print(source, ucs::config::general_tables(), "title",
                                                ucs::config::print_values | ucs::config::print_doc);
    CHECK(text.find("UCX_JOB_KEY=(hidden)") != text.npos);
    CHECK(text.find(good_text) == text.npos);
}

TEST_CASE("encryption without a key is refused") {
    test::log_capture log;
    CHECK(load_job_key(with("TCP_ENCRYPTION", "y")).status() == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("UCX_TCP_ENCRYPTION=y needs a job key", ucs::log::level::error) == 1);
    auto both = with("TCP_ENCRYPTION", "y");
    both.set("JOB_KEY", good_text);
    CHECK(load_job_key(both).ok());
}
