package trigon.policy.host;

import trigon.system.Memory;

/** What C knows of the policy, so that it need not ask ({@code struct policy_state} in {@code tuner/upcalls.h}). */
public final class PolicyState {

    /** Of {@code enum policy_setting}: there is no policy, and so no tuner. */
    public static final long NOT_SET = 1;

    /** Of {@code enum policy_setting}: there is one, or there will be. */
    public static final long SET = 2;

    /** Offset of the setting. */
    public static final long SETTING = 0;

    /** Offset of the number of communicators whose tuner has programs. */
    public static final long DECIDING = 8;

    /** Offset of whether the policy wants NCCL's events. */
    public static final long EVENTS = 16;

    /** Of {@code enum policy_events}: none has been looked at that does. */
    public static final long UNWANTED = 1;

    /** Of {@code enum policy_events}: it does. */
    public static final long WANTED = 2;

    private final long address;

    /** Of the struct at an address, which C keeps. */
    public PolicyState(long address) {
        this.address = address;
    }

    void publishSet(boolean set) {
        Memory.putLongRelease(address + SETTING, set ? SET : NOT_SET);
    }

    void publishEvents(boolean wanted) {
        Memory.putLongRelease(address + EVENTS, wanted ? WANTED : UNWANTED);
    }

    void addDeciding(int change) {
        var _ = Memory.getAndAddLong(address + DECIDING, change);
    }
}
