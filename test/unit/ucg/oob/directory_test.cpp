// Tests of the out-of-band exchange over files in a folder.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "test/support/temp_dir.hpp"
#include "test/support/virtual_time.hpp"
#include "test/unit/ucg/oob/ranks.hpp"

using namespace test;

TEST_CASE("folder: two jobs at a time are not mixed up") {
    const test::temp_dir folder;
    CHECK(test::run_as_threads(6, [&](std::uint32_t thread) {
              const char* const job = thread % 2 == 0 ? "a" : "b";
              const auto oob = folder_rank(thread / 2, 3, folder.path(), job);
              return oob ? check_round(*oob, 0, 5000) + check_round(*oob, 1, 7) : "not created";
          }) == "");
    CHECK(std::filesystem::is_empty(folder.path()));
}

namespace {

// Each case has a folder, and reads the log.
struct captured {
    const test::temp_dir folder;
    const test::log_capture log;
};

}  // namespace

TEST_CASE_METHOD(captured, "folder: files of an older job of the same name are refused") {
    {
        const auto dead = folder_rank(1, 2, folder.path(), "again");
        REQUIRE(dead);
        ucg_oob_directory_params_t params = UCG_OOB_DIRECTORY_PARAMS_INIT;
        params.rank = 1;
        params.size = 2;
        params.job = "again";
        const std::string path = folder.path();
        params.path = path.c_str();
        ucg_oob_t* made = nullptr;
        CHECK(ucg_oob_create_directory(&params, &made) == UCS_ERR_ALREADY_EXISTS);
    }
    // Rank 1 left, and rank 0 never arrived.
    CHECK_FALSE(folder_rank(1, 2, folder.path(), "again"));
    CHECK(log.count("has files of rank 1 already") == 2);
}

TEST_CASE_METHOD(captured, "folder: the log names ranks that never arrived") {
    // The deadline of rank 0 passes; it notifies the other ranks, of which rank 1 is present.
    const auto hurried = folder_rank(0, 5, folder.path(), "late", 0.1);
    const auto patient = folder_rank(1, 5, folder.path(), "late");
    REQUIRE(hurried);
    REQUIRE(patient);
    char block[8] = {}, all[40];
    void* request = nullptr;
    REQUIRE(patient->allgather(patient->arg, block, all, 8, &request) == UCS_OK);
    CHECK(expect_failure(*hurried, UCS_ERR_TIMED_OUT) == "");
    CHECK(test::finish(*patient, request) == UCS_ERR_TIMED_OUT);
    INFO(log.text());
    CHECK(log.count("2-4") == 2);
    CHECK(log.count("another rank says that") >= 1);
}

TEST_CASE_METHOD(captured, "folder: wrong files and folders are refused and logged") {
    {
        const auto oob = folder_rank(0, 2, folder.path(), "files");
        REQUIRE(oob);
        folder.write("ucg-files/round.0.1", std::string(100, 'x'));
        CHECK(expect_failure(*oob, UCS_ERR_INVALID_PARAM) == "");
        CHECK(log.count("is not what rank 1 of 2 writes") == 1);
    }
    CHECK_FALSE(folder_rank(0, 2, folder.path(), nullptr));
    CHECK_FALSE(folder_rank(0, 2, folder.path(), "../up"));
    CHECK_FALSE(folder_rank(0, 2, folder.path() + "/none", "x"));
    CHECK_FALSE(folder_rank(0, 2, "", "x"));
    std::filesystem::create_directory(folder / "ucg-open");
    ::chmod((folder / "ucg-open").c_str(), 0777);
    CHECK_FALSE(folder_rank(0, 2, folder.path(), "open"));
    CHECK(log.count("closed to others") == 1);
    folder.link("ucg-link", "/tmp");
    CHECK_FALSE(folder_rank(0, 2, folder.path(), "link"));
}

TEST_CASE_METHOD(captured, "folder: a folder that vanishes ends the round") {
    const auto oob = folder_rank(0, 2, folder.path(), "gone");
    REQUIRE(oob);
    std::filesystem::remove_all(folder / "ucg-gone");
    char block[4] = {}, all[8];
    void* request = nullptr;
    CHECK(oob->allgather(oob->arg, block, all, 4, &request) == UCS_ERR_IO_ERROR);
    CHECK(log.count("No such file or directory") >= 1);
}

TEST_CASE("folder: a full file system ends the round") {
    // A limit of the file size replaces a full file system, because /dev/full cannot be a folder.
    const test::temp_dir folder;
    CHECK(test::run_as_processes(1, [&](std::uint32_t) -> std::string {
              const test::log_capture log;
              const auto oob = folder_rank(0, 2, folder.path(), "full");
              if (!oob) return "not created";
              ::signal(SIGXFSZ, SIG_IGN);
              const rlimit small{1000, 1000};
              if (::setrlimit(RLIMIT_FSIZE, &small) != 0) return "no limit";
              std::vector<std::byte> block(5000), all(10'000);
              void* request = nullptr;
              if (oob->allgather(oob->arg, block.data(), all.data(), block.size(), &request) !=
                  UCS_ERR_IO_ERROR)
                  return "another status";
              return log.count("File too large") == 1 ? "" : "not told: " + log.text();
          }) == "");
}

TEST_CASE("folder: a rank that cannot write when it comes leaves nothing behind") {
    const test::temp_dir folder;
    CHECK(test::run_as_processes(1, [&](std::uint32_t) -> std::string {
              const test::log_capture log;
              ::signal(SIGXFSZ, SIG_IGN);
              rlimit small{};
              if (::getrlimit(RLIMIT_FSIZE, &small) != 0) return "no limit";
              small.rlim_cur = 1;
              if (::setrlimit(RLIMIT_FSIZE, &small) != 0) return "no limit";
              if (folder_rank(0, 1, folder.path(), "full")) return "created";
              if (log.count("File too large") != 1) return "not told: " + log.text();
              small.rlim_cur = small.rlim_max;
              if (::setrlimit(RLIMIT_FSIZE, &small) != 0) return "no limit";
              if (!std::filesystem::is_empty(folder / "ucg-full")) return "a file is left";
              return folder_rank(0, 1, folder.path(), "full") ? "" : "not created";
          }) == "");
}

TEST_CASE_METHOD(captured, "folder: a failure names the rank that caused it") {
    char block[8] = {}, all[24];
    void* request = nullptr;
    const auto begin = [&](const test::oob_handle& rank) {
        REQUIRE(rank);
        REQUIRE(rank->allgather(rank->arg, block, all, 8, &request) == UCS_OK);
    };
    const auto end = [&](const test::oob_handle& rank) {
        ucs_status_t status = UCS_INPROGRESS;
        while (status == UCS_INPROGRESS)
            status = rank->test(rank->arg, request);
        return status;
    };
    {
        const auto first = folder_rank(0, 3, folder.path(), "blame");
        const auto last = folder_rank(2, 3, folder.path(), "blame");
        begin(first);
        begin(last);
        folder.write("ucg-blame/round.0.1", std::string(100, 'x'));
        CHECK(end(first) == UCS_ERR_INVALID_PARAM);
        // A rank reads the wrong file before the failure, so the file is removed to test the
        // failure alone.
        std::filesystem::remove(folder / "ucg-blame/round.0.1");
        CHECK(end(last) == UCS_ERR_INVALID_PARAM);
        CHECK(log.count("another rank says that rank 1 failed it") == 1);
    }
    const auto first = folder_rank(0, 2, folder.path(), "gives-up");
    const auto last = folder_rank(1, 2, folder.path(), "gives-up");
    begin(last);
    void* const others = request;
    REQUIRE(first->allgather(first->arg, block, all, 8, &request) == UCS_OK);
    first->release(first->arg, request);
    std::filesystem::remove(folder / "ucg-gives-up/round.0.0");
    request = others;
    CHECK(end(last) == UCS_ERR_CONNECTION_RESET);
    CHECK(log.count("another rank says that rank 0 failed it: died or left") == 1);
}

TEST_CASE_METHOD(captured, "folder: an unreadable file ends the round at once") {
    const auto oob = folder_rank(0, 2, folder.path(), "odd");
    REQUIRE(oob);
    folder.link("ucg-odd/round.0.1", "/etc/hostname");
    CHECK(expect_failure(*oob, UCS_ERR_REJECTED) == "");
    CHECK(log.count("round.0.1 cannot be used: it is a symbolic link") == 1);
}

TEST_CASE_METHOD(captured, "folder: a file that is not the user's own is refused") {
    const auto oob = folder_rank(0, 2, folder.path(), "foreign");
    REQUIRE(oob);
    const std::string block = folder / "ucg-foreign/round.0.1";
    SECTION("a pipe") {
        REQUIRE(::mkfifo(block.c_str(), 0600) == 0);
        CHECK(expect_failure(*oob, UCS_ERR_REJECTED) == "");
        CHECK(log.count("it is a pipe") == 1);
    }
    SECTION("a file that others can write to") {
        folder.write("ucg-foreign/round.0.1", "");
        REQUIRE(::chmod(block.c_str(), 0666) == 0);
        CHECK(expect_failure(*oob, UCS_ERR_REJECTED) == "");
        CHECK(log.count("others can write to it") == 1);
    }
    SECTION("a file of another user") {
        if (::geteuid() != 0) {
            WARN("skipped: only root can give a file to another user");
            return;
        }
        folder.write("ucg-foreign/round.0.1", "");
        REQUIRE(::chown(block.c_str(), 12345, 12345) == 0);
        CHECK(expect_failure(*oob, UCS_ERR_REJECTED) == "");
        CHECK(log.count("it belongs to user 12345") == 1);
    }
}

TEST_CASE("folder: a process may change its working directory") {
    const test::temp_dir folder;
    CHECK(test::run_as_processes(1, [&](std::uint32_t) -> std::string {
              if (::chdir(folder.path().c_str()) != 0) return "chdir";
              const auto oob = folder_rank(0, 1, ".", "moves");
              if (!oob) return "not created";
              return ::chdir("/") != 0 ? "chdir" : check_round(*oob, 0, 10);
          }) == "");
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE_METHOD(captured, "folder: a rank that left is found among many in few calls") {
    const test::virtual_time clock;
    const auto oob = folder_rank(0, 1000, folder.path(), "many");
    REQUIRE(oob);
    folder.write("ucg-many/left.999", "");
    char block = 0, all[1000];
    void* request = nullptr;
    REQUIRE(oob->allgather(oob->arg, &block, all, 1, &request) == UCS_OK);
    ucs_status_t status = UCS_INPROGRESS;
    int calls = 0;
    for (; calls < 20 && status == UCS_INPROGRESS; ++calls) {
        test::virtual_time::now += ucs::time::second;
        status = oob->test(oob->arg, request);
    }
    CHECK(status == UCS_ERR_CONNECTION_RESET);
    CHECK(calls == 4);
    CHECK(log.count("rank 999 left") == 1);
    oob->release(oob->arg, request);
}

TEST_CASE_METHOD(captured, "folder: wrong, too long and missing published files are reported") {
    const auto first = folder_rank(0, 2, folder.path(), "wrong", 0.2);
    const auto second = folder_rank(1, 2, folder.path(), "wrong", test::long_enough);
    REQUIRE(first);
    REQUIRE(second);
    const std::vector<std::byte> block(50, std::byte{5});
    std::uint64_t number = 0;
    for (const auto* const each : {&first, &second})
        for (int i = 0; i < 2; ++i)
            REQUIRE((*each)->publish((*each)->arg, block.data(), block.size(), &number) == UCS_OK);
    CHECK(number == 1);
    CHECK(test::run_as_threads(2, [&](std::uint32_t rank) {
              return check_round(rank == 0 ? *first : *second, 0, 16);
          }) == "");
    std::vector<std::byte> found(49);
    CHECK(test::look_up(*first, 0, 1, found) == UCS_ERR_BUFFER_TOO_SMALL);
    found.resize(50);
    CHECK(test::look_up(*first, 0, 1, found) == UCS_OK);
    CHECK(found == block);
    // The file has the header of another rank.
    const std::string path = folder.path() + "/ucg-wrong/";
    std::filesystem::copy_file(path + "published.0.0", path + "published.0.1",
                               std::filesystem::copy_options::overwrite_existing);
    CHECK(test::look_up(*first, 0, 1, found) == UCS_ERR_INVALID_PARAM);
    CHECK(log.count("published.0.1 is not what rank 1 of 2 writes") == 1);
    // An incomplete file counts as absent.
    std::filesystem::resize_file(path + "published.1.1", 60);
    CHECK(test::look_up(*first, 1, 1, found) == UCS_ERR_TIMED_OUT);
    std::filesystem::remove(path + "published.1.1");
    CHECK(test::look_up(*first, 1, 1, found) == UCS_ERR_TIMED_OUT);
    CHECK(log.count("rank 0 got no reply within 0.2 s to the look-up of rank 1") == 2);
}
