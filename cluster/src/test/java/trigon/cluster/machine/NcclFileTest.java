package trigon.cluster.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.cluster.diagnosis.Diagnosis;
import trigon.cluster.facts.NcclFacts;
import trigon.cluster.machine.NcclFile.Line;
import trigon.system.file.ProcessUsers;

class NcclFileTest {

    @TempDir
    private Path root = Path.of("/nonexistent"); // until JUnit has set it

    private Machine machine(Map<String, String> environment) {
        return new Machine(root, environment, "here", "1.2.3", Optional.empty());
    }

    private Path file(String name, String text) throws IOException {
        Path file = root.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text);
    }

    private Path homeOfPassword() throws IOException {
        Path home = Files.createDirectories(root.resolve("home/entry"));
        file(
                "etc/passwd",
                "other:x:4000000:0::/nonexistent:\nme:x:%d:0:,:%s:/bin/sh\n".formatted(ProcessUsers.own(), home));
        return home;
    }

    @Test
    void takesLinesLetterByLetter() {
        assertThat(NcclFile.lines(
                        "# A=1\nNCCL_NET=Trigon\n NCCL_ALGO = \"Ring\" \n\nnothing\n=x\nNCCL_B==eth0\r\nNCCL_C="))
                .containsExactly(
                        new Line(2, "NCCL_NET", "Trigon"),
                        new Line(3, " NCCL_ALGO ", " \"Ring\" "),
                        new Line(7, "NCCL_B", "=eth0"),
                        new Line(8, "NCCL_C", ""));
    }

    @Test
    void aHomeThatBothNameIsOfAllVersions() throws IOException {
        Path home = homeOfPassword();
        Path own = file("home/entry/.nccl.conf", "NCCL_NET=Trigon");
        Path all = file("etc/nccl.conf", "NCCL_NET=Socket");

        assertThat(NcclFile.of(machine(Map.of("HOME", home.toString()))))
                .extracting(NcclFile::path, NcclFile::readers)
                .containsExactly(tuple(own, ""), tuple(all, ""));
        assertThat(machine(Map.of("HOME", home.toString())).environmentOfJob()).containsEntry("NCCL_NET", "Trigon");
    }

    @Test
    void anotherHomeIsReadByNewVersionsAlone() throws IOException {
        homeOfPassword();
        Path old = file("home/entry/.nccl.conf", "NCCL_NET=Old");
        Path recent = file("home/other/.nccl.conf", "NCCL_NET=New");
        Machine machine = machine(Map.of("HOME", root.resolve("home/other").toString()));

        assertThat(NcclFile.of(machine))
                .extracting(NcclFile::path, NcclFile::readers)
                .containsExactly(tuple(recent, "NCCL 2.30 and later"), tuple(old, "NCCL before 2.30"));
        assertThat(machine.environmentOfJob()).containsEntry("NCCL_NET", "New");
        assertThat(Diagnosis.ofNcclSettings(machine))
                .extracting(finding -> finding.evidence())
                .containsExactly(
                        "NCCL_NET=New in " + recent + ", which NCCL 2.30 and later reads",
                        "NCCL_NET=Old in " + old + ", which NCCL before 2.30 reads");
    }

    /** NCCL's files decide nothing for RCCL, and of RCCL's the user's counts. */
    @Test
    void rcclHasFilesOfItsOwn() throws IOException {
        Path home = homeOfPassword();
        Path own = file("home/entry/.rccl.conf", "NCCL_NET=User");
        file("etc/rccl.conf", "NCCL_NET=All");
        file("etc/nccl.conf", "NCCL_NET=Trigon\nNCCL_ALGO=trigon");
        Machine machine = machine(Map.of("HOME", home.toString()));

        assertThat(NcclFile.ofRccl(machine))
                .extracting(NcclFile::path, NcclFile::readers)
                .containsExactly(tuple(own, "RCCL"), tuple(root.resolve("etc/rccl.conf"), "RCCL"));
        assertThat(machine.environmentOfJob()).containsEntry("NCCL_NET", "Trigon");
        assertThat(Diagnosis.ofNcclSettings(machine))
                .extracting(finding -> finding.evidence())
                .containsExactly("NCCL_NET=User in " + own + ", which RCCL reads");
    }

    @Test
    void aNamedFileReplacesTheUsersFrom223On() throws IOException {
        homeOfPassword();
        Path own = file("home/entry/.nccl.conf", "A=own");
        Path named = file("named.conf", "A=named");

        Machine machine = machine(Map.of(NcclFile.VARIABLE, named.toString()));

        assertThat(NcclFile.of(machine))
                .extracting(NcclFile::path, NcclFile::readers)
                .containsExactly(tuple(named, "NCCL 2.23 and later"), tuple(own, "NCCL before 2.23"));
        assertThat(machine.environmentOfJob()).containsEntry("A", "named");
    }

    @Test
    void theDoctorSaysNothingOfWhatDoesNotCount() throws IOException {
        Path home = homeOfPassword();
        file("home/entry/.nccl.conf", "NCCL_NET=Trigon\nNCCL_NET=Socket\nNCCL_ALGO=Ring");
        file("etc/nccl.conf", "NCCL_NET=Socket\nNCCL_NET_PLUGIN=none\nNCCL_ALGO=Tree");

        Machine machine = machine(Map.of("HOME", home.toString(), "NCCL_NET_PLUGIN", "STATIC_PLUGIN-trigon"));

        assertThat(NcclFacts.of(machine).ncclFiles().getFirst().settings()).containsEntry("NCCL_NET", "Trigon");
        assertThat(Diagnosis.ofNcclSettings(machine))
                .extracting(finding -> finding.code() + " " + finding.evidence())
                .noneMatch(text -> text.startsWith("nccl-net-other") || text.contains("etc/nccl.conf"))
                .contains("nccl-leftover NCCL_ALGO=Ring in " + root.resolve("home/entry/.nccl.conf"));
    }
}
