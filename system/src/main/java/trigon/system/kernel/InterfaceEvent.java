package trigon.system.kernel;

import java.net.InetAddress;

/** Something that has happened to a network interface. */
public sealed interface InterfaceEvent {

    /**
     * Its state, told whenever anything about it changes.
     *
     * @param index the kernel's number of it
     * @param running whether it is up and has a carrier; false too when it is gone
     */
    record State(int index, boolean running) implements InterfaceEvent {}

    /**
     * An address came, or went.
     *
     * @param index of the interface
     * @param present whether it is there now
     */
    record Address(int index, InetAddress address, boolean present) implements InterfaceEvent {}

    /** The kernel had more to say than was read in time: everything may have changed. */
    record Missed() implements InterfaceEvent {}
}
