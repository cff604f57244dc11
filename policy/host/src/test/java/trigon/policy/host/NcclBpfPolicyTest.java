package trigon.policy.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.nccl.TunerChoice;
import trigon.policy.PolicyHost;
import trigon.policy.PolicyLoader;
import trigon.policy.ProgramContext;
import trigon.policy.host.OpenEvent.EndedEvent;
import trigon.policy.map.MapSet;
import trigon.policy.program.ProgramType;
import trigon.policy.verify.VerifierLimits;

/** A policy in the dialect of NCCLbpf decides for a communicator, and finds in its map what collectives took. */
class NcclBpfPolicyTest {

    private static final Path PROGRAMS = Path.of("../engine/src/test/c");
    private static final int ALL_REDUCE = 4;

    private final ProgramContext context = new ProgramContext(ProgramType.NCCLBPF);
    private final PolicyCommunicator communicator = new PolicyCommunicator(7, 2, 1);

    @AfterEach
    void free() {
        context.close();
    }

    private static PolicyHost host(String program) throws Exception {
        PolicyHost host = new PolicyHost(new PolicyLoader(VerifierLimits.DEFAULT), new MapSet());
        var _ = host.replace(program, Files.readAllBytes(PROGRAMS.resolve(program + ".o")));
        return host;
    }

    private long choice(Decisions decisions, long bytes) {
        return decisions.decide(context.address(), ALL_REDUCE, bytes, 1, 0);
    }

    @Test
    void itsResultIsADecision() throws Exception {
        Decisions decisions = Decisions.byProgram(host("ncclbpf_counts"), communicator);

        assertThat(choice(decisions, 1)).isEqualTo(TunerChoice.NONE);
        assertThat(choice(decisions, 1 << 20)).isEqualTo(TunerChoice.of(1, 2, 0, 0));
        for (int channels = 1; channels < 4; channels++) {
            assertThat(choice(decisions, 1024))
                    .as("one more than last time")
                    .isEqualTo(TunerChoice.of(TunerChoice.LEAVE_TO_NCCL, TunerChoice.LEAVE_TO_NCCL, channels, 0));
        }
    }

    private static EndedEvent event(int type, long communicator, long nanos) {
        return new EndedEvent(type, communicator, 0, ALL_REDUCE, 64, 1, 2, 2, 1, -1, -1, false, 0, nanos);
    }

    @Test
    void itFindsWhatCollectivesOfItsCommunicatorsTook() throws Exception {
        PolicyHost process = host("ncclbpf_measures");
        PolicyHost own = host("ncclbpf_measures");
        assertThat(EventPrograms.areWantedBy(process)).isTrue();
        assertThat(EventPrograms.areWantedBy(host("ncclbpf_counts"))).isFalse();
        EventPrograms events = new EventPrograms(
                process,
                List.of(new CommunicatorTuner(communicator, own, Decisions.byProgram(own, communicator), _ -> {})));

        events.accept(event(1 << OpenEvent.COLLECTIVE, 8, 5000));
        events.accept(event(1 << OpenEvent.STEP, 7, 6000));
        for (PolicyHost host : List.of(process, own)) {
            assertThat(choice(Decisions.byProgram(host, communicator), 64))
                    .as("of another communicator, or of no collective")
                    .isEqualTo(TunerChoice.NONE);
        }
        events.accept(event(1 << OpenEvent.COLLECTIVE, 7, 9000));
        for (PolicyHost host : List.of(process, own)) {
            long choice = choice(Decisions.byProgram(host, communicator), 64);
            assertThat(TunerChoice.channels(choice)).isEqualTo(9);
        }
    }
}
