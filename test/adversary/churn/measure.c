/* Measures what the process holds, and compares two measurements. */
#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

#include "churn.h"

static long count_entries(const char* folder) {
    DIR* const open = opendir(folder);
    if (open == NULL) FAIL("opendir(%s) failed", folder);
    long count = 0;
    for (const struct dirent* entry = readdir(open); entry != NULL; entry = readdir(open))
        count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

static long resident_bytes(void) {
    long total = 0, resident = 0;
    FILE* const file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &total, &resident) != 2) FAIL("no statm");
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

struct holdings measure(void) {
    const struct mallinfo2 heap = mallinfo2();
    return (struct holdings){.live_bytes = (long)(heap.uordblks + heap.hblkhd),
                             .resident = resident_bytes(),
                             .descriptors = count_entries("/proc/self/fd"),
                             .threads = count_entries("/proc/self/task")};
}

bool compare(const struct options* options, const char* side, struct holdings before,
             struct holdings after) {
    const long allowed = options->bytes_per_client * (long)options->clients;
    /* The allocator keeps pages, so the resident set varies by some of them. */
    const long slack = 1L << 20;
    printf("%s: after %u %s %ld bytes live, %ld KB resident, %ld descriptors, %ld threads\n", side,
           options->warm, options->unit, before.live_bytes, before.resident / 1024,
           before.descriptors, before.threads);
    printf("%s: after %u %s %ld bytes live, %ld KB resident, %ld descriptors, %ld threads\n", side,
           options->warm + options->clients, options->unit, after.live_bytes, after.resident / 1024,
           after.descriptors, after.threads);
    printf("%s: growth for each of the %s %.1f bytes live, %.1f bytes resident\n", side,
           options->unit, (double)(after.live_bytes - before.live_bytes) / options->clients,
           (double)(after.resident - before.resident) / options->clients);
    bool good = true;
    if (after.live_bytes - before.live_bytes > allowed) {
        printf("%s: live memory grew by more than %ld bytes\n", side, allowed);
        good = false;
    }
    if (options->compares_rss && after.resident - before.resident > allowed + slack) {
        printf("%s: the resident set grew by more than %ld bytes\n", side, allowed + slack);
        good = false;
    }
    if (after.descriptors != before.descriptors || after.threads != before.threads) {
        printf("%s: descriptors or threads differ\n", side);
        good = false;
    }
    return good;
}
