package trigon.config.setting;

import java.nio.file.Path;

/** The place where a value was set. */
public sealed interface Source {

    /** Nowhere: what holds where nothing is set. */
    Source DEFAULT = new Default();

    /** Nowhere: what holds where nothing is set. */
    record Default() implements Source {
        @Override
        public String toString() {
            return "default";
        }
    }

    /**
     * In the configuration file.
     *
     * @param line from 1
     */
    record File(Path path, int line) implements Source {
        @Override
        public String toString() {
            return path + ":" + line;
        }
    }

    /** In an environment variable. */
    record Environment(String variable) implements Source {
        @Override
        public String toString() {
            return variable;
        }
    }

    /** By the machine's own name; only which node this is can be set that way. */
    record HostName(String name) implements Source {
        @Override
        public String toString() {
            return "host name " + name;
        }
    }
}
