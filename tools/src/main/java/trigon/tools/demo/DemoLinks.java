package trigon.tools.demo;

import java.util.Locale;

/** What a demo's cables are. */
enum DemoLinks {
    /** RDMA where the lab's devices are, else software. */
    AUTO,
    /** TCP on loopback addresses. */
    SOFTWARE,
    /** The devices that the lab makes. */
    RDMA,
    /** RDMA devices that are no hardware. */
    SIMULATED;

    /** As it is typed. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
