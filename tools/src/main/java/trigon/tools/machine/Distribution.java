package trigon.tools.machine;

import java.nio.file.Path;
import trigon.cluster.machine.Machine;
import trigon.tools.console.CommandFailure;

/** The distribution that a command belongs to. */
public final class Distribution {

    private Distribution() {}

    /**
     * Its folder, for a command of that name, which needs one.
     *
     * @throws CommandFailure if it is not known
     */
    public static Path homeFor(String command, Machine machine) {
        return machine.home()
                .orElseThrow(() -> new CommandFailure(command
                        + " needs a distribution: run bin/trigon in a distribution, or ./trigon in a checkout"));
    }
}
