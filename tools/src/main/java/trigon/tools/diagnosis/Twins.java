package trigon.tools.diagnosis;

import trigon.tools.console.JsonObject;
import trigon.tools.machine.SparkPorts;

/** Functions of one port, which lead to the same cable. */
final class Twins {

    private Twins() {}

    /** Whether two interfaces of a node are: the kernel says so of both, or their names are a DGX Spark's. */
    static boolean are(JsonObject one, JsonObject other) {
        return one.find("cable").isPresent()
                ? one.find("cable").equals(other.find("cable"))
                : SparkPorts.twin(one.text("name"))
                        .filter(other.text("name")::equals)
                        .isPresent();
    }
}
