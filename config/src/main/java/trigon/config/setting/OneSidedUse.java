package trigon.config.setting;

/** Use of one-sided communication: NCCL finds its tables, or not. */
public enum OneSidedUse {
    /** It does not: nothing changes. */
    OFF,
    /** It does, and then uses them for its own collectives, too. */
    ON
}
