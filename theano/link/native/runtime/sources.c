/* Which sources a library was made from: it is loaded where they are the ones that are there. */
#ifndef TN_SOURCES
#define TN_SOURCES ""
#endif

extern const char tn_sources[];
const char tn_sources[] = TN_SOURCES;
