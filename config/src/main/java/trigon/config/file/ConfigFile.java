package trigon.config.file;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import trigon.config.Settings;
import trigon.config.setting.ConfigException;
import trigon.config.setting.Excerpt;

/**
 * The bytes of the configuration file.
 *
 * @param path absolute
 * @param text its content
 * @param fingerprint CRC-32 of its bytes; never 0
 */
record ConfigFile(Path path, String text, int fingerprint) {

    /** Greater files are refused: a thousand nodes fit in a tenth of it. */
    static final int MAX_BYTES = 1 << 20;

    private static final char BYTE_ORDER_MARK = '\uFEFF';

    /**
     * Reads the file.
     *
     * @throws ConfigException if it cannot be read, is too long or is not UTF-8
     */
    static ConfigFile read(String pathText) {
        Path path = path(pathText);
        // opening a pipe would wait for its writer
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            throw unreadable(path, "it is not a regular file", null);
        }
        byte[] bytes;
        try (InputStream in = Files.newInputStream(path)) {
            bytes = in.readNBytes(MAX_BYTES + 1);
        } catch (IOException | SecurityException e) {
            String reason = Files.exists(path) ? e.toString() : "there is no such file";
            throw unreadable(path, reason, e);
        }
        if (bytes.length > MAX_BYTES) {
            throw unreadable(path, "it is longer than " + MAX_BYTES + " bytes", null);
        }
        return of(path, bytes);
    }

    static ConfigFile of(Path path, byte[] bytes) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            String content = !text.isEmpty() && text.charAt(0) == BYTE_ORDER_MARK ? text.substring(1) : text;
            return new ConfigFile(path, content, fingerprint(bytes));
        } catch (CharacterCodingException e) {
            throw new ConfigException(path + " is not UTF-8 text", e);
        }
    }

    private static Path path(String text) {
        try {
            return Path.of(text).toAbsolutePath();
        } catch (InvalidPathException e) {
            throw new ConfigException(Settings.CONFIG + " is " + Excerpt.quoted(text) + ": it must be a path", e);
        }
    }

    private static ConfigException unreadable(Path path, String reason, @Nullable Exception cause) {
        String message = "the configuration file %s, which %s names, cannot be read: %s"
                .formatted(path, Settings.CONFIG, reason);
        return cause == null ? new ConfigException(message) : new ConfigException(message, cause);
    }

    private static int fingerprint(byte[] bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes);
        int value = (int) crc.getValue();
        return value == 0 ? 1 : value;
    }
}
