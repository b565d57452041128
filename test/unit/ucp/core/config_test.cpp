// Tests of the option tables: the values that each option accepts.
#include "ucp/core/config.hpp"

#include <catch2/catch.hpp>

#include "test/support/log_capture.hpp"
#include "ucp/core/context.hpp"
#include "ucs/config/general.hpp"
#include "ucs/config/openucx_options.hpp"
#include "ucs/config/source.hpp"
#include "uct/components/components.hpp"

using namespace ucs::config;

namespace {

// Calls visit(option) for each option that a program can set.
template<class Visit>
void for_all(Visit&& visit) {
    for (const ucs::config::table* table : ucp::option_tables()) {
        for (const option& each : table->options)
            visit(each);
    }
}

using texts = std::vector<const char*>;

struct expectation {
    const char* name;
    texts good;
    texts limited;
    texts refused;
};

// Returns whether every text is a valid value of the option: an unknown name in it is no error.
bool is_free_text(std::string_view name) {
    return name == "TLS" || name == "NET_DEVICES" || name == "CONFIG_DIR" || name == "LOG_FILE" ||
           name == "MODULE_DIR" || name == "VFS_SOCK_PATH" || name == "JOB_KEY" ||
           name == "JOB_KEY_FILE";
}

const expectation expectations[] = {
    {"TLS", {"all", "tcp,self", "^cma", "rc,ud:aux,sm"}, {}, {"", "^", "a,,b"}},
    {"NET_DEVICES", {"all", "mlx5_0:1", "^lo"}, {}, {"", ","}},
    {"RNDV_THRESH",
     {"0", "inf", "auto", "8kb", "1p", "intra:8k,inter:inf", "64k,intra:auto"},
     {},
     {"-1", "outer:1k", "intra:", ":8k", "8k,"}},
    {"BCOPY_THRESH", {"0", "inf", "auto", "16"}, {}, {"-1"}},
    {"ZCOPY_THRESH", {"0", "inf", "auto", "16k"}, {}, {"-1"}},
    {"RNDV_SCHEME",
     {"auto", "get_zcopy", "put_zcopy", "get_ppln", "put_ppln", "rkey_ptr", "am"},
     {},
     {"0", "inf"}},
    {"RNDV_FRAG_SIZE",
     {"1", "inf", "auto", "256k", "host:512K,cuda:4M", "cuda:4M"},
     {},
     {"0", "-1", "host:0", "disk:4k"}},
    {"RNDV_FRAG_ALLOC_COUNT", {"1", "128", "host:64,cuda:8"}, {}, {"0", "-1", "disk:4"}},
    {"MAX_RNDV_RAILS", {"1", "4", "16"}, {}, {"0", "auto"}},
    {"MAX_RMA_RAILS", {"1", "2", "16"}, {}, {"0", "all"}},
    {"MIN_RNDV_CHUNK_SIZE", {"1k", "64k"}, {}, {"1", "inf"}},
    {"PROTO_INFO", {"y", "n", "1", "used"}, {}, {"2"}},
    {"HOST_PROBE", {"y", "n"}, {}, {"auto"}},
    {"POLL_SLOW_EVERY", {"1", "1024"}, {}, {"0", "1025", "inf", "auto", "-1"}},
    {"UNEXPECTED_WINDOW", {"0", "1m", "inf"}, {}, {"auto", "-1"}},
    {"UNEXPECTED_LIMIT", {"0", "64m", "inf"}, {}, {"auto", "-1"}},
    {"UNEXPECTED_HARD_LIMIT", {"auto", "0", "64m", "inf"}, {}, {"-1"}},
    {"UNEXPECTED_ANNOUNCEMENTS", {"1", "4096", "inf"}, {}, {"0", "auto", "-1"}},
    {"STREAM_WINDOW", {"256k", "1g"}, {}, {"0", "255k", "2g", "inf", "auto", "-1"}},
    {"CM_TIMEOUT", {"1ms", "10s", "inf"}, {}, {"0", "1us", "auto", "-1"}},
    {"SOCKADDR_TLS_PRIORITY",
     {"rdmacm,tcp", "tcp", "sockcm", "all"},
     {},
     {"", "^tcp", ",", "tcp,ud"}},
    {"KEEPALIVE_INTERVAL", {"1s", "20s", "inf"}, {}, {"0", "999ms", "auto", "-1"}},
    {"KEEPALIVE_NUM_EPS", {"1", "128", "inf"}, {}, {"0", "auto", "-1"}},
    {"POSIX_FIFO_SIZE", {"1", "256", "65536"}, {"65537", "inf"}, {"0", "auto", "-1"}},
    {"POSIX_SEG_SIZE", {"2k", "8256", "64k", "auto"}, {"65537", "inf"}, {"0", "2047", "-1"}},
    {"POSIX_BULK_SIZE", {"4k", "64m", "auto"}, {}, {"0", "4095", "65m", "inf", "-1"}},
    {"POSIX_MAX_POLL", {"1", "inf"}, {}, {"0", "auto", "-1"}},
    {"POSIX_LAT", {"0", "50ns", "1s"}, {}, {"2s", "inf", "auto", "-1"}},
    {"POSIX_BW", {"12179MBs", "12g", "100Gbps", "auto"}, {}, {"0", "0MBs", "2048p", "inf", "-1"}},
    {"POSIX_OVERHEAD", {"0", "10ns", "1s"}, {}, {"2s", "inf", "auto", "-1"}},
    {"POSIX_LINGER", {"0", "200ms", "60s"}, {}, {"61s", "inf", "auto", "-1"}},
    {"CMA_SEG_SIZE", {"4k", "512k", "inf", "auto"}, {}, {"0", "4095", "-1"}},
    {"CMA_ALLOW_PEERS", {"y", "n"}, {}, {"auto"}},
    {"CUDA_COPY_MAX_EVENTS", {"1", "1024", "inf"}, {}, {"0", "auto", "-1"}},
    {"CUDA_COPY_MAX_POLL", {"1", "4096"}, {}, {"0", "4097", "inf", "auto"}},
    {"CUDA_COPY_BW", {"10GBs", "default:1GBs,h2d:2GBs"}, {}, {"0", "h2d:1GBs", "x2d:1GBs", "-1"}},
    {"CUDA_COPY_LAT", {"0", "8us", "1s"}, {}, {"2s", "inf", "auto", "-1"}},
    {"CUDA_COPY_OVERHEAD", {"0", "1us", "1s"}, {}, {"2s", "inf", "auto", "-1"}},
    {"CUDA_IPC_MAX_EVENTS", {"1", "1024", "inf"}, {}, {"0", "auto", "-1"}},
    {"CUDA_IPC_MAX_POLL", {"1", "4096"}, {}, {"0", "4097", "inf", "auto"}},
    {"CUDA_IPC_MAX_STREAMS", {"1", "16"}, {"17", "64"}, {"0", "auto", "-1"}},
    {"CUDA_IPC_CACHE", {"y", "n"}, {}, {"auto"}},
    {"CUDA_IPC_CACHE_MAX_REGIONS", {"0", "1024", "inf"}, {}, {"auto", "-1"}},
    {"CUDA_IPC_ENABLE_GET_ZCOPY", {"y", "n", "auto"}, {}, {"x"}},
    {"CUDA_IPC_BW", {"100GBs", "auto"}, {}, {"0", "2048p", "inf", "-1"}},
    {"CUDA_IPC_LAT", {"0", "7us", "1s"}, {}, {"2s", "inf", "auto", "-1"}},
    {"CUDA_IPC_OVERHEAD", {"0", "1us", "1s"}, {}, {"2s", "inf", "auto", "-1"}},
    {"CMA_LAT", {"0", "400ns", "1s"}, {}, {"2s", "inf", "auto", "-1"}},
    {"CMA_BW", {"11145MBs", "auto"}, {}, {"0", "2048p", "inf", "-1"}},
    {"CMA_OVERHEAD", {"0", "2us", "1s"}, {}, {"2s", "inf", "auto", "-1"}},
    {"TCP_TX_SEG_SIZE", {"2k", "8kb", "1m", "auto"}, {"1025k", "inf"}, {"0", "2047", "-1"}},
    {"TCP_RX_SEG_SIZE", {"1k", "64kb", "16m", "auto"}, {"17m", "inf"}, {"0", "1023", "-1"}},
    {"TCP_MAX_ZCOPY", {"2k", "8m"}, {}, {"0", "2047", "9m", "inf", "auto", "-1"}},
    {"TCP_MAX_IOV", {"1", "6", "16"}, {"17", "inf"}, {"0", "auto", "-1"}},
    {"TCP_SNDBUF", {"1k", "1g", "auto"}, {"2g", "inf"}, {"0", "1023", "-1"}},
    {"TCP_RCVBUF", {"1k", "1g", "auto"}, {"2g", "inf"}, {"0", "1023", "-1"}},
    {"TCP_NODELAY", {"y", "n"}, {}, {"auto"}},
    {"TCP_EP_BIND_SRC_ADDR", {"y", "n"}, {}, {"auto"}},
    {"TCP_BRIDGE_ENABLE", {"y", "n"}, {}, {"auto"}},
    {"TCP_PORT_RANGE", {"0", "5000-6000", "65535"}, {}, {"65536", "0-7", "inf", "auto", "-1"}},
    {"TCP_AF_PRIO", {"inet", "inet6,inet", "inet, inet6"}, {}, {"", "foo", "inet,foo", "inet,"}},
    {"TCP_MAX_CONN_RETRIES", {"0", "25", "inf"}, {}, {"auto", "-1"}},
    {"TCP_SYN_CNT", {"0", "127", "auto"}, {"128", "255"}, {"-1", "inf"}},
    {"TCP_MAX_POLL", {"1", "64"}, {"65", "inf"}, {"0", "auto", "-1"}},
    {"TCP_CONNECT_TIMEOUT", {"1ms", "inf"}, {}, {"0", "1us", "auto", "-1"}},
    {"TCP_HANDSHAKE_TIMEOUT", {"1ms", "inf"}, {}, {"0", "1us", "auto", "-1"}},
    {"TCP_LINGER", {"0", "1m"}, {}, {"61s", "inf", "auto", "-1"}},
    {"TCP_ENCRYPTION", {"y", "n"}, {}, {"auto"}},
    {"TCP_KEEPIDLE", {"1ms", "10000000us", "32767s", "inf", "auto"}, {"10h"}, {"0", "-1"}},
    {"TCP_KEEPINTVL", {"1ms", "2000000us", "32767s", "auto"}, {"10h", "inf"}, {"0", "-1"}},
    {"TCP_KEEPCNT", {"0", "3", "127", "auto"}, {"128"}, {"-1", "inf"}},
    {"IB_GID_INDEX", {"0", "3", "255", "auto"}, {}, {"256", "inf", "-1"}},
    {"IB_SL", {"0", "15", "auto"}, {}, {"16", "inf", "-1"}},
    {"IB_TRAFFIC_CLASS", {"0", "255", "auto"}, {}, {"256", "inf", "-1"}},
    {"IB_HOP_LIMIT", {"0", "255"}, {}, {"256", "inf", "auto", "-1"}},
    {"IB_PKEY", {"0", "32767", "65535", "auto"}, {}, {"65536", "inf", "-1"}},
    {"IB_RCACHE_ENABLE", {"y", "n"}, {}, {"auto"}},
    {"IB_RCACHE_MAX_REGIONS", {"0", "1000", "inf"}, {}, {"auto", "-1"}},
    {"IB_RCACHE_MAX_SIZE", {"0", "1g", "inf"}, {}, {"auto", "-1"}},
    {"IB_ODP", {"y", "n", "try", "auto"}, {}, {"2", "inf"}},
    {"IB_MEMORY_WINDOWS", {"y", "n", "try", "auto"}, {}, {"2", "inf"}},
    {"IB_CQ_EVENT_COUNT", {"1", "64", "65535"}, {"65536", "inf"}, {"0", "auto", "-1"}},
    {"IB_CQ_EVENT_PERIOD", {"1us", "100us", "65535us"}, {"1s"}, {"0", "auto", "-1"}},
    {"IB_PORT_DOWN_TIMEOUT", {"0", "10s", "inf"}, {}, {"auto", "-1"}},
    {"RC_VERBS_SEG_SIZE", {"2k", "8256", "1m"}, {"2m", "inf"}, {"2047", "auto", "-1"}},
    {"RC_VERBS_TX_QUEUE_LEN", {"4", "32768"}, {"32769", "inf"}, {"3", "auto", "-1"}},
    {"RC_VERBS_TX_MIN_INLINE", {"0", "64", "1024"}, {"1025", "inf"}, {"auto", "-1"}},
    {"RC_VERBS_TX_MIN_SGE", {"2", "5", "16"}, {"17", "inf"}, {"1", "auto", "-1"}},
    {"RC_VERBS_TX_CQ_MODERATION", {"1", "64", "32768"}, {"32769", "inf"}, {"0", "auto", "-1"}},
    {"RC_VERBS_TX_CQ_LEN", {"4", "4096", "4194304"}, {"4194305", "inf"}, {"3", "auto", "-1"}},
    {"RC_VERBS_RX_QUEUE_LEN", {"8", "4095", "65535"}, {"65536", "inf"}, {"7", "auto", "-1"}},
    {"RC_VERBS_RX_MAX_BATCH", {"1", "16", "1024"}, {"1025", "inf"}, {"0", "auto", "-1"}},
    {"RC_VERBS_RX_BUFS_FIRST", {"8", "65535"}, {"65536", "inf"}, {"7", "auto", "-1"}},
    {"RC_VERBS_PATH_MTU", {"256", "1024", "4096", "auto"}, {}, {"255", "8192", "inf", "-1"}},
    {"RC_VERBS_MAX_RD_ATOMIC", {"1", "255", "auto"}, {"256"}, {"0", "inf", "-1"}},
    {"RC_VERBS_TIMEOUT", {"4us", "1s", "8000s"}, {"3h", "inf"}, {"0", "auto", "-1"}},
    {"RC_VERBS_RETRY_COUNT", {"0", "7"}, {"8", "inf"}, {"auto", "-1"}},
    {"RC_VERBS_RNR_TIMEOUT", {"10us", "1ms", "655ms"}, {"1s", "inf"}, {"0", "auto", "-1"}},
    {"RC_VERBS_RNR_RETRY_COUNT", {"0", "7"}, {"8", "inf"}, {"auto", "-1"}},
    {"RC_VERBS_FC_ENABLE", {"y", "n"}, {}, {"auto"}},
    {"RC_VERBS_FC_WND_SIZE", {"4", "512", "65535"}, {"65536", "inf"}, {"3", "auto", "-1"}},
    {"RC_VERBS_FC_SOFT_THRESH", {"0", "0.5", "1"}, {}, {"1.1", "auto", "-1"}},
    {"RC_VERBS_FC_HARD_THRESH", {"0", "0.25", "1"}, {}, {"1.1", "auto", "-1"}},
    {"RC_VERBS_MAX_NUM_EPS", {"1", "256", "inf"}, {}, {"0", "auto", "-1"}},
    {"RC_VERBS_LINGER", {"0", "1s", "1m"}, {}, {"61s", "inf", "auto", "-1"}},
    {"UD_VERBS_TX_QUEUE_LEN", {"4", "32768"}, {"32769", "inf"}, {"3", "auto", "-1"}},
    {"UD_VERBS_TX_MIN_INLINE", {"0", "96", "1024"}, {"1025", "inf"}, {"auto", "-1"}},
    {"UD_VERBS_TX_MIN_SGE", {"1", "5", "16"}, {"17", "inf"}, {"0", "auto", "-1"}},
    {"UD_VERBS_TX_CQ_MODERATION", {"1", "64", "32768"}, {"32769", "inf"}, {"0", "auto", "-1"}},
    {"UD_VERBS_TX_WINDOW", {"2", "64", "1024"}, {"1025", "inf"}, {"1", "auto", "-1"}},
    {"UD_VERBS_RX_QUEUE_LEN", {"8", "1024", "65535"}, {"65536", "inf"}, {"7", "auto", "-1"}},
    {"UD_VERBS_RX_MAX_BATCH", {"1", "16", "1024"}, {"1025", "inf"}, {"0", "auto", "-1"}},
    {"UD_VERBS_RX_BUFS_FIRST", {"8", "65535"}, {"65536", "inf"}, {"7", "auto", "-1"}},
    {"UD_VERBS_PATH_MTU", {"256", "1024", "4096", "auto"}, {}, {"255", "8192", "inf", "-1"}},
    {"UD_VERBS_TIMEOUT", {"100ms", "2m", "1h"}, {"2h", "inf"}, {"99ms", "auto", "-1"}},
    {"UD_VERBS_MIN_RTO", {"10us", "4ms", "10s"}, {"11s", "inf"}, {"9us", "auto", "-1"}},
    {"UD_VERBS_MAX_RTO", {"10us", "500ms", "1m"}, {"61s", "inf"}, {"9us", "auto", "-1"}},
    {"UD_VERBS_LINGER", {"0", "1s", "1m"}, {}, {"61s", "inf", "auto", "-1"}},
    {"UD_VERBS_TEST_DROP", {"0", "0.1", "0.9"}, {}, {"1", "auto", "-1"}},
    {"UD_VERBS_TEST_DUPLICATE", {"0", "1"}, {}, {"1.1", "auto", "-1"}},
    {"UD_VERBS_TEST_REORDER", {"0", "1"}, {}, {"1.1", "auto", "-1"}},
    {"UD_VERBS_TEST_FORGET", {"0", "0.5", "0.9"}, {}, {"1", "auto", "-1"}},
    {"UD_VERBS_TEST_SEED", {"0", "7"}, {}, {"auto", "-1"}},
    {"WARN_UNUSED_ENV_VARS", {"y", "n"}, {}, {"auto"}},
    {"CONFIG_DIR", {"", "/etc"}, {}, {}},
    {"MEM_EVENTS", {"y", "n"}, {}, {"auto"}},
    {"MEM_CUDA_HOOK_MODE",
     {"none", "reloc", "bistro", "Reloc, bistro"},
     {},
     {"", "ptrace", "reloc,", "reloc bistro"}},
    {"MEM_MMAP_HOOK_MODE", {"none", "reloc", "Bistro"}, {}, {"", "ptrace"}},
    {"MODULE_DIR", {"", "/usr/lib/hawser"}, {}, {}},
    {"VFS_ENABLE", {"y", "n"}, {}, {"maybe"}},
    {"VFS_SOCK_PATH", {"", "/run/user/1/ucx/vfs.sock", "ours"}, {}, {}},
    {"JOB_KEY", {"", "sixteen letters and more"}, {}, {}},
    {"JOB_KEY_FILE", {"", "/run/user/1/key"}, {}, {}},
    {"LOG_LEVEL", {"warn", "info,uct.tcp:trace"}, {}, {"", "0", "inf"}},
    {"LOG_FILE", {"", "-", "log.%p"}, {}, {}},
    {"LOG_FILE_SIZE", {"1", "10m", "inf"}, {}, {"0", "auto", "-1"}},
    {"LOG_FILE_ROTATE", {"0", "1000"}, {"1001", "inf"}, {"auto", "-1"}},
    {"LOG_REPEATS", {"1", "1000", "inf"}, {}, {"0", "auto", "-1"}},
};

const expectation* expected_of(std::string_view name) {
    for (const expectation& each : expectations) {
        if (name == each.name) return &each;
    }
    return nullptr;
}

void check_all(const option& which, const texts& values, verdict wanted) {
    for (const char* text : values) {
        INFO(which.name << "=" << text << "; " << ucs::config::expected_form(which));
        CHECK(which.check(text) == wanted);
    }
}

}  // namespace

TEST_CASE("every option has a valid default, a valid range and a help text") {
    for_all([](const option& each) {
        INFO(each.name);
        CHECK(each.check(each.default_value) == verdict::good);
        CHECK(std::string_view(each.help).size() > 20);
        for (const char* bound : {each.allowed.lowest, each.allowed.highest})
            CHECK((bound == nullptr || each.check(bound) == verdict::good));
        if (!is_free_text(each.name)) CHECK(each.check("a pig in a poke") == verdict::refused);
    });
}

TEST_CASE("every option accepts, limits and refuses the expected values") {
    std::size_t seen = 0;
    for_all([&](const option& each) {
        INFO(each.name << " has no line in the table of this test");
        const expectation* wanted = expected_of(each.name);
        REQUIRE(wanted != nullptr);
        ++seen;
        check_all(each, wanted->good, verdict::good);
        check_all(each, wanted->limited, verdict::limited);
        check_all(each, wanted->refused, verdict::refused);
    });
    CHECK(seen == std::size(expectations));
}

TEST_CASE("the table of OpenUCX's options contains the options of this library") {
    std::size_t common = 0;
    for (const ucs::config::openucx_option& each : ucs::config::openucx_options()) {
        INFO(each.name);
        const option* own = ucs::config::find_option(ucp::option_tables(), each.name);
        CHECK((own != nullptr) == (each.effect == nullptr));
        if (own != nullptr) ++common;
    }
    CHECK(common > 50);
}

TEST_CASE("options of RDMA transports are also found by their short names") {
    const test::log_capture quiet;
    std::size_t short_names = 0;
    for_all([&](const option& each) {
        const std::string_view name(each.name);
        const bool is_datagram = name.starts_with("UD_VERBS_");
        if (!is_datagram && !name.starts_with("RC_VERBS_")) return;
        ++short_names;
        const std::string family = (is_datagram ? "UD_" : "RC_") + std::string(name.substr(9));
        INFO(family);
        const option* const found = ucs::config::find_option(ucp::option_tables(), family);
        CHECK(found == &each);
        auto from = ucs::config::source::empty();
        from.set("HOST_PROBE", "n");
        CHECK(ucs::config::modify(from, ucp::option_tables(), family, "a pig in a poke") ==
              UCS_ERR_INVALID_PARAM);
        from.set(family, "a pig in a poke");
        CHECK(ucp::context::create({}, from, uct::builtin_components()).status() ==
              UCS_ERR_INVALID_PARAM);
    });
    CHECK(short_names > 20);
    CHECK(ucs::config::find_option(ucp::option_tables(), "RC_TIMEOUT") != nullptr);
}

TEST_CASE("sizes by reach and by type of memory") {
    const auto load = [](const char* name, const char* text) {
        auto from = ucs::config::source::empty();
        from.set(name, text);
        return *ucs::config::load<ucp::config>(from);
    };
    const auto mixed = load("RNDV_THRESH", "64k,intra:8k").rndv_threshold;
    CHECK(mixed.for_scope(uct::scope::process).bytes == 8192);
    CHECK(mixed.for_scope(uct::scope::host).bytes == 8192);
    CHECK(mixed.for_scope(uct::scope::network).bytes == 65536);
    CHECK(load("RNDV_THRESH", "inter:0").rndv_threshold.for_scope(uct::scope::host).is_auto());
    CHECK(load("RNDV_FRAG_SIZE", "host:16k,cuda:4m").fragment.size.bytes == 16384);
    CHECK(load("RNDV_FRAG_SIZE", "cuda:4m").fragment.size.bytes == 512 * 1024);
    std::string printed;
    const ucs::config::table* own = &ucp::config::options();
    const option* threshold = ucs::config::find_option(std::span(&own, 1), "RNDV_THRESH");
    REQUIRE(threshold->check("64k,intra:8k", &printed) == verdict::good);
    CHECK(printed == "intra:8K,inter:64K");
    CHECK(threshold->check(printed) == verdict::good);
}

TEST_CASE("a context refuses invalid values of transports' options with one line") {
    test::log_capture captured;
    for (const auto& [name, text] : {std::pair{"TCP_AF_PRIO", "foo"},
                                     {"TCP_MAX_IOV", "0"},
                                     {"POSIX_SEG_SIZE", "1k"},
                                     {"POSIX_BULK_SIZE", "1g"},
                                     {"POSIX_MAX_POLL", "0"},
                                     {"CMA_SEG_SIZE", "0"},
                                     {"RNDV_FRAG_SIZE", "0"},
                                     {"POLL_SLOW_EVERY", "0"}}) {
        INFO(name << "=" << text);
        auto from = ucs::config::source::empty();
        from.set("HOST_PROBE", "n");
        from.set(name, text);
        const std::size_t before = captured.size();
        CHECK(ucp::context::create({}, from, uct::builtin_components()).status() ==
              UCS_ERR_INVALID_PARAM);
        CHECK(captured.size() == before + 1);
        CHECK(captured.count(std::string("UCX_") + name + ": \"" + text + "\"") == 1);
    }
}
