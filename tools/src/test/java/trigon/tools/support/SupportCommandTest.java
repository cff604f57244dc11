package trigon.tools.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.Redaction;
import trigon.tools.Run;
import trigon.transport.metrics.Metrics;

/** A job of this process, on a machine whose files are the test's own, with secrets all over. */
class SupportCommandTest {

    private static final String CLUSTER_KEY = "c1a5fe0d77aa4be0917f6a4a9e1b4cddc1a5fe0d77aa4be0917f6a4a9e1b4cdd";

    /** All different, so that each is found by itself. */
    private static final List<String> SECRETS = List.of(
            CLUSTER_KEY,
            "planted-hub-token-1",
            "planted/password\"2",
            "planted-word-of-a-job-3",
            "planted-option-4",
            "planted-option-5",
            "planted-log-6",
            "planted-log-7",
            "planted-url-8",
            "hf_planted9planted9planted9",
            "cGxhbnRlZC1wZW0tMTA",
            "planted-config-11",
            "planted-nccl-12",
            "planted-bearer-13",
            "planted-pass-14",
            "planted-pass-15",
            "planted-auth-16",
            "planted-auth-17");

    @TempDir
    Path folder;

    private Map<String, String> environment() throws IOException {
        Path key = Files.createFile(
                folder.resolve("cluster.key"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(key, CLUSTER_KEY + "\n");
        Path file = Files.writeString(folder.resolve("trigon.yaml"), """
            # password: planted-config-11
            version: 1
            links: software
            handshake: {clusterKeyFile: %s}
            nodes:
              a: {nics: [{address: 127.0.12.1/24}]}
              b: {nics: [{address: 127.0.12.2/24}]}
            """.formatted(key));
        Map<String, String> environment = new HashMap<>();
        environment.put("TRIGON_CONFIG", file.toString());
        environment.put("TRIGON_NODE", "a");
        environment.put("NCCL_DEBUG", "INFO");
        environment.put("NCCL_PLANTED_SECRET", "planted-nccl-12");
        environment.put("HUB_TOKEN", "planted-hub-token-1");
        environment.put("DATABASE_PASSWORD", "planted/password\"2");
        return environment;
    }

    private Machine machine() throws IOException {
        Path process = Files.createDirectories(
                folder.resolve("proc/" + ProcessHandle.current().pid()));
        Files.writeString(process.resolve("comm"), "trainer\n");
        Files.writeString(
                process.resolve("cmdline"),
                String.join(
                                "\0",
                                "train",
                                "--epochs",
                                "3",
                                "--api-key",
                                "planted-option-4",
                                "--token=planted-option-5",
                                "--db-pass",
                                "planted-pass-15")
                        + "\0");
        Files.writeString(process.resolve("environ"), "JOB_TOKEN=planted-word-of-a-job-3\0NCCL_ALGO=Ring\0RANK=3\0");
        return new Machine(folder, environment(), "here", "1.2.3", Optional.empty());
    }

    private Path log() throws IOException {
        return Files.writeString(folder.resolve("rank-0.log"), """
            a:1 NCCL INFO NET/Trigon : sends to b over a
            key read: %s
            the hub says planted-hub-token-1, the store planted/password"2, planted-word-of-a-job-3
            db_password = planted-log-6
            {"secret": "planted-log-7", "loss": 0.25}
            pulling https://user:planted-url-8@example.invalid/model with hf_planted9planted9planted9
            Authorization: Bearer planted-bearer-13
            DB_PASS=planted-pass-14
            started as: train --db-pass planted-pass-15 --epochs 3
            HTTP_AUTH=planted-auth-16
            registry_auth: planted-auth-17
            -----BEGIN RSA PRIVATE KEY-----
            cGxhbnRlZC1wZW0tMTA
            -----END RSA PRIVATE KEY-----
            a:1 NCCL INFO step 17 done
            """.formatted(CLUSTER_KEY));
    }

    private static Map<String, String> entries(Path archive) throws IOException {
        Map<String, String> entries = new LinkedHashMap<>();
        try (ZipFile zip = new ZipFile(archive.toFile())) {
            for (Enumeration<? extends ZipEntry> each = zip.entries(); each.hasMoreElements(); ) {
                ZipEntry entry = each.nextElement();
                entries.put(
                        entry.getName(), new String(zip.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        return entries;
    }

    @Test
    void theArchiveHasWhatAReportNeedsAndNoSecret() throws Exception {
        Path archive = folder.resolve("support.zip");
        Run run;
        try (Metrics metrics = Metrics.shared(Path.of("/dev/shm"))) {
            metrics.link("a", "TCP", 10_000);
            run = Run.of(machine(), 100, "support", "--output", archive.toString(), "--log", log().toString());
        }

        assertThat(run.status()).as(run.out() + run.err()).isZero();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(archive)))
                .isEqualTo("rw-------");
        Map<String, String> entries = entries(archive);
        assertThat(entries)
                .containsKeys("README.txt", "versions.json", "environment.json", "processes.json", "settings.txt")
                .containsKeys("links.txt", "links.json", "doctor.txt", "doctor.json", "jobs.txt", "jobs.json")
                .containsKeys("explain/b.txt", "logs/1-rank-0.log");
        entries.forEach((name, text) -> {
            assertThat(text).as(name).isNotBlank();
            for (String secret : SECRETS) {
                assertThat(text).as(name).doesNotContain(secret).doesNotContain(secret.replace("\"", "\\\""));
            }
        });
        assertThat(entries.get("environment.json"))
                .contains("\"NCCL_DEBUG\": \"INFO\"", "\"NCCL_ALGO\": \"Ring\"")
                .contains("\"NCCL_PLANTED_SECRET\": \"" + Redaction.HIDDEN + "\"");
        assertThat(entries.get("settings.txt")).contains("links: software", "nodes.a.nics");
        assertThat(entries.get("processes.json")).contains("\"--epochs\"", "\"trainer\"");
        assertThat(entries.get("doctor.json")).contains("\"schema\": \"trigon.doctor/1\"");
        assertThat(entries.get("explain/b.txt")).contains("same subnet");
        assertThat(entries.get("logs/1-rank-0.log"))
                .contains("sends to b over a", "\"loss\": 0.25", "step 17 done", "example.invalid/model");
    }

    @Test
    void onlyTheEndOfALongLogIsTaken() throws Exception {
        Path log = folder.resolve("long.log");
        Files.writeString(log, "the first line\n" + "0123456789abcde\n".repeat(1 << 18) + "the last line\n");
        Path archive = folder.resolve("long.zip");

        Run run = Run.of("support", "--output", archive.toString(), "--log", log.toString());

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(entries(archive).get("logs/1-long.log"))
                .startsWith("0123456789abcde\n")
                .endsWith("the last line\n")
                .hasSizeLessThanOrEqualTo(SupportArchive.MAX_LOG_BYTES);
    }

    @Test
    void nothingIsOverwrittenAndAMissingLogIsAnError() throws Exception {
        Path file = Files.writeString(folder.resolve("mine.zip"), "mine");

        Run there = Run.of("support", "--output", file.toString());
        Run missing = Run.of("support", "--output", folder.resolve("x.zip").toString(), "--log", "/no/such.log");

        assertThat(there.status()).isEqualTo(1);
        assertThat(there.err()).contains("mine.zip").contains("--output");
        assertThat(file).content().isEqualTo("mine");
        assertThat(missing.status()).isEqualTo(1);
        assertThat(missing.err()).contains("/no/such.log");
        assertThat(folder.resolve("x.zip")).doesNotExist();
    }

    @Test
    void whatFollowsTheNameOfASecretIsOne() {
        Redaction redaction = Redaction.of(Map.of());

        assertThat(redaction.of("DB_PASS=hunter2")).isEqualTo("DB_PASS=" + Redaction.HIDDEN);
        assertThat(redaction.of("run --db-pass hunter2 now")).isEqualTo("run --db-pass " + Redaction.HIDDEN + " now");
        assertThat(redaction.of("HTTP_AUTH=hunter2")).isEqualTo("HTTP_AUTH=" + Redaction.HIDDEN);
        assertThat(redaction.of("registry_auth: hunter2")).isEqualTo("registry_auth: " + Redaction.HIDDEN);
        assertThat(redaction.words(List.of("run", "--db-pass", "hunter2")))
                .containsExactly("run", "--db-pass", Redaction.HIDDEN);
    }

    @Test
    void ordinaryTextStays() {
        Redaction redaction = Redaction.of(Map.of("A_KEY", "abc", "B_TOKEN", "true"));

        for (String text : List.of(
                "[0] NCCL INFO Channel 00/02 : 0 1 2",
                "the peers have no key in common",
                "abc is true",
                "http://example.invalid/a@b",
                "all tests passed",
                "monkey business")) {
            assertThat(redaction.of(text)).isEqualTo(text);
        }
        assertThat(redaction.words(List.of("x", "--password", "a b", "--next", "c")))
                .containsExactly("x", "--password", Redaction.HIDDEN, "--next", "c");
    }
}
