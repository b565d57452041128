#include "ucg/oob/environment.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>

#include "ucg/oob/directory.hpp"
#include "ucg/oob/log.hpp"
#include "ucg/oob/pmix.hpp"
#include "ucg/oob/tcp.hpp"
#include "ucs/config/text.hpp"
#include "ucs/config/units.hpp"

namespace ucg::oob {
namespace {

using made = ucs::result<std::unique_ptr<exchange>>;

// Empty is the same as not there.
std::string_view variable(const char* name) noexcept {
    const char* const text = std::getenv(name);
    return text == nullptr ? std::string_view{} : ucs::config::trim(text);
}

bool is_set(const char* name) noexcept {
    return !variable(name).empty();
}

ucs_status_t wrong(const char* name, const char* expected) noexcept {
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
        return wrong("UCG_OOB_TIMEOUT", "a time above 0, such as 90s, 10m or inf");
    seconds = *parsed;
    return UCS_OK;
}

ucs_status_t read_membership(membership& who, const char* rank, const char* size) noexcept {
    double timeout = 0;
    const auto ranks = number<rank_t>(size);
    if (!ranks || *ranks == 0) return wrong(size, "the number of ranks, at least 1");
    const auto mine = number<rank_t>(rank);
    if (!mine || *mine >= *ranks)
        return wrong(rank, "this process's rank, below the number of ranks");
    if (const ucs_status_t status = read_timeout(timeout); status != UCS_OK) return status;
    who = {*mine, *ranks, timeout_of(timeout)};
    return UCS_OK;
}

// torchrun's own store listens at MASTER_PORT, and says so.
std::optional<std::uint16_t> store_port() noexcept {
    if (is_set("UCG_OOB_PORT")) {
        const auto port = number<std::uint16_t>("UCG_OOB_PORT");
        if (!port || *port == 0) return {};
        return port;
    }
    auto port = number<std::uint16_t>("MASTER_PORT");
    if (!port || *port == 0) return {};
    const bool taken = ucs::config::same_text(variable("TORCHELASTIC_USE_AGENT_STORE"), "true");
    constexpr auto last = std::numeric_limits<std::uint16_t>::max();
    if (taken) port = static_cast<std::uint16_t>(*port == last ? *port - 1 : *port + 1);
    return port;
}

made of_tcp() {
    membership who;
    const ucs_status_t status =
        read_membership(who, either("RANK", "UCG_OOB_RANK"), either("WORLD_SIZE", "UCG_OOB_SIZE"));
    if (status != UCS_OK) return status;
    if (!is_set("MASTER_ADDR")) return wrong("MASTER_ADDR", "the name or address of rank 0's host");
    const auto port = store_port();
    if (!port)
        return wrong(is_set("UCG_OOB_PORT") ? "UCG_OOB_PORT" : "MASTER_PORT",
                     "a port from 1 to 65535");
    return make_tcp(who, {std::string(variable("MASTER_ADDR")), *port}, variable("UCG_OOB_JOB"));
}

made of_directory() {
    membership who;
    const ucs_status_t status =
        read_membership(who, either("UCG_OOB_RANK", "RANK"), either("UCG_OOB_SIZE", "WORLD_SIZE"));
    if (status != UCS_OK) return status;
    return make_directory(who, variable("UCG_OOB_DIR"), variable("UCG_OOB_JOB"));
}

made of_pmix() {
    double timeout = 0;
    if (const ucs_status_t status = read_timeout(timeout); status != UCS_OK) return status;
    return make_pmix(timeout);
}

bool is_any_set(std::initializer_list<const char*> names) noexcept {
    return std::ranges::any_of(names, is_set);
}

// What UCG_OOB leaves open.
std::string_view guess() noexcept {
    if (is_set("PMIX_NAMESPACE") && is_set("PMIX_RANK")) return "pmix";
    if (is_set("UCG_OOB_DIR") && !is_set("MASTER_ADDR")) return "directory";
    if (is_any_set({"MASTER_ADDR", "MASTER_PORT", "UCG_OOB_PORT", "RANK", "WORLD_SIZE"}))
        return "tcp";
    return "single";
}

// Half of a launcher's variables are a mistake: ranks that each take themselves to be alone would
// be worse. The half that guess() makes nothing of:
ucs_status_t refuse_halves() noexcept {
    if (is_set("PMIX_NAMESPACE") != is_set("PMIX_RANK"))
        return is_set("PMIX_RANK") ? wrong("PMIX_NAMESPACE",
                                           "this job's name, as PMIX_RANK is set (or "
                                           "UCG_OOB=single if this process is alone)")
                                   : wrong("PMIX_RANK",
                                           "this process's rank, as PMIX_NAMESPACE is set (or "
                                           "UCG_OOB=single if this process is alone)");
    if (is_any_set({"UCG_OOB_RANK", "UCG_OOB_SIZE"}))
        return wrong("UCG_OOB_DIR",
                     "the folder in which the ranks meet, as UCG_OOB_RANK or UCG_OOB_SIZE is set "
                     "(or MASTER_ADDR and MASTER_PORT, where rank 0 listens)");
    return UCS_OK;
}

// Started with others by a launcher that does not speak PMIx: ranks that each take themselves to be
// alone would be worse than none.
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

ucs::result<std::unique_ptr<exchange>> make_of_environment() {
    const bool is_told = is_set("UCG_OOB");
    const std::string_view how = is_told ? variable("UCG_OOB") : guess();
    if (how == "pmix") return of_pmix();
    if (how == "tcp") return of_tcp();
    if (how == "directory") return of_directory();
    if (how != "single") return wrong("UCG_OOB", "one of pmix, tcp, directory and single");
    if (is_told) return make_single();
    if (const ucs_status_t status = refuse_halves(); status != UCS_OK) return status;
    if (const ucs_status_t status = refuse_launchers(); status != UCS_OK) return status;
    return make_single();
}

}  // namespace ucg::oob
