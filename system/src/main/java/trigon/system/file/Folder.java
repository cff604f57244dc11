package trigon.system.file;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Lists folders that others change meanwhile, such as those of the kernel, in which interfaces and processes come and
 * go, and deletes them. The JDK's own streams throw unchecked exceptions where such a folder goes away while it is
 * read.
 */
public final class Folder {

    private Folder() {}

    /**
     * The entries of a folder, by name.
     *
     * @throws IOException if it is not there, goes away meanwhile, is no folder, or may not be read
     */
    public static List<Path> entries(Path folder) throws IOException {
        List<Path> entries = new ArrayList<>();
        try (DirectoryStream<Path> each = Files.newDirectoryStream(folder)) {
            each.forEach(entries::add);
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        Collections.sort(entries);
        return entries;
    }

    /** Deletes a folder, or a file, with all that is in it; does not follow links. Nothing may be there. */
    public static void delete(Path folder) throws IOException {
        if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            for (Path each : entries(folder)) {
                delete(each);
            }
        }
        Files.deleteIfExists(folder);
    }
}
