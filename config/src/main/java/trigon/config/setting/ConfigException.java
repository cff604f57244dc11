package trigon.config.setting;

/**
 * The settings are wrong, or do not fit this machine. The message is meant for the user: it names the file and line or
 * the environment variable, the key, the value and the rule.
 */
public final class ConfigException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public ConfigException(String message) {
        super(message);
    }

    public ConfigException(String message, Throwable cause) {
        super(message, cause);
    }
}
