#include "ucg/oob/factories.hpp"
#include "ucg/oob/log.hpp"
#include "ucg/oob/tcp/leaf.hpp"
#include "ucg/oob/tcp/root.hpp"
#include "ucs/config/source.hpp"
#include "ucs/security/job_key.hpp"
#include "ucs/sys/process.hpp"

namespace ucg::oob {
namespace {

ucs::result<job_key> own_job_key() {
    auto options = ucs::config::source::read({}, {});
    if (!options) return options.status();
    auto key = ucs::security::load_job_key(*options);
    options->erase_secret("JOB_KEY");
    return key;
}

}  // namespace

ucs::result<std::unique_ptr<exchange>> make_tcp(const rank_params& self, const root_address& root,
                                                std::string_view job) {
    if (root.host.empty() || root.port == 0) {
        ucs::log::error(oob_log, "rank 0's host (\"{}\") or port ({}) is missing", root.host,
                        root.port);
        return UCS_ERR_INVALID_PARAM;
    }
    if (self.size == 1) return make_single();
    const auto key = own_job_key();
    if (!key) return key.status();
    const std::uint64_t hash = job.empty() ? 0 : ucs::sys::hash_text(job);
    if (self.rank != 0)
        return std::unique_ptr<exchange>(std::make_unique<tcp_leaf>(self, hash, root, *key));
    auto listener = root.listen();
    if (!listener) return listener.status();
    auto made = tcp_root::make(self, hash, std::move(*listener), *key);
    if (!made) return made.status();
    return std::unique_ptr<exchange>(std::move(*made));
}

}  // namespace ucg::oob
