/* Uses something of each library; valid as C and as C++. */
#include <stdio.h>
#include <ucm/api/ucm.h>
#include <ucp/api/ucp.h>
#include <uct/api/uct.h>

int main(void) {
    unsigned major = 0, minor = 0, release = 0, count = 0;
    uct_component_h* components = NULL;

    ucp_get_version(&major, &minor, &release);
    if ((major != UCP_API_MAJOR) || (minor != UCP_API_MINOR)) {
        printf("headers are %d.%d, the library is %s\n", UCP_API_MAJOR, UCP_API_MINOR,
               ucp_get_version_string());
        return 1;
    }
    if (ucm_test_events(UCM_EVENT_VM_UNMAPPED) != UCS_OK) {
        printf("ucm_test_events failed\n");
        return 1;
    }
    if ((uct_query_components(&components, &count) != UCS_OK) || (count == 0)) {
        printf("uct_query_components found nothing\n");
        return 1;
    }
    uct_release_component_list(components);
    printf("%s: %s, %s memory\n", ucp_get_version_string(), ucs_status_string(UCS_OK),
           ucs_memory_type_names[UCS_MEMORY_TYPE_HOST]);
    return 0;
}
