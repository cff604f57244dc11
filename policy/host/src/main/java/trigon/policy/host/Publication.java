package trigon.policy.host;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.policy.report.PolicyReport;
import trigon.policy.report.ReportFile;

/**
 * Tells other processes what this one says of its policy; and the log that programs were stopped, since nothing is
 * logged on NCCL's threads, where that happens. By one thread.
 */
final class Publication {

    private static final Logger log = LoggerFactory.getLogger(Publication.class);

    private final Path directory;
    private @Nullable ReportFile file;
    private boolean isRefused;
    private List<PolicyReport.Stopped> logged = List.of();

    /**
     * A publication without a file yet.
     *
     * @param directory of a file system in memory
     */
    Publication(Path directory) {
        this.directory = directory;
    }

    /** Replaces what is published. A failure has a line in the log, once. */
    void publish(PolicyReport report) {
        logStopped(report.stopped());
        try {
            if (file == null) {
                file = ReportFile.create(directory);
            }
            file.write(report);
        } catch (IOException e) {
            if (!isRefused) {
                log.info("trigon policy stat cannot see this process: {}", e.toString());
            }
            isRefused = true;
        }
    }

    private void logStopped(List<PolicyReport.Stopped> stopped) {
        for (PolicyReport.Stopped each : stopped) {
            if (!logged.contains(each)) {
                log.warn(
                        "the policy's program in the section {}, of {}, was stopped {} times so far, and NCCL's or"
                                + " Trigon's own choice was used; after three stops the program is switched off,"
                                + " and the others stay on. This is a defect in Trigon: please report it with the"
                                + " object",
                        each.section(),
                        each.of(),
                        each.runs());
            }
        }
        logged = stopped;
    }
}
