#include "ucs/config/source.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "test/support/environment.hpp"
#include "test/support/log_capture.hpp"
#include "test/support/temp_dir.hpp"
#include "ucs/config/general.hpp"
#include "ucs/config/openucx_options.hpp"
#include "ucs/log/log.hpp"

namespace config = ucs::config;
using config::origin;

namespace {

struct sample {
    config::memunits threshold;
    unsigned retries = 0;
    bool eager = false;
    std::string title;
    unsigned pieces = 0;

    static const config::table& options() {
        using config::make_option;
        static const config::table table{
            "Sample settings",
            {make_option<&sample::threshold>("SAMPLE_THRESH", "8k", "Where it begins.\nIn bytes."),
             make_option<&sample::retries>("SAMPLE_RETRIES", "3", "How often."),
             make_option<&sample::eager>("SAMPLE_EAGER", "y", "Whether at once."),
             make_option<&sample::title>("SAMPLE_TITLE", "none", "What to call it.", {}, true),
             make_option<&sample::pieces>("SAMPLE_PIECES", "2", "How many.",
                                          config::between("1", "16").or_limited(), true)}};
        return table;
    }
};

const config::table* const known[] = {&sample::options()};

config::source read(std::string_view prefix = "", std::string_view file = "") {
    auto made = config::source::read(prefix, file);
    REQUIRE(made);
    return *std::move(made);
}

}  // namespace

TEST_CASE("settings without texts have their defaults") {
    const auto loaded = config::load<sample>(config::source::empty());
    REQUIRE(loaded);
    CHECK(loaded->threshold.bytes == 8192);
    CHECK(loaded->retries == 3);
    CHECK(loaded->eager);
    CHECK(loaded->title == "none");
}

TEST_CASE("the prefixed variable overrides the plain one, and that overrides the file") {
    const test::temp_dir folder;
    const std::string file =
        folder.write("ucx.conf", "SAMPLE_THRESH=1k\nSAMPLE_RETRIES=10\nUCX_SAMPLE_TITLE=file\n");
    const test::env plain("UCX_SAMPLE_RETRIES", "20");
    const test::env also("UCX_SAMPLE_TITLE", "environment");
    const test::env prefixed("MPI_UCX_SAMPLE_TITLE", "mpi");
    const config::source from = read("MPI", file);
    CHECK(from.prefix() == "MPI");
    CHECK(from.find("SAMPLE_THRESH")->from == origin::file);
    CHECK(from.find("SAMPLE_THRESH")->where == file + ":1");
    CHECK(from.find("SAMPLE_RETRIES")->from == origin::environment);
    CHECK(from.find("SAMPLE_RETRIES")->where == "UCX_SAMPLE_RETRIES");
    CHECK(from.find("SAMPLE_TITLE")->from == origin::prefixed_environment);
    CHECK(from.find("SAMPLE_NOTHING") == nullptr);
    const auto loaded = config::load<sample>(from);
    REQUIRE(loaded);
    CHECK(loaded->threshold.bytes == 1024);
    CHECK(loaded->retries == 20);
    CHECK(loaded->title == "mpi");
    CHECK(config::load<sample>(read("", file))->title == "environment");
}

TEST_CASE("UCX_CONFIG_DIR names a folder with a ucx.conf") {
    const test::temp_dir folder;
    folder.write("ucx.conf", "SAMPLE_RETRIES=11\n");
    const test::env dir("UCX_CONFIG_DIR", folder.path().c_str());
    CHECK(config::load<sample>(read())->retries == 11);
}

TEST_CASE("an untrusted file in place of ucx.conf is skipped with one line") {
    const test::temp_dir folder;
    const std::string file = folder / "ucx.conf";
    const auto left_out = [&](const char* reason) {
        const test::log_capture log;
        const test::env dir("UCX_CONFIG_DIR", folder.path().c_str());
        CHECK(config::load<sample>(read())->retries == 3);
        CHECK(config::load<sample>(read())->retries == 3);
        INFO(log.text());
        CHECK(log.count(reason) == 1);
        CHECK(log.size() == 1);
    };
    SECTION("a pipe, which would block") {
        REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
        left_out("it is a pipe");
    }
    SECTION("a link") {
        folder.link("ucx.conf", folder.write("other", "SAMPLE_RETRIES=11\n"));
        left_out("it is a symbolic link");
    }
    SECTION("a folder") {
        folder.write("ucx.conf/file", "");
        left_out("it is a folder");
    }
    SECTION("a file that others can write to") {
        folder.write("ucx.conf", "SAMPLE_RETRIES=11\n");
        REQUIRE(::chmod(file.c_str(), 0666) == 0);
        left_out("others can write to it");
    }
    SECTION("a file in a folder that others can write to") {
        folder.write("ucx.conf", "SAMPLE_RETRIES=11\n");
        REQUIRE(::chmod(folder.path().c_str(), 0777) == 0);
        left_out("others can write to its folder");
    }
}

TEST_CASE("a file that the program names is read through a link, and a pipe is an error") {
    const test::temp_dir folder;
    folder.link("link", folder.write("other", "SAMPLE_RETRIES=11\n"));
    CHECK(config::load<sample>(read("", folder / "link"))->retries == 11);
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    const test::log_capture log;
    CHECK(config::source::read("", folder / "pipe").status() == UCS_ERR_IO_ERROR);
    CHECK(log.count("it is a pipe", ucs::log::level::error) == 1);
}

TEST_CASE("a source is a snapshot of the environment") {
    const config::source before = read();
    const test::env late("UCX_SAMPLE_RETRIES", "20");
    CHECK(before.find("SAMPLE_RETRIES") == nullptr);
}

TEST_CASE("a named file that is not there is an error") {
    test::log_capture captured;
    CHECK(config::source::read("", "/no/such/ucx.conf").status() == UCS_ERR_NO_ELEM);
    CHECK(captured.count("/no/such/ucx.conf", ucs::log::level::error) == 1);
}

TEST_CASE("an unreadable default file gives one warning and is left out") {
    const test::temp_dir folder;
    REQUIRE(::mkdir((folder / "ucx.conf").c_str(), 0700) == 0);  // reading a folder fails
    const test::env dir("UCX_CONFIG_DIR", folder.path().c_str());
    test::log_capture captured;
    (void)read();
    (void)read();
    INFO(captured.text());
    CHECK(captured.count(folder / "ucx.conf", ucs::log::level::warn) == 1);
}

TEST_CASE("malformed lines give one warning with their location, the others apply") {
    const test::temp_dir folder;
    const std::string file = folder.write("ucx.conf", "\nwhat is this\nSAMPLE_RETRIES=4\n!!\n");
    test::log_capture captured;
    CHECK(config::load<sample>(read("", file))->retries == 4);
    (void)read("", file);
    CHECK(captured.count(file + ":2:", ucs::log::level::warn) == 1);
    CHECK(captured.size() == 1);
}

TEST_CASE("a wrong value is an error that names variable, text and form") {
    const test::env wrong("UCX_SAMPLE_RETRIES", "many");
    const test::env also("UCX_SAMPLE_THRESH", "8x");
    test::log_capture captured;
    sample settings;
    CHECK(config::load(&settings, sample::options(), read()) == UCS_ERR_INVALID_PARAM);
    CHECK(captured.count("UCX_SAMPLE_RETRIES: \"many\"", ucs::log::level::error) == 1);
    CHECK(captured.count("expected a non-negative integer") == 1);
    CHECK(captured.count("UCX_SAMPLE_THRESH: \"8x\"") == 1);
    CHECK(settings.retries == 3);
    CHECK(settings.threshold.bytes == 8192);
    CHECK(config::check(sample::options(), read()) == UCS_ERR_INVALID_PARAM);
    CHECK(captured.count("UCX_SAMPLE_THRESH: \"8x\"") == 2);
    CHECK(config::check(sample::options(), config::source::empty()) == UCS_OK);
    CHECK(config::load<sample>(read()).status() == UCS_ERR_INVALID_PARAM);
}

TEST_CASE("another family has its own variables, and log lines name them") {
    const test::env own("UCG_SAMPLE_RETRIES", "20");
    const test::env other("UCX_SAMPLE_RETRIES", "30");
    const test::env wrong("UCG_SAMPLE_THRESH", "8x");
    test::log_capture captured;
    sample settings;
    CHECK(config::load(&settings, sample::options(), config::source::of_family("UCG")) ==
          UCS_ERR_INVALID_PARAM);
    CHECK(settings.retries == 20);
    CHECK(captured.count("UCG_SAMPLE_THRESH: \"8x\"") == 1);
    const test::env unknown("UCG_SAMPLE_RETRIE", "1");
    config::source::of_family("UCG").warn_unknown(known);
    CHECK(captured.count("did you mean UCG_SAMPLE_RETRIES?") == 1);
}

TEST_CASE("a value out of the option's range is an error with the allowed range") {
    const test::env wrong("UCX_SAMPLE_PIECES", "0");
    test::log_capture captured;
    sample settings;
    CHECK(config::load(&settings, sample::options(), read()) == UCS_ERR_INVALID_PARAM);
    CHECK(captured.count("UCX_SAMPLE_PIECES: \"0\"", ucs::log::level::error) == 1);
    CHECK(captured.count("expected a non-negative integer, from 1 to 16; more is taken as 16") ==
          1);
    CHECK(captured.size() == 1);
    CHECK(settings.pieces == 2);
    CHECK(config::check(sample::options(), read()) == UCS_ERR_INVALID_PARAM);
    config::source target = config::source::empty();
    CHECK(config::modify(target, known, "SAMPLE_PIECES", "0") == UCS_ERR_INVALID_PARAM);
    CHECK(target.find("SAMPLE_PIECES") == nullptr);
}

TEST_CASE("a value above a limited range is reduced to the largest, with one log line") {
    const test::env large("UCX_SAMPLE_PIECES", "17");
    test::log_capture captured;
    CHECK(config::check(sample::options(), read()) == UCS_OK);
    for (int times = 0; times < 3; ++times)
        CHECK(config::load<sample>(read())->pieces == 16);
    CHECK(captured.count("UCX_SAMPLE_PIECES: \"17\" is more than is possible here; 16 is used",
                         ucs::log::level::warn) == 1);
    CHECK(captured.size() == 1);
    CHECK(config::print(read(), known, "", config::print_values | config::print_hidden, "PIECES") ==
          "UCX_SAMPLE_PIECES=16\n");
}

TEST_CASE("modify checks the value of a known name") {
    test::log_capture captured;
    config::source target = config::source::empty();
    CHECK(config::modify(target, known, "SAMPLE_RETRIES", "9") == UCS_OK);
    CHECK(config::modify(target, known, "SAMPLE_RETRIES", "x") == UCS_ERR_INVALID_PARAM);
    CHECK(captured.count("UCX_SAMPLE_RETRIES: \"x\"", ucs::log::level::error) == 1);
    CHECK(config::load<sample>(target)->retries == 9);
    CHECK(target.find("SAMPLE_RETRIES")->from == origin::program);
}

TEST_CASE("an option is set by its family name if its own name is not set") {
    static const config::table members = config::with_family(sample::options(), "SAMPLE_", "ALL_");
    const config::table* const tables[] = {&members};
    const auto retries = [](const config::source& from) {
        sample loaded;
        CHECK(config::load(&loaded, members, from) == UCS_OK);
        return loaded.retries;
    };
    config::source from = config::source::empty();
    REQUIRE(config::modify(from, tables, "ALL_RETRIES", "5") == UCS_OK);
    CHECK(retries(from) == 5);
    CHECK(config::print(from, tables, "", config::print_values).find("UCX_SAMPLE_RETRIES=5\n") !=
          std::string::npos);
    CHECK(config::print(from, tables, "", config::print_doc).find("# Also:    UCX_ALL_RETRIES") !=
          std::string::npos);
    REQUIRE(config::modify(from, tables, "SAMPLE_RETRIES", "7") == UCS_OK);
    CHECK(retries(from) == 7);
    test::log_capture captured;
    CHECK(config::modify(from, tables, "ALL_RETRIES", "many") == UCS_ERR_INVALID_PARAM);
    config::source wrong = config::source::empty();
    wrong.set("ALL_RETRIES", "many");
    CHECK(config::check(members, wrong) == UCS_ERR_INVALID_PARAM);
    wrong.warn_unknown(tables);
    CHECK(captured.count("is not an option") == 0);
}

TEST_CASE("modify keeps an unknown name, and warns once with the nearest one") {
    test::log_capture captured;
    config::source target = config::source::empty();
    for (const char* text : {"9", "10"})
        CHECK(config::modify(target, known, "SAMPLE_RETRYS", text) == UCS_OK);
    REQUIRE(target.find("SAMPLE_RETRYS") != nullptr);
    CHECK(target.find("SAMPLE_RETRYS")->text == "10");
    INFO(captured.text());
    CHECK(captured.count("the program: UCX_SAMPLE_RETRYS is not an option of this library and has "
                         "no effect; did you mean UCX_SAMPLE_RETRIES?",
                         ucs::log::level::warn) == 1);
    CHECK(captured.size() == 1);
}

TEST_CASE("each unknown name in modify has its own warning") {
    test::log_capture captured;
    config::source target = config::source::empty();
    CHECK(config::modify(target, known, "FIRST_OF_TWO_NAMES", "1") == UCS_OK);
    CHECK(config::modify(target, known, "SECOND_OF_TWO_NAMES", "1") == UCS_OK);
    target.warn_unknown(known);
    CHECK(captured.count("is not an option") == 2);
}

TEST_CASE("options of OpenUCX for missing mechanisms are accepted without a warning") {
    test::log_capture captured;
    config::source target = config::source::empty();
    for (const char* name : {"SEG_SIZE",
                             "RNDV_FRAG_MEM_TYPE",
                             "IB_PCI_RELAXED_ORDERING",
                             "RC_FENCE",
                             "RC_GDA_NUM_CHANNELS",
                             "MAX_HCA_PER_GPU",
                             "RNDV_PIPELINE_ERROR_HANDLING",
                             "ADDRESS_VERSION",
                             "MAX_COMPONENT_MDS",
                             "MEMTYPE_COPY_ENABLE",
                             "MEMTYPE_CACHE",
                             "MEMTYPE_REG_WHOLE_ALLOC_TYPES",
                             "CUDA_COPY_BW",
                             "DISTANCE_BW",
                             "TCP_SENDV_THRESH",
                             "TCP_CM_REUSEADDR",
                             "POSIX_HUGETLB_MODE",
                             "MM_HUGETLB_MODE",
                             "SELF_SEG_SIZE",
                             "DC_NUM_DCI",
                             "UD_VERBS_MAX_WINDOW"}) {
        INFO(name);
        CHECK(config::find_no_effect(name) != nullptr);
        CHECK(config::modify(target, known, name, "1") == UCS_OK);
    }
    CHECK(captured.count("", ucs::log::level::warn) == 0);
    for (const char* name : {"", "SAMPLE_RETRIES", "TCP_SENDV_TRESH", "SENDV_THRESH", "TLS"}) {
        INFO(name);
        CHECK(config::find_no_effect(name) == nullptr);
    }
}

TEST_CASE("options of OpenUCX that request a missing service give a warning") {
    const test::env statistics("UCX_STATS_DEST", "file:statistics");
    const test::env profile("UCX_PROFILE_MODE", "log");
    const test::env backtrace("UCX_HANDLE_ERRORS", "bt");
    const test::env no_tracking("UCX_MEMTRACK_DEST", "");
    test::log_capture captured;
    for (int times = 0; times < 2; ++times)
        read().warn_unknown(known);
    INFO(captured.text());
    for (const char* name : {"STATS_DEST", "PROFILE_MODE", "HANDLE_ERRORS"}) {
        INFO(name);
        CHECK(captured.count(std::string("UCX_") + name + " has no effect, because ",
                             ucs::log::level::warn) == 1);
    }
    CHECK(captured.count("MEMTRACK_DEST", ucs::log::level::warn) == 0);
}

TEST_CASE("the table of OpenUCX's options gives a reason for each that has no effect") {
    CHECK(config::openucx_options().size() > 600);
    for (const config::openucx_option& each : config::openucx_options()) {
        INFO(each.name);
        if (each.effect != nullptr) CHECK(each.effect->reason.size() > 10);
        CHECK(config::find_no_effect(each.name) == each.effect);
    }
}

TEST_CASE("unknown variables give one warning, with the nearest name") {
    const test::env slip("UCX_SAMPLE_RETRIS", "4");
    const test::env foreign("UCX_RC_FENCE", "weak");
    const test::env right("UCX_SAMPLE_EAGER", "n");
    const test::env general("UCX_LOG_FILE_ROTATE", "0");
    const test::env odd("UCX_QQQQQQQQ", "1");
    test::log_capture captured;
    read().warn_unknown(known);
    read().warn_unknown(known);
    INFO(captured.text());
    CHECK(captured.count("did you mean UCX_SAMPLE_RETRIES?", ucs::log::level::warn) == 1);
    CHECK(captured.count("UCX_QQQQQQQQ") == 1);
    CHECK(captured.count("did you mean") == 1);
    CHECK(captured.size() == 2);
}

TEST_CASE("warnings of unknown variables can be switched off") {
    const test::env unknown("UCX_SAMPLE_SILENT", "4");
    const test::env off("UCX_WARN_UNUSED_ENV_VARS", "n");
    test::log_capture captured;
    read().warn_unknown(known);
    CHECK(captured.size() == 0);
}

TEST_CASE("an unknown name in a file gives a warning with its location") {
    const test::temp_dir folder;
    const std::string file = folder.write("ucx.conf", "SAMPLE_EAGR=y\n");
    test::log_capture captured;
    read("", file).warn_unknown(known);
    CHECK(captured.count(file + ":1: UCX_SAMPLE_EAGR", ucs::log::level::warn) == 1);
    CHECK(captured.count("UCX_SAMPLE_EAGER?") == 1);
}

TEST_CASE("printed values are lines that clients parse") {
    config::source from = config::source::empty();
    from.set("SAMPLE_THRESH", "64kb");
    CHECK(config::print(from, known, "Title", config::print_values) ==
          "UCX_SAMPLE_THRESH=64K\nUCX_SAMPLE_RETRIES=3\nUCX_SAMPLE_EAGER=y\n");
    CHECK(config::print(from, known, "Title", config::print_values | config::print_hidden,
                        "TITLE") == "UCX_SAMPLE_TITLE=none\n");
    CHECK(config::print(from, known, "Title", config::print_values | config::print_comment_default,
                        "RETRIES") == "# UCX_SAMPLE_RETRIES=3\n");
    CHECK(config::print(from, known, "Title", config::print_header) == "#\n# Title\n#\n\n");
    const std::string doc =
        config::print(from, known, "Title", config::print_values | config::print_doc, "THRESH");
    CHECK(doc.find("# Where it begins.\n# In bytes.\n") != doc.npos);
    CHECK(doc.find("# Default: 8k\n") != doc.npos);
    CHECK(config::print(from, known, "", config::print_doc | config::print_hidden, "PIECES")
              .find("# Form:    a non-negative integer, from 1 to 16; more is taken as 16\n") !=
          std::string::npos);
    CHECK(doc.find("\nUCX_SAMPLE_THRESH=64K\n") != doc.npos);
}

TEST_CASE("every option of the services has a right default and a help text") {
    for (const config::table* table : config::general_tables()) {
        for (const config::option& each : table->options) {
            INFO(each.name);
            CHECK(each.check(each.default_value) == config::verdict::good);
            CHECK(std::string_view(each.help).size() > 20);
        }
    }
}

TEST_CASE("the text of a secret option is overwritten when it has been read") {
    config::source from = config::source::empty();
    from.set("JOB_KEY", "0123456789abcdef0123456789abcdef");
    const char* const place = from.find("JOB_KEY")->text.data();
    from.erase_secret("JOB_KEY");
    from.erase_secret("NO_SUCH_NAME");
    CHECK(from.find("JOB_KEY")->text == config::hidden_value);
    // The text has not moved, and no part of the key remains behind the mark.
    CHECK(from.find("JOB_KEY")->text.data() == place);
    CHECK(from.find("JOB_KEY")->text.capacity() >= 32);
    for (std::size_t i = std::string_view(config::hidden_value).size(); i < 32; ++i)
        CHECK(place[i] == '\0');
}
