package trigon.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import trigon.policy.verdict.VerifiedProgram;
import trigon.policy.verify.VerifierLimits;

/** Correct programs, of what people write and of how clang compiles it, are accepted, and do what they say. */
class CorpusTest {

    private static final int RUNS = 200;

    private final PolicyLoader loader = new PolicyLoader(VerifierLimits.DEFAULT);

    static List<String> objects() throws IOException {
        return Objects.in(Objects.PROGRAMS, "corpus_");
    }

    @ParameterizedTest
    @MethodSource("objects")
    void eachIsAcceptedAndRuns(String name) throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (VerifiedProgram program :
                loader.verify(name, Objects.program(name)).programs()) {
            System.out.printf(
                    "%s: worst case %d, explored %d%n", program.name(), program.worstCase(), program.explored());
            try (Bench bench = new Bench(program)) {
                for (int run = 0; run < RUNS; run++) {
                    var _ = bench.run(random);
                }
            }
        }
    }

    @Test
    void thereAreForty() throws Exception {
        List<String> names = new ArrayList<>();
        for (String object : objects()) {
            loader.verify(object, Objects.program(object)).programs().forEach(each -> names.add(each.name()));
        }
        assertThat(names).hasSize(40).doesNotHaveDuplicates();
    }
}
