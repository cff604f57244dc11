package trigon.tools.console;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Files that a user names. A failure says which file, why in the user's words, and what to do. */
public final class UserFiles {

    private static final int MAX_TEXT_BYTES = 16 << 20;

    private static final String READABLE = "give the path of a file that you may read";
    private static final String WRITABLE = "give a path in a folder that exists and that you may write to";

    /** The kernel's reason, in the text of {@link ProcessBuilder#start()}. */
    private static final Pattern START = Pattern.compile("(?s).*error(?:: |=)\\d+(?: \\(|, )(.*?)\\)?\\s*");

    private UserFiles() {}

    /**
     * Reads a text.
     *
     * @throws CommandFailure if it cannot be read, is too long, or is not UTF-8
     */
    public static String read(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(MAX_TEXT_BYTES + 1);
            if (bytes.length > MAX_TEXT_BYTES) {
                throw new IOException("it has more than %d MiB".formatted(MAX_TEXT_BYTES >> 20));
            }
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (IOException e) {
            throw unreadable(file, e);
        }
    }

    /** Content that is written piece by piece. */
    public interface Content {
        void writeTo(OutputStream file) throws IOException;
    }

    /**
     * Writes a text, in place of what the file has.
     *
     * @throws CommandFailure if it cannot be written
     */
    public static void write(Path file, String text) {
        write(file, to -> to.write(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** As {@link #write(Path, String)}. */
    public static void write(Path file, Content content) {
        try (OutputStream to = new BufferedOutputStream(Files.newOutputStream(file))) {
            content.writeTo(to);
        } catch (IOException e) {
            throw unwritable(file, e);
        }
    }

    /**
     * Refuses what a file must not be moved onto: root's move would replace a device or a socket by the file.
     *
     * @throws IOException if something is there that is no regular file
     */
    public static void checkReplaceable(Path file) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new IOException("it is not a regular file");
        }
    }

    /**
     * Makes sure that a result can be written to the file once there is one, and leaves what it has.
     *
     * @throws CommandFailure if it cannot
     */
    public static void checkWritable(Path file) {
        try (OutputStream to = Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            to.flush();
        } catch (IOException e) {
            throw unwritable(file, e);
        }
    }

    /** The failure of a command that cannot read a file. */
    public static CommandFailure unreadable(Path file, IOException why) {
        return new CommandFailure("cannot read %s: %s; %s".formatted(named(file), reason(why), READABLE));
    }

    /** The failure of a command that cannot make or write a file or a folder. */
    public static CommandFailure unwritable(Path file, IOException why) {
        return new CommandFailure("cannot write %s: %s; %s".formatted(named(file), reason(why), WRITABLE));
    }

    private static String named(Path file) {
        return file.toString().isEmpty() ? "\"\"" : file.toString();
    }

    /** One sentence on a failure of input or output that no command has explained, with its file if it has one. */
    public static String explained(IOException why) {
        return why instanceof FileSystemException of && of.getFile() != null
                ? "%s: %s; check the path, and what you may do there".formatted(of.getFile(), reason(why))
                : "input or output failed: " + reason(why);
    }

    /** The cause of a failure, in a user's words. */
    public static String reason(IOException why) {
        String said = Optional.ofNullable(why.getMessage()).orElse("the kernel gives no reason");
        return switch (why) {
            case NoSuchFileException _ -> "there is no such file or folder";
            case AccessDeniedException _ -> "permission is denied";
            case FileAlreadyExistsException _ -> "a file with this name exists";
            case NotDirectoryException _ -> "it is not a folder";
            case CharacterCodingException _ -> "it is not UTF-8 text";
            case UnknownHostException _ -> "the name does not resolve: " + said;
            case FileSystemException of ->
                ofKernel(Optional.ofNullable(of.getReason()).orElse(said));
            default -> ofKernel(said);
        };
    }

    private static String ofKernel(String text) {
        Matcher start = START.matcher(text);
        String word = start.matches() ? start.group(1) : text;
        return switch (word) {
            case "Is a directory" -> "it is a folder";
            case "Not a directory" -> "a part of the path is not a folder";
            default ->
                word.matches("[A-Z][a-z].*") ? word.substring(0, 1).toLowerCase(Locale.ROOT) + word.substring(1) : word;
        };
    }
}
