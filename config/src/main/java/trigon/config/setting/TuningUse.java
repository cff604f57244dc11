package trigon.config.setting;

/** Use of the built-in tuner, which chooses what no policy has chosen. */
public enum TuningUse {
    /** It decides, for communicators whose data Trigon carries between nodes. */
    AUTO,
    /** Leaves every decision to NCCL. */
    OFF;

    /** As it is written in the file and in {@code TRIGON_TUNING}. */
    @Override
    public String toString() {
        return EnumWords.of(this);
    }
}
