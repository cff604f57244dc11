package trigon.tools.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import trigon.tools.machine.ProcessFacts;
import trigon.tools.metrics.Job.LinkUse;
import trigon.tools.verify.Watch.Seen;
import trigon.transport.metrics.MetricsReader.Counts;

class TrafficVerdictTest {

    private static final String NCCL = "/usr/lib/libnccl.so.2.27.7";
    private static final String TRIGON = "/opt/trigon/lib/libnccl-net-trigon.so";

    private static Seen process(long pid, List<String> mapped, LinkUse... links) {
        return new Seen(new ProcessFacts(pid, "rank", List.of(), Map.of(), mapped), List.of(links), "");
    }

    private static LinkUse carried(String link, long bytes) {
        return new LinkUse(
                link, link.startsWith("mlx5") ? "RDMA" : "TCP", 0, true, new Counts(bytes / 1000, bytes, 0, 0, 0));
    }

    private static TrafficVerdict verdict(Map<String, Long> nics, Seen... processes) {
        return TrafficVerdict.of(
                List.of(processes),
                nics,
                library -> Optional.of(library.replaceFirst(".*so\\.", "")),
                library -> Optional.of(library.contains("/old/") ? "0.0.9" : "0.1.0"));
    }

    @Test
    void trafficThatTheNicCountedTooIsGood() {
        TrafficVerdict verdict = verdict(
                Map.of("eth1", 1_050_000_000L, "eth0", 40_000L),
                process(7, List.of(NCCL, TRIGON), carried("eth1", 1_000_000_000L)));

        assertThat(verdict).isEqualTo(new TrafficVerdict(List.of(), List.of()));
    }

    @Test
    void trafficThatAnotherNicCountedIsWrong() {
        TrafficVerdict verdict = verdict(
                Map.of("eth1", 1_000L, "eth0", 1_050_000_000L),
                process(7, List.of(NCCL, TRIGON), carried("eth1", 1_000_000_000L)));

        assertThat(verdict.wrong()).singleElement().asString().contains("eth1", "1000 MB", "1 kB");
        assertThat(verdict.notes()).singleElement().asString().contains("eth0", "1050 MB");
    }

    /** Two containers have an eth0 each, and share the RDMA device. */
    @Test
    void namesOfInterfacesAreThoseOfAProcessesNetwork() {
        ProcessFacts facts = new ProcessFacts(8, "rank", List.of(), Map.of(), List.of(NCCL, TRIGON));
        Seen inside = new Seen(
                facts, List.of(carried("eth0", 500_000_000L), carried("mlx5_0", 70_000_000L)), NicTraffic.OF + 8);
        Map<String, Long> nics = Map.of(
                "eth0",
                1_020_000_000L,
                "eth0" + NicTraffic.OF + 8,
                510_000_000L,
                "eth0" + NicTraffic.OF + 9,
                1_000L,
                "mlx5_0",
                71_000_000L);
        Seen outside = process(7, List.of(NCCL, TRIGON), carried("eth0", 1_000_000_000L));

        assertThat(verdict(nics, outside, inside)).isEqualTo(new TrafficVerdict(List.of(), List.of()));
        assertThat(verdict(Map.of("eth0", 2_000_000_000L, "eth0" + NicTraffic.OF + 8, 1_000L), outside, inside)
                        .wrong())
                .singleElement()
                .asString()
                .contains("went over eth0 of process 8, whose own counters show 1 kB");
    }

    @Test
    void twoLibrariesOfOneKindAreWrong() {
        TrafficVerdict verdict = verdict(
                Map.of("mlx5_0", 9_000_000L),
                process(7, List.of(NCCL, "/venv/libnccl.so.2.30.7", TRIGON), carried("mlx5_0", 5_000_000L)),
                process(8, List.of(NCCL, TRIGON, "/old/libnccl-net-trigon.so"), carried("mlx5_0", 4_000_000L)));

        assertThat(verdict.wrong())
                .anySatisfy(each -> assertThat(each).contains("rank 7", "2 copies of NCCL"))
                .anySatisfy(each -> assertThat(each).contains("rank 8", "2 copies of Trigon"))
                .anySatisfy(each -> assertThat(each).contains("versions of NCCL: 2.27.7, 2.30.7"))
                .anySatisfy(each -> assertThat(each).contains("versions of Trigon: 0.0.9, 0.1.0"))
                .hasSize(4);
    }

    @Test
    void noTrafficAndNoTrigonAreWrong() {
        assertThat(verdict(Map.of("eth1", 10L), process(7, List.of(NCCL, TRIGON), carried("eth1", 0)))
                        .wrong())
                .singleElement()
                .asString()
                .contains("nothing went over Trigon");
        assertThat(verdict(Map.of("eth1", 10L)).wrong())
                .singleElement()
                .asString()
                .contains("no process loaded this version of Trigon");
    }

    @Test
    void aLibraryThatWasReplacedAndANicWithoutCountersAreNotes() {
        TrafficVerdict verdict =
                verdict(Map.of(), process(7, List.of(TRIGON + ProcessFacts.DELETED), carried("rxe_ab", 5_000_000L)));

        assertThat(verdict.wrong()).isEmpty();
        assertThat(verdict.notes())
                .anySatisfy(each -> assertThat(each).contains("since replaced"))
                .anySatisfy(each -> assertThat(each).contains("no libnccl.so"))
                .anySatisfy(each -> assertThat(each).contains("rxe_ab has no counters"));
    }

    @Test
    void processesWithTheSameNoteShareIt() {
        TrafficVerdict verdict = verdict(
                Map.of("eth1", 9_000_000L),
                process(7, List.of(TRIGON), carried("eth1", 5_000_000L)),
                process(8, List.of(TRIGON), carried("eth1", 4_000_000L)));

        assertThat(verdict.notes()).singleElement().asString().startsWith("rank 7, rank 8: no libnccl.so");
    }

    @Test
    void linksAreFoundOnTheirNics() {
        Set<String> nics = Set.of("eth0", "eth0_1", "lo", "mlx5_0", "mlx5_1");

        assertThat(TrafficVerdict.nicOf("eth0", nics)).isEqualTo("eth0");
        assertThat(TrafficVerdict.nicOf("eth0_2", nics)).isEqualTo("eth0");
        assertThat(TrafficVerdict.nicOf("eth0_1", nics)).isEqualTo("eth0_1");
        assertThat(TrafficVerdict.nicOf("mlx5_1", nics)).isEqualTo("mlx5_1");
        assertThat(TrafficVerdict.nicOf("mlx5_1:2", nics)).isEqualTo("mlx5_1");
        assertThat(TrafficVerdict.nicOf("relay", nics)).isEqualTo("relay");
    }
}
