/* What the net plugin's layouts and numbers are in C; trigon.entry.net.NetFacts has Java's. */
#ifndef TRIGON_NET_FACTS_H
#define TRIGON_NET_FACTS_H

#include "../host/facts.h"

extern const struct facts net_facts;

#endif
