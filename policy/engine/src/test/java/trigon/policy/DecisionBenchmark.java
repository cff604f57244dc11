package trigon.policy;

import trigon.policy.map.MapSet;
import trigon.policy.program.ProgramTypes;
import trigon.policy.verify.Limits;

/** What a decision costs: run by hand, prints nanoseconds for each call in a warm loop. Not a test. */
final class DecisionBenchmark {

    private static final int CALLS = 20_000_000;

    private DecisionBenchmark() {}

    public static void main(String[] args) throws Exception {
        for (String name : new String[] {
            "safe_noop", "safe_size_aware_steps", "safe_lookup", "safe_two_maps", "safe_lookup_update", "safe_adaptive"
        }) {
            PolicyHost host = new PolicyHost(new PolicyLoader(Limits.DEFAULT), new MapSet());
            long start = System.nanoTime();
            host.replace(name, Objects.program(name));
            double loaded = (System.nanoTime() - start) / 1e6;
            PolicySlot slot = host.slot(ProgramTypes.TUNER);
            try (ProgramContext context = new ProgramContext(ProgramTypes.TUNER)) {
                if (name.equals("safe_two_maps")) {
                    fillTelemetry(host, slot, context);
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
    private static void fillTelemetry(PolicyHost host, PolicySlot slot, ProgramContext context) throws Exception {
        host.replace("safe_two_maps", Objects.program("safe_lookup_update"));
        slot.run(context);
        host.replace("safe_two_maps", Objects.program("safe_two_maps"));
    }
}
