/* The version of these headers. */
#ifndef UCT_API_VERSION_H_
#define UCT_API_VERSION_H_

#define UCT_VERNO_MAJOR 1
#define UCT_VERNO_MINOR 20
#define UCT_VERNO_PATCH 0
#define UCT_VERNO_EXTRA ""
#define UCT_VERNO_STRING "1.20.0"

/** Packs a version into one integer that compares in order. */
#define UCT_VERSION(_major, _minor) (((_major) << UCT_MAJOR_BIT) | ((_minor) << UCT_MINOR_BIT))
#define UCT_MINOR_BIT (16UL)
#define UCT_MAJOR_BIT (24UL)
#define UCT_API ((1L << UCT_MAJOR_BIT) | (20L << UCT_MINOR_BIT))

#endif
