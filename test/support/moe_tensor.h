/* Tensors of MoE for programs in C, and tests that have plain memory. */
#ifndef TEST_SUPPORT_MOE_TENSOR_H_
#define TEST_SUPPORT_MOE_TENSOR_H_

#include <ucg/api/ucg_moe.h>

/* Rows that follow each other without gaps. */
static inline ucg_moe_tensor_t tensor_of(void* data, ucg_type_t type, uint64_t rows,
                                         uint64_t columns) {
    ucg_moe_tensor_t made = UCG_MOE_TENSOR_INIT;
    made.data = data;
    made.type = type;
    made.ndims = 2;
    made.dims[0] = rows;
    made.dims[1] = columns;
    return made;
}

#endif
