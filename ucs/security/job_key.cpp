#include "ucs/security/job_key.hpp"

#include <cstring>

#include "ucs/config/text.hpp"
#include "ucs/log/log.hpp"
#include "ucs/sys/trusted_file.hpp"

namespace ucs::security {

namespace {

constinit log::component self{"ucs.security"};

constexpr std::size_t longest_file = 4096;

ucs_status_t refuse(const std::string& path, std::string_view reason) noexcept {
    log::error(self, "UCX_JOB_KEY_FILE: {} cannot be used: {}", path, reason);
    return UCS_ERR_INVALID_PARAM;
}

}  // namespace

const config::table& job_key_settings::options() {
    static const config::table options{
        "Security",
        {
            config::make_option<&job_key_settings::text>(
                "JOB_KEY", "",
                "The key of the job, a text of 16 characters or more that is hard to guess. All\n"
                "processes of the job must have the same one: with it every connection over TCP,\n"
                "and of clients to listeners over RDMA as well, begins with a mutual proof of the\n"
                "key, and a peer that fails it is refused. Its text is never printed. Empty:\n"
                "UCX_JOB_KEY_FILE counts."),
            config::make_option<&job_key_settings::file>(
                "JOB_KEY_FILE", "",
                "A file that holds the key of the job. It must be a regular file of this user or\n"
                "of root with mode 0600 or stricter, in a folder that other users cannot write "
                "to.\n"
                "Empty: there is no key, unless UCX_JOB_KEY has one."),
            config::make_option<&job_key_settings::tcp_encryption>(
                "TCP_ENCRYPTION", "n",
                "Encrypt the data of connections of the tcp transport, and protect it against\n"
                "changes on its way. Needs a job key; both sides of a connection must have the "
                "same\n"
                "setting. Other transports are not encrypted: with UCX_TLS=tcp,self none is used."),
        }};
    return options;
}

result<key> parse_job_key(std::string_view text) noexcept {
    text = config::trim(text);
    if (text.size() < shortest_key_text) return UCS_ERR_INVALID_PARAM;
    return key::from_text(text);
}

result<key> read_job_key(const std::string& path) {
    const sys::opened_file file = sys::open_for_reading(path, sys::file_trust::secret);
    if (!file) return refuse(path, file.reason);
    sys::file_text content = sys::read_whole(file, longest_file);
    if (content.error != 0) return refuse(path, std::strerror(content.error));
    const auto parsed = parse_job_key(content.text);
    erase(std::as_writable_bytes(std::span(content.text)));
    if (!parsed) return refuse(path, "it holds a key of less than 16 characters");
    return parsed;
}

result<std::optional<key>> load_job_key(const config::source& from) {
    auto options = config::load<job_key_settings>(from);
    if (!options) return options.status();
    if (!options->text.text.empty()) {
        const config::text_value* const given = from.find("JOB_KEY");
        if (given != nullptr && given->readable_by_others) {
            erase(std::as_writable_bytes(std::span(options->text.text)));
            log::error(
                self,
                "{}: the job key stands in a file that other users can read; put JOB_KEY_FILE "
                "there instead, or give a file of your own mode 0600",
                given->where);
            return UCS_ERR_INVALID_PARAM;
        }
        const auto parsed = parse_job_key(options->text.text);
        erase(std::as_writable_bytes(std::span(options->text.text)));
        if (parsed) return std::optional(*parsed);
        log::error(self, "UCX_JOB_KEY has less than 16 characters; a key must be hard to guess");
        return parsed.status();
    }
    if (!options->file.empty()) {
        const auto read = read_job_key(options->file);
        if (!read) return read.status();
        return std::optional(*read);
    }
    if (options->tcp_encryption) {
        log::error(self, "UCX_TCP_ENCRYPTION=y needs a job key: UCX_JOB_KEY or UCX_JOB_KEY_FILE");
        return UCS_ERR_INVALID_PARAM;
    }
    return std::optional<key>();
}

}  // namespace ucs::security
