package trigon.config.setting;

/** Whether NCCL finds the tables for one-sided communication. */
public enum OneSidedUse {
    /** It does not: nothing changes. */
    OFF,
    /** It does, and then uses them for its own collectives, too. */
    ON
}
