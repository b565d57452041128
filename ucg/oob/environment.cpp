
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>

#include "ucg/oob/factories.hpp"
#include "ucg/oob/log.hpp"
#include "ucs/config/text.hpp"
#include "ucs/config/units.hpp"

namespace ucg::oob {
namespace {

using exchange_result = ucs::result<std::unique_ptr<exchange>>;

// An empty variable counts as unset.
std::string_view variable(const char* name) noexcept {
    const char* const text = std::getenv(name);
    return text == nullptr ? std::string_view{} : ucs::config::trim(text);
}

bool is_set(const char* name) noexcept {
    return !variable(name).empty();
}

ucs_status_t log_wrong(const char* name, const char* expected) noexcept {
    if (is_set(name))
        ucs::log::error(oob_log, "{}={} is not {}", name, variable(name), expected);
    else
        ucs::log::error(oob_log, "{} is not set: it must be {}", name, expected);
    return UCS_ERR_INVALID_PARAM;
}

template<class Number>
std::optional<Number> number(const char* name) noexcept {
    const std::string_view text = variable(name);
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

// The first of two names, or the second if only that is set.
const char* either(const char* first, const char* second) noexcept {
    return is_set(second) && !is_set(first) ? second : first;
}

ucs_status_t read_timeout(double& seconds) noexcept {
    if (!is_set("UCG_OOB_TIMEOUT")) return UCS_OK;
    const auto parsed = ucs::config::parse_seconds(variable("UCG_OOB_TIMEOUT"));
    if (!parsed || std::isnan(*parsed) || *parsed <= 0)
        return log_wrong("UCG_OOB_TIMEOUT", "a time above 0, such as 90s, 10m or inf");
    seconds = *parsed;
    return UCS_OK;
}

ucs_status_t read_membership(rank_params& self, const char* rank, const char* size) noexcept {
    double timeout = 0;
    const auto ranks = number<rank_t>(size);
    if (!ranks || *ranks == 0) return log_wrong(size, "the number of ranks, at least 1");
    const auto own_rank = number<rank_t>(rank);
    if (!own_rank || *own_rank >= *ranks)
        return log_wrong(rank, "this process's rank, below the number of ranks");
    if (const ucs_status_t status = read_timeout(timeout); status != UCS_OK) return status;
    self = {*own_rank, *ranks, timeout_of(timeout)};
    return UCS_OK;
}

// If torchrun's own store listens at MASTER_PORT, which TORCHELASTIC_USE_AGENT_STORE tells, rank 0
// takes the next port.
std::optional<std::uint16_t> store_port() noexcept {
    if (is_set("UCG_OOB_PORT")) {
        const auto port = number<std::uint16_t>("UCG_OOB_PORT");
        if (!port || *port == 0) return {};
        return port;
    }
    auto port = number<std::uint16_t>("MASTER_PORT");
    if (!port || *port == 0) return {};
    const bool is_store_there =
        ucs::config::same_text(variable("TORCHELASTIC_USE_AGENT_STORE"), "true");
    constexpr auto last = std::numeric_limits<std::uint16_t>::max();
    if (is_store_there) port = static_cast<std::uint16_t>(*port == last ? *port - 1 : *port + 1);
    return port;
}

exchange_result make_tcp_exchange() {
    rank_params self;
    const ucs_status_t status =
        read_membership(self, either("RANK", "UCG_OOB_RANK"), either("WORLD_SIZE", "UCG_OOB_SIZE"));
    if (status != UCS_OK) return status;
    if (!is_set("MASTER_ADDR"))
        return log_wrong("MASTER_ADDR", "the name or address of rank 0's host");
    const auto port = store_port();
    if (!port)
        return log_wrong(is_set("UCG_OOB_PORT") ? "UCG_OOB_PORT" : "MASTER_PORT",
                         "a port from 1 to 65535");
    return make_tcp(self, {std::string(variable("MASTER_ADDR")), *port}, variable("UCG_OOB_JOB"));
}

exchange_result make_directory_exchange() {
    rank_params self;
    const ucs_status_t status =
        read_membership(self, either("UCG_OOB_RANK", "RANK"), either("UCG_OOB_SIZE", "WORLD_SIZE"));
    if (status != UCS_OK) return status;
    return make_directory(self, variable("UCG_OOB_DIR"), variable("UCG_OOB_JOB"));
}

exchange_result make_pmix_exchange() {
    double timeout = 0;
    if (const ucs_status_t status = read_timeout(timeout); status != UCS_OK) return status;
    return make_pmix(timeout);
}

bool is_any_set(std::initializer_list<const char*> names) noexcept {
    return std::ranges::any_of(names, is_set);
}

// Chooses the exchange if UCG_OOB is not set.
std::string_view guess() noexcept {
    if (is_set("PMIX_NAMESPACE") && is_set("PMIX_RANK")) return "pmix";
    if (is_set("UCG_OOB_DIR") && !is_set("MASTER_ADDR")) return "directory";
    if (is_any_set({"MASTER_ADDR", "MASTER_PORT", "UCG_OOB_PORT", "RANK", "WORLD_SIZE"}))
        return "tcp";
    return "single";
}

// An incomplete set of a launcher's variables is an error, because otherwise each rank would run
// alone. This function refuses the incomplete sets for which guess() returns "single".
ucs_status_t refuse_incomplete() noexcept {
    if (is_set("PMIX_NAMESPACE") != is_set("PMIX_RANK"))
        return is_set("PMIX_RANK") ? log_wrong("PMIX_NAMESPACE",
                                               "this job's name, as PMIX_RANK is set (or "
                                               "UCG_OOB=single if this process is alone)")
                                   : log_wrong("PMIX_RANK",
                                               "this process's rank, as PMIX_NAMESPACE is set (or "
                                               "UCG_OOB=single if this process is alone)");
    if (is_any_set({"UCG_OOB_RANK", "UCG_OOB_SIZE"}))
        return log_wrong(
            "UCG_OOB_DIR",
            "the folder in which the ranks meet, as UCG_OOB_RANK or UCG_OOB_SIZE is set "
            "(or MASTER_ADDR and MASTER_PORT, where rank 0 listens)");
    return UCS_OK;
}

// Refuses launchers without PMIx that started several ranks, because otherwise each rank would run
// alone.
ucs_status_t refuse_launchers() noexcept {
    const auto are_many = [](const char* name) { return number<rank_t>(name).value_or(1) > 1; };
    if (are_many("PMI_SIZE")) {
        ucs::log::error(
            oob_log,
            "the launcher speaks PMI (PMI_SIZE={}), which is not spoken here: start by one "
            "with PMIx, make the group over MPI (ucg_oob_mpi.h), or set RANK, WORLD_SIZE, "
            "MASTER_ADDR and MASTER_PORT; UCG_OOB=single if each is alone",
            variable("PMI_SIZE"));
        return UCS_ERR_UNSUPPORTED;
    }
    if (are_many("SLURM_STEP_NUM_TASKS")) {
        ucs::log::error(oob_log,
                        "srun started {} processes that cannot find each other: start them by "
                        "srun --mpi=pmix; UCG_OOB=single if each is alone",
                        variable("SLURM_STEP_NUM_TASKS"));
        return UCS_ERR_UNSUPPORTED;
    }
    return UCS_OK;
}

}  // namespace

ucs::result<std::unique_ptr<exchange>> make_from_environment() {
    const bool is_chosen = is_set("UCG_OOB");
    const std::string_view name = is_chosen ? variable("UCG_OOB") : guess();
    if (name == "pmix") return make_pmix_exchange();
    if (name == "tcp") return make_tcp_exchange();
    if (name == "directory") return make_directory_exchange();
    if (name != "single") return log_wrong("UCG_OOB", "one of pmix, tcp, directory and single");
    if (is_chosen) return make_single();
    if (const ucs_status_t status = refuse_incomplete(); status != UCS_OK) return status;
    if (const ucs_status_t status = refuse_launchers(); status != UCS_OK) return status;
    return make_single();
}

}  // namespace ucg::oob
