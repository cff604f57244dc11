package trigon.tools.cabling;

import trigon.tools.facts.Nic;
import trigon.tools.machine.SparkPorts;

/** Functions of one port, which lead to the same cable. */
public final class Twins {

    private Twins() {}

    /** Whether two interfaces of a node are: the kernel says so of both, or their names are a DGX Spark's. */
    public static boolean are(Nic one, Nic other) {
        return one.cable().isPresent()
                ? one.cable().equals(other.cable())
                : SparkPorts.twin(one.name()).filter(other.name()::equals).isPresent();
    }
}
