/* The version of the UCP interface that these headers declare. */
#ifndef UCP_API_UCP_VERSION_H_
#define UCP_API_UCP_VERSION_H_

/** Packs a version into one integer that compares in order. */
#define UCP_VERSION(_major, _minor) \
    (((_major) << UCP_VERSION_MAJOR_SHIFT) | ((_minor) << UCP_VERSION_MINOR_SHIFT))
#define UCP_VERSION_MAJOR_SHIFT 24
#define UCP_VERSION_MINOR_SHIFT 16

#define UCP_API_MAJOR 1
#define UCP_API_MINOR 20
#define UCP_API_VERSION UCP_VERSION(1, 20)

#endif
