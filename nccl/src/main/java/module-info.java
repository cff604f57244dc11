/** NCCL's calls of a network plugin. */
module trigon.nccl {
    requires static org.jspecify;

    exports trigon.nccl;
}
