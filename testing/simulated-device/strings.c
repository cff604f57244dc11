/* Constants as text. */
#include "devices.h"

EXPORT const char *ibv_wc_status_str(enum ibv_wc_status s) {
  static const char *const n[] = { "success", "local length error", "local QP operation error",
    "local EE context operation error", "local protection error", "Work Request Flushed Error",
    "memory management operation error", "bad response error", "local access error",
    "remote invalid request error", "remote access error", "remote operation error",
    "transport retry counter exceeded", "RNR retry counter exceeded",
    "local RDD violation error", "remote invalid RD request", "aborted error",
    "invalid EE context number", "invalid EE context state", "fatal error",
    "response timeout error", "general error" };

  return (unsigned)s < sizeof n / sizeof *n ? n[s] : "unknown";
}

EXPORT const char *ibv_event_type_str(enum ibv_event_type e) {
  switch (e) {
  case IBV_EVENT_CQ_ERR: return "CQ error";
  case IBV_EVENT_COMM_EST: return "communication established";
  case IBV_EVENT_GID_CHANGE: return "GID table change";
  case IBV_EVENT_QP_ACCESS_ERR: return "local access violation work queue error";
  case IBV_EVENT_QP_REQ_ERR: return "invalid request local work queue error";
  case IBV_EVENT_QP_FATAL: return "local work queue catastrophic error";
  case IBV_EVENT_DEVICE_FATAL: return "local catastrophic error";
  case IBV_EVENT_PORT_ACTIVE: return "port active";
  case IBV_EVENT_PORT_ERR: return "port error";
  default: return "event";
  }
}

EXPORT const char *ibv_node_type_str(enum ibv_node_type t) {
  return t == IBV_NODE_CA ? "InfiniBand channel adapter" : "unknown";
}

EXPORT const char *ibv_port_state_str(enum ibv_port_state s) {
  static const char *const n[] = { "no state change (NOP)", "down", "init", "armed", "active", "active defer" };

  return (unsigned)s < sizeof n / sizeof *n ? n[s] : "unknown";
}
