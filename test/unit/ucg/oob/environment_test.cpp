// Tests of the exchange that the environment selects.
#include "test/support/environment.hpp"

#include <catch2/catch.hpp>
#include <list>

#include "test/support/log_capture.hpp"
#include "test/support/temp_dir.hpp"
#include "test/unit/ucg/oob/ranks.hpp"

using test::check_round;

namespace {

// Sets only the given variables, and unsets all others that ucg_oob_create_env() reads.
class variables {
public:
    variables(std::initializer_list<std::pair<const char*, std::string>> wanted) {
        for (const char* name :
             {"UCG_OOB", "UCG_OOB_DIR", "UCG_OOB_RANK", "UCG_OOB_SIZE", "UCG_OOB_JOB",
              "UCG_OOB_PORT", "UCG_OOB_TIMEOUT", "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
              "PMIX_RANK", "PMIX_NAMESPACE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS",
              "TORCHELASTIC_USE_AGENT_STORE"})
            kept_.emplace_back(name, nullptr);
        for (const auto& [name, value] : wanted)
            kept_.emplace_back(name, value.c_str());
    }
    ~variables() {
        while (!kept_.empty())
            kept_.pop_back();
    }
    variables(const variables&) = delete;
    variables& operator=(const variables&) = delete;

private:
    std::list<test::env> kept_;
};

ucs_status_t create(std::initializer_list<std::pair<const char*, std::string>> wanted) {
    const variables set(wanted);
    ucg_oob_t* made = nullptr;
    const ucs_status_t status = ucg_oob_create_env(&made);
    ucg_oob_destroy(made);
    return status;
}

// Runs a round of two ranks that were made in one thread, so that each had its own environment.
std::string both(const test::oob_handle& first, const test::oob_handle& second) {
    if (!first || !second || first->size != 2 || second->size != 2) return "not created";
    return test::run_as_threads(
        2, [&](std::uint32_t rank) { return check_round(rank == 0 ? *first : *second, 0, 100); });
}

test::oob_handle made() {
    ucg_oob_t* object = nullptr;
    return test::oob_handle(ucg_oob_create_env(&object) == UCS_OK ? object : nullptr);
}

}  // namespace

TEST_CASE("environment: without variables the process is a single rank") {
    const variables none{};
    const auto oob = made();
    REQUIRE(oob);
    CHECK(oob->size == 1);
    CHECK(oob->rank == 0);
    CHECK(check_round(*oob, 0, 10) == "");
}

TEST_CASE("environment: torchrun's variables select TCP") {
    const std::string port = std::to_string(test::free_port());
    const auto rank = [&](const char* number) {
        const variables set{{"RANK", number},
                            {"WORLD_SIZE", "2"},
                            {"MASTER_ADDR", "localhost"},
                            {"MASTER_PORT", port},
                            {"UCG_OOB_TIMEOUT", "40s"}};
        return made();
    };
    CHECK(both(rank("0"), rank("1")) == "");
}

TEST_CASE("environment: rank 0 avoids the port of torchrun's store") {
    const std::uint16_t port = test::free_port();
    const auto taken = test::tcp_rank(0, 2, port);
    REQUIRE(taken);
    const test::log_capture log;
    const std::string text = std::to_string(port);
    CHECK(create({{"RANK", "0"},
                  {"WORLD_SIZE", "2"},
                  {"MASTER_ADDR", "127.0.0.1"},
                  {"MASTER_PORT", text}}) == UCS_ERR_BUSY);
    const std::string another = std::to_string(test::free_port());
    CHECK(create({{"RANK", "0"},
                  {"WORLD_SIZE", "2"},
                  {"MASTER_ADDR", "127.0.0.1"},
                  {"MASTER_PORT", text},
                  {"UCG_OOB_PORT", another}}) == UCS_OK);
    const variables set{{"RANK", "0"},
                        {"WORLD_SIZE", "2"},
                        {"MASTER_ADDR", "127.0.0.1"},
                        {"MASTER_PORT", text},
                        {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
    const auto root = made();
    // Rank 0 listens at the next port if that is free.
    if (root)
        CHECK(both(root, test::tcp_rank(1, 2, static_cast<std::uint16_t>(port + 1))) == "");
    else
        CHECK(log.count("cannot listen at port " + std::to_string(port + 1)) == 1);
}

TEST_CASE("environment: UCG_OOB_DIR selects a folder") {
    const test::temp_dir folder;
    const auto rank = [&](const char* number) {
        const variables set{{"UCG_OOB_DIR", folder.path()},
                            {"UCG_OOB_RANK", number},
                            {"UCG_OOB_SIZE", "2"},
                            {"UCG_OOB_JOB", "of-the-environment"}};
        return made();
    };
    CHECK(both(rank("0"), rank("1")) == "");
}

TEST_CASE("environment: incomplete and malformed variables are refused and named") {
    const test::log_capture log;
    CHECK(create({{"RANK", "0"}}) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("WORLD_SIZE is not set") == 1);
    CHECK(create({{"RANK", "0"}, {"WORLD_SIZE", "2"}}) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("MASTER_ADDR is not set") == 1);
    CHECK(create({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "x"}}) ==
          UCS_ERR_INVALID_PARAM);
    CHECK(log.count("MASTER_PORT is not set") == 1);
    CHECK(
        create({{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "x"}, {"MASTER_PORT", "1"}}) ==
        UCS_ERR_INVALID_PARAM);
    CHECK(log.count("RANK=2 is not") == 1);
    CHECK(
        create(
            {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "x"}, {"MASTER_PORT", "65536"}}) ==
        UCS_ERR_INVALID_PARAM);
    CHECK(log.count("MASTER_PORT=65536 is not") == 1);
    CHECK(create({{"MASTER_PORT", "7"}}) == UCS_ERR_INVALID_PARAM);
    CHECK(create({{"UCG_OOB_PORT", "7"}}) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("WORLD_SIZE is not set") == 3);
    CHECK(create({{"UCG_OOB_RANK", "0"}, {"UCG_OOB_SIZE", "2"}}) == UCS_ERR_INVALID_PARAM);
    CHECK(create({{"UCG_OOB_SIZE", "2"}}) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("UCG_OOB_DIR is not set") == 2);
    CHECK(create({{"PMIX_RANK", "0"}}) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("PMIX_NAMESPACE is not set") == 1);
    CHECK(create({{"PMIX_NAMESPACE", "job"}}) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("PMIX_RANK is not set") == 1);
    CHECK(create({{"PMIX_RANK", "0"}, {"UCG_OOB", "single"}}) == UCS_OK);
    CHECK(create({{"UCG_OOB_JOB", "name"}, {"UCG_OOB_TIMEOUT", "9s"}}) == UCS_OK);
    CHECK(create({{"UCG_OOB", "smoke"}}) == UCS_ERR_INVALID_PARAM);
    CHECK(create({{"UCG_OOB", "directory"}, {"UCG_OOB_RANK", "0"}, {"UCG_OOB_SIZE", "1"}}) ==
          UCS_ERR_INVALID_PARAM);
    CHECK(create({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"UCG_OOB_TIMEOUT", "soon"}}) ==
          UCS_ERR_INVALID_PARAM);
    CHECK(log.count("UCG_OOB_TIMEOUT=soon") == 1);
    CHECK(create({{"PMI_SIZE", "4"}}) == UCS_ERR_UNSUPPORTED);
    CHECK(create({{"PMI_SIZE", "4"}, {"UCG_OOB", "single"}}) == UCS_OK);
    CHECK(create({{"SLURM_STEP_NUM_TASKS", "2"}}) == UCS_ERR_UNSUPPORTED);
    CHECK(create({{"SLURM_STEP_NUM_TASKS", "2"}, {"UCG_OOB", "single"}}) == UCS_OK);
    CHECK(create({{"SLURM_STEP_NUM_TASKS", "1"}}) == UCS_OK);
    CHECK(ucg_oob_create_env(nullptr) == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("environment: PMIx without a launcher is an error") {
    const test::log_capture log;
    const ucs_status_t status = create({{"UCG_OOB", "pmix"}});
    CHECK((status == UCS_ERR_UNREACHABLE || status == UCS_ERR_UNSUPPORTED));
    CHECK(log.count("PMIx") == 1);
}
