package trigon.tools;

import java.util.List;
import trigon.cluster.machine.Machine;
import trigon.tools.bench.BenchCommand;
import trigon.tools.console.Console;
import trigon.tools.doctor.CheckCommand;
import trigon.tools.doctor.DoctorCommand;
import trigon.tools.plan.PlanCommand;
import trigon.tools.up.DownCommand;
import trigon.tools.up.UpCommand;
import trigon.tools.verify.VerifyCommand;

/** The commands for several nodes. */
final class ClusterCommands {

    private ClusterCommands() {}

    static List<Object> of(Machine machine, Console console) {
        return List.of(
                new BenchCommand(machine, console),
                new CheckCommand(machine, console),
                new DoctorCommand(machine, console),
                new DownCommand(machine, console),
                new PlanCommand(machine, console),
                new UpCommand(machine, console),
                new VerifyCommand(machine, console));
    }
}
