package trigon.config;

/** The keys of {@code queuePair} and what each may be. */
enum QueuePairKey {
    GID_INDEX("gidIndex", 0, 255),
    PORT("port", 1, 255),
    TRAFFIC_CLASS("trafficClass", 0, 255),
    SERVICE_LEVEL("serviceLevel", 0, 15),
    TIMEOUT("timeout", 1, 31),
    RETRY_COUNT("retryCount", 0, 6),
    RNR_RETRY("rnrRetry", 0, 7),
    MIN_RNR_TIMER("minRnrTimer", 1, 31);

    private final String key;
    private final int least;
    private final int most;

    QueuePairKey(String key, int least, int most) {
        this.key = key;
        this.least = least;
        this.most = most;
    }

    /** As it is written in the file. */
    String key() {
        return key;
    }

    int least() {
        return least;
    }

    int most() {
        return most;
    }

    /** Throws an {@link IllegalArgumentException} if the value is out of range. */
    void require(int value) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(key + " " + value + " is not in " + least + ".." + most);
        }
    }
}
