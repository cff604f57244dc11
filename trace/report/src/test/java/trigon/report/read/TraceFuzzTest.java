package trigon.report.read;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import trigon.report.summary.Report;
import trigon.report.view.HtmlPage;
import trigon.trace.TraceFile;

/** Whatever is in a trace file, the report is of what it says, or says what is wrong with it. */
@Tag("fuzz")
class TraceFuzzTest {

    @TempDir
    static Path directory;

    /**
     * If the first byte is odd, the rest is a file. Else it is chunks, which get the headers that they need: for each
     * the kind, the stream and the length in a byte each, and as many bytes.
     */
    @FuzzTest
    void tracesAreReadOrLeftOut(byte[] data) throws IOException {
        if (data.length == 0) {
            return;
        }
        ByteBuffer rest = ByteBuffer.wrap(data, 1, data.length - 1);
        byte[] content = (data[0] & 1) != 0 ? rest(rest, rest.remaining()) : chunks(rest);
        Path file = Files.write(directory.resolve("some" + TraceFile.SUFFIX), content);

        assertThat(HtmlPage.of(Report.of(List.of(file)), "Trigon")).contains("</html>");
    }

    private static byte[] chunks(ByteBuffer said) {
        ByteBuffer file = ByteBuffer.allocate(TraceFile.HEADER_BYTES + 6 * said.remaining() + 64)
                .order(ByteOrder.LITTLE_ENDIAN);
        file.putLong(TraceFile.MAGIC).putInt(TraceFile.VERSION).putInt(0);
        while (said.remaining() >= 3) {
            int kind = said.get();
            int stream = said.get();
            byte[] content = rest(said, Math.min(Byte.toUnsignedInt(said.get()), said.remaining()));
            CRC32 checksum = new CRC32();
            checksum.update(content);
            file.putInt(kind).putInt(stream).putInt(content.length).putInt((int) checksum.getValue());
            file.put(content);
        }
        return rest(file.flip(), file.limit());
    }

    private static byte[] rest(ByteBuffer from, int length) {
        byte[] bytes = new byte[length];
        from.get(bytes);
        return bytes;
    }
}
