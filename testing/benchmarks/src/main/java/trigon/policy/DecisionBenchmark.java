package trigon.policy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import trigon.policy.map.MapSet;
import trigon.policy.program.ProgramTypes;
import trigon.policy.verify.VerifierLimits;

/**
 * What a decision costs: prints nanoseconds for each call in a warm loop. Argument: the folder of the policies'
 * objects.
 */
final class DecisionBenchmark {

    private static final int CALLS = 20_000_000;

    private DecisionBenchmark() {}

    public static void main(String[] arguments) throws Exception {
        Path objects = Path.of(arguments[0]);
        for (String name : new String[] {
            "safe_noop", "safe_size_aware_steps", "safe_lookup", "safe_two_maps", "safe_lookup_update", "safe_adaptive"
        }) {
            PolicyHost host = new PolicyHost(new PolicyLoader(VerifierLimits.DEFAULT), new MapSet());
            long start = System.nanoTime();
            host.replace(name, object(objects, name));
            double loaded = (System.nanoTime() - start) / 1e6;
            PolicySlot slot = host.slot(ProgramTypes.TUNER);
            try (ProgramContext context = new ProgramContext(ProgramTypes.TUNER)) {
                if (name.equals("safe_two_maps")) {
                    fillTelemetry(objects, host, slot, context);
                }
                double best = Double.MAX_VALUE;
                long sum = 0;
                for (int round = 0; round < 5; round++) {
                    long began = System.nanoTime();
                    for (int i = 0; i < CALLS; i++) {
                        context.set(ProgramTypes.TUNER.fields().getFirst(), i);
                        sum += slot.run(context);
                    }
                    best = Math.min(best, (double) (System.nanoTime() - began) / CALLS);
                }
                System.out.printf("%-24s load %6.1f ms, %5.1f ns a call (%d)%n", name, loaded, best, sum);
            }
        }
    }

    /** The map of this name is filled by another policy, which finds it in the same set. */
    private static void fillTelemetry(Path objects, PolicyHost host, PolicySlot slot, ProgramContext context)
            throws Exception {
        host.replace("safe_two_maps", object(objects, "safe_lookup_update"));
        slot.run(context);
        host.replace("safe_two_maps", object(objects, "safe_two_maps"));
    }

    /** The object that clang has made of a policy of that name. */
    static byte[] object(Path folder, String name) throws IOException {
        return Files.readAllBytes(folder.resolve(name + ".o"));
    }
}
