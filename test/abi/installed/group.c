/* The first includes, libraries and calls of a program with collectives. */
#include <stdio.h>
#include <ucg/api/ucg.h>
#include <ucg/api/ucg_moe.h>

int main(void) {
    ucg_oob_t* alone;
    ucg_context_h context;
    ucg_group_h group;
    ucg_group_params_t params = UCG_GROUP_PARAMS_INIT;
    double own = 2, sum = 0;
    if (ucg_oob_create_local(1, &alone) != UCS_OK) return 1;
    params.oob = alone;
    if (ucg_context_create(NULL, &context) != UCS_OK) return 2;
    if (ucg_group_create(context, &params, &group) != UCS_OK) return 3;
    if (ucg_group_wait(group) != UCS_OK) return 4;
    if (ucg_allreduce(group, &own, &sum, 1, UCG_TYPE_FP64, UCG_OP_SUM) != UCS_OK) return 5;
    printf("%s of %s: %g\n", ucg_op_name(UCG_OP_SUM), ucg_type_name(UCG_TYPE_FP64), sum);
    ucg_group_destroy(group);
    ucg_context_destroy(context);
    ucg_oob_destroy(alone);
    return sum == 2 ? 0 : 6;
}
