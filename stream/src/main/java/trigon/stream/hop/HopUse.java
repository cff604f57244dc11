package trigon.stream.hop;

/** Uses of a hop's chunks on one of its sides, which decide about the memory that is locked there. */
enum HopUse {
    /** An end: chunks are read where they have landed, and written to slots of their own. */
    READ,
    /** A relay: chunks are sent on from where they have landed, by another device. */
    FORWARDED
}
