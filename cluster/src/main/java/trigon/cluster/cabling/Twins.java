package trigon.cluster.cabling;

import trigon.cluster.machine.Nic;

/** Functions of one port, which lead to the same cable. */
public final class Twins {

    private Twins() {}

    /** True if the kernel names the same port of the same NIC for both; names of interfaces say nothing. */
    public static boolean are(Nic one, Nic other) {
        return one.cable().isPresent() && one.cable().equals(other.cable());
    }
}
