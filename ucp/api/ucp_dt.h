/* Datatypes: memory layout of a buffer's elements. */
#ifndef UCP_API_UCP_DT_H_
#define UCP_API_UCP_DT_H_

#include <ucp/api/ucp_def.h>

BEGIN_C_DECLS

/** Class of a datatype, in the low bits of ucp_datatype_t. */
enum ucp_dt_type {
    UCP_DATATYPE_CONTIG = 0,  /* elements without gaps; the size lies above the class bits */
    UCP_DATATYPE_STRIDED = 1, /* elements at a fixed distance (reserved) */
    UCP_DATATYPE_IOV = 2,     /* the buffer is an array of ucp_dt_iov_t, count its length */
    UCP_DATATYPE_GENERIC = 7, /* callbacks pack and unpack */
    UCP_DATATYPE_SHIFT = 3,
    UCP_DATATYPE_CLASS_MASK = UCS_MASK(UCP_DATATYPE_SHIFT)
};

/** Datatype of elements of _elem_size bytes each, side by side. */
#define ucp_dt_make_contig(_elem_size) \
    (((ucp_datatype_t)(_elem_size) << UCP_DATATYPE_SHIFT) | UCP_DATATYPE_CONTIG)

/** Datatype of a buffer that is a list of pieces. */
#define ucp_dt_make_iov() ((ucp_datatype_t)UCP_DATATYPE_IOV)

/** One piece of an IOV buffer. The array must stay until the operation ends. */
typedef struct ucp_dt_iov {
    void* buffer;
    size_t length; /* bytes */
} ucp_dt_iov_t;

/** Callbacks by which the program packs and unpacks data. */
typedef struct ucp_generic_dt_ops {
    /** Begins to pack count elements; returns the state handed to the calls below. */
    void* (*start_pack)(void* context, const void* buffer, size_t count);

    /** Begins to unpack into count elements; returns the state. */
    void* (*start_unpack)(void* context, void* buffer, size_t count);

    /** Returns the number of bytes to which all elements pack. */
    size_t (*packed_size)(void* state);

    /**
     * Writes packed bytes from offset on to dest. Returns the number of bytes, at most max_length;
     * it may be smaller only at the end.
     */
    size_t (*pack)(void* state, size_t offset, void* dest, size_t max_length);

    /** Takes length packed bytes that belong at offset; pieces may come in any order. */
    ucs_status_t (*unpack)(void* state, size_t offset, const void* src, size_t length);

    /** Frees the state. */
    void (*finish)(void* state);
} ucp_generic_dt_ops_t;

/** Valid members of ucp_datatype_attr_t. */
enum ucp_datatype_attr_field {
    UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE = UCS_BIT(0),
    UCP_DATATYPE_ATTR_FIELD_BUFFER = UCS_BIT(1),
    UCP_DATATYPE_ATTR_FIELD_COUNT = UCS_BIT(2)
};

/** Attributes from ucp_dt_query. */
typedef struct ucp_datatype_attr {
    uint64_t field_mask; /* in: ucp_datatype_attr_field */
    size_t packed_size;  /* out: bytes of count elements on the wire */
    const void* buffer;  /* in: the data, for classes where the size depends on it */
    size_t count;        /* in: number of elements, default 1 */
} ucp_datatype_attr_t;

/**
 * Makes a datatype from callbacks; *ops is copied. Any thread.
 *
 * @param context     handed to start_pack and start_unpack.
 * @param datatype_p  gets the datatype, to be destroyed by ucp_dt_destroy.
 * @return UCS_OK, UCS_ERR_INVALID_PARAM or UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucp_dt_create_generic(const ucp_generic_dt_ops_t* ops, void* context,
                                   ucp_datatype_t* datatype_p);

/** Destroys a generic datatype that no operation uses; does nothing for others. Any thread. */
void ucp_dt_destroy(ucp_datatype_t datatype);

/**
 * Queries the number of bytes to which a buffer packs. Any thread.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when the class needs a buffer that is not given.
 */
ucs_status_t ucp_dt_query(ucp_datatype_t datatype, ucp_datatype_attr_t* attr);

END_C_DECLS

#endif
