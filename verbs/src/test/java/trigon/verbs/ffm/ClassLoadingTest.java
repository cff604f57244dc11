package trigon.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import trigon.verbs.ffm.call.AsyncEventCalls;
import trigon.verbs.ffm.call.DeviceCalls;
import trigon.verbs.ffm.call.DmaBufCalls;
import trigon.verbs.ffm.call.ResourceCalls;
import trigon.verbs.ffm.struct.LayoutCheck;

/**
 * No class of the package and those in it needs libibverbs to be loaded, and only those that call its control functions
 * need it to be initialised. The bindings do.
 */
class ClassLoadingTest {

    private static final String PACKAGE = Libibverbs.class.getPackageName();
    private static final String BINDINGS = PACKAGE + ".generated.Verbs";
    private static final String CLASS_FILE = ".class";
    private static final Set<String> NEED_LIBRARY = Set.of(
            DeviceCalls.class.getName(),
            ResourceCalls.class.getName(),
            DmaBufCalls.class.getName(),
            AsyncEventCalls.class.getName());

    /** Loads the package anew, and behaves as if there were no bindings, hence no library. */
    private static final class WithoutLibrary extends ClassLoader {

        WithoutLibrary() {
            super(Libibverbs.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(PACKAGE + ".")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                if (name.equals(BINDINGS)) {
                    throw new ClassNotFoundException(name + ", for lack of libibverbs");
                }
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream file = getResourceAsStream(name.replace('.', '/') + CLASS_FILE)) {
                if (file == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] bytes = file.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Test
    void needsNoLibrary() throws Exception {
        ClassLoader loader = new WithoutLibrary();
        List<String> names = classNames();

        assertThat(names)
                .contains(Libibverbs.class.getName(), NativeQueuePair.class.getName(), LayoutCheck.class.getName())
                .containsAll(NEED_LIBRARY);
        for (String name : names) {
            assertThat(Class.forName(name, !NEED_LIBRARY.contains(name), loader).getClassLoader())
                    .isSameAs(loader);
        }
    }

    private static List<String> classNames() throws IOException, URISyntaxException {
        Path classes = Path.of(Libibverbs.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        Path folder = classes.resolve(PACKAGE.replace('.', '/'));
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> !file.startsWith(folder.resolve("generated")))
                    .map(file -> classes.relativize(file).toString().replace('/', '.'))
                    .filter(name -> name.endsWith(CLASS_FILE) && !name.endsWith("package-info" + CLASS_FILE))
                    .map(name -> name.substring(0, name.length() - CLASS_FILE.length()))
                    .toList();
        }
    }
}
