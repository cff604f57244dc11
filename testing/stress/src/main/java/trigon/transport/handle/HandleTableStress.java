package trigon.transport.handle;

import java.util.ArrayList;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** The data path looks up handles while others add and remove. */
public class HandleTableStress {

    /** An object that is found as it was added. */
    static final class Named {
        private String name; // plain, so that only the table passes it on

        Named(String name) {
            this.name = name;
        }

        void rename(String other) {
            name = other;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /** A handle never leads to the object that has its slot after it. */
    @JCStressTest
    @Outcome(id = "first", expect = Expect.ACCEPTABLE, desc = "not removed yet")
    @Outcome(id = "null", expect = Expect.ACCEPTABLE, desc = "stale")
    @State
    public static class Reuse {
        private final HandleTable<Named> table = new HandleTable<>("test");
        private final long first = table.add(new Named("first"));

        @Actor
        public void replace() {
            var _ = table.remove(first);
            var _ = table.add(new Named("second"));
        }

        @Actor
        public void find(L_Result result) {
            result.r1 = String.valueOf(table.find(first));
        }
    }

    /** Whoever finds an object by a handle that came another way sees what was written before it was added. */
    @JCStressTest
    @Outcome(id = "null", expect = Expect.ACCEPTABLE, desc = "not there yet")
    @Outcome(id = "made", expect = Expect.ACCEPTABLE, desc = "there, as it was made")
    @State
    public static class Publication {
        private final HandleTable<Named> table = new HandleTable<>("test");
        private final long handle = foretell();

        private static long foretell() {
            return new HandleTable<Named>("test").add(new Named("other"));
        }

        @Actor
        public void add() {
            Named named = new Named("raw");
            named.rename("made");
            var _ = table.add(named);
        }

        @Actor
        public void find(L_Result result) {
            result.r1 = String.valueOf(table.find(handle));
        }
    }

    /** A table that grows goes on finding what it has. */
    @JCStressTest
    @Outcome(id = "kept", expect = Expect.ACCEPTABLE, desc = "found")
    @State
    public static class Growth {
        private static final int BEFORE_IT_GROWS = 16;

        private final HandleTable<Named> table = new HandleTable<>("test");
        private final List<Long> handles = new ArrayList<>();

        public Growth() {
            for (int i = 0; i < BEFORE_IT_GROWS; i++) {
                handles.add(table.add(new Named("kept")));
            }
        }

        @Actor
        public void grow() {
            var _ = table.add(new Named("one more"));
        }

        @Actor
        public void find(L_Result result) {
            result.r1 = String.valueOf(table.find(handles.getLast()));
        }
    }
}
