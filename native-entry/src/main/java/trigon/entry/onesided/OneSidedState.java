package trigon.entry.onesided;

import trigon.system.Memory;

/**
 * The state that says if NCCL is to find the tables ({@code struct one_sided_state} in {@code one_sided/upcalls.h}).
 */
public final class OneSidedState {

    /** NCCL finds no tables ({@code enum one_sided_setting}). */
    public static final long OFF = 1;

    /** NCCL finds the tables ({@code enum one_sided_setting}). */
    public static final long ON = 2;

    /** Offset of the setting. */
    public static final long SETTING = 0;

    private final long address;

    /** The state in the struct at an address, which C keeps. */
    public OneSidedState(long address) {
        this.address = address;
    }

    /** C sees it by its next call; any thread. */
    public void publishOn(boolean on) {
        Memory.putLongRelease(address + SETTING, on ? ON : OFF);
    }
}
