package trigon.integration.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** One end of a link of the lab, to be broken and mended by the guest's own script; see {@code lab/guest-link}. */
final class GuestLink {

    private GuestLink() {}

    /**
     * Does something to an interface, or to what is sent over it.
     *
     * @param name the interface, for example {@code ba}
     * @param what and the arguments
     */
    static void change(String name, String... what) throws IOException, InterruptedException {
        ProcessBuilder command = new ProcessBuilder("sh", "/run/lab/link", name);
        command.command().addAll(List.of(what));
        Process process = command.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
    }
}
