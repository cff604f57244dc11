package trigon.entry.tuner;

import trigon.system.Memory;

/** C's knowledge of the policy, so that it need not ask: {@code struct policy_state} in {@code tuner/upcalls.h}. */
final class PolicyState {

    /** {@code POLICY_NOT_SET}: there is no policy, and so no tuner. */
    static final long NOT_SET = 1;

    /** {@code POLICY_SET}: there is one, or there will be. */
    static final long SET = 2;

    /** Offset of the setting. */
    static final long SETTING = 0;

    /** Offset of the number of communicators whose tuner has programs. */
    static final long DECIDING = 8;

    /** Offset of whether the policy wants NCCL's events. */
    static final long EVENTS = 16;

    /** {@code EVENTS_UNWANTED}: no policy that has been looked at wants them. */
    static final long UNWANTED = 1;

    /** {@code EVENTS_WANTED}: the policy wants them. */
    static final long WANTED = 2;

    /** Offset of the setting of the built-in tuner. */
    static final long TUNING = 24;

    /** {@code TUNING_OFF}: NCCL decides. */
    static final long TUNING_OFF = 1;

    /** {@code TUNING_AUTO}: the built-in tuner decides. */
    static final long TUNING_AUTO = 2;

    private final long address;

    /** Takes the address of the struct, which C keeps. */
    PolicyState(long address) {
        this.address = address;
    }

    void publishSet(boolean set) {
        Memory.putLongRelease(address + SETTING, set ? SET : NOT_SET);
    }

    void publishTuning(boolean off) {
        Memory.putLongRelease(address + TUNING, off ? TUNING_OFF : TUNING_AUTO);
    }

    void publishEvents(boolean wanted) {
        Memory.putLongRelease(address + EVENTS, wanted ? WANTED : UNWANTED);
    }

    void addDeciding(int change) {
        var _ = Memory.getAndAddLong(address + DECIDING, change);
    }
}
